"""The command ``report``: write the JSON report of a pytest run again in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import to_stream
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, read_regular
from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.cli.command_line import (
    FAILED,
    OK,
    CommandError,
    add_command,
    add_quiet_option,
    print_escaped,
    print_line,
)
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, readable_file, write_file
from pytest_irmetrics.reports import json, markdown, output

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.reports import SessionReport


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "report",
        _report,
        short="write a JSON report again, as HTML or Markdown",
        description=(
            "Read the JSON report of a pytest run (--ir-report=json:PATH) and write it in another format, without "
            "running anything again. Without -o, prints Markdown; - is standard input or output."
        ),
        examples="""
pytest-irmetrics report quality.json -o quality.html
pytest-irmetrics report quality.json > comment.md
pytest-irmetrics report quality.json -o "$GITHUB_STEP_SUMMARY"
ssh ci cat quality.json | pytest-irmetrics report - -o html:- > quality.html
""",
    )
    parser.add_argument(
        "file", metavar="REPORT.json", help="what pytest --ir-report=json:PATH wrote; - is standard input"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="where to: the format is told by the suffix, .html, .md or .json, or said before the path, html:PATH, "
        "also html:-; repeatable",
        action="append",
        default=[],
    )
    add_quiet_option(parser, "which files were written")


def _report(options: argparse.Namespace) -> int:
    named = [text for text in options.output if text.rpartition(":")[2] != STANDARD]
    printed = [text for text in options.output if text not in named] or ([] if named else [STANDARD])
    try:
        targets = output.parse(named, Path(), option="argument -o/--output: ")
        forms = [
            "md"
            if text == STANDARD
            else output.parse([text], Path(), option="argument -o/--output: ", standard_output=True)[0].format
            for text in printed
        ]
    except output.ReportPathError as error:
        options.parser.error(str(error))
    session = _read_report(options.file)
    try:
        for form in forms:
            _print_report(form, session)
        written, problems = output.write(targets, session)
    except ArithmeticError as error:
        raise CommandError(_damaged_message(options.file, error)) from None
    for path in written if not options.quiet else ():
        print_about(STANDARD if forms else path, f"{path}: written")
    for problem in problems:
        print_escaped(problem, sys.stderr)
    return FAILED if problems else OK


def _print_report(form: str, session: SessionReport) -> None:
    """Write a report to standard output: as text for a terminal if it is Markdown, else as the bytes of the file."""
    if form != "md":
        write_file(STANDARD, output.rendered(form, session).encode())
        return
    for line in markdown.render(session).splitlines():
        print_line(to_stream(line, sys.stdout.encoding))


def _read_report(path: str) -> SessionReport:
    where = printable(path)
    try:
        with readable_file(path) as file:
            text = read_regular(file, MAX_RUN_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise CommandError(
            f"{where}: cannot be read: {error.strerror or error}. Give what pytest --ir-report=json:PATH wrote."
        ) from None
    except UnicodeDecodeError:
        raise CommandError(f"{where}:1: is not UTF-8. Write the report anew.") from None
    try:
        return json.loads(text)
    except json.ReportError as error:
        raise CommandError(f"{where}:1: {error}") from None
    except (ArithmeticError, AttributeError) as error:
        raise CommandError(_damaged_message(path, error)) from None


def _damaged_message(path: str, error: Exception) -> str:
    """Return the message about a report that was changed by hand, with a value that no report has."""
    return f"{printable(path)}:1: is damaged: {error}. Write the report anew."
