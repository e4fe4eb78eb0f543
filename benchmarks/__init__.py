"""What aegisbo claims about speed, regret and reliability, measured: see README.md. Every process has one thread."""

from __future__ import annotations

import os

# The libraries read these when they are loaded, hence before any program of this folder imports them.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
