"""Judge a test's run, and its stored baseline, against the baseline of another commit: what a branch accepts (``--ir-since``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.edits import edits_of
from pytest_irmetrics.base.numbers import TOLERANCE, change_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored
from pytest_irmetrics.gates import Against, decide
from pytest_irmetrics.gates.limits import limit_edits, read_limits, stricter
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports.item_report import AcceptedSince, Edit, MeanSince, SinceReport
from pytest_irmetrics.thresholds import COMPARING_WORDS, Gates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_NAMED = 5
"""How many of the queries that pay a sentence names."""

_ORIGIN = "the limits stored with that commit's baseline"
"""Where the limits were set that judged the other commit's baseline."""

_ABOUT_FALLS = ("baseline", "min", "max", "min_each", *COMPARING_WORDS)
"""The words of verdicts that another commit has a say in; forbidden documents and the like fail today."""


@dataclass(frozen=True, slots=True)
class CommittedTest:
    """A test's baseline and golden set at another commit."""

    ref: str
    commit: str
    file: str
    """The baseline's path in the repository today."""
    renamed_from: str | None
    run: Run
    golden: GoldenSet | None
    """The golden set; None where it is not known beyond what the baseline was judged with."""
    why: str
    """Why it is not known."""


def compare_since(
    now: Evaluation,
    stored: Evaluation | None,
    gates: Gates,
    verdicts: Sequence[Verdict],
    committed: CommittedTest,
) -> SinceReport:
    """Return what a branch accepts for one test: what fails against the other commit, and not today.

    `now` is today's run and `stored` today's stored baseline, None where today's run is being stored. `gates` and
    `verdicts` are today's.
    """
    report = SinceReport(
        committed.ref,
        committed.commit,
        "unchanged",
        committed.file,
        committed.renamed_from,
        why=committed.why,
    )
    before = now.of_run(committed.run)
    report.edits += [*edits_of(Comparison(now, before), committed.golden), *_depth_edit(now, committed.run)]
    limits = read_limits(committed.run, now.custom, _ORIGIN)
    judging = [gates]
    if limits is not None:
        edits = limit_edits(limits.gates, gates, now.golden.queries, committed.run.means)
        report.edits += [Edit("limit", edit.text, weaker=edit.holds == "less") for edit in edits]
        report.edits += [Edit("limit", text, text, None, weaker=True) for text in limits.unread]
        lost = f"judged it at {report.where}, and cannot be computed."
        report.accepted += [
            AcceptedSince(f"{text} {lost}", "", None, None, "limits") for text in limits.unread
        ]
        judging.append(limits.gates)
        gates = stricter(gates, limits.gates)
    gated = dict.fromkeys(mean for one in judging for mean in one.slices)
    metrics = dict.fromkeys([*now.metrics, *(metric for metric, _ in gated)])
    now = replace(now, metrics=tuple(metrics))

    # A query that this branch excludes is judged all the same.
    excluded = {edit.what for edit in report.edits if edit.kind == "excluded"}
    queries = [replace(q, xfail=None) if q.id in excluded else q for q in now.golden.queries.values()]
    counted = GoldenSet(queries, name=now.golden.name, relevance_level=now.golden.relevance_level)
    today = replace(now, golden=counted)
    before = today.of_run(committed.run)
    comparison, against = Comparison(today, before), Against(report.where)
    states = {verdict.key: verdict.state for verdict in verdicts}
    found = [
        (verdict, comparison, verdict.text)
        for verdict in decide(today, gates, comparison=comparison, against=against)
        if verdict.word in _ABOUT_FALLS and states.get(verdict.key) not in ("failed", verdict.state)
    ]
    if stored is not None and any(stored.run[i] != now.run[i] for i in stored.run if i in now.run):
        held = today.of_run(stored.run).narrowed(only=frozenset(stored.run))
        itself = Comparison(held, before)
        known = {verdict.key for verdict, *_ in found if verdict.failed}
        found += [
            (verdict, itself, f"The stored baseline: {verdict.text}")
            for verdict in decide(held, gates, comparison=itself, against=against)
            if verdict.word in ("baseline", *COMPARING_WORDS) and verdict.key not in known
        ]
    for verdict, compared, text in found:
        metric = verdict.metric
        if verdict.state == "undecided":
            report.undecided.append(text)
        elif verdict.failed:
            name = None if metric is None else metric.name
            why = "limits" if verdict.origin == _ORIGIN else "baseline"
            report.accepted.append(AcceptedSince(text, verdict.word, name, verdict.tag, why))
            if metric is not None and verdict.word == "max_drop":
                report.pays += _pays(compared, metric, verdict.tag)
    report.means += _means(comparison, now, committed.run, gated)
    if report.means and not report.accepted:
        first = report.means[0]
        report.pays += _pays(comparison, comparison.now.metric(first.metric), first.tag)
    if report.accepted:
        report.state = "accepted"
    elif report.means or report.undecided or report.edits or report.renamed_from:
        report.state = "changed"
    return report


def _pays(comparison: Comparison, metric: Metric, tag: str | None) -> Iterator[str]:
    """Yield which queries score lower than at the other commit; by the labels stored there, where today's hide it."""
    change = comparison.change(metric, tag)
    if not change.worse and comparison.under_stored_labels is not None:
        change = comparison.under_stored_labels.change(metric, tag)
    if change.worse:
        moved = [f"{i}: {change_text(change.before[i], change.after[i])}" for i in change.worse[:_NAMED]]
        more = len(change.worse) - len(moved)
        pay = plural(len(change.worse), "query pays", "queries pay")
        name = metric.name if tag is None else f"{metric.name} [{tag}]"
        yield f"{name}: {pay}: {', '.join(moved)}{f' and {more} more' if more else ''}."


def _means(
    comparison: Comparison, now: Evaluation, run: Run, gated: Iterable[tuple[Metric, str | None]]
) -> Iterator[MeanSince]:
    """Yield the gated means that moved, each with what its edits and the retriever have in that."""
    as_stored = golden_set_as_stored(run, now.golden.name)
    first = replace(comparison.baseline, golden=as_stored, depth=run.depth or now.depth, only=None)
    labels = comparison.under_stored_labels or comparison
    kept = now.narrowed(only=frozenset(comparison.paired), depth=comparison.depth)
    for metric, tag in gated:
        if metric.kind == "latency":
            continue
        steps = {
            "": first.mean_or_none(metric, tag),
            "dropped": labels.change(metric, tag).baseline,
            "judgments": comparison.change(metric, tag).baseline,
            "retriever": comparison.change(metric, tag).now,
            "excluded": kept.mean_or_none(metric, tag),
            "added": now.mean_or_none(metric, tag),
        }
        values = [value for value in steps.values() if value is not None]
        if len(values) == len(steps):
            deltas = {
                part: value - was for part, was, value in zip([*steps][1:], values, values[1:], strict=False)
            }
            parts = {part: delta for part, delta in deltas.items() if abs(delta) > TOLERANCE}
            if parts:
                yield MeanSince(metric.name, tag, values[0], values[-1], parts)


def _depth_edit(now: Evaluation, run: Run) -> Iterator[Edit]:
    """Yield the edit of the depth, where another was stored."""
    if run.depth is not None and now.depth is not None and run.depth != now.depth:
        yield Edit("depth", "", str(run.depth), str(now.depth))
