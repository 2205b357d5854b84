"""What every report file says of a run alike: verdicts in words, which queries explain them, what moved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.reports.item_report import explaining as explaining_gates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import (
        Degradation,
        ItemReport,
        QueryReport,
        ScoreRow,
        VerdictReport,
    )

_ENDINGS = {
    1: "The command failed all the same: tests failed that measure nothing here.",
    2: "The run was interrupted; what follows was measured until then.",
    3: "The run ended in an internal error; what follows was measured until then.",
    4: "The command line was wrong.",
    5: "No test was run.",
}
"""What pytest's exit statuses mean to a reader; 0 means nothing."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A test that asked for `irmetrics` and failed before anything was measured, a broken golden set for one."""

    nodeid: str
    text: str
    """Why, in the words of the test's failure."""


@dataclass(frozen=True, slots=True)
class Command:
    """How the pytest run ended that the records come from."""

    exit_status: int = 0
    """pytest's own."""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """Node id → what pytest makes of the whole test: `passed`, `failed`, `skipped`, `xfailed` or `xpassed`."""
    unmeasured: tuple[Unmeasured, ...] = ()


def fails(record: ItemReport, command: Command) -> bool:
    """Whether a reader should count this golden set among those that fail; an expected failure is none."""
    if command.outcomes.get(record.nodeid) == "xfailed":
        return False
    return record.outcome != "passed" or command.outcomes.get(record.nodeid) == "failed"


def in_order(records: Iterable[ItemReport], command: Command) -> list[ItemReport]:
    """Put what fails first; within that, go by node id."""
    return sorted(records, key=lambda record: (not fails(record, command), record.nodeid))


def told_apart(records: Sequence[ItemReport]) -> Iterator[ItemReport]:
    """Yield records whose golden sets name their test too where several tests check one, say with two retrievers."""
    shared = Counter(record.golden_set for record in records)
    names = Counter(_test_name(record) for record in records)
    for record in records:
        if shared[record.golden_set] == 1:
            yield record
            continue
        name = _test_name(record) if names[_test_name(record)] == 1 else record.nodeid
        yield replace(record, golden_set=f"{record.golden_set}, {name}")


def _test_name(record: ItemReport) -> str:
    return record.nodeid.partition("::")[2]


def unit(records: Sequence[ItemReport]) -> str:
    """Say what a record is counted as: a golden set, or a test where several check one."""
    return "golden set" if len({record.golden_set for record in records}) == len(records) else "test"


def headline(records: Sequence[ItemReport], command: Command, counted_as: str | None = None) -> str:
    """Say in one phrase how the golden sets fared: `1 of 3 golden sets fails`."""
    one = counted_as or unit(records)
    failed = sum(fails(record, command) for record in records)
    expected = sum(record.outcome != "passed" for record in records) - sum(
        record.outcome != "passed" for record in records if fails(record, command)
    )
    if not records:
        text = "nothing was measured"
    elif failed:
        verb = "fails" if failed == 1 else "fail"
        text = f"{failed} of {plural(len(records), one)} {verb}"
    elif expected:
        text = f"no {one} of {len(records)} fails unexpectedly"
    else:
        text = plural(len(records), f"{one} passes", f"{one}s pass")
    if command.unmeasured:
        count = plural(len(command.unmeasured), "test")
        text += f", {count} failed before anything was measured"
    return text


def ending(records: Sequence[ItemReport], command: Command) -> str:
    """Say how the command ended where the golden sets do not explain it; empty where they do."""
    status = command.exit_status
    if status == 1 and (command.unmeasured or any(fails(record, command) for record in records)):
        return ""
    if status == 1 and not records:
        return "Tests failed, and none that measures anything was run to its end."
    if status == 0:
        return ""
    return _ENDINGS.get(status, f"The command ended with exit status {status}.")


def verdict(record: ItemReport, command: Command) -> str:
    """Say what came of a golden set: `FAILS 2 of 7 gates`."""
    outcome = command.outcomes.get(record.nodeid)
    failed = sum(gate.state == "failed" for gate in record.gates)
    judged = sum(gate.state != "not checked" for gate in record.gates)
    if record.outcome == "passed":
        text = f"passes {plural(judged, 'gate')}" if judged else "passes; nothing was gated"
        if outcome == "failed":
            text += ", and the test fails for another reason"
    else:
        text = (
            "FAILS: not every query was retrieved"
            if record.outcome == "error"
            else f"FAILS {failed} of {plural(judged, 'gate')}"
        )
        if outcome == "xfailed":
            text += ", as its xfail mark expects"
        elif outcome == "passed":
            text += ", and the test passes all the same"
    return text if record.selftest is None else f"baseline {text}"


def subject(record: ItemReport) -> str:
    """Say what was measured: `40 queries, 10 results each, compared with the baseline`."""
    parts = [plural(record.queries, "query", "queries")]
    if record.depth is not None:
        parts.append(f"{plural(record.depth, 'result')} each")
    if record.against is not None:
        parts.append(f"compared with {record.against}")
    return ", ".join(parts)


