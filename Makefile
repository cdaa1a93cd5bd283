# Each line is one command of run.py, where Windows, which has no make, says: py run.py lab
PYTHON ?= python3
ARGS ?=

COMMANDS := lab book report reset grades export edit quick test ci nightly fuzz chapters minutes bench live conform settings release dist house mutants lock setup
.PHONY: help $(COMMANDS)

help:
	@$(PYTHON) run.py

$(COMMANDS):
	@$(PYTHON) run.py $@ $(ARGS)
