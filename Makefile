# Two commands on a fresh machine: `make packing` runs the main study, `make test` runs the tests.
# All that is needed beforehand is Python >= 3.11 with venv, make and a network.

PYTHON ?= python3
UV := .tools/bin/uv
PY := .venv/bin/python
RUNS := .venv/.runs
STUDY ?=
READY := .venv/.ready

# Hundreds of processes are started here; compiling what each imports, over and over, takes longer than what they do.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup packing test test-all style check bench lock clean

help: ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make .venv with the locked dependencies and this project

$(UV): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 setup"; exit 2; }
	@$(PYTHON) -m venv .tools || \
	  { echo "$(PYTHON) has no venv module; on Debian or Ubuntu: apt-get install python3-venv"; exit 2; }
	.tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $(UV)

# What a study needs, and no more: kernels are compiled by the run, those that it needs.
$(RUNS): $(UV) requirements/run.txt pyproject.toml
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements/run.txt
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $(RUNS)

$(READY): $(RUNS) requirements/locked.txt
	$(UV) pip sync --quiet --compile-bytecode --python $(PY) --require-hashes requirements/locked.txt
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $(READY)

# A first figure within a minute: one replication of what Fig. 8 shows, up to a load of 0.9, as saturated points take
# longer than all others. It is a part of the whole study, which goes on from there.
packing: $(RUNS) ## run the packing study, draw its figures, test the paper's claims
	@test -e results/packing/packing.nc || { \
	  $(PY) -m sweep +experiment=packing 'grid.load=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]' \
	    'grid.alternation=[exclusive]' 'grid.unification=[true]' replications=1 && \
	  $(PY) -m analysis results/packing figures=fig8; }
	$(PY) -m sweep +experiment=packing $(STUDY)
	$(PY) -m analysis results/packing

# The first tier: every family, policy, workload, executor, command and page, within minutes. Kernels are compiled
# first, where they are not in the cache yet, so that no test waits for another one's.
test: $(READY) style ## run the tests (minutes)
	$(PY) -m models
	$(PY) -m pytest --numprocesses=logical --dist=worksteal -m "not exhaustive"

# The second tier: what the first one samples in full, and what has to wait, to be killed or to be installed. Tests on
# a real Slurm mostly wait, so they run beside the others; their output is shown at the end.
test-all: $(READY) check ## run the exhaustive tests as well
	@mkdir -p .cache; echo "$(PY) -m pytest tests/slurm, beside:"; \
	$(PY) -m pytest -p no:cacheprovider -m exhaustive tests/slurm > .cache/slurm-tests.txt 2>&1 & beside=$$!; \
	$(PY) -m pytest --numprocesses=logical --dist=worksteal -m exhaustive --ignore=tests/slurm; status=$$?; \
	wait $$beside || status=1; cat .cache/slurm-tests.txt; exit $$status

style: $(READY) ## format, lint, and the rule of who may import whom
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	.venv/bin/lint-imports

check: style ## style and types
	$(PY) -m mypy

bench: $(READY) ## measure speed (ratios in one run)
	$(PY) -m benchmarks

.PHONY: docs
docs: $(READY) ## build the documentation site, docs/_build/html/index.html
	$(PY) -m sphinx -W --keep-going -j auto -d docs/_build/doctrees docs docs/_build/html

lock: $(UV) ## resolve the dependencies anew (exact versions and hashes, no addresses)
	$(UV) pip compile pyproject.toml --universal --all-extras --generate-hashes --no-header --quiet \
	  --upgrade --output-file requirements/locked.txt
	$(UV) pip compile pyproject.toml --extra build --universal --generate-hashes --no-header --no-annotate --quiet \
	  --constraint requirements/locked.txt --output-file requirements/run.txt

clean: ## remove what setup and tests made (results stay)
	rm -rf .venv .tools .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/reference/generated
	find . -name __pycache__ -prune -exec rm -rf {} +
