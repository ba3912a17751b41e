# make book REPO=…   read a repository and write its book (default: this one); installs what running needs
# make test          run the tests; also installs the development tools
# make setup         only install what running needs into .venv
# make lock          pin the dependencies of pyproject.toml, with hashes (needs the network)
# make lint          check style and types
# make golden        rewrite the expected files; read the difference before you commit it
# make bench         measure against other programs on real repositories (minutes)

REPO ?= .
PYTHON ?= python3
BIN := .venv/bin

.PHONY: book test lint golden bench lock setup

setup: .venv/ready

book: .venv/ready
	$(BIN)/concord build $(REPO) --verbose

test: .venv/ready-dev
	sh tests/setup.sh
	$(BIN)/ruff check concordance concordance_torch tests bench
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist worksteal

lint: .venv/ready-dev
	$(BIN)/ruff check concordance concordance_torch tests bench
	$(BIN)/mypy

golden: .venv/ready-dev
	CONCORDANCE_GOLDEN=write $(BIN)/pytest tests/test_golden.py tests/test_docs.py
	git diff --stat tests/golden docs

bench: .venv/ready-dev
	sh tests/setup.sh
	$(BIN)/python -m bench

# The lock of development has everything; what running needs is in it as in its own lock. pip cannot check the hashes of
# a local folder, so whoever installs that takes the same versions from constraints.txt.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url
lock:
	test -x $(BIN)/uv || $(MAKE) .venv/ready-dev
	$(COMPILE) --generate-hashes --group pyproject.toml:build pyproject.toml -o requirements.lock
	$(COMPILE) --generate-hashes --constraint requirements.lock --group pyproject.toml:build --group pyproject.toml:dev \
	  pyproject.toml -o requirements-dev.lock
	sed -n 's/^\([a-z].*[^ ]\) *\\$$/\1/p' requirements.lock > constraints.txt

PIP = $(BIN)/pip install --quiet --disable-pip-version-check
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Concordance needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q concordance concordance_torch
	touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	$(PIP) --require-hashes -r requirements-dev.lock
	touch $@
