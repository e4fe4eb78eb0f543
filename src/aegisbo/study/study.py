"""A study: the file of one run, from which it can go on."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.optimizer import Optimizer, Result
from aegisbo.space.space import Space
from aegisbo.study.history import optimizer_after
from aegisbo.study.lock import DriverLock
from aegisbo.study.store import Store, read_events

SETTINGS = ("strategy", "preset", "seed", "n_initial", "initial", "maximize", "noisy")


class Study:
    """The file of a run while it is being driven. Open it with `open`; events are on disk when a method returns.

    The optimizer is told by whoever drives it, when it gets there: a result that is on disk may be news to it.
    """

    def __init__(self, store: Store, optimizer: Optimizer, opened: int, resources: ExitStack) -> None:
        self.optimizer = optimizer
        self.opened = opened  # the event that says so: the optimizer knows all before it
        self._store = store
        self._resources = resources

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        space: Space,
        settings: Mapping[str, Any],
        say: Callable[[str], None] = lambda text: None,
    ) -> Study:
        """Begin a study, or continue the one at `path` if it has the same space and settings.

        Args:
            path: the file.
            space: what is searched.
            settings: the arguments of `Optimizer`, as the user gave them; None leaves the choice to the study.
            say: is told, in a sentence, what the user should know.
        """
        with ExitStack() as resources:
            resources.enter_context(DriverLock(Path(path)))
            optimizer = Optimizer(space, **settings)  # before the file is made: refuses settings that make no sense
            store = Store(Path(path), say)
            resources.callback(store.close)
            events = store.events()
            if not events:  # new, or killed before the first event
                store.append("created", None, {"optimizer": _header(optimizer), "build": build()})
            else:
                optimizer = optimizer_after(events)
                _require_same(Path(path), space, settings, _header(optimizer))
            opened = store.append("opened", None, {"pid": os.getpid(), "host": platform.node()})
            return cls(store, optimizer, opened, resources.pop_all())

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def asked(
        self,
        number: int,
        params: Mapping[str, Any],
        note: Mapping[str, Any],
        memory: Mapping[str, Any],
        seen: int,
        seconds: float = 0.0,
    ) -> int:
        """A point was chosen, knowing all results up to event `seen`, which took `seconds`."""
        body = {"params": params, "note": note, "memory": memory, "seen": seen, "seconds": seconds}
        return self._store.append("asked", number, body)

    def told(self, number: int, value: float, seconds: float) -> int:
        """An evaluation gave a value."""
        return self._store.append("told", number, {"value": value, "seconds": seconds})

    def failed(self, number: int, state: str, reason: str, traceback: str, seconds: float) -> int:
        """An evaluation gave none."""
        body = {"state": state, "reason": reason, "traceback": traceback, "seconds": seconds}
        return self._store.append("failed", number, body)

    def lost(self, number: int, reason: str) -> int:
        """The worker of an evaluation died; it will be run again."""
        return self._store.append("lost", number, {"reason": reason})

    def closed(self, message: str, idle: Sequence[Mapping[str, float]]) -> int:
        """The driver ended, and how its workers had spent their time."""
        return self._store.append("closed", None, {"message": message, "idle": list(idle)})


def load(path: str | os.PathLike[str]) -> Result:
    """The result of a study so far; it may be running at this moment."""
    events = read_events(Path(path))
    optimizer = optimizer_after(events)
    *_, last = (event for event in events if event.kind in ("created", "opened", "closed"))
    return optimizer.result(last.body.get("message", "The study has not been closed: it is running, or was killed."))


def build() -> dict[str, str]:
    """What the digits of a decision may depend on."""
    versions = {package: version(package) for package in ("aegisbo", "numpy", "scipy")}
    return {**versions, "python": platform.python_version(), "cpu": _cpu()}


def _cpu() -> str:
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if models:
            return models[0]
    return platform.processor() or platform.machine()


def _header(optimizer: Optimizer) -> dict[str, Any]:
    state = optimizer.state()
    return {key: state[key] for key in ("format", "space", *SETTINGS)}


def _require_same(path: Path, space: Space, given: Mapping[str, Any], recorded: Mapping[str, Any]) -> None:
    """Refuse to continue a study with another space or other settings; what was not given may be anything."""
    wanted: dict[str, Any] = {
        "space": space.describe(),
        **{key: given[key] for key in SETTINGS if given.get(key) is not None},
    }
    if wanted.get("initial") is not None:
        wanted["initial"] = [space.check(x) for x in wanted["initial"]]
    wanted = json.loads(json.dumps(wanted))  # as it was recorded
    differences = [
        f"{key} is {recorded[key]!r} in the study and {value!r} in this call"
        for key, value in wanted.items()
        if recorded[key] != value
    ]
    if differences:
        raise StudyError(f"{path} holds another run: {'; '.join(differences)}. Use another file, or the same settings.")
