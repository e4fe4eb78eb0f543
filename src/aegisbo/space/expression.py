"""A small language for constraints on numbers, names and quoted choices.

    a < b                       also <=, >, >=, ==, !=, and chains such as 0 < a <= b
    x + 2*y <= 3                + - * / **, abs, min, max, sqrt, log, exp
    kind != "deep" or n <= 4    and, or, not

Nothing else is understood, so a text from a file can only compare. All points are evaluated together. Each comparison
says whether it holds and by how much, so that a search knows the way back.
"""

from __future__ import annotations

import ast
import operator
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aegisbo.arrays import Array, Mask
from aegisbo.errors import InvalidInput
from aegisbo.number import as_number
from aegisbo.printable import brief

Column = NDArray[Any]  # (m,) numbers, or choices as objects
Kind = str  # "number", "truth" or "choice"

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {  # with the least number of arguments
    "abs": (np.abs, 1),
    "sqrt": (np.sqrt, 1),
    "log": (np.log, 1),
    "exp": (np.exp, 1),
    "min": (lambda *given: np.minimum.reduce(np.broadcast_arrays(*given)), 2),
    "max": (lambda *given: np.maximum.reduce(np.broadcast_arrays(*given)), 2),
}
DEEPEST = 100  # levels of brackets and signs
LONGEST = 10_000  # characters: a search looks at each comparison thousands of times
LARGEST = 1024  # most bits of a whole number, as for floats
ALLOWED = "names, numbers, quoted choices, + - * / **, comparisons, and, or, not, abs, min, max, sqrt, log, exp"


class Verdict(NamedTuple):
    """Whether something holds, and by how much: below 0 if it does not."""

    holds: Mask  # (m,)
    slack: Array  # (m,)


class _Truth(NamedTuple):
    """A part of a verdict: without a value, as in sqrt(-1) > 2, it neither holds nor fails."""

    holds: Mask  # (m,)
    fails: Mask  # (m,)
    slack: Array  # (m,)


