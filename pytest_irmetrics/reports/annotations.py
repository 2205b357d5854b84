"""Annotations of GitHub Actions: lines of a job's log that GitHub shows as errors and warnings at lines of a pull request's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.wording import cut, listed, plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.places import failures
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    failed_gates,
    look_command,
    moved_texts,
    queries_as_judged,
    score_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.reports.places import Failure
    from pytest_irmetrics.reports.session_report import SessionReport

MOST = 10
"""How many errors, and how many warnings, GitHub shows of one step."""

_GATES = 3
"""How many failed gates a message has."""

_LONGEST = 1000
"""Characters of one line of a message."""


def github_errors(session: SessionReport) -> Iterator[str]:
    """Yield a command for GitHub's log on each failed test, at the line of the query that broke most; the worst first."""
    found = failures(session)
    shown = found if len(found) <= MOST else found[: MOST - 1]
    for failure in shown:
        place = failure.place
        where = {"file": place.file, "line": place.line, "col": place.column}
        yield _command("error", where, *_title_and_message(failure, session))
    if len(shown) < len(found):
        more = plural(len(found) - len(shown), "more failure")
        yield _command("error", {}, f"Search quality: {more}", "See the end of this step's log.")


def github_warnings(session: SessionReport) -> Iterator[str]:
    """Yield a command for GitHub's log on each fall that this branch accepts, which shows it at the baseline."""
    since = session.since
    for nodeid, text in session.accepted[:MOST]:
        title = "A fall in search quality is accepted"
        yield _command("warning", {"file": since[nodeid].file}, title, f"{nodeid}: {text}")


def _title_and_message(failure: Failure, session: SessionReport) -> tuple[str, str]:
    """Return the title and the message of an annotation: what fails, the query that broke most, and where to look closer."""
    item, query = failure.item, failure.query
    if item is None:
        return "Search quality: nothing was measured", f"{failure.nodeid}: {cut(failure.text, _LONGEST)}"
    failed = failed_gates(item)
    lines = [gate.text for gate in failed[:_GATES]]
    if len(failed) > _GATES:
        lines.append(f"And {plural(len(failed) - _GATES, 'more gate')}.")
    lines += item.kind_sentences[:1]
    if query is not None:
        judged = queries_as_judged(item)
        metrics = explaining_queries(item.gates, judged).get(query.query_id, [])
        query = judged[query.query_id]
        worst = ", ".join([query.query_id, *score_texts(query, metrics)])
        told = (
            [query.error]
            if query.error is not None
            else [listed(parts, _GATES, between="; ") for parts in moved_texts(query, item.titles)]
        )
        lines.append(" ".join([f"Here: {worst}.", *(f"{text.removesuffix('.')}." for text in told)]))
    look = look_command(item)
    lines.append(f"Test: {failure.nodeid}" if look is None else f"To look closer: {look}")
    return f"Search quality: {texts.verdict(item, session)}", "\n".join(cut(line, _LONGEST) for line in lines)


def _command(name: str, where: dict[str, str | int | None], title: str, message: str) -> str:
    """Return a command for GitHub's log, as its runner reads it back: `::error file=a.yaml,line=3,title=…::…`."""
    given = {**{key: value for key, value in where.items() if value is not None}, "title": title}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in given.items())
    return f"::{name} {properties}::{_data(message)}"


def _data(text: str) -> str:
    """Escape a message: what cannot be seen is written out, a line's end stays one, and nothing in it is a command."""
    return "%0A".join(escape_terminal(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """Escape the value of a property, which ends at a comma or at colons."""
    return escape_terminal(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
