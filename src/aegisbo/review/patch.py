"""The difference between two JSON values, sent to a live page instead of everything.

A patch is {"$new": value}; or, of two dicts, {"$set": {name: patch}, "$drop": [names]}; of two lists of containers that
are equally long, {"$at": {index: patch}}; of two other lists, {"$keep": how many stay at the beginning, "$then": rest}.
`page/live.js` applies it.
"""

from __future__ import annotations

from typing import Any


def patch_between(old: Any, new: Any) -> dict[str, Any] | None:
    """How to make `new` from `old`; None if they are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _of_dicts(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return _of_lists(old, new)
    return None if _same(old, new) else {"$new": new}


def _of_dicts(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any] | None:
    changes: dict[str, Any] = {}
    for name, value in new.items():
        change = patch_between(old[name], value) if name in old else {"$new": value}
        if change is not None:
            changes[name] = change
    dropped = [name for name in old if name not in new]
    if not changes and not dropped:
        return None
    return {"$set": changes, "$drop": dropped}


def _of_lists(old: list[Any], new: list[Any]) -> dict[str, Any] | None:
    if len(old) == len(new) and all(isinstance(each, dict | list) for each in (*old, *new)):
        changes = {str(k): change for k in range(len(new)) if (change := patch_between(old[k], new[k])) is not None}
        return {"$at": changes} if changes else None
    same = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if not _same(a, b)), min(len(old), len(new)))
    return None if same == len(old) == len(new) else {"$keep": same, "$then": new[same:]}


def _same(a: Any, b: Any) -> bool:
    """Whether two values are written alike: True is not 1."""
    return type(a) is type(b) and bool(a == b)
