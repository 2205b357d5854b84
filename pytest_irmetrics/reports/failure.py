"""The message of a failed test, and single queries in full for ``-vv``, ``--ir-query`` and ``show``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.reports.item_report import WITHOUT_SCORES, explaining_gates
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    failed_gates,
    is_only_slow,
    missing_documents,
    movements,
    queries_as_judged,
    score_change_text,
    stored_judgments_note,
    took_text,
)
from pytest_irmetrics.reports.texts import compared_with, judgment_text, query_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport

_SHOWN = 3
"""How many queries a failure shows in full."""
_NAMED = 10
"""How many more it names."""


def failure_message(item: ItemReport, screen: Screen) -> str:
    """Return the message of a failed test.

    The first line says which gate failed and by how much. Then come the queries that explain it, each with its file
    and line, its ranking before and now and the documents that moved. The last lines are commands to run next.
    """
    failed = failed_gates(item)
    lines: list[str] = []
    for gate in failed:
        lines += screen.wrapped(gate.text, hanging="  ")
        for detail in gate.details:
            lines += screen.wrapped(detail, "  ")
        if gate.origin:
            lines += screen.wrapped(f"Set in {gate.origin}.", "  ")
    queries = queries_as_judged(item)
    if item.kind_sentences:
        lines.append("")
    for sentence in item.kind_sentences:
        lines += screen.wrapped(sentence)
    lines += _errors(failed, queries, screen)
    lines += _explanation(item, queries, screen)
    lines += ["", screen.cut(f"{item.golden_set}: {query_count(item)}{_judged_share(item)}")]
    for note in item.notes:
        lines += screen.wrapped(f"note: {note}", hanging="  ")
    return "\n".join([*lines, *_commands(item, failed, screen)])


def _judged_share(item: ItemReport) -> str:
    """Return which share of the results is judged, at the deepest cut-off that is reported."""
    rows = [row for row in item.rows if row.metric.startswith("judged") and row.tag is None]
    if not rows:
        return ""
    row = rows[-1]
    if row.unpaired and row.baseline is not None:
        compared = (
            f"{row.n:,} compared: {score_text(row.baseline, row.now)} → {score_text(row.now, row.baseline)}"
        )
        return f", {row.metric} {score_text(row.full)} ({compared})"
    if not row.delta or abs(row.delta) <= TOLERANCE:
        return f", {row.metric} {score_text(row.now)}"
    return f", {row.metric} {score_text(row.now, row.baseline)} (was {score_text(row.baseline, row.now)})"


def _errors(
    failed: Sequence[VerdictReport], queries: Mapping[str, QueryReport], screen: Screen
) -> Iterator[str]:
    """Show each retrieval error once, with the places of all queries that had it."""
    by_error: dict[str, list[QueryReport]] = {}
    for gate in failed:
        if gate.word == "errors":
            for query_id in gate.queries:
                by_error.setdefault(queries[query_id].error or "", []).append(queries[query_id])
    for error, failing in by_error.items():
        places = [f"{query.where}: {query.query_id}" for query in failing]
        yield ""
        if len(failing) == 1:
            yield screen.cut(places[0])
            yield from screen.wrapped(error, "  ")
        else:
            yield from screen.wrapped(f"{len(failing)} queries: {error}", hanging="  ")
            yield from (f"  {screen.cut(place, screen.width - 2)}" for place in places)


def _explanation(item: ItemReport, queries: Mapping[str, QueryReport], screen: Screen) -> Iterator[str]:
    """Show the queries that explain the failed gates, those of the first gate first."""
    gates = explaining_gates(item.gates, scores_only=True)
    scored = [gate for gate in item.gates if gate.word not in WITHOUT_SCORES]
    metrics = explaining_queries(scored, queries)
    # Of each failed gate at least the query that matters most.
    leading = list(dict.fromkeys(gate.queries[0] for gate in gates))
    shown = list(dict.fromkeys([*leading, *list(metrics)[:_SHOWN]]))[: max(_SHOWN, len(leading))]
    if not shown:
        return
    yield ""
    total = max(item.explained_by, len(metrics))
    yield from screen.wrapped(_share_explained(gates, shown, total))
    for query_id in shown:
        yield ""
        query = queries[query_id]
        yield from _query(
            query,
            metrics[query_id],
            item,
            screen,
            ranked=not is_only_slow(query, item.gates),
        )
    rest = [query_id for query_id in metrics if query_id not in shown]
    if rest:
        yield ""
        more = total - len(shown) - len(rest[:_NAMED])
        named = ", ".join(rest[:_NAMED]) + (f" and {more:,} more" if more else "")
        yield from screen.wrapped(f"Also: {named}.", hanging="  ")


def _share_explained(gates: Sequence[VerdictReport], shown: Sequence[str], total: int) -> str:
    """Introduce the queries that are shown: how many of how many, and which share of a drop they are."""
    if len(shown) < total:
        lead = f"The {len(shown)} of {total:,} queries that matter most"
        lead = f"Of {total:,} queries the one that matters most" if len(shown) == 1 else lead
    else:
        lead = "The query that explains it" if total == 1 else f"The {total} queries that explain it"
    drop = next((gate for gate in gates if gate.shares), None)
    if drop is None:
        return f"{lead}:"
    pairs = zip(drop.queries, drop.shares, strict=True)
    covered = sum(share for query_id, share in pairs if query_id in shown)
    whole = not set(drop.queries) - set(shown)
    share = f"{covered:.0%}" if covered >= 0.01 else "under 1%"
    share = "over 99%" if share == "100%" and not whole else share
    what = drop.metric if drop.tag is None else f"{drop.metric} [{drop.tag}]"
    return f"{lead} ({share} of what {what} lost):"


def _query(
    query: QueryReport, metrics: Iterable[str], item: ItemReport, screen: Screen, *, ranked: bool
) -> Iterator[str]:
    """Show one query: its scores, and where it is ``ranked`` its ranking before and now, and which documents moved."""
    yield _heading(query, screen)
    if query.text is not None and query.text != query.query_id:
        yield screen.cut(f"  query     {query.text}")
    yield from _scores(query, metrics, screen)
    if not ranked:
        return
    if query.before is not None and query.before != query.now:
        yield _ranking_line(compared_with(item), query.before, query, screen)
    yield _ranking_line("now", query.now, query, screen)
    for sentence in movements(query, item.titles):
        yield from screen.wrapped(sentence, "  ", "    ")


def _heading(query: QueryReport, screen: Screen) -> str:
    status = f" [{query.status}]" if query.status else ""
    return screen.cut(f"{query.where}: {query.query_id}{status}")


def _scores(query: QueryReport, metrics: Iterable[str], screen: Screen) -> list[str]:
    scored = [metric for metric in metrics if query.scores.get(metric) is not None]
    scores = "; ".join(f"{metric} {score_change_text(query, metric)}" for metric in scored)
    facts = filter(None, (scores, took_text(query)))
    return [line for fact in facts for line in screen.wrapped(fact, "  ")]


def _ranking_line(label: str, ranking: Sequence[str], query: QueryReport, screen: Screen) -> str:
    """Show a ranking on one line, cut to the screen; a relevant document has its grade after it."""
    text = " ".join(f"{rank} {_with_grade(doc_id, query)}" for rank, doc_id in enumerate(ranking, 1))
    return screen.cut(f"  {label:<9} {text or 'nothing'}")


def _with_grade(doc_id: str, query: QueryReport) -> str:
    relevant = query.judgments.get(doc_id, 0) > 0
    if not relevant and doc_id not in query.forbidden:
        return doc_id
    return f"{doc_id}({judgment_text(doc_id, query.judgments, query.forbidden, '')})"


def _commands(item: ItemReport, failed: Sequence[VerdictReport], screen: Screen) -> list[str]:
    """Return the commands to run next; they are not wrapped, so that they can be copied."""
    lines = [""]
    query = next((query_id for gate in explaining_gates(failed) for query_id in gate.queries), None)
    if item.look is not None and query is not None:
        separator = "=" if query.startswith("-") else " "
        option = f"--ir-query{separator}{shlex.quote(query)}"
        lines.append(screen.line(f"To look closer: {item.look} {option}"))
    lines += [
        screen.line(f"{'' if number else 'To judge both:':<16}{command}")
        for number, command in enumerate(item.judge)
    ]
    if item.accept is not None:
        lines.append(screen.line(f"To accept it:   {item.accept}"))
    return lines if len(lines) > 1 else []


def query_in_full(query: QueryReport, screen: Screen, titles: Mapping[str, str]) -> list[str]:
    """Return a query's scores and ranking, one result a line, with the titles of those documents that have one."""
    lines = [_heading(query, screen)]
    if query.text is not None and query.text != query.query_id:
        lines.append(screen.cut(f"  {query.text}"))
    if query.error is not None:
        return [*lines, *screen.wrapped(query.error, "  ")]
    lines += _scores(query, query.scores, screen)
    lines += _full_ranking(query, screen, titles)
    sentences = [*movements(query, titles), *filter(None, [stored_judgments_note(query)])]
    return [*lines, *(line for sentence in sentences for line in screen.wrapped(sentence, "  ", "    "))]


def _full_ranking(query: QueryReport, screen: Screen, titles: Mapping[str, str]) -> list[str]:
    before = {doc_id: rank for rank, doc_id in enumerate(query.before or (), 1)}
    compared = query.before is not None
    known = any(doc_id in titles for doc_id in (*query.now, *query.judgments))
    rows = [["rank", "was" if compared else "", "grade", "document", "title" if known else ""]]
    for rank, doc_id in [*enumerate(query.now, 1), *((None, doc_id) for doc_id in missing_documents(query))]:
        was = str(before[doc_id]) if doc_id in before else "new" if rank else "-"
        grade = judgment_text(doc_id, query.judgments, query.forbidden, "")
        rows.append(
            [
                str(rank or "-"),
                was if compared else "",
                grade,
                screen.line(doc_id),
                screen.line(titles.get(doc_id, "")),
            ]
        )
    if len(rows) == 1:
        return ["  nothing was returned"]
    lines = table(rows, ">>><<", screen.width - 2, ascii_only=screen.ascii_only)
    return [f"  {line}" for line in lines]
