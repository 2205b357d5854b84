"""The queries of all golden sets as one list for the HTML report: the worst first, the worst of them in full."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.reports.document import query_block
from pytest_irmetrics.reports.query_details import query_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    anchor: str = ""
    """Empty where it has no row to be linked to."""
    in_full: Query | None = None
    opened: bool = False

    @property
    def explains(self) -> bool:
        """Whether it explains a failed gate."""
        return self.report.explains is not None

    @property
    def need(self) -> tuple[bool, bool, float]:
        """By what it is ordered: an error first, then what explains a failure, the largest falls."""
        fall = 0.0 if self.explains else min(self.change or 0.0, 0.0)
        return self.label != "error", not self.explains, fall

    @property
    def score(self) -> float | None:
        """By its golden set's leading metric."""
        return self.report.scores.get(self.item.leading_metric or "")

    @property
    def change(self) -> float | None:
        """Of that score since the baseline."""
        return self.report.delta(self.item.leading_metric)

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
    """The queries of all golden sets, the worst of each first."""

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

    def values(self, scores: Mapping[str, float | None]) -> str:
        """Return scores by each of the metrics, for the script: `0.5 1.0 -`."""
        found = map(scores.get, self.metrics)
        return " ".join("-" if value is None else f"{value:.9g}" for value in found)


def query_list(items: Sequence[ItemReport], set_anchors: Sequence[str]) -> QueryList:
    """Return the queries of all golden sets; of a small report all in full, of a large one those that changed or fail."""
    compared = {item.nodeid for item in items if any(query.before is not None for query in item.queries)}
    listed = [
        (place, ListedQuery(anchor, item, query, _label(query, item, compared=item.nodeid in compared)))
        for item, anchor in zip(items, set_anchors, strict=True)
        for place, query in enumerate(item.queries)
    ]
    # Of what explains a failure the worst of each set, then the next of each.
    queries = [one for _, one in sorted(listed, key=lambda pair: (*pair[1].need, pair[0]))]
    small = len(queries) <= _IN_FULL
    telling = [one for one in queries if small or one.explains or one.label not in ("same", "")][:_IN_FULL]
    for place, one in enumerate(telling):
        one.in_full = query_block(one.report, one.item, in_full=True)
        one.opened = place < _OPEN and (one.explains or one.label == "error")
    left = len(telling) + _ROWS
    rows = [one for place, one in enumerate(queries) if place < left or one.in_full]
    names = [
        one.report.query_id if len(items) == 1 else f"{one.set_anchor}/{one.report.query_id}" for one in rows
    ]
    for one, anchor in zip(rows, anchors("q", names), strict=True):
        one.anchor = anchor
    return QueryList(
        queries,
        rows,
        len(telling),
        Counter(one.label for one in queries),
        list(dict.fromkeys(name for one in queries for name in one.report.scores)),
        bool(compared),
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


def _label(query: QueryReport, item: ItemReport, *, compared: bool) -> str:
    """Return the label of a query, as `ListedQuery.label` has it."""
    if query.error is not None:
        return "error"
    if query.before is None:
        return "new" if compared else ""
    delta = query.delta(item.leading_metric)
    return "" if delta is None else "same" if not delta else "worse" if delta < 0 else "better"
