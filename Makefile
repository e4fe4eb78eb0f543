# Every target sets up what it needs; `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help setup box2d test test-long lint demo bench chaos package docs notebooks clean

VENV := .venv
BENCH_VENV := .venv-bench
DOCS_VENV := .venv-docs
EXTRAS := optuna,dask,gest,mcp,plot,pandas,dev

# The first interpreter that is new enough; override with `make PYTHON=/path/to/python setup`.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
define CHECK_PYTHON
@$(if $(PYTHON),$(PYTHON),false) -c '$(NEW_ENOUGH)' || { \
	echo 'aegisbo needs Python 3.11 or newer. Install one, or name it: make PYTHON=/path/to/python setup' >&2; exit 1; }
endef

# One BLAS thread a process: the tests run side by side, and timings are per core.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Compiled files are kept, whatever the shell says: tests start hundreds of processes that import the package.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: $(VENV)/.stamp ## build .venv with the package, every extra, and the paper's project

# In two steps, so that the demo need not wait for what only tests and tools need.
$(VENV)/.core: pyproject.toml
	$(CHECK_PYTHON)
	@echo 'Building $(VENV) with aegisbo and what it needs, once (about 300 MB, most of it NumPy and SciPy) ...'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable .
	@touch $@

$(VENV)/.stamp: $(VENV)/.core paper/pyproject.toml
	@echo 'Adding every extra, the paper and the tools to $(VENV), once ...'
	$(VENV)/bin/pip install --quiet --editable '.[$(EXTRAS)]' --editable './paper[push]'
	@$(VENV)/bin/python -W ignore -c 'import Box2D' 2>/dev/null || $(MAKE) --no-print-directory box2d
	@touch $@

# Box2D has no wheel for Linux on ARM, nor for Python 3.14. Compilers for ARM fuse a product and a sum, which rounds once
# instead of twice; without that, values are those of the wheel for x86-64 to the last digit.
box2d: $(VENV)/.core
	@echo 'Compiling Box2D for robot pushing, once (two minutes) ...'
	@$(VENV)/bin/pip install --quiet swig setuptools wheel && \
		PATH="$(CURDIR)/$(VENV)/bin:$$PATH" CFLAGS=-ffp-contract=off CXXFLAGS=-ffp-contract=off \
		$(VENV)/bin/pip install --quiet --no-build-isolation box2d-py==2.3.8 >$(VENV)/box2d.log 2>&1 || \
		echo 'Box2D does not compile here, so the tests of robot pushing are skipped: it takes a C++ compiler and the' \
			'headers of Python ($(VENV)/box2d.log).' >&2

# Three on two cores, because some tests wait for processes and clocks.
test: setup ## run the tests (minutes)
	$(VENV)/bin/pytest -m "not long" -n 3

# Two at a time, file by file, because much of it computes or waits; engines alone, because they start servers of their own.
test-long: setup $(VENV)/.engines ## run the long tests: real processes, engines, databases, statistics
	$(VENV)/bin/pytest -m long -n 2 --dist loadfile --ignore tests/engines
	$(VENV)/bin/pytest -m long tests/engines

# One by one: where an engine or tracker does not install, its tests are skipped.
$(VENV)/.engines: tests/engines/requirements.txt $(VENV)/.stamp
	@echo 'Adding the engines and trackers of the long tests to $(VENV), once (about 700 MB, most of it Ray) ...'
	@while read -r package; do $(VENV)/bin/pip install --quiet "$$package" || \
		echo "$$package does not install here." >&2; done < $<
	@touch $@

lint: setup ## check format, style and types
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

demo: $(VENV)/.core ## watch four workers that never wait beside four that work in batches (half a minute)
	$(VENV)/bin/aegisbo demo

docs: $(DOCS_VENV)/.stamp $(VENV)/.core ## build the documentation into site/, from where it opens without a network
	$(VENV)/bin/aegisbo report docs/runs/digits.db
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet
	@echo 'Open site/index.html.'

# Alone: MkDocs reads the sources and needs nothing of .venv, which only writes the report of a run. The theme's notice of its end in 2027 is off (docs/design.md).
$(DOCS_VENV)/.stamp: docs/requirements.txt
	$(CHECK_PYTHON)
	@echo 'Building $(DOCS_VENV) with what makes the site, once (about 170 MB) ...'
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/pip install --quiet --requirement docs/requirements.txt
	@touch $@

notebooks: setup ## run the notebooks of examples/, draw the gallery, and store what they show
	$(VENV)/bin/python docs/notebooks.py examples/*.ipynb
	$(VENV)/bin/python docs/gallery.py

bench: $(BENCH_VENV)/.stamp ## measure the time of a suggestion against other libraries (needs torch, a large download)
	$(BENCH_VENV)/bin/python -m benchmarks.suggest
	$(BENCH_VENV)/bin/python -m benchmarks.suggest --quality

chaos: setup ## try to break it: random runs with kills, hangs, garbage and full disks (20 minutes; MINUTES=5)
	$(VENV)/bin/python -m benchmarks.faults.chaos --minutes $(or $(MINUTES),20)
	AEGISBO_FUZZ=10 $(VENV)/bin/pytest -m "" tests/fuzz

# torch goes first and alone: solved together with the rest, pip may settle on another build of it.
$(BENCH_VENV)/.stamp: benchmarks/requirements.txt pyproject.toml
	$(CHECK_PYTHON)
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet "$$(grep '^torch==' benchmarks/requirements.txt)"
	$(BENCH_VENV)/bin/pip install --quiet --requirement benchmarks/requirements.txt --editable .
	@touch $@

package: setup ## build wheel and sdist, and try them in clean environments with each extra (minutes, large downloads)
	mkdir -p dist
	rm -f dist/aegisbo-*
	$(VENV)/bin/python release/try_installs.py --folder dist

clean: ## delete caches and build products (the environments stay)
	rm -rf build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name '.venv*' -prune -o -name __pycache__ -prune -exec rm -rf {} +
