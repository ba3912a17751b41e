# make book REPO=…   read a repository and write its book (default: this one)
# make test          set everything up and run the tests
# make lint          style and types;   make golden   rewrite the expected files, to be read as a diff
# make bench         measure against other programs on real repositories (minutes)

REPO ?= .
PYTHON ?= python3
BIN := .venv/bin

.PHONY: book test lint golden bench lock

book: .venv/ready
	$(BIN)/concord build $(REPO) --verbose

test: .venv/ready
	sh tests/setup.sh
	$(BIN)/ruff check concordance tests bench
	$(BIN)/mypy
	$(BIN)/pytest -n auto

lint: .venv/ready
	$(BIN)/ruff check concordance tests bench
	$(BIN)/mypy

golden: .venv/ready
	CONCORDANCE_GOLDEN=write $(BIN)/pytest tests/test_golden.py tests/test_docs.py
	PYTHONPATH=.:tests $(BIN)/python tests/picture.py
	git diff --stat tests/golden docs

bench: .venv/ready
	sh tests/setup.sh
	$(BIN)/python -m bench

lock:
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --group pyproject.toml:dev pyproject.toml -o requirements.lock

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Concordance needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
