"""See what happened and why: the facts of a run, and the pages that show them.

The facts are plain dataclasses, computed from the record of a run; drawing is done elsewhere, from these only.
"""

from __future__ import annotations

import sys
from types import ModuleType

from aegisbo.runners.reports import report


class _Named(ModuleType):
    """This package, which has the name of the function `aegisbo.report`, and takes its place once it is imported."""

    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _Named
