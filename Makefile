# The commands of CONTRIBUTING.md. Everything lives in .venv; nothing is installed outside it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CPUS   := $(shell nproc 2>/dev/null || echo 2)

.PHONY: env demo test check bench clean

env: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tripcloak needs Python 3.11 or newer: make env PYTHON=python3.12")'
	$(PYTHON) -c 'import venv, ensurepip' || (apt-get update && apt-get install -y python3-venv)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: env
	$(BIN)/tripcloak demo --out demo --force

test: env
	$(BIN)/python -m pytest -n $(CPUS) --dist worksteal

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: env
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache
