"""The scores in the text format of OpenMetrics, for GitLab's metrics report and for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.reports.session_report import SessionReport

_DIGITS = 6
"""Decimal places of a mean: two runs that are equal but for rounding have equal lines."""

# GitLab takes `#` for the start of a comment wherever it stands.
_LABEL = str.maketrans({"\\": r"\\", '"': r"\"", "#": "%23"})


def render(session: SessionReport) -> str:
    """Return the means and the number of failed gates of each test, a line each: `irmetrics_score{test="…",metric="mrr"} 0.8`."""
    return "".join(f"{line}\n" for line in _lines(session))


def _lines(session: SessionReport) -> Iterator[str]:
    items = sorted(session.measured, key=lambda item: item.nodeid)
    yield "# TYPE irmetrics_score gauge"
    yield "# HELP irmetrics_score The mean over all queries of a golden set, or over those with a tag."
    for item in items:
        for row in item.rows:
            if row.full is not None:
                labels = {"test": item.nodeid, "metric": row.metric, "tag": row.tag}
                yield f"irmetrics_score{{{_labels(labels)}}} {round(row.full, _DIGITS) + 0.0}"
    yield "# TYPE irmetrics_failed_gates gauge"
    yield "# HELP irmetrics_failed_gates How many gates of a test fail."
    for item in items:
        failed = sum(gate.state == "failed" for gate in item.gates)
        yield f"irmetrics_failed_gates{{{_labels({'test': item.nodeid})}}} {failed}"
    yield "# EOF"


def _labels(labels: dict[str, str | None]) -> str:
    """Return labels as they stand between braces, without those that have no value: `test="…",metric="mrr"`."""
    shown = {
        key: escape_terminal(value).translate(_LABEL) for key, value in labels.items() if value is not None
    }
    return ",".join(f'{key}="{value}"' for key, value in shown.items())
