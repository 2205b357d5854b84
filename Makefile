# Everything here sets itself up: Python 3.11 or later and make are enough.
#
#   make test            make test PYTHON=python3.12            make test ARGS='-k golden -n 0'

PYTHON ?= python3
# An interpreter other than the default has an environment of its own.
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(subst /,_,$(PYTHON)))
PY = $(VENV)/bin/python
PIP = $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: test expected fuzz mutants integration example docs site pictures lint types bench clean

# Reruns of a set-up are quick: a stamp says for which pyproject.toml it was done. Hundreds of processes load the package, and
# each would compile it where PYTHONDONTWRITEBYTECODE is set, as in most container images.
test: $(VENV)/.ready-test
	$(PY) -m compileall -q pytest_irmetrics
	$(PY) -m pytest -n auto --maxprocesses 8 --dist worksteal --ignore=tests/integration $(ARGS)

# The tests by properties, which make test gives the same examples each time, with examples of chance.
fuzz: $(VENV)/.ready-test
	$(PY) -m pytest -n auto --maxprocesses 8 -m hypothesis --hypothesis-profile=fuzz $(ARGS)

# Deliberate faults, of which the tests should notice 95 in 100, in a clone of what is committed:
#
#   make mutants ROOMS='gates run' SIZE=40 SEED=2
mutants: SIZE = 20
mutants: SEED = 1
mutants: $(VENV)/.ready-mutants
	rm -rf $(VENV)/mutants && git clone -q . $(VENV)/mutants
	cd $(VENV)/mutants && export PYTHONPATH="$$PWD" PATH="$(abspath $(VENV))/bin:$$PATH" && \
		python -m tests.mutants init tests/mutants/cosmic-ray.toml session.sqlite && \
		python -m tests.mutants sample session.sqlite $(ROOMS) --size $(SIZE) --seed $(SEED) && \
		nice python -m tests.mutants exec tests/mutants/cosmic-ray.toml session.sqlite && \
		cr-report --surviving-only --show-diff session.sqlite && cr-rate --estimate --fail-over 5 session.sqlite

# The outputs that tests hold whole: writes them anew from what the code prints now. Read `git diff` before you commit it.
expected: $(VENV)/.ready-test
	IRMETRICS_RENEW=1 $(PY) -m pytest -q -m expected $(ARGS)
	git diff --stat

# Against the frameworks and engines themselves, which are much to install: hundreds of megabytes. And each benchmark, at its smallest.
integration: $(VENV)/.ready-integration
	$(PY) -m pytest -n auto --maxprocesses 8 tests/integration $(ARGS)

# pytest-asyncio may be here for the tests, and would only warn about a setting of its own.
example: $(VENV)/.ready-example
	cd example_project && ../$(PY) -m pytest -p no:asyncio --ir-baseline $(ARGS)

# The documentation as a site: shown on a local port, and built with every link checked.
docs: $(VENV)/.ready-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs serve $(ARGS)

site: $(VENV)/.ready-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet

# The pictures of the HTML report in docs/reports.md, which take Chromium and chromedriver: commit them where it looks otherwise.
pictures: $(VENV)/.ready-test
	$(PY) -m tests.report_pictures

lint: $(VENV)/.ready-lint
	$(PY) -m ruff check
	$(PY) -m ruff format --check

types: $(VENV)/.ready-lint
	$(PY) -m mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(PY) -m pyright

bench: $(VENV)/.ready-bench
	@missed=; for file in benchmarks/*.py; do echo "== $$file"; $(PY) $$file || missed="$$missed $$file"; done; \
		[ -z "$$missed" ] || { echo "failed, or missed a goal:$$missed"; exit 1; }

clean:
	rm -rf .venv .venv-* dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.ready-%: $(VENV)/.ready
	$(PIP) --no-compile --group $*
	$(PY) -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib || true  # on all cores, without the tests of packages; some hold no Python
	@touch $@

$(VENV)/.ready: pyproject.toml | $(PY)
	$(PIP) --upgrade 'pip>=25.1'  # the first that reads dependency groups
	$(PIP) --no-compile --editable .
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
