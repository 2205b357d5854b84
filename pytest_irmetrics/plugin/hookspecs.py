"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_irmetrics.evaluation import Evaluation


@pytest.hookspec
def pytest_irmetrics_metrics(config: pytest.Config) -> Mapping[str, Callable[..., float]]:
    """Return metrics of your own: a mapping from name to ``f(query, ranking, k, **parameters) -> float``.

    ``query`` has ``id``, ``text``, ``judgments``, ``tags`` and ``params``; ``ranking`` holds the returned ids, best
    first, cut to ``k`` (None: no cut-off); ``parameters`` are those in the metric's name, ``mine(alpha=2)@10``.
    The value is any finite number, higher is better. A name that is already taken is an error.

    :param config: The pytest config object.
    """
    raise NotImplementedError


@pytest.hookspec
def pytest_irmetrics_evaluated(item: pytest.Item, evaluation: Evaluation) -> None:
    """Look at an evaluation that the ``irmetrics`` fixture made, before the test passes or fails by it.

    Not called where a query could not be retrieved. The gates are decided by then: what an implementation changes is
    in no report and in no baseline, and what it returns is ignored.

    :param item: The test item.
    :param evaluation: Its golden set, run and scores.
    """
