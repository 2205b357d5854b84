# This docstring is the --help: `make expected` renews the pages.
"""Write a JSON report again, in another format.

Read the JSON report of a pytest run (--ir-report=json:PATH) and write it in
another format, without running anything again. Without -o, prints Markdown; -
is standard input or output.

examples:
  pytest-irmetrics report quality.json -o quality.html
  pytest-irmetrics report quality.json > comment.md
  pytest-irmetrics report quality.json -o "$GITHUB_STEP_SUMMARY"
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.escape import to_stream
from pytest_irmetrics.base.files import read_bytes
from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.cli import shared
from pytest_irmetrics.reports import output
from pytest_irmetrics.reports.formats import json as json_report
from pytest_irmetrics.run.answer import RunError, decode

_ADVICE = "Write the report anew; if that is no help, this is a fault of pytest-irmetrics: report it."

ARGUMENTS = (
    shared.argument("file", metavar="REPORT.json", help="what pytest --ir-report=json:PATH wrote; - is standard input"),
    shared.argument("-o", "--output", metavar="PATH", action="append", default=[], help=f"where to: the format is told by the suffix, .{', .'.join(output.FORMATS)}, or said before the path, html:PATH, also html:-; repeatable"),
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Read the report and write it to each output."""
    given = [f"md:{one}" if one == shared.STANDARD else one for one in options.output or [shared.STANDARD]]
    try:
        targets = output.parse(given, Path(), option="argument -o/--output: ", prints=True)
    except output.ReportPathError as error:
        options.parser.error(str(error))
    where = printable(options.file)
    printed = [target for target in targets if target.path == Path(shared.STANDARD)]
    with shared.readable_file(options.file) as path:
        try:
            session = json_report.loads(decode(read_bytes(path), where, "Write the report anew."))
            texts = [output.rendered(target.format, session) for target in printed]
            written, problems = output.write([one for one in targets if one not in printed], session)
        except IRMetricsError as error:
            place = "" if isinstance(error, RunError) else f"{where}:1: "  # a RunError names it itself
            raise shared.CommandError(f"{place}{error}") from None
        except Exception as error:  # noqa: BLE001 - a value that no report has may raise anything, within Jinja2 too
            problem = f"cannot be rendered, {type(error).__name__}: {str(error).rstrip('.')}"
            raise shared.CommandError(f"{where}:1: {problem}. {_ADVICE}") from None
    for line in "".join(texts).splitlines():
        shared.print_line(to_stream(line, sys.stdout.encoding))
    for name in written:
        shared.print_about(shared.STANDARD if printed else name, f"{name}: written")
    shared.print_error("\n".join(problems))
    return shared.FAILED if problems else shared.OK
