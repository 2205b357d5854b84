"""The queries of all golden sets as one list for the HTML report: the worst first, the worst of them in full."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.reports.document import query_block
from pytest_irmetrics.reports.query_details import explaining_queries, query_option, score_delta, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.reports.blocks import Query
    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport

_IN_FULL = 300
"""How many queries, the worst, are shown with their rankings, about 5 kB each."""
_ROWS = 2000
"""How many others have a row of their own; the rest are counted."""
_OPEN = 5
"""How many of the worst are open when the page is."""


@dataclass(slots=True)
class ListedQuery:
    """One query in the list."""

    set_anchor: str
    item: ItemReport
    """The test that asked it."""
    report: QueryReport
    label: str
    """`worse`, `better`, `same`, `new`, `error`, or empty where no two scores are compared."""
    explains: bool
    """Whether it explains a failed gate."""
    anchor: str = ""
    """Empty where it has no row to be linked to."""
    in_full: Query | None = None
    opened: bool = False
    values: str = ""
    """Its score by each metric of the report, for the script: `0.5 1.0 -`."""
    values_before: str = ""
    """The same of the baseline, where a score that moved by no more than rounding is as it is now."""

    @property
    def score(self) -> float | None:
        """By its golden set's leading metric."""
        return self.report.scores.get(self.item.leading_metric or "")

    @property
    def change(self) -> float | None:
        """Of that score since the baseline."""
        return score_delta(self.report, self.item.leading_metric)

    @property
    def now(self) -> str:
        """Its score as it is printed."""
        return score_text(self.score)

    @property
    def delta(self) -> str:
        """Its change as it is printed; empty where nothing is compared."""
        return "" if self.change is None else signed_text(self.change)

    @property
    def look(self) -> str:
        """The command that shows it in full; empty where there is none."""
        return f"{self.item.look} {query_option(self.report.query_id)}" if self.item.look else ""


@dataclass(frozen=True, slots=True)
class QueryList:
    """The queries of all golden sets, the worst first."""

    queries: Sequence[ListedQuery]
    rows: Sequence[ListedQuery]
    """Those that have a row."""
    in_full: int
    """How many of these are shown with their rankings."""
    labels: Counter[str]
    """How many queries have each label."""
    metrics: Sequence[str]
    """All metrics by which any query has a score."""
    compared: bool
    """Whether any query has a ranking in the baseline."""


def query_list(items: Sequence[ItemReport], set_anchors: Sequence[str]) -> QueryList:
    """Return the queries of all golden sets; of a small report all in full, of a large one those that changed or fail."""
    anchor_of = {item.nodeid: anchor for item, anchor in zip(items, set_anchors, strict=True)}
    explaining = {
        item.nodeid: explaining_queries(item.gates, [q.query_id for q in item.queries]) for item in items
    }
    paired = {item.nodeid for item in items if any(query.before is not None for query in item.queries)}
    queries = [
        ListedQuery(
            anchor_of[item.nodeid],
            item,
            query,
            _label(query, item) if query.error is not None or item.nodeid in paired else "",
            query.query_id in explaining[item.nodeid],
        )
        for item, query in worst_first(items)
    ]
    telling = [
        one for one in queries if len(queries) <= _IN_FULL or one.explains or one.label not in ("same", "")
    ]
    full = {id(one) for one in telling[:_IN_FULL]}
    others = [one for one in queries if id(one) not in full][:_ROWS]
    has_row = full | {id(one) for one in others}
    rows = [one for one in queries if id(one) in has_row]
    metrics = list(dict.fromkeys(name for item in items for query in item.queries for name in query.scores))
    names = [
        one.report.query_id if len(items) == 1 else f"{one.set_anchor}/{one.report.query_id}" for one in rows
    ]
    for place, (one, anchor) in enumerate(zip(rows, anchors("q", names), strict=True)):
        scores, before = one.report.scores, one.report.scores_before
        same = {name for name in scores if score_delta(one.report, name) == 0}
        one.anchor = anchor
        one.values = _values(scores.get(name) for name in metrics)
        one.values_before = _values((scores if name in same else before).get(name) for name in metrics)
        if id(one) in full:
            one.in_full = query_block(one.report, list(scores), one.item, in_full=True)
            one.opened = place < _OPEN and (one.explains or one.label == "error")
    return QueryList(queries, rows, len(full), Counter(one.label for one in queries), metrics, bool(paired))


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


def _label(query: QueryReport, item: ItemReport) -> str:
    """Return the label of a query that has an error, or whose golden set is compared, as `ListedQuery.label` has it."""
    if query.error is not None:
        return "error"
    if query.before is None:
        return "new"
    delta = score_delta(query, item.leading_metric)
    return "" if delta is None else "same" if not delta else "worse" if delta < 0 else "better"


def _values(scores: Iterable[float | None]) -> str:
    return " ".join("-" if value is None else f"{value:.9g}" for value in scores)