def other_side(record: ItemReport) -> str:
    """Head what today stands beside: ``baseline``, or ``other`` where the test gave another retriever or run."""
    return "baseline" if record.against in (None, OWN_BASELINE) else "other"


def row_name(row: ScoreRow) -> str:
    """Name a row of the table: the metric, and the tag of a slice."""
    return row.metric if row.tag is None else f"{row.metric} [{row.tag}]"


def now_text(row: ScoreRow) -> str:
    """Give the mean, with as many digits as tell it from the baseline's and from its limits."""
    return score_text(row.now, row.baseline, *row.bounds)


def baseline_text(row: ScoreRow) -> str:
    """Give the baseline's mean, with as many digits as tell it from today's."""
    return score_text(row.baseline, row.now)


def delta_text(row: ScoreRow) -> str:
    """Give how far the mean moved, with as many digits as tell it from how far it may fall."""
    return signed_text(row.delta, row.allowed)


def gated_score(row: ScoreRow) -> str:
    """Give a mean with its name, and how far it moved if it did."""
    moved = f" ({delta_text(row)})" if row.delta is not None and abs(row.delta) > TOLERANCE else ""
    return f"{row_name(row)} {score_text(row.now, *row.bounds)}{moved}"


def is_compared(record: ItemReport) -> bool:
    """Whether any row has a baseline to stand beside."""
    return any(row.baseline is not None for row in record.rows)


def interval(row: ScoreRow) -> str:
    """Give the 95 % interval of a slice's delta; empty where there is none."""
    return "" if row.interval is None else " to ".join(signed_text(end, digits=3) for end in row.interval)


def slice_moved(row: ScoreRow) -> str:
    """Say what a slice shows: `fell` or `rose` where other queries like these would too, `too few` for any word."""
    if row.n < 5:
        return "too few"
    if row.interval is not None and row.interval[1] < -TOLERANCE:
        return "fell"
    return "rose" if row.interval is not None and row.interval[0] > TOLERANCE else ""


def costliest_slices(record: ItemReport, most: int) -> list[ScoreRow]:
    """Return the slices of a record; of more than `most` those that cost the mean most, in the record's order."""
    by_cost = sorted(record.slices, key=lambda row: (row.delta or 0.0) * row.n)
    kept = {row.tag for row in by_cost[:most]}
    return [row for row in record.slices if row.tag in kept]


def caught(degradation: Degradation) -> str:
    """Say which gates would catch a degradation."""
    return f"caught by {', '.join(degradation.caught_by)}" if degradation.caught_by else "MISSED"


def moved(degradation: Degradation) -> str:
    """Say how far each metric moves that moves at all."""
    told = [
        f"{name} {signed_text(delta)}" for name, delta in degradation.deltas.items() if abs(delta) > TOLERANCE
    ]
    return ", ".join(told) or "no metric moves"


def full_means(record: ItemReport) -> list[str]:
    """Say the mean over all queries, as deep as they were asked, wherever it is not the one that is compared."""
    return [
        f"{row_name(row)} {_besides(row)}: {score_text(row.full, row.now, *row.bounds)}"
        for row in record.rows
        if row.baseline is not None and row.full is not None and abs(row.full - (row.now or 0.0)) > TOLERANCE
    ]


def _besides(row: ScoreRow) -> str:
    """Say what a full mean has besides the one that is compared."""
    deeper = f"over today's results as deep as they are, not cut at {row.cut}"
    if row.cut is not None and not row.unpaired:
        return deeper
    over_all = "over all of today's queries, also those without a counterpart"
    return over_all if row.cut is None else f"{over_all}, and {deeper}"


def gated_scores(record: ItemReport) -> str:
    """Give the scores that are gated, or all of them where none is, with how far they moved."""
    rows = [row for row in record.rows if row.gate] or record.rows
    return ", ".join(map(gated_score, rows))


def failed_gates(record: ItemReport) -> list[VerdictReport]:
    """Return the gates that fail the test."""
    return [gate for gate in record.gates if gate.state == "failed"]


def explaining(record: ItemReport) -> dict[str, list[str]]:
    """Map the queries that explain the failed gates to the metrics of these, those that matter most first."""
    known = {view.query_id for view in record.views}
    order: dict[str, list[str]] = {}
    for gate in explaining_gates(record.gates):
        for query_id in gate.queries:
            if query_id in known:
                metrics = order.setdefault(query_id, [])
                if gate.metric is not None and gate.metric not in metrics:
                    metrics.append(gate.metric)
    return order


def explaining_views(record: ItemReport) -> dict[str, QueryReport]:
    """Map each query to how it is shown where it explains a failure: what only the stored judgments show, by these."""
    today = {query_id for gate in failed_gates(record) if not gate.as_stored for query_id in gate.queries}
    return {
        view.query_id: view if view.query_id in today else _by_stored_judgments(view) for view in record.views
    }