@dataclass(frozen=True)
class Expression:
    """A constraint given as text; two are the same if their texts are."""

    text: str
    names: tuple[str, ...] = field(compare=False, repr=False)  # of the parameters in it
    numbers: frozenset[str] = field(compare=False, repr=False)  # the names of those that are numbers
    tree: ast.expr = field(compare=False, repr=False)

    def verdict(self, columns: Mapping[str, Column], there: Mapping[str, Mask]) -> Verdict:
        """Verdicts on points, given the values of parameters (m,) by name, and where they exist (m,).

        Without a value it counts as broken, without one of its parameters as kept.
        """
        given = {n: columns[n].astype(np.float64, copy=False) if n in self.numbers else columns[n] for n in self.names}
        with np.errstate(all="ignore"):
            holds, _, slack = _truth(self.tree, given)
        absent = ~np.all([there[name] for name in self.names], axis=0)
        return Verdict(holds | absent, np.where(absent, np.inf, slack))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether one point keeps it."""
        if any(name not in values for name in self.names):
            return True
        columns = {name: np.array([values[name]], dtype=object) for name in self.names}
        return bool(self.verdict(columns, dict.fromkeys(self.names, np.array([True]))).holds[0])

    @property
    def linear(self) -> Linear | None:
        """The slack as a linear function of the parameters, if it is one comparison of such functions."""
        match self.tree:
            case ast.Compare(low, [ast.Lt() | ast.LtE()], [high]) | ast.Compare(high, [ast.Gt() | ast.GtE()], [low]):
                return _linear(ast.BinOp(high, ast.Sub(), low))
        return None


class Linear(NamedTuple):
    """A constant, and the weight of each parameter."""

    constant: float
    weights: Mapping[str, float]

    def plus(self, other: Linear, times: float = 1.0) -> Linear:
        """The sum of this one and a multiple of another one."""
        names = {**self.weights, **other.weights}
        weights = {name: self.weights.get(name, 0.0) + times * other.weights.get(name, 0.0) for name in names}
        return Linear(self.constant + times * other.constant, weights)


def parsed(text: str, kinds: Mapping[str, Kind], choices: Mapping[str, Sequence[object]]) -> Expression:
    """Read an expression, given the kinds of all parameters and the values of choices by name.

    Raises:
        InvalidInput: it cannot be read, or compares what cannot be compared.
    """
    said = repr(brief(text))
    if len(text) > LONGEST:
        raise InvalidInput(
            f"Constraint {said} has {len(text):,} characters, and {LONGEST:,} are the most: write it as a function."
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = "a comparison is written ==" if "=" in text and "==" not in text else getattr(error, "msg", str(error))
        raise InvalidInput(
            f"Constraint {said} cannot be read ({why}): write it as in 'a + 2*b <= 3'.{_hint(text, kinds)}"
        ) from None
    if _depth(tree) > DEEPEST:
        raise InvalidInput(f"Constraint {said} is nested too deeply: write it as several constraints.")
    _rename(tree, kinds)
    try:
        kind = _kind(tree, kinds)
        _require_possible(tree, kinds, choices)
    except InvalidInput as error:
        raise InvalidInput(f"Constraint {said}: {error}{_hint(text, kinds)}") from None
    if kind != "truth":
        raise InvalidInput(f"Constraint {said} compares nothing: write it as in 'a + 2*b <= 3'.")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id: 0 for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    if not names:
        raise InvalidInput(f"Constraint {said} uses no parameter: use one of {', '.join(kinds)}.")
    return Expression(ast.unparse(tree), tuple(names), frozenset(n for n in names if kinds[n] == "number"), tree)


def _hint(text: str, names: Iterable[str]) -> str:
    """What to do about parameters in a text whose names Python cannot read, such as learning-rate."""
    odd = [name for name in names if name in text and (not name.isidentifier() or iskeyword(name))]
    return f" A text cannot use {', '.join(odd)}: write a function that takes **params." if odd else ""


def _rename(tree: ast.AST, names: Iterable[str]) -> None:
    """Restore names as the user wrote them: Python reads the micro sign as the Greek letter, for example."""
    written = {unicodedata.normalize("NFKC", name): name for name in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = written.get(node.id, node.id)


def _require_possible(tree: ast.AST, kinds: Mapping[str, Kind], choices: Mapping[str, Sequence[object]]) -> None:
    """Refuse a comparison with a value that never occurs, such as a misspelled one: it would constrain nothing."""
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    pairs = [
        pair
        for node in compared
        for symbol, *pair in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False)
        if isinstance(symbol, ast.Eq | ast.NotEq)
    ]
    for part, other in (*pairs, *((right, left) for left, right in pairs)):
        match part, other:
            case ast.Name(name), ast.Constant(value) if name in choices and value not in choices[name]:
                known = ", ".join(map(repr, choices[name]))
                raise InvalidInput(f"{name} is never {brief(repr(value))}; it is one of {known}.")
            case _, ast.Constant(None | str() as value) if _kind(part, kinds) == "number":
                raise InvalidInput(f"{brief(ast.unparse(part))} is a number and never {brief(repr(value))}.")


def _depth(tree: ast.AST) -> int:
    """How deeply a tree is nested; without recursion, which has a limit."""
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _kind(node: ast.expr, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of an expression, if all of it is understood."""
    match node:
        case ast.Constant(int() as value) if value.bit_length() > LARGEST:
            raise InvalidInput("a whole number in it is beyond 1e308: leave it out, or write a smaller one.")
        case ast.Constant(bool() | None | str() | int() | float() as value):
            return "number" if isinstance(value, int | float) and not isinstance(value, bool) else "choice"
        case ast.Name(name):
            return _kind_of_name(name, kinds)
        case ast.UnaryOp(ast.USub() | ast.UAdd(), inner):
            return _all("number", "numbers have a sign", kinds, inner)
        case ast.BinOp(left, symbol, right) if type(symbol) in ARITHMETIC:
            return _all("number", "only numbers can be added and multiplied", kinds, left, right)
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
            return _kind_of_call(name, arguments, kinds)
        case ast.UnaryOp(ast.Not(), inner):
            return _all("truth", "not, and, or join comparisons", kinds, inner)
        case ast.BoolOp(_, parts):
            return _all("truth", "not, and, or join comparisons", kinds, *parts)
        case ast.Compare(left, symbols, others) if all(type(symbol) in COMPARISONS for symbol in symbols):
            return _compared([left, *others], symbols, kinds)
    raise InvalidInput(f"{brief(ast.unparse(node))!r} is not understood; there are {ALLOWED}.")


def _kind_of_name(name: str, kinds: Mapping[str, Kind]) -> Kind:
    if name not in kinds:
        raise InvalidInput(f"there is no parameter {brief(name)!r}; it may use {', '.join(kinds)}.")
    return kinds[name]


def _kind_of_call(name: str, arguments: list[ast.expr], kinds: Mapping[str, Kind]) -> Kind:
    least = FUNCTIONS[name][1]
    if len(arguments) < least or (least == 1 < len(arguments)):
        raise InvalidInput(f"{name} takes {'one number' if least == 1 else 'two numbers or more'}.")
    return _all("number", f"{name} takes numbers", kinds, *arguments)


def _all(kind: Kind, why: str, kinds: Mapping[str, Kind], *parts: ast.expr) -> Kind:
    for part in parts:
        if _kind(part, kinds) != kind:
            raise InvalidInput(f"{why}, and {brief(ast.unparse(part))!r} is none.")
    return kind


