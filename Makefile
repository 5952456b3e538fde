# Two commands do everything on a machine with Python 3.11 or newer:
#   make run    install, start the service with its own PostgreSQL, load the demo, keep serving
#   make test   install what tests need and run all checks and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run demo demo-conversation test check lint types unit bench bench-recall lock format clean

run: $(VENV)/.installed
	$(BIN)/palimpsest serve --demo

demo: $(VENV)/.installed
	$(BIN)/palimpsest demo

demo-conversation: $(VENV)/.installed
	$(BIN)/palimpsest demo-conversation $(CONVERSATION)

test: check unit

check: lint types

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

bench-recall: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks.measure_recall

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(VENV)/.installed-dev
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --no-emit-index-url --no-header -o requirements.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra dev -c requirements.lock --universal --python-version 3.11 --no-emit-index-url --no-header -o requirements-dev.lock

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created requirements.lock pyproject.toml
	@echo "Installing into $(VENV), once; this takes about half a minute."
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-dev.lock
	touch $@
