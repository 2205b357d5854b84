"""Say what a test fails with whose body passed, although something was to be gated and nothing was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.plugin.marks import marked_thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.plugin.item import GatedItem
    from pytest_irmetrics.thresholds import Gate, Threshold

_CALL_CHECK = (
    "Call it; or, in a test that is to gate nothing, call pytest_irmetrics.evaluate(golden, retriever) and do without "
    "the fixture irmetrics."
)
"""What to do about a test that has the fixture and never checks."""


CheckState: TypeAlias = Literal["not called", "not awaited", "not finished", "checked"]
"""How far ``check`` or ``acheck`` of a test came."""

_UNFINISHED: dict[CheckState, str] = {
    "not awaited": "irmetrics.acheck() was called but not awaited, so nothing was checked. Write: await irmetrics.acheck()",
    "not finished": "irmetrics.check() was called and did not come to its end, so nothing was checked. Let what it raises "
    "pass, and wait for it.",
}


def why_unchecked(item: GatedItem, state: CheckState) -> str | None:
    """Return what a test fails with that checked nothing; None where nothing was to be gated."""
    if state in _UNFINISHED:
        return _UNFINISHED[state]
    if item.parameter is not None and item.parameter.problem is not None:
        return item.parameter.problem
    try:
        bound = _bound_thresholds(item)
        gates_on_baseline = item.settings.gates
    except IRMetricsError as error:
        return str(error)
    if bound:
        return (
            f"This test has a threshold on {bound[0].metric.name} ({bound[0].origin}), and its body never called "
            f"irmetrics.check(), so nothing was checked. {_CALL_CHECK}"
        )
    if gates_on_baseline:
        return (
            "This run gates on the stored baselines, and the body of this test never called irmetrics.check(), so "
            f"nothing was checked. {_CALL_CHECK}"
        )
    return None


def _bound_thresholds(item: GatedItem) -> Sequence[Threshold | Gate]:
    """Return what a test is held to besides its baseline: the thresholds of its marks, golden set and settings."""
    levels = marked_thresholds(item.node, item.settings.custom_metrics)
    if item.parameter is None:
        of_settings: Iterable[Threshold | Gate] = [t for t in item.settings.thresholds if t.tag is None]
    else:
        golden = item.golden_set()
        levels.append([*golden.thresholds, *(t for q in golden.queries.values() for t in q.thresholds)])
        of_settings = item.gates(golden, regression=False)
    return [*(threshold for level in levels for threshold in level), *of_settings]
