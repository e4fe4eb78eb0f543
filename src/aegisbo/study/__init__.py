"""The event log on disk: a run that was killed at any moment can be continued, replayed and exported."""

from __future__ import annotations

from aegisbo.study.earlier import Earlier
from aegisbo.study.edit import forget, retry
from aegisbo.study.requests import add, change
from aegisbo.study.study import Study

__all__ = ["Earlier", "Study", "add", "change", "forget", "retry"]
