"""Robot pushing: hands that push discs over a table towards targets, simulated by Box2D.

push4 is one hand and one disc, push8 two of each in the same arena. The value is the distance from disc to target when
everything has come to rest, summed over the discs. After Wang and Jegelka (2017), without their motor noise, as in the
paper's section on robot pushing.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aegis_paper.problems.push_targets import paired_targets, single_targets
from aegisbo.arrays import Array, as_floats, frozen
from aegisbo.errors import InvalidInput, MissingExtra
from aegisbo.simulation.problem import Family, Parameter

OBJECT_RADIUS = 1.0
HAND_HALF_EXTENTS = (0.3, 1.0)
STARTS = {1: ((0.0, 0.0),), 2: ((-3.0, 0.0), (3.0, 0.0))}  # where the discs lie at first, by their number

_TIME_STEP = 0.01
_SOLVER_ITERATIONS = 10
_GLIDE_STEPS = 100  # after the last push, for friction to stop everything
_SPEED = 10.0
_GAIN = 30.0  # how hard a hand corrects its velocity and its turning

_SOURCE = "Wang and Jegelka, 2017; De Ath et al., 2021"


@dataclass(frozen=True)
class Hand:
    """How one hand starts, and for how many time steps it pushes."""

    x: float
    y: float
    steps: int
    angle: float

    @classmethod
    def from_point(cls, x: Array) -> Hand:  # (4,)
        """The hand that the four coordinates stand for; steps are rounded, halves to even."""
        return cls(float(x[0]), float(x[1]), round(float(x[2])), float(x[3]))


@dataclass(frozen=True, eq=False)
class Push:
    """The total distance of the discs from these targets, as a function of 4 coordinates a hand."""

    targets: Array  # (k, 2), k hands and k discs

    def __init__(self, targets: ArrayLike) -> None:
        positions = as_floats(targets, "targets")
        if positions.shape not in [(k, 2) for k in STARTS]:
            raise InvalidInput(f"targets must have shape (1, 2) or (2, 2), got shape {positions.shape}.")
        object.__setattr__(self, "targets", frozen(positions.copy()))

    def __call__(self, x: Array) -> float:  # (4 k,)
        """The value of one push."""
        scene = self.scene(x)
        deque(scene.run(), maxlen=0)
        return float(np.linalg.norm(scene.object_positions() - self.targets, axis=1).sum())

    def scene(self, x: Array) -> Scene:
        """Hands and discs at their places, before anything moves."""
        return Scene([Hand.from_point(block) for block in np.asarray(x).reshape(-1, 4)])


class Scene:
    """A table with k discs and k hands, of which each pushes towards its own disc."""

    def __init__(self, hands: list[Hand]) -> None:
        box2d = _box2d()
        self.world = box2d.b2World(gravity=(0, 0), doSleep=True)
        # The solver visits bodies in the order of their creation, so this order is part of the problem.
        table = self.world.CreateStaticBody(position=(0, 0), shapes=box2d.b2PolygonShape(box=(500, 500)))
        self.hands = hands
        self.starts = STARTS[len(hands)]
        disc = partial(box2d.b2CircleShape, radius=OBJECT_RADIUS)
        plate = partial(box2d.b2PolygonShape, box=HAND_HALF_EXTENTS)
        self.objects = [
            self._place(table, disc(), position=start, angle=0.0, density=0.05, friction=0.01, max_force=5.0)
            for start in self.starts
        ]
        self.hand_bodies = [
            self._place(table, plate(), (hand.x, hand.y), hand.angle, density=0.1, friction=0.1, max_force=2.0)
            for hand in hands
        ]

    def _place(
        self,
        table: Any,
        shape: Any,
        position: tuple[float, float],
        angle: float,
        density: float,
        friction: float,
        max_force: float,
    ) -> Any:
        body = self.world.CreateDynamicBody(position=position, angle=angle)
        body.CreateFixture(shape=shape, density=density, friction=friction)
        # The joint brakes the body against the table, and keeps Box2D from treating the two as colliding.
        self.world.CreateFrictionJoint(bodyA=table, bodyB=body, maxForce=max_force, maxTorque=2.0)
        return body

    def run(self) -> Iterator[int]:
        """Push until everything has come to rest, pausing after every time step."""
        velocities = [_velocity(hand, start) for hand, start in zip(self.hands, self.starts, strict=True)]
        for step in range(max(hand.steps for hand in self.hands) + _GLIDE_STEPS):
            for hand, body, velocity in zip(self.hands, self.hand_bodies, velocities, strict=True):
                if step < hand.steps:
                    _steer(body, velocity)
            self.world.Step(_TIME_STEP, _SOLVER_ITERATIONS, _SOLVER_ITERATIONS)
            yield step

    def object_positions(self) -> Array:  # (k, 2)
        """The centers of the discs."""
        return np.array([tuple(body.position) for body in self.objects])

    def hand_poses(self) -> Array:  # (k, 3)
        """The center and the angle of each hand."""
        return np.array([(*body.position, body.angle) for body in self.hand_bodies])


def _velocity(hand: Hand, start: tuple[float, float]) -> Any:
    """Towards where the disc lies at first; zero for a hand on the very center, which has no direction."""
    along = (start[0] - hand.x, start[1] - hand.y)
    distance = math.hypot(*along)
    speed = _SPEED / distance if distance > 0 else 0.0
    return _box2d().b2Vec2(speed * along[0], speed * along[1])


def _steer(body: Any, velocity: Any) -> None:
    """Correct the turning and the velocity of a hand, in Box2D's own float32: pushes are sensitive to every bit."""
    body.ApplyTorque(body.mass * -body.angularVelocity * _GAIN, True)
    body.ApplyForce(body.mass * (velocity - body.linearVelocity) * _GAIN, body.position, True)


def require_box2d() -> None:
    """Raise MissingExtra if what simulates pushes is not installed."""
    _box2d()


@cache
def _box2d() -> Any:
    with warnings.catch_warnings():
        # Box2D warns while it loads; where warnings are errors, that would crash the interpreter.
        warnings.simplefilter("ignore")
        try:
            import Box2D  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            feature = "Robot pushing (on Linux for ARM and with Python 3.14: `make box2d` in a checkout)"
            raise MissingExtra(feature, "push", "aegis-paper") from error
    return Box2D


def _hand_parameters(suffix: str) -> tuple[Parameter, ...]:
    return (
        Parameter(f"rx{suffix}", -5.0, 5.0),
        Parameter(f"ry{suffix}", -5.0, 5.0),
        Parameter(f"steps{suffix}", 1.0, 300.0),
        Parameter(f"angle{suffix}", 0.0, 2 * math.pi),
    )


def _push4(number: int) -> Push:
    return Push(single_targets()[number - 1])


def _push8(number: int) -> Push:
    return Push(paired_targets()[number - 1])


def _family(name: str, parameters: tuple[Parameter, ...], function: Callable[[int], Push]) -> Family:
    bounds = tuple((parameter.low, parameter.high) for parameter in parameters)
    return Family(name, parameters, bounds, function, _SOURCE)


PUSH4 = _family("push4", _hand_parameters(""), _push4)
PUSH8 = _family("push8", _hand_parameters("1") + _hand_parameters("2"), _push8)
