"""The queries of all golden sets as one list for the HTML report: the worst first, the worst of them in full."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.reports import plots
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    faults,
    missing_by_grade,
    query_option,
    score_delta,
    side_by_side,
    stored_judgments_note,
    took_text,
    worst_first,
)
from pytest_irmetrics.reports.texts import compared_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport
    from pytest_irmetrics.reports.query_details import RankedDocument

_IN_FULL = 300
"""How many queries, the worst, are shown with their rankings, about 5 kB each."""
_ROWS = 2000
"""How many others have a row of their own; the rest are counted."""
_OPEN = 5
"""How many of the worst are open when the page is."""
_MOST_RANKS = 25
"""How many ranks of a ranking are shown; of what is below, relevant and forbidden documents are named."""


@dataclass(frozen=True, slots=True)
class QueryScore:
    """One metric of one query, as it is printed."""

    metric: str
    now: str
    before: str
    delta: str


@dataclass(frozen=True, slots=True)
class Details:
    """What is shown of a query in full: scores, both rankings, and the lines between them."""

    scores: Sequence[QueryScore]
    ranks: Sequence[tuple[int, RankedDocument | None, RankedDocument | None]]
    lines: Sequence[plots.Line]
    below: int
    """How many ranks are left out below those shown."""
    deeper: Sequence[tuple[int, RankedDocument]]
    """Relevant and forbidden documents among them, with their ranks."""
    missing: Sequence[RankedDocument]
    """Relevant documents that are not among today's results."""
    faults: Sequence[str]
    """What is wrong with its answer whatever moved."""
    as_stored: str
    """How its scores fell under the stored judgments, where today's differ."""


@dataclass(slots=True)
class ListedQuery:
    """One query in the list."""

    set_anchor: str
    item: ItemReport
    """The test that asked it."""
    place: int
    """Where it stands in its golden set, from 0."""
    report: QueryReport
    label: str
    """`worse`, `better`, `same`, `new`, `error`, or empty where no two scores are compared."""
    explains: bool
    """Whether it explains a failed gate."""
    score: float | None
    """By its golden set's leading metric."""
    change: float | None
    anchor: str = ""
    listed: bool = False
    """Whether it has a row, so that its anchor is there to be linked to."""
    opened: bool = False
    values: str = ""
    """Its score by each metric of the report, for the script: `0.5 1.0 -`."""
    values_before: str = ""
    details: Details | None = None

    @property
    def is_telling(self) -> bool:
        """Whether it changed, or explains a failure."""
        return self.explains or self.label not in ("same", "")

    @property
    def other(self) -> str:
        """What the run is called that it is compared with: `baseline` or `other`."""
        return compared_with(self.item)

    @property
    def look(self) -> str:
        """The command that shows it in full; empty where there is none."""
        return f"{self.item.look} {query_option(self.report.query_id)}" if self.item.look else ""

    @property
    def now(self) -> str:
        """Its score by the leading metric, as it is printed."""
        return score_text(self.score)

    @property
    def delta(self) -> str:
        """Its change by the leading metric, as it is printed; empty where nothing is compared."""
        return "" if self.change is None else signed_text(self.change)

    @property
    def took(self) -> str:
        """How many milliseconds it took; empty where no latency is reported."""
        return took_text(self.report)


@dataclass(frozen=True)
class QueryList:
    """The queries of all golden sets, the worst first."""

    in_order: Sequence[ListedQuery]
    leading: Mapping[str, str | None]
    """The anchor of a golden set → the metric that its queries are ordered by."""
    metrics: Sequence[str]
    """All metrics of which any query has a score."""

    @cached_property
    def of_set(self) -> Mapping[str, Sequence[ListedQuery]]:
        """The anchor of a golden set → its queries, the worst first."""
        found: dict[str, list[ListedQuery]] = {anchor: [] for anchor in self.leading}
        for query in self.in_order:
            found[query.set_anchor].append(query)
        return found

    @property
    def in_full(self) -> int:
        """How many are shown with their rankings."""
        return sum(query.details is not None for query in self.in_order)

    @property
    def compared(self) -> bool:
        """Whether any query has a ranking in the baseline."""
        return any(query.report.before is not None for query in self.in_order)

    @property
    def labels(self) -> dict[str, int]:
        """How many queries have each label."""
        return self.counts(self.in_order)

    @staticmethod
    def counts(queries: Iterable[ListedQuery]) -> dict[str, int]:
        """Return how many of some queries have each label, without those that none has."""
        found = [query.label for query in queries]
        return {
            label: count
            for label in ("error", "worse", "better", "same", "new")
            if (count := found.count(label))
        }


def query_list(items: Sequence[ItemReport], set_anchors: Sequence[str]) -> QueryList:
    """Return the queries of all golden sets: errors, what explains a failure, then by how far each fell."""
    leading = {anchor: item.leading_metric for anchor, item in zip(set_anchors, items, strict=True)}
    found = [
        query for anchor, item in zip(set_anchors, items, strict=True) for query in _queries(item, anchor)
    ]
    if len(items) > 1:  # of a single golden set `worst_first` has the order already
        found.sort(key=_badness)
    metrics = list(dict.fromkeys(name for item in items for query in item.queries for name in query.scores))
    names = [
        query.report.query_id if len(items) == 1 else f"{query.set_anchor}/{query.report.query_id}"
        for query in found
    ]
    for query, anchor in zip(found, anchors("q", names), strict=True):
        query.anchor = anchor
    return QueryList(found, leading, metrics)


def choose_rows(queries: QueryList) -> list[ListedQuery]:
    """Say of each query whether it has a row, and whether in full; return those that have one, the worst first.

    Of a small report every query is shown in full; of a large one those that changed or fail.
    """
    small = len(queries.in_order) <= _IN_FULL
    in_full = [query for query in queries.in_order if small or query.is_telling][:_IN_FULL]
    for place, query in enumerate(in_full):
        query.details = _details(query.report, query.item.titles)
        query.opened = place < _OPEN and (query.explains or query.label == "error")
    by_score = [query for query in queries.in_order if query.details is None][:_ROWS]
    for query in (*in_full, *by_score):
        query.listed = True
        query.values = _values(query.report.scores, queries.metrics)
        query.values_before = _values_before(query.report, queries.metrics)
    return [query for query in queries.in_order if query.listed]


def anchor_of(query: ListedQuery) -> str:
    """Return a query's anchor; empty where it has no row to link to."""
    return query.anchor if query.listed else ""


def _queries(item: ItemReport, set_anchor: str) -> Iterator[ListedQuery]:
    """Yield the queries of one golden set, the worst first."""
    leading = item.leading_metric
    paired = any(query.before is not None for query in item.queries)
    places = {query.query_id: place for place, query in enumerate(item.queries)}
    explaining = explaining_queries(item.gates, places)
    for query in worst_first(item):
        delta = score_delta(query, leading)
        yield ListedQuery(
            set_anchor=set_anchor,
            item=item,
            place=places[query.query_id],
            report=query,
            label=_label(query, delta, paired=paired),
            explains=query.query_id in explaining,
            score=query.scores.get(leading or ""),
            change=delta,
        )


def _badness(query: ListedQuery) -> tuple[bool, bool, float, bool, float]:
    """Return by what the queries of several golden sets are ordered, as `worst_first` orders those of one."""
    return (
        query.label != "error",
        not query.explains,
        min(query.change or 0.0, 0.0),
        query.score is None,
        query.score or 0.0,
    )


def anchors(prefix: str, names: Iterable[str]) -> list[str]:
    """Return an anchor for each name, made of it, so that the next report has the same ones."""
    found: dict[str, None] = {}
    for name in names:
        words = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
        anchor = base = f"{prefix}-{words[:80]}"
        count = 1
        while anchor in found:
            count += 1
            anchor = f"{base}-{count}"
        found[anchor] = None
    return list(found)


def _details(query: QueryReport, titles: Mapping[str, str]) -> Details:
    """Return what the list shows of a query in full: its scores, and its rankings side by side."""
    both = side_by_side(query, titles)
    shown = both[:_MOST_RANKS]
    return Details(
        scores=[_score(query, name) for name in query.scores if query.scores[name] is not None],
        ranks=shown,
        lines=plots.rank_lines(shown) if query.before is not None else [],
        below=len(both) - len(shown),
        deeper=[
            (rank, now)
            for rank, _, now in both[_MOST_RANKS:]
            if now is not None and (now.relevant or now.forbidden)
        ],
        missing=missing_by_grade(query, titles),
        faults=list(faults(query, titles)),
        as_stored=stored_judgments_note(query),
    )


def _label(query: QueryReport, delta: float | None, *, paired: bool) -> str:
    """Return a query's label in the list, as `ListedQuery.label` has it; `paired`: its golden set has a baseline."""
    if query.error is not None:
        return "error"
    if not paired:
        return ""
    if query.before is None:
        return "new"
    if delta is None:
        return ""
    return "same" if not delta else "worse" if delta < 0 else "better"


def _values(scores: Mapping[str, float | None], metrics: Sequence[str]) -> str:
    found = (scores.get(metric) for metric in metrics)
    return " ".join("-" if value is None else f"{value:.9g}" for value in found)


def _values_before(query: QueryReport, metrics: Sequence[str]) -> str:
    """Return the scores before; those that moved by no more than rounding as they are now, for the script to compare."""
    same = {metric: query.scores[metric] for metric in metrics if score_delta(query, metric) == 0}
    scores: dict[str, Any] = {**query.scores_before, **same}
    return _values(scores, metrics)


def _score(query: QueryReport, metric: str) -> QueryScore:
    now, before, delta = query.scores[metric], query.scores_before.get(metric), score_delta(query, metric)
    return QueryScore(
        metric,
        score_text(now, before),
        score_text(before, now),
        "" if delta is None else signed_text(delta),
    )
