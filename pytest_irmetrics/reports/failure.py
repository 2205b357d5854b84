"""The message of a failed test, and single queries in full for ``-vv``, ``--ir-query`` and ``show``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import display_width, table
from pytest_irmetrics.base.screen import Line, Style
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports.brief_moves import brief_movements, one_line
from pytest_irmetrics.reports.gates_table import failed_rows, gates_table
from pytest_irmetrics.reports.item_report import WITHOUT_SCORES, explaining_gates
from pytest_irmetrics.reports.query_details import (
    explaining_lead,
    explaining_queries,
    failed_gates,
    is_only_slow,
    look_command,
    missing_documents,
    movements,
    queries_as_judged,
    score_texts,
    stored_judgments_note,
    took_text,
)
from pytest_irmetrics.reports.texts import (
    compared_with,
    judgment_text,
    query_count,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport

_SHOWN = 3
"""How many queries a failure shows in full."""
_NAMED = 10
"""How many more it names, with details."""
_MORE_VERDICTS = 3
"""How many failed gates have a sentence, besides the first and those in the table."""
_MAIN_DETAILS = 2
"""How many sentences a fall under the stored judgments begins with that say why it counts."""
_ERRORS = 6
"""How many errors are shown."""
_PLACES = 4
"""Of how many queries with one error the place is shown; the others are named."""


def failure_message(item: ItemReport, screen: Screen, *, details: bool = False) -> str:
    """Return the message of a failed test; see `failure_lines`."""
    return "\n".join(line.text for line in failure_lines(item, screen, details=details))


def failure_lines(item: ItemReport, screen: Screen, *, details: bool) -> list[Line]:
    """Return the lines of the message of a failed test, in the order in which people ask.

    The first says which gate failed and by how much. Then come what kind of change it is, a table of the failed gates, the
    queries that explain it with the documents that moved, notes, and commands to run next. With ``details`` also what
    each verdict is made of, where its limit was set, and each query's rankings before and now.
    """
    failed = failed_gates(item)
    queries = queries_as_judged(item)
    lines = _verdicts(item, failed, screen, details=details)
    if details and item.kind_sentences:
        lines.append(Line(""))
    lines += [Line(line) for sentence in item.kind_sentences for line in screen.wrapped(sentence)]
    if not details:
        lines += gates_table(item, screen)
    lines += map(Line, _errors(failed, queries, screen, details=details))
    lines += _explanation(item, queries, screen, details=details)
    if details or item.notes:
        lines.append(Line(""))
    if details:
        lines.append(Line(screen.cut(f"{item.golden_set}: {query_count(item)}")))
    for note in item.notes:
        lines += [Line(line, Style.YELLOW) for line in screen.wrapped(f"note: {note}", hanging="  ")]
    commands = _commands(item, screen)
    if commands and (details or not item.notes):
        lines.append(Line(""))
    return [*lines, *map(Line, commands)]


def _verdicts(
    item: ItemReport, failed: Sequence[VerdictReport], screen: Screen, *, details: bool
) -> list[Line]:
    """Return what the failed gates say; without ``details`` the first one, and those that the table of gates does not have."""
    tabled = {(row.metric, row.tag) for row in failed_rows(item)}
    lines: list[Line] = []
    others = 0
    for place, gate in enumerate(failed):
        # Of a drop the table has the statistics; what else a verdict says may be what mends it.
        measured = bool(gate.shares) or gate.word in ("min", "max")
        in_table = measured and (gate.metric, gate.tag) in tabled and not gate.single and not gate.as_stored
        if place and not details:
            others += not in_table
            if in_table or others > _MORE_VERDICTS:
                continue
        lines += [Line(line, Style.BOLD_RED) for line in screen.wrapped(gate.text, hanging="  ")]
        told = list(gate.details)
        if not details and gate.shares:
            told = [] if in_table else told[:_MAIN_DETAILS]
        if gate.origin and details:
            told.append(f"Set in {gate.origin}.")
        lines += [Line(line) for sentence in told for line in screen.wrapped(sentence, "  ")]
    if others > _MORE_VERDICTS and not details:
        more = plural(others - _MORE_VERDICTS, "more gate fails", "more gates fail")
        lines.append(Line(screen.cut(f"{more} (-v names them).")))
    return lines


def _errors(
    failed: Sequence[VerdictReport], queries: Mapping[str, QueryReport], screen: Screen, *, details: bool
) -> Iterator[str]:
    """Show each retrieval error once, with the places of the queries that had it; every such query is named.

    Without ``details`` only the errors of most queries are shown, of each the sentences that no error above has, and some
    of their places.
    """
    by_error: dict[str, list[QueryReport]] = {}
    said = ""
    for gate in failed:
        if gate.word == "errors":
            said = gate.text
            for query_id in gate.queries:
                by_error.setdefault(queries[query_id].error or "", []).append(queries[query_id])
    ordered = sorted(by_error.items(), key=lambda pair: -len(pair[1]))
    most = len(ordered) if details else _ERRORS
    shown: set[str] = set()
    for number, (error, failing) in enumerate(ordered[:most]):
        sentences = re.split(r"(?<=\.) ", error)
        told = error if details else " ".join(text for text in sentences if text not in shown) or error
        shown.update(sentences)
        placed = failing if details else failing[:_PLACES]
        places = [f"{query.where}: {query.query_id}" for query in placed]
        if details or number == 0:
            yield ""
        whole = details or len(ordered) > 1 or error.rstrip(".") not in said
        if len(failing) == 1:
            yield screen.cut(places[0])
            if whole:
                yield from screen.wrapped(told, "  ")
            continue
        lead = f"{len(failing):,} queries"
        yield from screen.wrapped(f"{lead}: {told}" if whole else f"{lead}:", hanging="  ")
        yield from (f"  {screen.cut(place, screen.width - 2)}" for place in places)
        others = [query.query_id for query in failing[len(placed) :]]
        if others:
            yield from screen.wrapped(f"and {', '.join(others)}", "  ")
    others = [query.query_id for _, failing in ordered[most:] for query in failing]
    if others:
        yield ""
        lead = plural(len(ordered) - most, "other error", "other errors")
        yield from screen.wrapped(f"{lead} (-v shows all), of: {', '.join(others)}", hanging="  ")


def _explanation(
    item: ItemReport, queries: Mapping[str, QueryReport], screen: Screen, *, details: bool
) -> Iterator[Line]:
    """Show the queries that explain the failed gates, those of the first gate first; with ``details`` one of each gate."""
    gates = explaining_gates(item.gates, scores_only=True)
    scored = [gate for gate in item.gates if gate.word not in WITHOUT_SCORES]
    metrics = explaining_queries(scored, queries)
    # Of each failed gate at least the query that matters most.
    leading = list(dict.fromkeys(gate.queries[0] for gate in gates))
    most = max(_SHOWN, len(leading)) if details else _SHOWN
    shown = list(dict.fromkeys([*leading, *list(metrics)[:_SHOWN]]))[:most]
    if not shown:
        return
    yield Line("")
    total = max(item.explained_by, len(metrics))
    yield from map(Line, screen.wrapped(_share_explained(gates, shown, total)))
    for query_id in shown:
        if details:
            yield Line("")
        query = queries[query_id]
        heading, *others = _query(
            query,
            metrics[query_id],
            item,
            screen,
            ranked=not is_only_slow(query, item.gates),
            details=details,
        )
        yield Line(heading, Style.BOLD)
        yield from map(Line, others)
    rest = [query_id for query_id in metrics if query_id not in shown]
    if rest and details:
        yield Line("")
        more = total - len(shown) - len(rest[:_NAMED])
        named = ", ".join(rest[:_NAMED]) + (f" and {more:,} more" if more else "")
        yield from map(Line, screen.wrapped(f"Also: {named}.", hanging="  "))


def _share_explained(gates: Sequence[VerdictReport], shown: Sequence[str], total: int) -> str:
    """Introduce the queries that are shown: how many of how many, and which share of a drop they are."""
    if len(shown) < total:
        lead = f"The {len(shown)} of {total:,} queries that matter most"
        lead = f"Of {total:,} queries the one that matters most" if len(shown) == 1 else lead
    else:
        lead = explaining_lead(total)
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
    query: QueryReport,
    metrics: Iterable[str],
    item: ItemReport,
    screen: Screen,
    *,
    ranked: bool,
    details: bool,
) -> Iterator[str]:
    """Show one query: its scores, and where it is ``ranked`` which documents moved; with ``details`` its ranking before and now."""
    asks = query.asks or ""
    yield _heading(query, screen, "" if details else asks)
    if asks and details:
        yield screen.cut(f"  query     {asks}")
    if not details:
        facts = [*score_texts(query, metrics), *filter(None, [took_text(query)])]
        yield from one_line(facts, screen, "; ", counted=False)
    else:
        yield from _scores(query, metrics, screen)
    if not ranked:
        return
    if details and query.before is not None and query.before != query.now:
        yield _ranking_line(compared_with(item), query.before, query, screen, details=details)
    if details or query.before is None:
        yield _ranking_line("now", query.now, query, screen, details=details)
    if not details:
        yield from brief_movements(query, item.titles, screen)
        return
    for sentence in movements(query, item.titles):
        yield from screen.wrapped(sentence, "  ", "    ")


def _heading(query: QueryReport, screen: Screen, asks: str = "") -> str:
    status = f" [{query.status}]" if query.status else ""
    return screen.cut(f"{query.where}: {query.query_id}{status}{f': {asks}' if asks else ''}")


def _scores(query: QueryReport, metrics: Iterable[str], screen: Screen) -> list[str]:
    facts = filter(None, ("; ".join(score_texts(query, metrics)), took_text(query)))
    return [line for fact in facts for line in screen.wrapped(fact, "  ")]


def _ranking_line(
    label: str, ranking: Sequence[str], query: QueryReport, screen: Screen, *, details: bool
) -> str:
    """Show a ranking on one line, in words where there is room for all of it; else a relevant document has its grade after it."""
    whole = ", ".join(
        f"{rank} {doc_id} ({judgment_text(doc_id, query.judgments, query.forbidden)})"
        for rank, doc_id in enumerate(ranking, 1)
    )
    whole = screen.line(f"  {label}: {whole}")
    if ranking and not details and display_width(whole) <= screen.width:
        return whole
    line = f"  {label:<9}"
    dots = "..." if screen.ascii_only else "…"
    for rank, doc_id in enumerate(ranking, 1):
        longer = f"{line} {rank} {screen.line(_with_grade(doc_id, query))}"
        room = screen.width - (0 if rank == len(ranking) else 1 + len(dots))
        if display_width(longer) > room:
            return screen.cut(longer) if rank == 1 else f"{line} {dots}"
        line = longer
    return line if ranking else f"{line} nothing"


def _with_grade(doc_id: str, query: QueryReport) -> str:
    relevant = query.judgments.get(doc_id, 0) > 0
    if not relevant and doc_id not in query.forbidden:
        return doc_id
    return f"{doc_id}({judgment_text(doc_id, query.judgments, query.forbidden, '')})"


def _commands(item: ItemReport, screen: Screen) -> list[str]:
    """Return the commands to run next; they are not wrapped, so that they can be copied."""
    lines = []
    look = look_command(item)
    if look is not None:
        lines.append(screen.line(f"To look closer: {look}"))
    if item.judge:
        # The first of two is a run that fails again, so the second must not wait for its success.
        lines.append(screen.line(f"To judge both:  {'; '.join(item.judge)}"))
    if item.accept is not None:
        lines.append(screen.line(f"To accept it:   {item.accept}"))
    return lines


def query_in_full(query: QueryReport, screen: Screen, titles: Mapping[str, str]) -> list[str]:
    """Return a query's scores and ranking, one result a line, with the titles of those documents that have one."""
    lines = [_heading(query, screen)]
    if query.asks is not None:
        lines.append(screen.cut(f"  {query.asks}"))
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
