# Two commands set everything up on a machine with python3 (>= 3.10), venv and make:
#   make demo   installs and fits a tree
#   make test   installs with the test extras and runs every check
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-wheel coverage lint format docs clean

help:
	@sed -n '2,3s/^# *//p' Makefile

# One stamp per set of extras: pip runs again only when pyproject.toml changes.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-%: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[$*]'
	touch $@

demo: $(VENV)/.installed-cli
	$(BIN)/miptree demo

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A cached kernel does not notice that one which it calls, in another file, has changed.
$(VENV)/.kernels: $(shell grep -rl njit src --include=*.py) | $(VENV)/bin/python
	find src -name '*.nb[ci]' -delete
	touch $@

test: lint $(VENV)/.kernels
	$(BIN)/python -m pytest -n 2

# Thousands of random proofs and of changed ones; its last result is in
# benchmarks/results/long_tests.md.
test-long: $(VENV)/.installed-test $(VENV)/.kernels
	$(BIN)/python -m pytest -n 2 -m long

# What users install: the wheel in an empty environment, with the demo and a light subset
# of the tests. It compiles everything anew there, so that it takes some minutes.
test-wheel: $(VENV)/.installed-test
	$(BIN)/python .ci/test_wheel.py

# Which lines the tests run. Kernels that numba compiles are left out of the count.
coverage: $(VENV)/.installed-test $(VENV)/.kernels
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --cov-report=html:build/coverage

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
