"""A record as the text of a failure and as the lines of the summary."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import escape_terminal, is_ascii_only, to_stream
from pytest_irmetrics.base.layout import display_width, shorten, table
from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import view as digest
from pytest_irmetrics.reports.item_report import explaining
from pytest_irmetrics.reports.movements import movements
from pytest_irmetrics.reports.view import other_side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport

_EXPLAINED = 3
"""How many queries a failure shows in full; the rest are named."""

_SLICES = 30
"""How many slices a table has unless `-v` asks for all."""

_NARROWEST = 12
"""How many cells of a golden set's name are left in its line on the narrowest screen."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text goes: how wide it is, and what it can print."""

    width: int = 80
    encoding: str | None = "utf-8"

    @property
    def ascii_only(self) -> bool:
        """Whether the stream lacks the ellipsis, the minus sign and arrows."""
        return is_ascii_only(self.encoding)

    def line(self, text: str) -> str:
        """Make one line of text safe for this screen."""
        return to_stream(escape_terminal(text), self.encoding)

    def wrapped(self, text: str, indent: str = "", hanging: str | None = None) -> list[str]:
        """Break a sentence between words so that it fits; a word that is too long stands alone."""
        hanging = indent if hanging is None else hanging
        lines, current = [], indent
        for word in self.line(text).split(" "):
            joined = current + word if not current.strip() else f"{current} {word}"
            if current.strip() and display_width(joined) > self.width:
                lines.append(current)
                current = hanging + word
            else:
                current = joined
        return [*lines, current]

    def cut(self, text: str, width: int | None = None) -> str:
        """Make text safe and short enough for one line."""
        return shorten(self.line(text), self.width if width is None else width, ascii_only=self.ascii_only)


def failure(record: ItemReport, screen: Screen) -> str:
    """Return a failed test's message.

    The first line says what failed and by how much; then the queries that explain it, each with its place, its
    ranking before and now and the documents that moved; the last line is the command that goes on from here.
    """
    failed = [gate for gate in record.gates if gate.state == "failed"]
    lines: list[str] = []
    for gate in failed:
        lines += screen.wrapped(gate.text, hanging="  ")
        for detail in gate.details:
            lines += screen.wrapped(detail, "  ")
        if gate.origin:
            lines += screen.wrapped(f"Set in {gate.origin}.", "  ")
    views = digest.explaining_views(record)
    for sentence in record.kind:
        lines += ["", *screen.wrapped(sentence)] if sentence == record.kind[0] else screen.wrapped(sentence)
    lines += _errors(failed, views, screen)
    lines += _explanation(record, views, screen)
    lines += [
        "",
        screen.cut(
            f"{record.golden_set}: {plural(record.queries, 'query', 'queries')}{_judged_share(record)}"
        ),
    ]
    for note in record.notes:
        lines += screen.wrapped(f"note: {note}", hanging="  ")
    return "\n".join([*lines, *_commands(record, failed, screen)])


def _judged_share(record: ItemReport) -> str:
    """Say how many of the results were judged at all, at the deepest cut-off."""
    rows = [row for row in record.rows if row.metric.startswith("judged") and row.tag is None]
    if not rows:
        return ""
    row = rows[-1]
    if not row.delta or abs(row.delta) <= TOLERANCE:
        return f", {row.metric} {score_text(row.now)}"
    return f", {row.metric} {score_text(row.now, row.baseline)} (was {score_text(row.baseline, row.now)})"


def _errors(
    failed: Sequence[VerdictReport], views: Mapping[str, QueryReport], screen: Screen
) -> Iterator[str]:
    """Tell each error once, with the places of all queries that it befell."""
    befallen: dict[str, list[QueryReport]] = {}
    for gate in failed:
        if gate.word == "errors":
            for query_id in gate.queries:
                befallen.setdefault(views[query_id].error or "", []).append(views[query_id])
    for error, queries in befallen.items():
        places = [f"{view.where}: {view.query_id}" for view in queries]
        yield ""
        if len(queries) == 1:
            yield screen.cut(places[0])
            yield from screen.wrapped(error, "  ")
        else:
            yield from screen.wrapped(f"{len(queries)} queries: {error}", hanging="  ")
            yield from (f"  {screen.cut(place, screen.width - 2)}" for place in places)


def _explanation(record: ItemReport, views: Mapping[str, QueryReport], screen: Screen) -> Iterator[str]:
    """Show the queries that explain the failed gates, those of the first gate first."""
    gates = [gate for gate in explaining(record.gates) if gate.word not in ("errors", "baseline")]
    order: dict[str, list[str]] = {}
    for gate in gates:
        for query_id in gate.queries:
            metrics = order.setdefault(query_id, [])
            if gate.metric is not None and gate.metric not in metrics:
                metrics.append(gate.metric)
    ids = list(order)
    # Of each failed gate at least the query that matters most.
    leading = list(dict.fromkeys(gate.queries[0] for gate in gates))
    shown = list(dict.fromkeys([*leading, *ids[:_EXPLAINED]]))[: max(_EXPLAINED, len(leading))]
    if not shown:
        return
    yield ""
    total = max(record.explained_by, len(ids))
    yield from screen.wrapped(_how_much(gates, shown, total))
    for query_id in shown:
        yield ""
        yield from _query(views[query_id], order[query_id], other_side(record), screen)
    rest = [query_id for query_id in ids if query_id not in shown]
    if rest:
        yield ""
        more = total - len(shown) - len(rest[:10])
        named = ", ".join(rest[:10]) + (f" and {more:,} more" if more else "")
        yield from screen.wrapped(f"Also: {named}.", hanging="  ")


