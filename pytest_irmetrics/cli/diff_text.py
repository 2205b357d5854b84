"""Print a comparison of two runs, for `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.kind_of_change import kind_of_change
from pytest_irmetrics.analysis.slices import on_main_slice
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import change_text, score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.diff_notes import notes_on
from pytest_irmetrics.reports.texts import judgment_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.cli.two_runs import MovedByQuery, MovedDocument, TwoRuns
    from pytest_irmetrics.comparison import MetricChange

_MAX_DOCUMENTS = 10
"""Documents of one query that are shown."""


def comparison_lines(
    compared: TwoRuns, moved: MovedByQuery, documents: Documents, screen: Screen
) -> Iterator[str]:
    """Yield the lines about two runs, and about the queries to show with their moved documents."""
    for label, side in (("baseline", compared.baseline), ("now", compared.now)):
        yield screen.cut(f"{label:<8}  {side.name}: {plural(len(side.run), 'query', 'queries')}")
    yield ""
    if compared.changes:
        yield from _table(compared.changes, screen)
    else:
        yield "There is nothing to compare."
    for number, sentence in enumerate(_sentences(compared)):
        if number == 0:
            yield ""
        yield from screen.wrapped(sentence)
    for note in notes_on(compared):
        yield from screen.wrapped(f"note: {note}", hanging="  ")
    yield from _lines_of_queries(compared, moved, documents, screen)


def _sentences(compared: TwoRuns) -> Iterator[str]:
    """Yield what kind of change it is, and in which slice it mostly is."""
    if compared.leading is not None:
        yield from on_main_slice(compared.comparison, compared.leading.metric)
    kind = kind_of_change(compared.comparison) if compared.changes else None
    if kind is not None:
        yield from kind.sentences


def _table(changes: Sequence[MetricChange], screen: Screen) -> list[str]:
    """Return a row for each metric."""
    rows = [["metric", "baseline", "now", "delta", "n", "worse", "better", "same"]]
    rows += [[*score_cells(change, screen), str(len(change.same))] for change in changes]
    return table(rows, "<>>>>>>>", screen.width, ascii_only=screen.ascii_only, whole=(0,))


def score_cells(change: MetricChange, screen: Screen) -> list[str]:
    """Return a metric's name, its means, their difference, and how many queries there are, worse and better."""
    return [
        change.metric.name,
        score_text(change.baseline, change.now),
        score_text(change.now, change.baseline),
        screen.line(signed_text(change.delta)),
        *map(str, (change.n, len(change.worse), len(change.better))),
    ]


def _lines_of_queries(
    compared: TwoRuns, moved: MovedByQuery, documents: Documents, screen: Screen
) -> Iterator[str]:
    """Yield the lines about the queries whose score changed most, for better or worse."""
    if compared.leading is None:
        if compared.changes:
            yield ""
            yield "No query moved."
        return
    if not moved:
        return
    metric, total = compared.leading.metric, len(compared.moved_queries)
    yield ""
    if len(moved) == total:
        yield f"{plural(total, 'query', 'queries')} moved {metric}:"
    else:
        yield f"Of {plural(total, 'query', 'queries')} that moved {metric}, the {len(moved)} that moved it most (--queries N):"
    for query_id in moved:
        yield ""
        yield from _lines_of_query(compared, query_id, moved[query_id], documents, screen)


def _lines_of_query(
    compared: TwoRuns, query_id: str, moved: Sequence[MovedDocument], documents: Documents, screen: Screen
) -> Iterator[str]:
    """Yield the lines about one query: its place, text, scores and moved documents."""
    golden, query = compared.comparison.now.golden, compared.queries[query_id]
    yield screen.cut(f"{golden.where(query_id)}: {query_id}" if golden.path is not None else query_id)
    if query.text is not None and query.text != query_id:
        yield screen.cut(f"  {query.text}")
    scores = [
        f"{change.metric} {change_text(change.before[query_id], change.after[query_id])}"
        for change in compared.changes
        if query_id in change.worse or query_id in change.better
    ]
    yield from screen.wrapped("; ".join(scores), "  ")
    if not moved:
        return
    shown = moved[:_MAX_DOCUMENTS]
    titles = [documents.title(one.doc_id) or "" for one in shown]
    rows = [["was", "now", "grade", "document", "title" if any(titles) else ""]]
    for one, title in zip(shown, titles, strict=True):
        grade = judgment_text(one.doc_id, query.judgments, query.forbidden, grade="")
        ranks = ["-" if rank is None else str(rank) for rank in (one.before, one.now)]
        rows.append([*ranks, grade, screen.line(one.doc_id), screen.line(title)])
    for line in table(rows, ">>><<", screen.width - 2, ascii_only=screen.ascii_only):
        yield f"  {line}"
    if len(moved) > len(shown):
        yield f"  and {plural(len(moved) - len(shown), 'more document', 'more documents')}"
