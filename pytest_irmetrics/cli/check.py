# This docstring is the --help: `make expected` renews the pages.
"""Say what is wrong with golden sets, and where.

Read golden sets and print one line for each: what it holds or, as
FILE:LINE:COLUMN, everything that is wrong with it and what to do. Exits with 1
if anything is wrong. A note on what is only doubtful (queries that ask the
same, a threshold that nothing fails) does not count.

examples:
  pytest-irmetrics check golden/*.yaml
  pytest-irmetrics check --json golden/faq.yaml | jq '.[].query'
  pytest-irmetrics check --metric freshness golden/news.yaml
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from glob import glob

from pytest_irmetrics.base.wording import FEW, listed, plural
from pytest_irmetrics.cli import shared
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.golden.lint import lint
from pytest_irmetrics.golden.query import query_as_dict
from pytest_irmetrics.reports.item_report import mean_name

ARGUMENTS = (
    shared.CUSTOM_METRIC,
    shared.argument("files", nargs="+", metavar="FILE", help=shared.GOLDEN_HELP),
    shared.argument("--json", action="store_true", help="print what was read as one JSON list, a query a line, each with its file; if anything is wrong, only that is printed, on standard error"),
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Read each golden set, and print what it holds or what is wrong with it."""
    records: list[str] = []
    status = shared.OK
    for file in [file for name in options.files for file in _expand_pattern(name)]:
        try:
            golden = shared.load_golden(file, options.custom_metrics)
        except GoldenSetError as error:
            status = shared.FAILED
            for problem in error.problems:
                shared.print_escaped(str(problem), sys.stderr if options.json else sys.stdout)
        else:
            if options.json:
                queries = golden.queries.values()
                found = [query_as_dict(query) | {"file": file, "line": query.line} for query in queries]
                records += map(json.dumps, found)
                continue
            for line in (_summary(file, golden), *lint(golden)):
                shared.print_escaped(line)
    if options.json and status == shared.OK:
        shared.print_line(shared.harmless_json("[\n" + ",\n".join(records) + "\n]"))
    return status


def _expand_pattern(name: str) -> list[str]:
    """Return the files that a pattern matches, as shells on Windows expand none; any other name as it is."""
    return [name] if os.path.exists(name) else sorted(glob(name)) or [name]  # noqa: PTH110, PTH207 - Path raises for a name that no file has


def _summary(file: str, golden: GoldenSet) -> str:
    """Return the line about a valid golden set."""
    # Not those of which all limits are `off`.
    bound = (one for one in golden.thresholds if any(limit is not None for limit in one.limits.values()))
    names = dict.fromkeys(mean_name(one.metric, one.tag) for one in bound)
    thresholds = f"thresholds on {', '.join(names)}" if names else "no thresholds"
    left = f", without any judgment and left out: {listed(golden.left_out, FEW)}" if golden.left_out else ""
    return f"{file}: {plural(len(golden.queries), 'query')}, {plural(len(golden.tags), 'tag')}, {thresholds}{left}"
