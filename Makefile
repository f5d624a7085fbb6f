# One interface for people and for .ci/run. Whatever is set up lives in .venv and is set up once.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The engine of the embedded model is taken ready-made or not at all: it would compile for minutes.
INSTALL := $(PIP) install --quiet --only-binary xllamacpp
# What is handed to mino: make run ARGS="--provider deepseek"
ARGS :=
# How long to fuzz, in all; at how many moments to kill mino.
SECONDS := 120
MOMENTS := 3000

.PHONY: help run test test-real bench fuzz torture lint fmt docs clean

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile

# On a terminal mino is a job of its own, so that its Ctrl-C is not make's. Ctrl-Z would part the two.
run: $(VENV)/.run ## set up, fetch the embedded model and open a chat
	@$(BIN)/mino local install || echo "The chat opens all the same; it needs another provider." >&2
	@if [ -t 0 ]; then set -m; modes=$$(stty -g); stty susp undef; fi; \
	$(BIN)/mino $(ARGS); code=$$?; [ -z "$$modes" ] || stty "$$modes"; exit $$code

test: lint ## check the code and run the tests; no network once all is set up
	@$(BIN)/pytest -n auto

test-real: $(VENV)/.test ## run what needs other environments: the model itself, wheels, real servers
	@$(BIN)/pytest -m real -rs

fuzz: $(VENV)/.test ## break streams at random: make fuzz SECONDS=600
	@FUZZ_SECONDS=$(SECONDS) $(BIN)/pytest tests/fuzz -rP

torture: $(VENV)/.test ## kill mino at thousands of moments: make torture MOMENTS=10000
	@MINO_TORTURE=$(MOMENTS) $(BIN)/pytest -n auto tests/torture

lint: $(VENV)/.test ## check form, names and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

fmt: $(VENV)/.test ## put the code into form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(VENV)/.test ## write the pages that come from the code
	@$(BIN)/python tests/docs/write.py

bench: $(VENV)/.test ## measure every budget; QUICK=1 roughly, PEERS=1 beside other programs, ARGS="startup" a part
	@QUICK=$(QUICK) PEERS="$(PEERS)" $(BIN)/python -m bench $(ARGS)

clean: ## remove what was set up and built; the model in the user's cache stays
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.made:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "mino needs Python 3.11 or newer, and there is none; name one: make run PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$found"; \
	$$found -m venv $(VENV) || { rm -rf $(VENV); echo "$$found cannot make an environment: see above" >&2; exit 1; }
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml
	@echo "Setting up $(VENV), once"
	@$(call install,local,)
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "Setting up $(VENV) with the tools for tests, once"
	@$(call install,local$(comma)test,test)
	@touch $@ $(VENV)/.run

# $(1) are all the extras, $(2) are those without the engine.
install = $(INSTALL) --editable '.[$(1)]' || { \
  echo "Once more, without the engine of the embedded model:" >&2; \
  $(INSTALL) --editable '.[$(2)]'; }
comma := ,
