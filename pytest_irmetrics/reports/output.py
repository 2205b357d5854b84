"""Parse ``--ir-report``, or the outputs of a command, and write each report: to its file, whole or not at all, or at the end of a step's summary."""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.atomic_write import write_output
from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.reports import formats
from pytest_irmetrics.reports.session_report import SessionReport

FORMATS = [found.name for found in pkgutil.iter_modules(formats.__path__)]
"""The formats by name, each a module of that folder; none is imported before it is needed."""
_PREFIX = re.compile(r"([A-Za-z]{2,}):(.*)", re.DOTALL)  # one letter is a drive
_ACCEPTED = f"Give a path that ends in {', '.join(f'.{one}' for one in FORMATS[:-1])} or .{FORMATS[-1]}, or say the format first: {', '.join(f'{one}:PATH' for one in FORMATS)}."
_SUMMARY = "GITHUB_STEP_SUMMARY"


class ReportPathError(IRMetricsError, ValueError):
    """A value of ``--ir-report`` that is not valid; the message says why and what to write instead."""


class Target(NamedTuple):
    """One report file to write."""

    path: Path
    format: str
    """One of `FORMATS`."""
    appends: bool
    """Whether it is the summary of a GitHub Actions step, to which every command appends."""


def parse(
    given: Iterable[str], folder: Path, *, option: str = "--ir-report=", prints: bool = False
) -> list[Target]:
    """Parse the values of ``--ir-report``, relative to a folder; a path given twice is one report.

    Where the caller `prints`, the path `-` is its standard output, else there is none for a report.
    `~` and environment variables are expanded, as in pytest's own options. Raises ReportPathError, whose message begins
    with `option`.
    """
    targets: dict[Target, None] = {}
    for text in given:
        try:
            targets[_parse_one(text, folder, prints=prints)] = None
        except (ReportPathError, ImportError) as error:
            raise ReportPathError(f"{option}{escape_terminal(text)}: {error}") from None
    return list(targets)


def _parse_one(text: str, folder: Path, *, prints: bool) -> Target:
    """Return the report that one value asks for. Raises ReportPathError, and ImportError saying what to install."""
    prefix = _PREFIX.fullmatch(text)
    form, name = (prefix[1].lower(), prefix[2]) if prefix else ("", text)
    expanded = os.path.expandvars(os.path.expanduser(name))  # noqa: PTH111 - a Path would drop a final slash
    path = folder / expanded
    summary = os.environ.get(_SUMMARY)
    appends = bool(summary) and os.path.realpath(path) == os.path.realpath(str(summary))
    form = form or ("md" if appends else path.suffix.lower().removeprefix("."))
    if not expanded.strip():
        problem = "the path is empty. Was it to come from a variable that is not set here?"
    elif prefix and form not in FORMATS:
        problem = f"the format {form} is unknown."
    # Path.is_dir raises for a name that no file has.
    elif expanded.endswith(("/", os.sep)) or os.path.isdir(path):  # noqa: PTH112
        problem = "this is a folder."
    elif form not in FORMATS:
        problem = "the path does not say in which format."
    elif appends and form != "md":
        problem = f"the step's summary is Markdown, not {form}."
    elif expanded == "-" and not prints:
        problem = "pytest prints to standard output."
    elif _is_another_file(path, form) and expanded != "-" and not appends:
        problem = "a file is there that is no such report."
    else:
        return Target(path, form, appends)
    raise ReportPathError(f"{problem} {_ACCEPTED}")


def _is_another_file(path: Path, form: str) -> bool:
    """Whether a file is there that begins as no such report does. Raises ImportError where Jinja2 is missing."""
    beginning = _module(form).BEGINNING.encode()
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises for a name that no file has; a pipe would keep us waiting
        return False
    try:
        with path.open("rb") as file:
            begins = file.read(200)
    except OSError:  # writing it will say what is wrong
        return False
    return bool(begins) and not begins.startswith(beginning)


def _module(form: str) -> Any:
    """Return the module of a format. Raises ImportError saying what to install where that is missing."""
    return import_module(f"{formats.__name__}.{form}")


def write(targets: Iterable[Target], session: SessionReport) -> tuple[list[str], list[str]]:
    """Write the reports, none of them to `-`, which the caller prints; return the paths that were written, and what is wrong with the others."""
    written, problems = [], []
    for target in targets:
        shown = f"${_SUMMARY}" if target.appends else escape_terminal(path_below(target.path))
        try:
            if target.appends:
                _append(target.path, session)
            else:
                write_output(target.path, rendered(target.format, session).encode())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            problems.append(f"the report {shown} was not written: {reason}.")
        else:
            written.append(shown)
    return written, problems


def rendered(form: str, session: SessionReport) -> str:
    """Return a report in one of `FORMATS`."""
    return str(_module(form).render(session))


def _append(path: Path, session: SessionReport) -> None:
    """Append to the summary of a GitHub Actions step, which other commands of the step may have begun."""
    md = _module("md")
    with path.open("ab") as file:
        size = file.tell()
        gap = "\n\n" if size else ""
        text = md.render(session, limit=md.STEP_SUMMARY_LIMIT - size - len(gap))
        if not text:
            raise ValueError("the step's summary is full")
        file.write((gap + text).encode())
