from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.expected import RENEWING, mark_tests_that_renew, remove_what_nothing_holds

# Whatever terminal and CI these tests run in: a test that is about colours, a width or GitHub's log says so.
for name in (
    *("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "COLUMNS", "LINES"),
    *("PYTEST_ADDOPTS", "PYTHONWARNINGS"),
):
    os.environ.pop(name, None)
# pytest keeps the test modules that it compiled, also where a container's variable says that Python keeps none.
sys.dont_write_bytecode = False
# Servers of tests are on this machine.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

# A busy machine is no reason to fail: how long an example takes is for the benchmarks to say. A folder may serve many examples.
slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
patient = settings(deadline=None, suppress_health_check=slow)
# The gate says the same of the same code twice; examples of chance, and many, are for `make fuzz`.
settings.register_profile("irmetrics", patient, derandomize=True, max_examples=40)
settings.register_profile("fuzz", patient, max_examples=2000, print_blob=True)
settings.load_profile("irmetrics")


@pytest.fixture(autouse=True, scope="session")
def _as_on_a_desk():
    """In CI pytest cuts no message of its summary, and commands to copy begin as pytest did: a test about that says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pytest"])
        patch.delenv("CI", raising=False)
        patch.delenv("BUILD_NUMBER", raising=False)
        yield


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "expected: holds what is printed against a file; set by tests/expected.py"
    )


def pytest_collection_modifyitems(items):
    mark_tests_that_renew(items)


def pytest_collection_finish():
    """Let the garbage collector leave alone what is loaded by now: the many runs inside tests set it off again and again."""
    gc.freeze()


def pytest_sessionfinish(session, exitstatus):
    """Where `make expected` renewed everything, what it did not renew is of no test."""
    options = session.config.option
    alone = not getattr(options, "numprocesses", None)  # else workers know what they held
    if RENEWING and alone and exitstatus == 0 and options.markexpr == "expected" and not options.file_or_dir:
        remove_what_nothing_holds()


@pytest.fixture
def project(pytester, monkeypatch):
    """Give a small project that gates its search, whose pytest runs load only the plugins that they need."""
    from tests.projects import Project  # most tests need no project, and it loads all of the package

    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    # Not by `-p`, which looks through all that is installed for an entry point of this name.
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_irmetrics.plugin")
    # A file that changes twice in a second and keeps its size would be taken for what was compiled before.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Project(pytester)


@pytest.fixture(scope="session")
def stored_once():
    """Give what `stored` stores: the first test that asks for it stores the baseline for those after it."""
    return {}


@pytest.fixture
def stored(project, stored_once):
    """Give a project whose baseline is stored."""
    if not stored_once:
        project.run("--ir-baseline-update").assert_outcomes(passed=1)
        stored_once["baseline"] = project.baseline.read_text(encoding="utf-8")
    project.write("ir_baselines/test_search/test_search_quality[faq].json", stored_once["baseline"])
    return project
