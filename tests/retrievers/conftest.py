from __future__ import annotations

import gc

import pytest

import tests.projects  # noqa: F401 - loads the package before runs within tests, which forget what they load
from tests.retrievers.ways import WAYS


@pytest.fixture(params=WAYS)
def way(request):
    """Ask a function in one of the ways."""
    return WAYS[request.param]


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_left():
    """What was never awaited, or destroyed while pending, warns here, and a warning is an error."""
    yield
    gc.collect()


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/retrievers/" in item.path.as_posix():
            # Few of the answers here are those that the golden set judges.
            item.add_marker(
                pytest.mark.filterwarnings("ignore::pytest_irmetrics.evaluation.UnknownIdsWarning")
            )
