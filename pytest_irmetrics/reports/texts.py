"""Texts that the terminal and all report files share: verdicts, scores, slices, the self-test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pytest_irmetrics.base.numbers import (
    LATENCY_DIGITS,
    TOLERANCE,
    interval_ends_text,
    score_text,
    signed_text,
)
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports.item_report import OWN_BASELINE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import Degradation, ItemReport, ScoreRow
    from pytest_irmetrics.reports.session_report import SessionReport


_FEW = 5
"""Below so many queries, or changed ones, a slice says nothing of others: four losses and no win may be chance (p = 0.06)."""

JOINT_INTERVAL = "joint 95 %"
"""The heading of the slices' intervals, which hold together for all slices of the table with 95 % confidence."""

ONLY_QUERIES = "Only single queries were judged; the gates on means were not (--ir-query)."
"""What a report says of a run of single queries."""

IN_FULL = (
    "in full: over all of today's queries, also those without a counterpart, and their results in full depth."
)
"""What the column of means says that are not compared."""


def verdict(item: ItemReport, session: SessionReport) -> str:
    """Return the verdict on a golden set, as every output has it: `FAILS, 1 undecided`."""
    failed, outcome = item.outcome != "passed", session.outcomes.get(item.nodeid)
    states = [gate.state for gate in item.gates]
    text = "FAILS" if failed else "passes"
    if item.outcome == "error":  # retrieving every query is a gate of its own, and it failed
        failing = sum(len(gate.queries) + gate.more for gate in item.gates if gate.word == "errors")
        text += f", {failing:,} of {query_count(item)} not retrieved"
    elif item.only_queries and not failed:
        text = f"{'single queries pass, ' if 'passed' in states else ''}no mean judged"
    elif not any(row.gate for row in item.rows) and not item.only_queries:
        text += ", nothing gated"
    for state in ("accepted", "undecided"):
        text += f", {states.count(state)} {state}" if state in states else ""
    if failed and outcome == "xfailed":
        text += " as expected"
    elif failed and outcome == "passed":
        text += ", but the test passes"
    elif outcome == "failed" and not failed:
        text += ", but the test fails"
    return text if item.selftest is None else f"baseline {text}"


def subject(item: ItemReport) -> str:
    """Return what was measured: `40 queries, 10 results each, compared with the baseline`."""
    parts = [query_count(item)]
    if item.depth is not None:
        parts.append(f"{plural(item.depth, 'result')} each")
    if item.against is not None:
        parts.append(f"compared with {item.against}")
    return ", ".join(parts)


def query_count(item: ItemReport) -> str:
    """Return how many queries count, and how many do not: `27 queries (and 1 xfail)`."""
    counted = plural(item.query_count, "query", "queries")
    return f"{counted} (and {item.xfail_count:,} xfail)" if item.xfail_count else counted


def what_n_counts(item: ItemReport) -> Iterator[str]:
    """Say why ``n`` is less than the number of queries in the golden set's file."""
    if item.no_answer_count or item.xfail_count:
        counts = (
            (item.query_count - item.no_answer_count, "query has", "queries have", "an answer"),
            (item.no_answer_count, "is", "are", "marked no_answer, and in no_answer alone"),
            (item.xfail_count, "is", "are", "marked xfail, and in no mean"),
            (max(row.unpaired for row in item.rows), "has", "have", f"no counterpart in {item.against}"),
        )
        parts = [
            f"{count:,} {one if count == 1 else many} {what}" for count, one, many, what in counts if count
        ]
        yield f"n: {'; '.join(parts)}."


def compared_with(item: ItemReport) -> str:
    """Return the heading of what today is compared with: ``baseline``, or ``other`` for another retriever or run."""
    return "baseline" if item.against in (None, OWN_BASELINE) else "other"


def is_compared(item: ItemReport) -> bool:
    """Whether any row has a baseline's mean."""
    return any(row.baseline is not None for row in item.rows)


def now_text(row: ScoreRow) -> str:
    """Return today's mean, with as many digits as tell it from the baseline's and from its limits."""
    return score_text(row.now, row.baseline, *row.bounds, digits=_digits(row))


