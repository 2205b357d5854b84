from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Whatever terminal and CI these tests run in: a test that is about colours, a width or GitHub's log says so.
for name in (
    *("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "COLUMNS", "LINES"),
    *("PYTEST_ADDOPTS", "PYTHONWARNINGS"),
):
    os.environ.pop(name, None)
# Servers of tests are on this machine.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

# A busy machine is no reason to fail: how long an example takes is for the benchmarks to say.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The gate says the same of the same code twice; examples of chance, and many, are for `make fuzz`.
settings.register_profile("irmetrics", patient, derandomize=True)
settings.register_profile("fuzz", patient, max_examples=2000, print_blob=True)
settings.load_profile("irmetrics")


@pytest.fixture(autouse=True, scope="session")
def _as_on_a_desk():
    """In CI pytest cuts no message of its summary: a test that is about that says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        patch.delenv("BUILD_NUMBER", raising=False)
        yield