def _how_much(explained: Sequence[VerdictReport], shown: Sequence[str], total: int) -> str:
    if len(shown) < total:
        lead = f"The {len(shown)} of {total:,} queries that matter most"
        lead = f"Of {total:,} queries the one that matters most" if len(shown) == 1 else lead
    else:
        lead = "The query that explains it" if total == 1 else f"The {total} queries that explain it"
    first = next((gate for gate in explained if gate.shares), None)
    if first is None:
        return f"{lead}:"
    covered = sum(
        share for query_id, share in zip(first.queries, first.shares, strict=True) if query_id in shown
    )
    whole = not set(first.queries) - set(shown)
    share = f"{covered:.0%}" if covered >= 0.01 else "under 1%"
    share = "over 99%" if share == "100%" and not whole else share
    what = first.metric if first.tag is None else f"{first.metric} [{first.tag}]"
    return f"{lead} ({share} of what {what} lost):"


def _query(view: QueryReport, metrics: Iterable[str], other: str, screen: Screen) -> Iterator[str]:
    """Show one query: its scores, its ranking before and now, and what moved."""
    scores = "; ".join(_score(view, metric) for metric in metrics if view.scores.get(metric) is not None)
    yield _heading(view, screen)
    if view.text is not None and view.text != view.query_id:
        yield screen.cut(f"  query     {view.text}")
    if scores:
        yield from screen.wrapped(f"  {scores}", "  ")
    if view.before is not None and view.before != view.now:
        yield _ranking_line(other, view.before, view, screen)
    yield _ranking_line("now", view.now, view, screen)
    for sentence in movements(view):
        yield from screen.wrapped(sentence, "  ", "    ")


def _heading(view: QueryReport, screen: Screen) -> str:
    return screen.cut(f"{view.where}: {view.query_id}{f' [{view.status}]' if view.status else ''}")


def _score(view: QueryReport, metric: str) -> str:
    now, before = view.scores[metric], view.scores_before.get(metric)
    if not digest.delta(view, metric):
        return f"{metric} {score_text(now)}"
    return f"{metric} {score_text(before, now)} → {score_text(now, before)}"


def _ranking_line(label: str, ranking: Sequence[str], view: QueryReport, screen: Screen) -> str:
    """Show a ranking on one line: what does not fit is cut, and a relevant document carries its grade."""
    text = " ".join(f"{rank} {_labelled(doc_id, view)}" for rank, doc_id in enumerate(ranking, 1))
    return screen.cut(f"  {label:<9} {text or 'nothing'}")


def _labelled(doc_id: str, view: QueryReport) -> str:
    if doc_id in view.forbidden:
        return f"{doc_id}(forbidden)"
    grade = view.judgments.get(doc_id)
    return doc_id if not grade or grade <= 0 else f"{doc_id}({grade:g})"


def _commands(record: ItemReport, failed: Sequence[VerdictReport], screen: Screen) -> list[str]:
    """Give the commands that go on from here; they are not wrapped, so that they can be copied."""
    lines = [""]
    query = next((query_id for gate in explaining(failed) for query_id in gate.queries), None)
    if record.look is not None and query is not None:
        separator = "=" if query.startswith("-") else " "
        option = f"--ir-query{separator}{shlex.quote(query)}"
        lines.append(screen.line(f"To look closer: {record.look} {option}"))
    if record.accept is not None and any(
        gate.word in ("max_drop", "max_lost", "baseline") for gate in failed
    ):
        lines.append(screen.line(f"To accept it:   {record.accept}"))
    return lines if len(lines) > 1 else []


def details(record: ItemReport, screen: Screen) -> list[str]:
    """Return the rankings of a record's queries in full: one result a line, for ``-vv`` and ``--ir-query``."""
    lines: list[str] = []
    for view in record.views:
        lines.append(_heading(view, screen))
        if view.text is not None and view.text != view.query_id:
            lines.append(screen.cut(f"  {view.text}"))
        if view.error is not None:
            lines += screen.wrapped(view.error, "  ")
            continue
        scores = "; ".join(_score(view, metric) for metric, value in view.scores.items() if value is not None)
        lines += screen.wrapped(scores, "  ") if scores else []
        lines += _full_ranking(view, screen)
        sentences = [*movements(view), *filter(None, [digest.as_stored(view)])]
        lines += [line for sentence in sentences for line in screen.wrapped(sentence, "  ", "    ")]
        lines.append("")
    return lines


