# Everything here sets itself up: only python3 (3.11 or later), make and git are needed.

PYTHON ?= python3
BIN := .venv/bin
EXTRAS := engine,fast,metrics,tls,test

.PHONY: install demo test check docs bench clean

install: .venv/installed ## make .venv with everything in it

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ttt_net needs Python 3.11 or later, this is " + sys.version)'
	@$(PYTHON) -m venv .venv || { echo "cannot make .venv: install the venv module of your Python (on Debian: python3-venv)"; exit 1; }
	@echo "installing into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

demo: install ## play a whole networked match in this terminal
	@$(BIN)/python -m ttt_net demo

test: install ## all tests
	$(BIN)/python -m pytest

check: install ## format, lint, types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

docs: install ## write the generated pages of docs/
	$(BIN)/python docs/write_protocol.py
	$(BIN)/python docs/write_configuration.py
	$(BIN)/python docs/write_games.py
	$(BIN)/python docs/write_picture.py

bench: install ## measure; prints tables
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.lobby
	$(BIN)/python -m benchmarks.games
	$(BIN)/python -m benchmarks.restart
	$(BIN)/python -m benchmarks.soak

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