def _digits(row: ScoreRow) -> int:
    return LATENCY_DIGITS if row.metric.startswith("latency_") else 4


def baseline_text(row: ScoreRow) -> str:
    """Return the baseline's mean, with as many digits as tell it from today's."""
    return score_text(row.baseline, row.now)


def delta_text(row: ScoreRow) -> str:
    """Return the difference of the means, with as many digits as tell it from how far the mean may fall."""
    return signed_text(row.delta, row.allowed)


def worse_text(row: ScoreRow) -> str:
    """Return how many queries are worse; empty where nothing is compared."""
    return "" if row.baseline is None else f"{row.worse or 0:,}"


def better_text(row: ScoreRow) -> str:
    """Return how many queries are better; empty where nothing is compared."""
    return "" if row.baseline is None else f"{(row.changed or 0) - (row.worse or 0):,}"


def interval_text(row: ScoreRow) -> str:
    """Return the interval of a slice's delta; where none of its queries changed, which share of such queries may.

    That share is 1 − .05^(1/n), up to which none of n changes in 5 of 100 cases; empty where fewer than five changed.
    """
    if row.interval is not None:
        return interval_ends_text(row.interval)
    if row.n < _FEW or row.changed != 0:
        return ""
    return f"up to {math.ceil(100 * (1 - 0.05 ** (1 / row.n)) - TOLERANCE)} % may"


def gated_score(row: ScoreRow) -> str:
    """Return a metric with its mean, and with the difference from the baseline if there is one."""
    moved = f" ({delta_text(row)})" if row.delta is not None and abs(row.delta) > TOLERANCE else ""
    return f"{row.name} {score_text(row.now, *row.bounds, digits=_digits(row))}{moved}"


def gated_rows(item: ItemReport) -> list[ScoreRow]:
    """Return the rows that are gated, that of the leading metric first; all rows where none is."""
    rows = [row for row in item.rows if row.gate] or item.rows
    return sorted(rows, key=lambda row: row.metric != item.leading_metric or row.tag is not None)


def shown_row(item: ItemReport) -> ScoreRow | None:
    """Return the mean that fails a golden set, else its first gated one, else its first; None without any."""
    rows = gated_rows(item)
    return next((row for row in rows if row.verdict == "FAILS"), next(iter(rows), None))


def compared_count(item: ItemReport) -> str:
    """Return how many queries the leading mean compares: `, 13 compared`; empty where all of today's have a counterpart."""
    row = next(iter(gated_rows(item)), None)
    return f", {row.n:,} compared" if row is not None and row.unpaired and row.baseline is not None else ""


def full_text(row: ScoreRow) -> str:
    """Return the mean over all queries in full depth; empty where that is the mean which is compared."""
    if row.baseline is None or row.full is None or abs(row.full - (row.now or 0.0)) <= TOLERANCE:
        return ""
    return score_text(row.full, row.now, *row.bounds)


def slice_trend(row: ScoreRow) -> Literal["fell", "rose", ""]:
    """Return `fell` or `rose` where the interval of a slice excludes 0."""
    if row.interval is not None and row.interval[1] < -TOLERANCE:
        return "fell"
    return "rose" if row.interval is not None and row.interval[0] > TOLERANCE else ""


def caught_text(tried: Degradation) -> str:
    """Return `caught by mrr min`, `caught by 4 gates` or `MISSED`."""
    gates = tried.caught_by
    return f"caught by {gates[0] if len(gates) == 1 else f'{len(gates)} gates'}" if gates else "MISSED"


def selftest_conclusion(tried: Sequence[Degradation]) -> str:
    """Say in a phrase how many degradations were caught, and name the others; or that there was nothing to degrade."""
    if not tried:
        return "nothing could be made worse: the stored run finds no relevant document"
    missed = [degradation.name for degradation in tried if not degradation.caught_by]
    if not missed:
        return f"caught all {len(tried)}"
    return f"caught {len(tried) - len(missed)} of {len(tried)}; missed: {', '.join(missed)}"
