# `make demo` and `make test` set everything up by themselves, in .venv/.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test check format bench lock clean

demo: $(READY)
	$(BIN)/incrowd demo

test: $(READY)
	$(BIN)/pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

# Pins every package with its hashes; run it after changing the dependencies in pyproject.toml.
lock:
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install --quiet pip-tools
	.venv/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --extra dev \
		--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		-o requirements.lock pyproject.toml

# Installed anew only when the lock or the project file has changed.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "incrowd needs Python 3.11 or newer; name one with make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv (once; a minute or two) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf .venv demo .benchmarks .mypy_cache .ruff_cache .pytest_cache .hypothesis
