"""The command ``check``: validate golden sets, and print what they hold or what is wrong with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.command_line import (
    FAILED,
    GOLDEN_HELP,
    OK,
    add_command,
    add_format_option,
    add_metric_option,
    add_quiet_option,
    print_escaped,
    print_json_list,
)
from pytest_irmetrics.cli.inputs import load_golden
from pytest_irmetrics.golden import GoldenSetError
from pytest_irmetrics.golden.lint import lint
from pytest_irmetrics.golden.query_as_dict import query_as_dict

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.golden import GoldenSet, Query


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "check",
        _check,
        short="say what is wrong with golden sets, and where",
        description=(
            "Read golden sets and print one line for each: what it holds or, as FILE:LINE:COLUMN, everything that "
            "is wrong with it and what to do. Exits with 1 if anything is wrong; a note, about what is only doubtful (queries "
            "that ask the same, a threshold that nothing fails), is nothing wrong."
        ),
        examples="""
pytest-irmetrics check golden/*.yaml
pytest-irmetrics check --json golden/faq.yaml | jq '.[].query'
pytest-irmetrics check --metric freshness golden/news.yaml
pytest-irmetrics check --quiet golden/*.yaml || exit
git show main:golden/faq.yaml | pytest-irmetrics check -
""",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=GOLDEN_HELP)
    parser.add_argument(
        "--json",
        action="store_true",
        help=(
            "print what was read as one JSON list, a query a line, each with its file; if anything is wrong, only "
            "that is printed, on standard error"
        ),
    )
    add_quiet_option(parser, "a line for a golden set that is right, nor notes")
    add_format_option(parser)
    add_metric_option(parser)


def _check(options: argparse.Namespace) -> int:
    valid: list[tuple[str, GoldenSet]] = []
    status = OK
    for file in options.files:
        try:
            golden = load_golden(file, options.metric, options.form)
        except GoldenSetError as error:
            status = FAILED
            for problem in error.problems:
                print_escaped(str(problem), sys.stderr if options.json else sys.stdout)
        else:
            valid.append((file, golden))
            if not (options.json or options.quiet):
                print_escaped(_summary(file, golden))
                for warning in lint(golden):
                    print_escaped(str(warning))
    if options.json and status == OK:
        print_json_list(_record(file, query) for file, golden in valid for query in golden.queries.values())
    return status


def _summary(file: str, golden: GoldenSet) -> str:
    """Return the line about a valid golden set."""
    names = dict.fromkeys(
        threshold.metric.name if threshold.tag is None else f"{threshold.metric.name} for {threshold.tag}"
        for threshold in golden.thresholds
        if any(limit is not None for limit in threshold.limits.values())  # and not all of them `off`
    )
    thresholds = f"thresholds on {', '.join(names)}" if names else "no thresholds"
    marks = {
        "no_answer": sum(query.no_answer for query in golden.queries.values()),
        "xfail": sum(query.xfail is not None for query in golden.queries.values()),
    }
    queries = plural(len(golden.queries), "query", "queries")
    if any(marks.values()):
        queries += f" ({', '.join(f'{count:,} {mark}' for mark, count in marks.items() if count)})"
    return f"{file}: {queries}, {plural(len(golden.tags), 'tag')}, relevance level {golden.relevance_level}, {thresholds}"


def _record(file: str, query: Query) -> dict[str, object]:
    """Return one query as JSON has it, with its file and line."""
    return query_as_dict(query) | {"file": file, "line": query.line}
