"""Run the self-test of one test item (``--ir-selftest``): no query is asked, its stored run is degraded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.selftest import on_selftest, run_selftest
from pytest_irmetrics.plugin.against import evaluate_run
from pytest_irmetrics.reports.item_report import Note
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.against import StoredRun
    from pytest_irmetrics.plugin.item import GatedItem


def selftest_result(
    item: GatedItem, golden: GoldenSet, metrics: tuple[Metric, ...], stored: StoredRun, notes: Iterable[Note]
) -> ItemResult:
    """Degrade a test's stored run, and return its result: of the run as it is, with which degradations the gates catch.

    It failed where the stored run itself fails. `notes` come before those on the self-test.
    """
    unasked = item.evaluation(golden, metrics, Retrieved(Run({}), {}, stopped="", latencies={}))
    tested = run_selftest(
        evaluate_run(unasked, stored.run, stored.run.depth),
        item.gates(golden, regression=True),
        against=stored.name,
        update=item.command("--ir-baseline-update"),
    )
    return ItemResult(
        tested.intact,
        tested.gates,
        tested.verdicts,
        against=stored.name,
        notes=[*notes, *(Note("normal", text) for text in on_selftest(tested.comparison, stored.name))],
        selftest=tested,
    )
