"""Parse ``--ir-report`` and write each report to its file, whole or not at all."""

from __future__ import annotations

import os
import pkgutil
import re
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.atomic_write import write_output
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.reports import formats
from pytest_irmetrics.run.run_json import FORMAT as RUN_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_irmetrics.reports.session_report import SessionReport

FORMATS = sorted(found.name for found in pkgutil.iter_modules(formats.__path__))
"""The formats, each a module of that folder; none is imported before it is needed."""
_PREFIX = re.compile(r"([A-Za-z]{2,}):(.*)", re.DOTALL)  # one letter is a drive
_UNSET = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_ACCEPTED = (
    f"Give a path that ends in {', '.join(f'.{one}' for one in FORMATS[:-1])} or .{FORMATS[-1]}, or say the format first: "
    f"{', '.join(f'{one}:PATH' for one in FORMATS)}."
)
_SUMMARY = "GITHUB_STEP_SUMMARY"


class ReportPathError(IRMetricsError, ValueError):
    """A value of ``--ir-report`` that is not valid; the message says why and what to write instead."""


@dataclass(frozen=True, slots=True)
class Target:
    """One report file to write."""

    path: Path
    format: str
    """One of `FORMATS`."""
    appends: bool = False
    """Whether it is the summary of a GitHub Actions step, to which every command appends."""


def parse(
    given: Iterable[str], folder: Path, *, option: str = "--ir-report=", standard_output: bool = False
) -> list[Target]:
    """Parse the values of ``--ir-report``, relative to a folder. Raises ReportPathError, whose message begins with `option`.

    `~` and environment variables are expanded. A path given twice is one report. ``-`` is refused unless the caller
    has a `standard_output` of its own, which pytest has not.
    """
    targets: dict[str, Target] = {}
    for text in given:
        try:
            target = _parse_one(text, folder, standard_output=standard_output)
            other = targets.setdefault(os.path.realpath(target.path), target)
            _require(
                other.format == target.format, "another report goes to the same file. Give each its own."
            )
        except ReportPathError as error:
            raise ReportPathError(f"{option}{escape_terminal(text)}: {error}") from None
    return list(targets.values())


def _require(condition: object, message: str) -> None:
    """Raise ReportPathError unless a condition holds."""
    if not condition:
        raise ReportPathError(message)


def _parse_one(text: str, folder: Path, *, standard_output: bool) -> Target:
    """Return the report that one value asks for. Raises ReportPathError."""
    prefix = _PREFIX.fullmatch(text)
    chosen, name = (prefix[1].lower(), prefix[2]) if prefix else (None, text)
    near = get_close_matches(chosen or "", FORMATS, 1)
    hint = f" Did you mean {near[0]}:?" if near else ""
    _require(chosen in (None, *FORMATS), f"the format {prefix and prefix[1]} is unknown.{hint} {_ACCEPTED}")
    expanded = os.path.expandvars(os.path.expanduser(name))  # noqa: PTH111 - a Path would drop a final slash
    for found in _UNSET.finditer(expanded):
        variable = found[1] or found[2]
        _require(variable in os.environ, f"the environment variable {variable} is not set.")
    empty = f"the path is empty. Was it to come from a variable that is not set here? {_ACCEPTED}"
    _require(expanded.strip(), empty)
    path = folder / expanded
    is_folder = expanded.endswith(("/", os.sep)) or os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for a name that no file has
    _require(not is_folder, f"this is a folder. {_ACCEPTED}")
    if _is_step_summary(path):
        _require(chosen in (None, "md"), f"the step's summary is Markdown, not {chosen}.")
        return Target(path, "md", appends=True)
    chosen = chosen or path.suffix.lower().removeprefix(".")
    _require(chosen in FORMATS, f"the path does not say in which format. {_ACCEPTED}")
    printed = text.rpartition(":")[2] == "-" and not standard_output
    _require(not printed, f"pytest itself prints to standard output. {_ACCEPTED}")
    try:
        beginning = _module(chosen).BEGINNING.encode()
    except ImportError as error:
        raise ReportPathError(f"{error}.") from None
    _refuse_to_replace(path, chosen, beginning)
    return Target(path, chosen)


def _refuse_to_replace(path: Path, form: str, beginning: bytes) -> None:
    """Raise ReportPathError where a file is there that may be a test, a baseline or any other than a report."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            begins = file.read(200)
    except OSError:  # writing it will say what is wrong
        return
    other = path.suffix.lower() != f".{form}" or RUN_FORMAT.encode() in begins
    if begins and other and not begins.startswith(beginning):
        raise ReportPathError("a file is there that is no such report. Give the report a path of its own.")


def _module(form: str) -> Any:
    """Return the module of a format. Raises ImportError saying what to install where that is missing."""
    return import_module(f"{formats.__name__}.{form}")


def _is_step_summary(path: Path) -> bool:
    summary = os.environ.get(_SUMMARY)
    return bool(summary) and os.path.realpath(path) == os.path.realpath(str(summary))


def write(targets: Iterable[Target], session: SessionReport) -> tuple[list[str], list[str]]:
    """Write the reports; return the paths that were written, and a sentence on each that was not."""
    written, problems = [], []
    for target in targets:
        shown = escape_terminal(_shown(target))
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


def _shown(target: Target) -> str:
    if target.appends:
        return f"${_SUMMARY}"
    return path_below(target.path)


def rendered(form: str, session: SessionReport) -> str:
    """Return a report in one of `FORMATS`."""
    text: str = _module(form).render(session)
    return text


def _append(path: Path, session: SessionReport) -> None:
    """Append to the summary of a GitHub Actions step, which other commands of the step may have begun."""
    from pytest_irmetrics.reports.formats import md  # noqa: PLC0415 - a run should load no more formats than it writes

    with path.open("ab") as file:
        size = file.tell()
        gap = "\n\n" if size else ""
        text = md.render(session, limit=md.STEP_SUMMARY_LIMIT - size - len(gap))
        if not text:
            raise ValueError("the step's summary is full")
        file.write((gap + text).encode())