def _compared(parts: list[ast.expr], symbols: list[ast.cmpop], kinds: Mapping[str, Kind]) -> Kind:
    given = [_kind(part, kinds) for part in parts]
    for k, symbol in enumerate(symbols):
        if isinstance(symbol, ast.Eq | ast.NotEq):
            continue
        for part, kind in zip(parts[k : k + 2], given[k : k + 2], strict=True):
            if kind != "number":
                raise InvalidInput(
                    f"{brief(ast.unparse(part))!r} is no number and has no order: compare it by == or !=."
                )
    return "truth"


def _value(node: ast.expr, columns: Mapping[str, Column]) -> Any:
    """The value of an expression at all points: an array (m,) or one value for all."""
    match node:
        case ast.Constant(value):
            number = as_number(value)
            return value if number is None else number
        case ast.Name(name):
            return columns[name]
        case ast.UnaryOp(symbol, inner):
            value = _value(inner, columns)
            return -value if isinstance(symbol, ast.USub) else value
        case ast.BinOp(left, symbol, right):
            return ARITHMETIC[type(symbol)](_value(left, columns), _value(right, columns))
        case ast.Call(ast.Name(name), arguments):
            return FUNCTIONS[name][0](*(_value(argument, columns) for argument in arguments))
    holds, fails, _ = _truth(node, columns)  # compared with another truth
    return np.where(holds, 1.0, np.where(fails, 0.0, np.nan))


def _truth(node: ast.expr, columns: Mapping[str, Column]) -> _Truth:
    match node:
        case ast.UnaryOp(_, inner):
            holds, fails, slack = _truth(inner, columns)
            return _Truth(fails, holds, -slack)
        case ast.BoolOp(symbol, parts):
            return reduce(_both if isinstance(symbol, ast.And) else _either, [_truth(part, columns) for part in parts])
        case ast.Compare(left, symbols, others):
            values = [_value(part, columns) for part in (left, *others)]
            return reduce(_both, [_comparison(*each) for each in zip(symbols, values, values[1:], strict=False)])
    holds = np.asarray(_value(node, columns), dtype=bool)  # a choice between True and False
    return _Truth(holds, ~holds, np.where(holds, 1.0, -1.0))


def _linear(node: ast.expr) -> Linear | None:
    """An expression as a linear function of the parameters; None if it is not linear."""
    match node:
        case ast.Constant(int() | float()):
            return Linear(_value(node, {}), {})
        case ast.Name(name):
            return Linear(0.0, {name: 1.0})
        case ast.UnaryOp(symbol, inner):
            one = _linear(inner)
            return None if one is None else Linear(0.0, {}).plus(one, -1.0 if isinstance(symbol, ast.USub) else 1.0)
        case ast.BinOp(left, symbol, right):
            one, other = _linear(left), _linear(right)
            return None if one is None or other is None else _combined(one, symbol, other)
    return None


def _combined(one: Linear, symbol: ast.operator, other: Linear) -> Linear | None:
    nothing = Linear(0.0, {})
    match symbol:
        case ast.Add():
            return one.plus(other)
        case ast.Sub():
            return one.plus(other, -1.0)
        case ast.Mult() if not one.weights:
            return nothing.plus(other, one.constant)
        case ast.Mult() if not other.weights:
            return nothing.plus(one, other.constant)
        case ast.Div() if not other.weights and other.constant != 0.0:
            return nothing.plus(one, 1.0 / other.constant)
    return None


def _both(one: _Truth, other: _Truth) -> _Truth:
    return _Truth(one.holds & other.holds, one.fails | other.fails, np.minimum(one.slack, other.slack))


def _either(one: _Truth, other: _Truth) -> _Truth:
    return _Truth(one.holds | other.holds, one.fails & other.fails, np.fmax(one.slack, other.slack))


def _comparison(symbol: ast.cmpop, left: Any, right: Any) -> _Truth:
    holds = np.asarray(COMPARISONS[type(symbol)](left, right), dtype=bool)
    known = ~(_missing(left) | _missing(right))
    return _Truth(holds & known, ~holds & known, np.where(known, _slack(symbol, left, right, holds), np.nan))


def _missing(value: Any) -> Any:
    return np.isnan(value) if _is_number(value) else np.False_


def _slack(symbol: ast.cmpop, left: Any, right: Any, holds: Mask) -> Any:
    match symbol:
        case ast.Eq() | ast.NotEq() if not (_is_number(left) and _is_number(right)):
            return np.where(holds, 1.0, -1.0)
        case ast.Lt() | ast.LtE():
            return right - left
        case ast.Gt() | ast.GtE():
            return left - right
        case ast.Eq():
            return -np.abs(left - right)
    return np.abs(left - right)


def _is_number(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "f"