def _full_ranking(view: QueryReport, screen: Screen) -> list[str]:
    before = {doc_id: rank for rank, doc_id in enumerate(view.before or (), 1)}
    compared = view.before is not None
    rows = [["rank", "was" if compared else "", "grade", "document"]]
    absent = [doc_id for doc_id, grade in view.judgments.items() if grade > 0 and doc_id not in view.now]
    for rank, doc_id in [*enumerate(view.now, 1), *((None, doc_id) for doc_id in absent)]:
        was = str(before[doc_id]) if doc_id in before else "new" if rank else "-"
        cells = [str(rank or "-"), was if compared else "", _judged(doc_id, view), screen.line(doc_id)]
        rows.append(cells)
    if len(rows) == 1:
        return ["  nothing was returned"]
    lines = table(rows, ">>><", screen.width - 2, ascii_only=screen.ascii_only)
    return [f"  {line}" for line in lines]


def _judged(doc_id: str, view: QueryReport) -> str:
    if doc_id in view.forbidden:
        return "forbidden"
    return f"{view.judgments[doc_id]:g}" if doc_id in view.judgments else "unjudged"


def summary_table(record: ItemReport, screen: Screen) -> list[str]:
    """Return the table of a golden set's scores: now, baseline, delta, gate and verdict in words."""
    compared = any(row.baseline is not None for row in record.rows)
    header = ["metric", "n", "now", *([other_side(record), "delta"] if compared else []), "gate", "verdict"]
    rows = [header]
    for row in record.rows:
        name = digest.row_name(row)
        middle = [digest.baseline_text(row), digest.delta_text(row)] if compared else []
        rows.append([screen.line(name), str(row.n), digest.now_text(row), *middle, row.gate, row.verdict])
    align = "<>>" + (">>" if compared else "") + "<<"
    lines = table(
        [[to_stream(cell, screen.encoding) for cell in row] for row in rows],
        align,
        screen.width,
        ascii_only=screen.ascii_only,
        whole=(0, len(align) - 1),
    )
    return [*lines, *(line for sentence in digest.full_means(record) for line in screen.wrapped(sentence))]


def slices_table(record: ItemReport, screen: Screen, *, everything: bool = True) -> list[str]:
    """Return the table of slices: one metric over the queries of each tag, and what it can say."""
    if not record.slices:
        return []
    shown = record.slices if everything else digest.costliest_slices(record, _SLICES)
    rows = [
        [f"{record.slices[0].metric} by tag", "n", "now", other_side(record), "delta", "95 % interval", ""]
    ]
    for row in shown:
        scores = [digest.now_text(row), digest.baseline_text(row), digest.delta_text(row)]
        rows.append(
            [screen.line(row.tag or ""), str(row.n), *scores, digest.interval(row), digest.slice_moved(row)]
        )
    lines = table(
        [[to_stream(cell, screen.encoding) for cell in row] for row in rows],
        "<>>>>><",
        screen.width,
        ascii_only=screen.ascii_only,
    )
    left = len(record.slices) - len(shown)
    return (
        [*lines, screen.cut(f"{plural(left, 'tag')} more cost the mean less (-v shows all)")]
        if left
        else lines
    )


def one_line(record: ItemReport, screen: Screen, *, expected: bool = False) -> str:
    """Return a golden set in one line: what it came to, and the scores that are gated, as many as fit.

    ``expected``: the test is marked xfail, so that pytest counts no failure.
    """
    if record.outcome == "skipped":
        return _verdict_on(record, "skipped, nothing was evaluated", screen)
    if record.outcome == "not evaluated":
        return _verdict_on(record, "FAILS, nothing was evaluated", screen)
    ungated = "" if any(row.gate for row in record.rows) or record.only_queries else "nothing gated; "
    if record.outcome == "error":
        ungated = ""  # the gate is that every query is retrieved
    size = plural(record.queries, "query", "queries")
    whose = "" if record.selftest is None else "baseline "
    verdict = f"{whose}{_WORD[record.outcome]}{' as expected' if expected else ''}, {ungated}{size}"
    line = _verdict_on(record, verdict, screen)
    separator = "; "
    for row in [row for row in record.rows if row.gate] or record.rows:
        longer = f"{line}{separator}{screen.line(digest.gated_score(row))}"
        if display_width(longer) > screen.width:  # half a number would be another number
            break
        line, separator = longer, ", "
    return line


def _verdict_on(record: ItemReport, verdict: str, screen: Screen) -> str:
    """Put a verdict after the golden set's name, of which a long one gives way to it."""
    room = max(screen.width - display_width(verdict) - 2, _NARROWEST)
    name = shorten(screen.line(record.golden_set), room, ascii_only=screen.ascii_only, middle=True)
    return screen.cut(f"{name}: {verdict}")


_WORD = {"passed": "passes", "failed": "FAILS", "error": "FAILS, not every query was retrieved"}
