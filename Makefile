# simsched: everything a developer or CI runs. `make` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
SGLANG_OMNI := sglang-omni==0.1.9# its scheduler classes, without the runtime: what the live adapter is tested against

.PHONY: help setup demo test check unit laws theory slow live all bench calibration notebooks docs screenshots lock fmt clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

setup: $(READY) ## make .venv with simsched and its tools; leaves .venv/bin/simsched

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "simsched needs Python 3.11 or newer; say which: make PYTHON=python3.12 setup"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(SGLANG_OMNI) 2>$(VENV)/.sglang-omni.log \
		|| echo "$(SGLANG_OMNI) cannot be had here (why: $(VENV)/.sglang-omni.log): tests of the live adapter will be skipped"
	@touch $(READY)

demo: $(READY) ## the main job on shipped real data: fit, simulate three policies, predict recorded phases
	@$(BIN)/python experiments/h200-phases/demo.py

test: $(READY) check ## exactly what CI runs: style, types, layers, then every test that is not slow
	$(BIN)/python -m pytest -n $(WORKERS) -m 'not slow and not live and not gpu'

check: $(READY) ## ruff, mypy strict, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY) ## unit tests only
	$(BIN)/python -m pytest tests/unit simsched

laws: $(READY) ## laws by hypothesis, over every registered policy, discipline and stage
	$(BIN)/python -m pytest tests/laws

theory: $(READY) ## formulas against references, simulator against formulas
	$(BIN)/python -m pytest tests/theory -m 'not slow'

slow: $(READY) ## the longer checks
	$(BIN)/python -m pytest -n $(WORKERS) -m 'slow and not live and not gpu'

live: $(READY) ## the whole live server on a CPU; needs SGLang Omni's runtime (torch for the real models)
	$(BIN)/python -m pytest -m live

all: test slow bench ## everything

bench: $(READY) ## speed beside plain loops on this machine, in one run; rewrites benchmarks/RESULTS.md
	$(BIN)/python benchmarks/bench.py

calibration: $(READY) ## rebuild the curves of calibration/ from the shipped measurements
	$(BIN)/python calibration/h200-sglang-omni/fit.py
	$(BIN)/python calibration/fit.py

notebooks: $(READY) ## run the notebooks anew, outputs included
	cd notebooks && ../$(BIN)/jupyter-execute --inplace *.ipynb

docs: $(VENV)/.docs ## build the documentation into site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html"

$(VENV)/.docs: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $(VENV)/.docs

screenshots: $(READY) ## take the documentation's pictures of the report anew; needs Chromium
	$(BIN)/python docs/screenshots.py

lock: ## write constraints.txt anew from a fresh environment
	rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet -e '.[dev,docs,live,notebooks]'
	{ echo '# Versions that CI installs; `make lock` writes them anew from a fresh environment.'; $(BIN)/python -m pip freeze --exclude-editable; } > constraints.txt

fmt: $(READY) ## format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what can be made again
	rm -rf $(VENV) out site build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
