"""Annotations of GitHub Actions: lines of a job's log that GitHub shows as errors and warnings at lines of a pull request's files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.files import nearest_repository, relative_path
from pytest_irmetrics.base.wording import cut, listed, plural
from pytest_irmetrics.reports.document import named_queries
from pytest_irmetrics.reports.item_report import ItemReport, QueryReport
from pytest_irmetrics.reports.query_details import query_block
from pytest_irmetrics.reports.session_report import SessionReport

_MOST = 10
"""How many errors, and how many warnings, GitHub shows of one step."""

_NAMED = 3
"""How many failed gates a message has, and how many documents or queries."""

_LONGEST = 1000
"""Characters of one line of a message."""

_COLON = re.compile(r":(?=\d+(?::\d+)?\Z)")
"""What parts the file, the line and the column of a place."""

_PROBLEM = re.compile(r"^ *(\S.*?:\d+:\d+): (.+)", re.MULTILINE)


def github_errors(session: SessionReport, root: str) -> Iterator[str]:
    """Yield a command for GitHub's log on each failed test, at the line of the query that broke most; the worst first.

    `root` is the folder that node ids begin in, relative to where pytest was called.
    """
    failing = [item for item in session.failures_first if session.fails(item)]
    found = [*(_failed(item, session) for item in failing), *_unmeasured(session, root)]
    shown = found if len(found) <= _MOST else found[: _MOST - 1]
    yield from shown
    if len(shown) < len(found):
        more = plural(len(found) - len(shown), "more failure")
        yield _command("error", {}, f"Search quality: {more}", "See the end of this step's log.")


def github_warnings(session: SessionReport) -> Iterator[str]:
    """Yield a command for GitHub's log on baselines that were not looked at or gate nothing, on each fall accepted and on each undecided."""
    for note in session.baseline_notes:
        yield _command("warning", {}, "Search quality: a baseline that gates nothing", note)
    for state, name in (("accepted", "warning"), ("undecided", "notice")):
        for item, gate in session.verdicts_in(state)[:_MOST]:
            where = {} if item.since is None else {"file": item.since.file}
            title = f"A fall in search quality is {state}"
            worse = f" {named_queries(gate, _NAMED)}." if gate.queries else ""
            yield _command(name, where, title, f"{item.nodeid}: {gate.text}{worse}")


def _unmeasured(session: SessionReport, root: str) -> Iterator[str]:
    """Yield an error for each test that measured nothing; of a golden set that cannot be read one for each problem."""
    for nodeid, text in session.unmeasured.items():
        file = posixpath.join(root, nodeid.partition("::")[0])
        for where, what in _PROBLEM.findall(text) or [(file, text)]:
            title, message = "Search quality: nothing was measured", f"{nodeid}: {cut(what, _LONGEST)}"
            yield _command("error", _place(where, session), title, message)


def _failed(item: ItemReport, session: SessionReport) -> str:
    """Return an error: what fails, the query that broke most, and how to look closer."""
    failed = item.failed_gates
    lines = [gate.text for gate in failed[:_NAMED]]
    if len(failed) > _NAMED:
        lines.append(f"And {plural(len(failed) - _NAMED, 'more gate')}.")
    lines += item.kind_sentences[:1]
    worst, look = item.worst, item.look_command
    if worst is not None:
        lines.append(_worst(worst, item))
    lines.append(f"Test: {item.nodeid}" if look is None else f"To look closer: {look}")
    # Where no query broke: at the first failed threshold that stands in the golden set, or at the golden set itself.
    in_golden_set = (gate.origin for gate in failed if gate.origin.startswith(f"{item.golden_set}:"))
    where = next(in_golden_set, item.golden_set) if worst is None else worst.where
    message = "\n".join(cut(line, _LONGEST) for line in lines)
    return _command("error", _place(where, session), f"Search quality: {session.verdict(item)}", message)


def _worst(query: QueryReport, item: ItemReport) -> str:
    """Return what became of a query, in one line."""
    block = query_block(query, item)
    sentences = [*block.faults, *(listed(parts, _NAMED, between="; ") for parts in block.moved)]
    here = f"Here: {', '.join([query.query_id, *block.facts])}."
    return " ".join([here, *(f"{text.removesuffix('.')}." for text in sentences)])


def _place(where: str, session: SessionReport) -> dict[str, str]:
    """Return the place that messages name as ``file:line:column``, ``file:line`` or ``file``, from the repository's root."""
    parts = dict(zip(("file", "line", "col"), _COLON.split(where), strict=False))
    file = parts["file"]
    if os.path.isabs(file):  # noqa: PTH117 - text, that may be of another system
        top = nearest_repository(Path(file).parent)
        return {**parts, "file": file if top is None else relative_path(file, top)}
    folder = "" if session.info is None else session.info.folder
    return {**parts, "file": posixpath.normpath(posixpath.join(folder, file.replace(os.sep, "/")))}


def _command(name: str, where: dict[str, str], title: str, message: str) -> str:
    """Return a command for GitHub's log, as its runner reads it back: `::error file=a.yaml,line=3,title=…::…`.

    A property ends at a comma or at colons; a line's end of the message stays one, and nothing in it is a command.
    """
    values = {key: _escape_command(text) for key, text in {**where, "title": title}.items()}
    properties = [f"{key}={text.replace(':', '%3A').replace(',', '%2C')}" for key, text in values.items()]
    data = "%0A".join(map(_escape_command, message.split("\n")))
    return f"::{name} {','.join(properties)}::{data}"


def _escape_command(text: str) -> str:
    """Escape text within a workflow command."""
    return escape_terminal(text).replace("%", "%25")
