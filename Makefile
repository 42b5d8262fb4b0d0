# Two commands do it all: `make demo` and `make test`. Both set up what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
ANALYSIS := .analysis
CORPUS := .corpus
BENCH := $(VENV)/bin/bench
UV := $(VENV)/bin/uv
RUN := runs/demo
PYTEST_ARGS ?= -n 2
export BLINDBENCH_ANALYSIS := $(CURDIR)/$(ANALYSIS)
export BLINDBENCH_DATA := $(CURDIR)/$(CORPUS)

.PHONY: help demo test lint docs bench setup system corpus locks clean

help:  ## What there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.stamp: locks/harness.lock pyproject.toml
	@PYTHON=$(PYTHON) bash tools/make_environment.sh harness $(VENV)
	@touch $@

$(ANALYSIS)/.stamp: data/registries/analysis.lock $(VENV)/.stamp
	@UV=$(UV) PYTHON=$(PYTHON) bash tools/make_environment.sh analysis $(ANALYSIS)
	@touch $@

system:  ## Install what only the system's package manager has (root), or say what to install
	@bash tools/install_system_packages.sh demo

setup: $(VENV)/.stamp $(ANALYSIS)/.stamp  ## Both environments

corpus: setup  ## Data of the bundled papers, from the packages that publish them
	@$(BENCH) papers export --to $(CORPUS)

demo: system setup corpus  ## The main job on the bundled papers, to a leaderboard and a report
	@$(BENCH) doctor
	@$(BENCH) run data/leaderboards/demo.toml --to runs --data $(CORPUS)
	@$(BENCH) store build $(RUN)
	@$(BENCH) leaderboard $(RUN)/store.duckdb --include-self-test
	@$(BENCH) report $(RUN)/store.duckdb --to $(RUN)/report

test: setup  ## Set-up, lint, types, layers, all tests
	@bash tools/install_system_packages.sh test
	@$(MAKE) --no-print-directory corpus lint
	@$(VENV)/bin/pytest $(PYTEST_ARGS)

lint: $(VENV)/.stamp  ## ruff, mypy, import-linter
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

docs: $(VENV)/.stamp  ## Check that the docs are current
	@$(VENV)/bin/pytest tests/docs

bench: setup  ## Benchmarks: they print figures and ratios, and assert no time
	@for file in tests/benchmarks/*.py; do echo "== $$file"; $(VENV)/bin/python $$file; done

locks: $(VENV)/.stamp  ## Resolve both locks anew
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q \
		--extra corpus --extra dev pyproject.toml -o locks/harness.lock
	@$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q \
		data/registries/analysis.in -o data/registries/analysis.lock

clean:  ## Remove what make made, runs excepted
	@rm -rf $(VENV) $(ANALYSIS) $(CORPUS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
