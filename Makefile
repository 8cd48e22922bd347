# The commands of CONTRIBUTING.md. Everything lives in .venv; nothing is installed outside it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CPUS   := $(shell nproc 2>/dev/null || echo 2)

.PHONY: env site demo test test-deep mutations check docs notebooks web bench bench-faults bench-scale clean browser java validators

# The tests start hundreds of processes: bytecode that was written once is compiled in none of them.
test test-deep mutations: export PYTHONDONTWRITEBYTECODE =

env: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tripcloak needs Python 3.11 or newer: make env PYTHON=python3.12")'
	$(PYTHON) -c 'import venv, ensurepip' || (apt-get update && apt-get install -y python3-venv)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: env
	$(BIN)/tripcloak demo --out demo --force

test: env browser java validators
	$(BIN)/python -m pytest -n $(CPUS) --dist worksteal

# Hours, not minutes: thousands of examples a property, drawn anew on every run.
test-deep: env browser java validators
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n $(CPUS) --dist worksteal -o timeout=7200 -o faulthandler_timeout=7190
	$(MAKE) mutations

# Small mistakes made in what promises, publishes and judges; 19 of 20 must make a test fail. Another SEED draws others.
MUTANTS ?= 300
SEED    ?= 1
mutations: env
	PYTHONPATH=tests $(BIN)/python -m mutations --sample $(MUTANTS) --seed $(SEED) --jobs $(CPUS)

# The map's tests run in a real browser; without one they are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null) \
		|| echo "Chromium is missing and could not be installed: the browser tests will be skipped"

# Spark runs on Java; without it its tests are skipped and say so.
java:
	@command -v java >/dev/null \
		|| (apt-get update -qq && apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null) \
		|| echo "Java is missing and could not be installed: the tests on Spark will be skipped"

# RO-Crate's and Croissant's own validators want other versions of libraries than ours: an environment of their own.
validators: .validators/.installed

.validators/.installed: tests/validators/requirements.txt
	@($(PYTHON) -m venv .validators \
		&& .validators/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement $< && touch $@) \
		|| echo "The validators of catalogues could not be installed: their tests will be skipped"

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The tables of options in docs/methods are what the methods declare, and docs/api.md is what the docstrings
# say; tests hold them to it.
docs: env
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_commands.py
	$(BIN)/python docs/make_files.py
	$(MAKE) site

# The pages as a site, searchable and without a network: build/site/index.html. A link that leads nowhere fails it.
site: env
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --clean

# The examples keep what they show; a test runs them and compares.
notebooks: env
	$(BIN)/python examples/make_notebooks.py

# The scripts of all pages, from web/ (TypeScript) to src/tripcloak/pages/assets/built; what is built is committed, so
# that nobody needs Node who does not change them. The lock file holds versions and digests, and no addresses.
web: web/node_modules/.installed
	cd web && npm run --silent check && npm run --silent build

web/node_modules/.installed: web/package.json
	cd web && npm install && npm run --silent lock
	@touch $@

bench: env
	$(BIN)/python -m benchmarks

# Kills runs at random moments; CPU seconds and peak memory by size (about half an hour).
bench-faults: env
	$(BIN)/python -m benchmarks.faults

bench-scale: env
	$(BIN)/python -m benchmarks.sizes

clean:
	rm -rf $(VENV) .validators web/node_modules .bench-venv* demo .pytest_cache .mypy_cache .ruff_cache .mutations