def _by_stored_judgments(view: QueryReport) -> QueryReport:
    stored = view.as_stored
    if stored is None:
        return view
    return replace(
        view,
        judgments=stored.judgments,
        now=stored.now,
        before=stored.before,
        scores=stored.scores,
        scores_before=stored.scores_before,
        status="judged as it was stored",
        as_stored=None,
    )


def as_stored(view: QueryReport) -> str:
    """Say how the query fell by the judgments that were stored, where an edit made others of them; else nothing."""
    stored = _by_stored_judgments(view)
    fell = [metric for metric in view.scores if (delta(stored, metric) or 0.0) < 0] if view.as_stored else []
    if not fell:
        return ""
    scores = (
        f"{metric} {score_text(before, now)} → {score_text(now, before)}"
        for metric in fell
        for before, now in [(stored.scores_before[metric], stored.scores[metric])]
    )
    return f"Judged as it was stored: {'; '.join(scores)}."


def leading_metric(record: ItemReport) -> str | None:
    """Choose the metric by which queries are ordered: of the first failed gate, else of a gate, else the first."""
    scored = {metric for view in record.views for metric in view.scores}
    candidates = [
        *(gate.metric for gate in failed_gates(record)),
        *(row.metric for row in record.rows if row.gate),
        *(row.metric for row in record.rows),
    ]
    return next((metric for metric in candidates if metric in scored), None)


def delta(view: QueryReport, metric: str | None) -> float | None:
    """Return how far a query's score moved; None without two scores."""
    now, before = view.scores.get(metric or ""), view.scores_before.get(metric or "")
    if now is None or before is None:
        return None
    return 0.0 if abs(now - before) <= TOLERANCE else now - before


def worst_first(record: ItemReport) -> list[QueryReport]:
    """Order queries: those with an error, those that explain a failed gate, the largest falls, the lowest scores."""
    metric = leading_metric(record)
    explained = {query_id: place for place, query_id in enumerate(explaining(record))}

    def key(view: QueryReport) -> tuple[bool, int, float, bool, float]:
        now = view.scores.get(metric or "")
        return (
            view.error is None,
            explained.get(view.query_id, len(explained)),
            min(delta(view, metric) or 0.0, 0.0),
            now is None,
            now or 0.0,
        )

    return sorted(record.views, key=key)


@dataclass(frozen=True, slots=True)
class Place:
    """A document in a ranking, with what became of it on the other side."""

    doc_id: str
    grade: float | None
    """None: not judged."""
    forbidden: bool
    move: str
    """In words: `was 5`, `new`, `now 4`, `gone`; empty where it stands as it stood, or with nothing to compare."""
    fell: bool = False

    @property
    def judgment(self) -> str:
        """What the golden set says of the document."""
        if self.forbidden:
            return "forbidden"
        return "unjudged" if self.grade is None else f"grade {self.grade:g}"

    @property
    def relevant(self) -> bool:
        """Whether it was judged above 0."""
        return not self.forbidden and self.grade is not None and self.grade > 0


def side_by_side(view: QueryReport) -> list[tuple[int, Place | None, Place | None]]:
    """Line up the ranking before with the one now, by rank; None where one is shorter."""
    was = {doc_id: rank for rank, doc_id in enumerate(view.before or (), 1)}
    now = {doc_id: rank for rank, doc_id in enumerate(view.now, 1)}

    def place(doc_id: str, move: str, *, fell: bool = False) -> Place:
        return Place(doc_id, view.judgments.get(doc_id), doc_id in view.forbidden, move, fell)

    before = [
        place(doc_id, _fate(rank, now.get(doc_id), "now", "gone"), fell=now.get(doc_id, rank + 1) > rank)
        for doc_id, rank in was.items()
    ]
    after = [
        place(
            doc_id,
            "" if view.before is None else _fate(rank, was.get(doc_id), "was", "new"),
            fell=was.get(doc_id, rank) < rank,
        )
        for doc_id, rank in now.items()
    ]
    return [
        (
            index + 1,
            before[index] if index < len(before) else None,
            after[index] if index < len(after) else None,
        )
        for index in range(max(len(before), len(after)))
    ]


def _fate(rank: int, other: int | None, moved: str, absent: str) -> str:
    if other is None:
        return absent
    return "" if other == rank else f"{moved} {other}"


def missing(view: QueryReport) -> list[Place]:
    """Return the relevant documents that are not among today's results, the highest grade first."""
    absent = [
        Place(doc_id, grade, doc_id in view.forbidden, "")
        for doc_id, grade in view.judgments.items()
        if grade > 0 and doc_id not in view.now
    ]
    return sorted(absent, key=lambda place: -(place.grade or 0.0))


def stale(records: Iterable[ItemReport]) -> list[str]:
    """Return the baselines whose test is gone, each once."""
    return sorted({path for record in records for path in record.stale})
