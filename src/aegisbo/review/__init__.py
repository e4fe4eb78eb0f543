"""See what happened and why: the facts of a run, and the pages that show them.

The facts are plain dataclasses, computed from the record of a run; drawing is done elsewhere, from these only.
"""

from __future__ import annotations
