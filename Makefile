# Every check and every start of this project goes through here; .ci/run calls the same targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: all run test cov lint fmt bench clean

all: lint test

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "clawd needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "clawd: making a virtual environment in $(VENV) ($$($(PYTHON) -V)) ..."
	@$(PYTHON) -m venv $(VENV)
	@echo "clawd: installing packages; the first time this takes about a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@
	@echo "clawd: installed."

run: $(STAMP)
	@$(BIN)/clawd gateway run

test: $(STAMP)
	@echo "clawd: running the tests ..."
	@$(BIN)/python -m pytest

cov: $(STAMP)
	@$(BIN)/python -m pytest --cov --cov-report=term-missing

lint: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

fmt: $(STAMP)
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(STAMP)
	@$(BIN)/python bench/turn.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
