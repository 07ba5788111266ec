# `make demo` and `make test` set everything up by themselves, in .venv/.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Every process imports some thousand modules. Unless Python may keep their bytecode, it compiles them each time, for
# four seconds.
unexport PYTHONDONTWRITEBYTECODE
DOCS := .venv/docs

.PHONY: demo test test-deep check format bench torture docs wheel lock clean

demo: $(READY)
	$(BIN)/incrowd demo

test: $(READY)
	$(BIN)/pytest

# The same tests with up to eight times as many random cases; before a release.
test-deep: $(READY)
	INCROWD_TESTS=deep $(BIN)/pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

# Kills, full disks, nonsense: until something fails, or the time is over.
torture: $(READY)
	$(BIN)/python -m benchmarks.torture

# The site in site/; strict, so that a broken link or an undocumented public name is an error.
# The examples on its pages are run by `make test`.
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The wheel in dist/, installed as a user would into an environment of its own, where it must
# make, hide and verify a small city.
wheel: $(READY)
	@rm -rf dist
	$(BIN)/python -m hatchling build --target wheel --directory dist
	PYTHON=$(PYTHON) .ci/wheel dist/incrowd-*.whl

# Pins every package with its hashes; run it after changing the dependencies in pyproject.toml.
# What the site needs has a lock of its own, so that nobody else has to install it.
PINNED := --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host
lock:
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install --quiet pip-tools
	.venv/lock/bin/pip-compile $(PINNED) --extra dev -o requirements.lock pyproject.toml
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' \
		| .venv/lock/bin/pip-compile $(PINNED) --constraint requirements.lock -o requirements-docs.lock -

# Installed anew only when the lock or the project file has changed.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "incrowd needs Python 3.11 or newer; name one with make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv (once; a minute or two) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DOCS): $(READY) requirements-docs.lock
	@echo "Adding what builds the documentation to .venv ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-docs.lock
	@touch $@

clean:
	rm -rf .venv demo dist site .benchmarks .mypy_cache .ruff_cache .pytest_cache .hypothesis
