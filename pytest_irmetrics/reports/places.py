"""Places in golden sets as a CI system wants them: the file's path in the repository, and a line."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.paths import nearest_repository, relative_path
from pytest_irmetrics.reports.query_details import explaining_queries, failed_gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport
    from pytest_irmetrics.reports.session_report import SessionReport

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?")
_PROBLEM = re.compile(r"(?P<place>\S.*?:\d+:\d+): (?P<text>.+)")


class Place(NamedTuple):
    """A place in a file of the repository."""

    file: str
    """The path from the repository's root, with ``/`` on every system."""
    line: int | None = None
    column: int | None = None


class Failure(NamedTuple):
    """A test that fails, and the place in its golden set that shows why."""

    nodeid: str
    place: Place
    item: ItemReport | None
    """None where nothing was measured."""
    query: QueryReport | None
    """The query that broke most; None where the failure is about none."""
    text: str
    """What is wrong with it where nothing was measured; else empty."""


def failures(session: SessionReport) -> list[Failure]:
    """Return what fails each test: those first that measured nothing, then the worst of the others.

    What else is wrong with a golden set that cannot be read comes last.
    """
    measured = [item for item in session.measured_failures_first if session.fails(item)]
    found = [*_unmeasured(session), *(_failure(item, session) for item in measured)]
    first = {failure.nodeid: place for place, failure in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda failure: found[first[failure.nodeid]] is not failure)


def _unmeasured(session: SessionReport) -> Iterator[Failure]:
    """Yield what fails the tests that measured nothing: each problem of a golden set that cannot be read, or the message."""
    items = {item.nodeid: item for item in session.items}
    for nodeid, text in session.unmeasured.items():
        problems = [found for line in text.splitlines() if (found := _PROBLEM.fullmatch(line.strip()))]
        for problem in problems:
            yield Failure(nodeid, place_of(problem["place"], session), None, None, problem["text"])
        if not problems:
            file = items[nodeid].golden_set if nodeid in items else nodeid.partition("::")[0]
            yield Failure(nodeid, Place(_in_repository(file, session)), None, None, text)


def _failure(item: ItemReport, session: SessionReport) -> Failure:
    """Return what fails a test that measured something, at the query that broke most."""
    failed = failed_gates(item)
    worst = _worst_query(failed, item)
    return Failure(item.nodeid, _place(failed, worst, item, session), item, worst, "")


def _worst_query(gates: Sequence[VerdictReport], item: ItemReport) -> QueryReport | None:
    """Return the query that has no ranking or, where all have one, that explains failed gates best."""
    queries = {query.query_id: query for query in item.queries}
    named = [queries[query_id] for query_id in explaining_queries(gates, queries)]
    return next((query for query in named if query.error is not None), next(iter(named), None))


def _place(
    gates: Sequence[VerdictReport], worst: QueryReport | None, item: ItemReport, session: SessionReport
) -> Place:
    """Return the place of a query; of none, that of the first threshold in the golden set, or the golden set itself."""
    if worst is not None:
        return place_of(worst.where, session)
    set_in = (gate.origin for gate in gates if gate.origin.startswith(f"{item.golden_set}:"))
    return place_of(next(set_in, item.golden_set), session)


def place_of(where: str, session: SessionReport) -> Place:
    """Return the place that messages name as ``file:line:column``, ``file:line`` or ``file``."""
    found = _PLACE.fullmatch(where)
    if found is None:
        return Place(where)
    line, column = (None if text is None else int(text) for text in found.group("line", "column"))
    return Place(_in_repository(found["file"], session), line, column)


def _in_repository(shown: str, session: SessionReport) -> str:
    """Return the path from the repository's root of a file that messages name relative to where pytest was called."""
    if os.path.isabs(shown):  # noqa: PTH117 - text, that may be of another system
        top = nearest_repository(Path(shown).parent)
        return shown if top is None else relative_path(shown, top)
    folder = "" if session.info is None else session.info.folder
    return posixpath.normpath(posixpath.join(folder, shown.replace(os.sep, "/")))
