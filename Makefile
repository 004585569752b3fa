# Everything that a checkout needs: `make help` says what there is.
# Kept to what GNU make 3.81 knows, since that is the one macOS ships.

SHELL := bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# A stamp carries the checksum of all that decides what is installed, so that a second run installs nothing.
MADE_IN := $(CURDIR) $(shell { $(PYTHON) --version; } 2>&1)
checksum = $(shell { printf '%s' "$(MADE_IN)"; cat pyproject.toml $(1); } | cksum | tr -d ' ')
RUN_STAMP := $(VENV)/.run-$(call checksum,requirements/run.txt)
DEV_STAMP := $(VENV)/.dev-$(call checksum,requirements/run.txt requirements/dev.txt)
TORCH_STAMP := $(VENV)/.torch-$(call checksum,requirements/run.txt requirements/torch.txt)
BENCH_STAMP := $(VENV)/.bench-$(call checksum,requirements/run.txt requirements/dev.txt requirements/bench.txt)

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-strip-extras --no-emit-index-url --no-header --no-annotate --quiet

# $(call timed,NAME,COMMAND): run a command, say how long it took, keep its exit code.
timed = @begin=$$(date +%s); code=0; $(2) || code=$$?; echo "make $(1) took $$(( $$(date +%s) - begin )) s"; exit $$code

.PHONY: help report torch test check format docs golden bench soak lock wheel clean python pango

help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

report: pango $(RUN_STAMP) ## Build the site from the evidence in site/bundles and say where its front page is
	$(call timed,report,$(BIN)/reportgen build site)

test: pango $(DEV_STAMP) ## Run the tests; of the long ones, a tenth that is always the same
	$(call timed,test,$(BIN)/python -m pytest $(ARGS))

torch: $(TORCH_STAMP) ## Install PyTorch for the CPU, with which the tests also collect

check: pango $(DEV_STAMP) ## Check style, types, who imports whom, and what the committed files may hold
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy && $(BIN)/mypy .ci/*.py
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/python .ci/docs.py --check
	@$(BIN)/python .ci/check_tree.py

format: $(DEV_STAMP) ## Format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

docs: $(DEV_STAMP) ## Write the parts of docs/ that come from the code
	@$(BIN)/python .ci/docs.py

golden: pango $(DEV_STAMP) ## Accept the dossiers of the shipped bundles as they are now
	@$(BIN)/python -m tests.dossier.goldens

bench: pango $(BENCH_STAMP) ## Measure speed and size, as ratios within one run
	$(call timed,bench,$(BIN)/python -m tests.benchmarks)

soak: pango $(DEV_STAMP) ## Run the long tests in full
	$(call timed,soak,REPORTGEN_SOAK=full $(BIN)/python -m pytest -m soak $(ARGS))

lock: $(DEV_STAMP) ## Make requirements/*.txt again from pyproject.toml (LOCK=--upgrade takes the newest versions)
	@$(PIP) install --quiet uv
	$(COMPILE) $(LOCK) --group build --output-file requirements/run.txt
	$(COMPILE) $(LOCK) --group dev --constraint requirements/run.txt --output-file requirements/dev.txt
	$(COMPILE) $(LOCK) --group dev --group bench --constraint requirements/dev.txt --output-file requirements/bench.txt

wheel: $(DEV_STAMP) ## Build the wheel into dist/, the same bytes each time
	@SOURCE_DATE_EPOCH=1704067200 $(PIP) wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean: ## Remove what was built: the site, dist, caches and the virtual environment
	@rm -rf $(VENV) dist site/public .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets above stand on

python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "error: $(PYTHON) is not here; install Python 3.11 or newer, or say which: make PYTHON=python3.11" >&2; exit 3; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: this is $$($(PYTHON) --version 2>&1), and reportgen needs Python 3.11 or newer: make PYTHON=python3.11" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "error: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 3; }

pango: python
	@$(PYTHON) .ci/pango.py

# $(call install,FILE,STAMP): bring the virtual environment to the state of a requirements file, then leave its stamp.
define install
	@if ! $(BIN)/python -c '' 2>/dev/null || [ "$$(cat $(VENV)/.made-in 2>/dev/null)" != "$(MADE_IN)" ]; then \
		echo "making $(VENV)"; $(PYTHON) -m venv --clear $(VENV) && printf '%s' "$(MADE_IN)" > $(VENV)/.made-in; \
	fi
	@echo "installing $(1)"
	@begin=$$(date +%s); \
	$(PIP) install --quiet --require-hashes -r $(1) && \
	$(PIP) install --quiet --no-deps --no-build-isolation --editable . && \
	echo "installed in $$(( $$(date +%s) - begin )) s"
	@rm -f $(VENV)/.$(2)-*; touch $@
endef

$(RUN_STAMP): | python
	$(call install,requirements/run.txt,run)

$(DEV_STAMP): | python $(RUN_STAMP)
	$(call install,requirements/dev.txt,dev)

$(BENCH_STAMP): | python $(DEV_STAMP)
	$(call install,requirements/bench.txt,bench)

$(TORCH_STAMP): | python $(DEV_STAMP)
	@echo "installing requirements/torch.txt"
	@begin=$$(date +%s); $(PIP) install --quiet -r requirements/torch.txt && \
	echo "installed in $$(( $$(date +%s) - begin )) s"
	@rm -f $(VENV)/.torch-*; touch $@
