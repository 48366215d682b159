# Two commands on a fresh machine: `make packing` runs the main study, `make test` runs the tests.
# They need Python >= 3.11 with venv, make and a network.

PYTHON ?= python3
UV := .tools/bin/uv
PY := .venv/bin/python
RUNS := .venv/.runs
READY := .venv/.ready
# Overrides of the packing study, e.g. STUDY=replications=5 where a run has to be short.
STUDY ?=

# Hundreds of processes are started: without their compiled modules they would mostly compile what they import.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup packing test test-all storm style check bench docs release lock clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make .venv with the locked dependencies and this project

$(UV): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 setup"; exit 2; }
	@$(PYTHON) -m venv .tools || \
	  { echo "$(PYTHON) has no venv module; on Debian or Ubuntu: apt-get install python3-venv"; exit 2; }
	.tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $(UV)

# Only what a study needs; a run compiles the kernels of its own points.
$(RUNS): $(UV) requirements/run.txt pyproject.toml
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements/run.txt
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $(RUNS)

$(READY): $(RUNS) requirements/locked.txt
	$(UV) pip sync --quiet --compile-bytecode --python $(PY) --require-hashes requirements/locked.txt
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $(READY)

# A first figure within a minute: Fig. 8 up to a load of 0.9, as saturated points take longer than all others, with five
# replications, the fewest from which intervals are narrow. It is a part of the whole study, which continues from there.
packing: $(RUNS) ## run the packing study, draw its figures, test the paper's claims
	@test -e results/packing/packing.nc || { \
	  $(PY) -m sweep +experiment=packing 'grid.load=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]' \
	    'grid.alternation=[exclusive]' 'grid.unification=[true]' replications=5 && \
	  $(PY) -m analysis results/packing figures=fig8; }
	$(PY) -m sweep +experiment=packing $(STUDY)
	$(PY) -m analysis results/packing

# The first tier: every family, policy, workload, executor, command and page, within minutes. Kernels are compiled
# beforehand, so that no test waits while another one compiles them. A file's fixtures are made in one process only.
test: $(READY) style ## run the tests (minutes)
	$(PY) -m models
	$(PY) -m pytest --numprocesses=logical --dist=loadfile -m "not exhaustive"

# The second tier: all combinations, and tests that wait, kill processes or install. Tests on a real Slurm mostly wait,
# so they run beside the others, two at a time, each on a cluster of its own; their output is shown at the end.
test-all: $(READY) check ## run the exhaustive tests as well
	@mkdir -p .cache; echo "$(PY) -m pytest tests/slurm, beside:"; \
	$(PY) -m pytest -p no:cacheprovider --numprocesses=2 --dist=worksteal -m exhaustive tests/slurm \
	  > .cache/slurm-tests.txt 2>&1 & beside=$$!; \
	$(PY) -m pytest --numprocesses=logical --dist=worksteal -m exhaustive --ignore=tests/slurm; status=$$?; \
	wait $$beside || status=1; cat .cache/slurm-tests.txt; exit $$status

storm: $(READY) ## kill, damage and deceive for about an hour, and show what became of it
	STORM=1 $(PY) -m pytest -rP --no-header --numprocesses=logical --dist=worksteal -m exhaustive tests/storms

style: $(READY) ## format, lint, words, and which package may import which
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m ruff format --check --line-length=88 $(wildcard *.md docs/*.md docs/*/*.md)
	$(PY) docs/words.py
	.venv/bin/lint-imports

check: style ## style and types
	$(PY) -m mypy

bench: $(READY) ## measure speed (ratios in one run)
	$(PY) -m benchmarks

docs: $(READY) ## build the documentation site, docs/_build/html/index.html
	$(PY) -m sphinx -W --keep-going -j auto -d docs/_build/doctrees docs docs/_build/html

# Refuses a tree with changes, and a version that has a tag.
release: $(READY) ## build the wheel and the sdist in dist/, and tag the commit
	@test -z "$$(git status --porcelain)" || { echo "the tree has changes; commit them first: git status"; exit 2; }
	@version=$$($(PY) -m hatchling version) && \
	  if git rev-parse -q --verify "refs/tags/v$$version" >/dev/null; then \
	    echo "version $$version has a tag; set the next one in pyproject.toml"; exit 2; fi && \
	  { ! grep -nE "https://[a-z.]+[.]example/" pyproject.toml CITATION.cff codemeta.json || \
	    { echo "these addresses are placeholders: set the project's own"; exit 2; }; } && \
	  { grep -q "^version: $$version$$" CITATION.cff && grep -q "\"version\": \"$$version\"" codemeta.json && grep -q "^## $$version" CHANGELOG.md || \
	    { echo "CITATION.cff, codemeta.json and CHANGELOG.md do not all have version $$version"; exit 2; }; } && \
	  rm -rf dist && $(PY) -m hatchling build -d dist && \
	  git tag -a "v$$version" -m "schedsweep $$version" && echo "dist/ and the tag v$$version are made"

lock: $(UV) ## resolve the dependencies again (exact versions and hashes, no addresses)
	$(UV) pip compile pyproject.toml --universal --all-extras --generate-hashes --no-header --quiet \
	  --upgrade --output-file requirements/locked.txt
	$(UV) pip compile pyproject.toml --extra build --universal --generate-hashes --no-header --no-annotate --quiet \
	  --constraint requirements/locked.txt --output-file requirements/run.txt

clean: ## remove what setup and tests made; keep results
	rm -rf .venv .tools .cache dist .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/reference/generated
	find . -name __pycache__ -prune -exec rm -rf {} +
