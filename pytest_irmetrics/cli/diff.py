"""The command ``diff``: compare two stored runs by metric and by query, or two reports test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli.command_line import (
    OK,
    add_command,
    add_metric_option,
    add_metrics_option,
    add_test_option,
    count_from_zero,
    print_json_object,
    print_line,
    stdout_screen,
)
from pytest_irmetrics.cli.corpus import add_corpus_option, load_documents
from pytest_irmetrics.cli.diff_json import comparison_record
from pytest_irmetrics.cli.diff_text import comparison_lines, score_cells
from pytest_irmetrics.cli.inputs import load_golden, load_runs, runs_by_test
from pytest_irmetrics.cli.two_runs import Side, compare_runs
from pytest_irmetrics.gates import usual_metric

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.cli.two_runs import MovedByQuery, TwoRuns
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.run import Run

_SHOWN = 5
"""Queries that moved that are shown of two runs, unless ``--queries`` says otherwise."""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "diff",
        _diff,
        short="compare two stored runs, or two reports",
        description=(
            "Compare two runs: baselines, JSON reports, TREC runs. Prints each metric's mean on both "
            "sides over the queries that both have, how many queries got worse and better, and the queries that "
            "moved most with the documents that moved. Both sides are scored under the same judgments: those of "
            "--golden, or those that were stored with B, or else with A. Nothing is gated: it exits with 0 whatever "
            "the difference, and with 1 only for what cannot be read. pytest --ir-baseline is what fails. Two JSON reports of "
            "several tests are compared test by test."
        ),
        examples="""
git show 'main:tests/ir_baselines/test_search/test_it[faq].json' |
  pytest-irmetrics diff - 'tests/ir_baselines/test_search/test_it[faq].json'
pytest-irmetrics diff bm25.run dense.run --golden golden/faq.yaml --metrics ndcg@10,recall@100
pytest-irmetrics diff main.json branch.json
pytest-irmetrics diff quality.json quality.json --test bm25 --test dense
pytest-irmetrics diff main.json branch.json --json | jq '.metrics[] | select(.delta < 0)'
""",
    )
    parser.add_argument(
        "baseline",
        metavar="A",
        help="the run before; JSON where its name ends in .json, else TREC; - is standard input",
    )
    parser.add_argument("now", metavar="B", help="the run after")
    parser.add_argument(
        "--golden",
        metavar="FILE",
        help="the golden set to judge both by; TREC runs have no judgments of their own, and no run says which "
        "queries are marked xfail",
    )
    add_test_option(parser, "; given twice, A's and then B's")
    add_metrics_option(parser)
    parser.add_argument(
        "--queries",
        type=count_from_zero,
        metavar="N",
        help=f"how many of the queries that moved to show (default: {_SHOWN}; of two reports: none)",
    )
    add_corpus_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print it as JSON, with every query that moved unless --queries is given",
    )
    add_metric_option(parser)


def _diff(options: argparse.Namespace) -> int:
    given = None if options.golden is None else (options.golden, load_golden(options.golden, options.metric))
    before, after = ({}, {}) if options.tests else map(runs_by_test, (options.baseline, options.now))
    if len(before) > 1 and len(after) > 1:
        _diff_reports(before, after, given, options)
    else:
        _diff_runs(given, options)
    return OK


def _diff_runs(given: tuple[str, GoldenSet] | None, options: argparse.Namespace) -> None:
    """Print a comparison of two runs."""
    (name, before), (now_name, after) = load_runs([options.baseline, options.now], options.tests)
    baseline, now = Side(options.baseline, name, before), Side(options.now, now_name, after)
    compared = compare_runs(baseline, now, given, options.metrics)
    most = _SHOWN if options.queries is None and not options.json else options.queries
    moved = compared.moved(most)
    documents = _documents([moved], options)
    if options.json:
        print_json_object(comparison_record(compared, moved, documents))
        return
    for line in comparison_lines(compared, moved, documents, stdout_screen()):
        print_line(line)


def _diff_reports(
    before: Mapping[str, Run],
    after: Mapping[str, Run],
    given: tuple[str, GoldenSet] | None,
    options: argparse.Namespace,
) -> None:
    """Print a comparison of two reports, whose runs are given by test."""
    baseline, now = options.baseline, options.now
    compared = {
        test: compare_runs(
            Side(baseline, baseline, before[test]), Side(now, now, after[test]), given, options.metrics
        )
        for test in after
        if test in before
    }
    most = 0 if options.queries is None and not options.json else options.queries
    moved = {test: one.moved(most) for test, one in compared.items()}
    documents = _documents(moved.values(), options)
    only_before = [test for test in before if test not in after]
    only_now = [test for test in after if test not in before]
    if options.json:
        tests = [
            {"test": test, **comparison_record(one, moved[test], documents)} for test, one in compared.items()
        ]
        print_json_object({"tests": tests, "only_in_baseline": only_before, "only_in_now": only_now})
        return
    screen = stdout_screen()
    for line in [
        screen.cut(f"baseline  {baseline}: {plural(len(before), 'test')}"),
        screen.cut(f"now       {now}: {plural(len(after), 'test')}"),
        "",
        *_table_of_tests(compared, screen),
        *_notes_on_tests(((baseline, only_before), (now, only_now)), screen),
        *_lines_of_tests(compared, moved, documents, screen),
    ]:
        print_line(line)


def _documents(moved: Iterable[MovedByQuery], options: argparse.Namespace) -> Documents:
    """Return what is known of the documents to show. Raises CommandError for a corpus that cannot be read."""
    doc_ids = {one.doc_id for by_query in moved for documents in by_query.values() for one in documents}
    return load_documents([options.now, options.baseline], options.corpus, doc_ids)


def _table_of_tests(compared: Mapping[str, TwoRuns], screen: Screen) -> list[str]:
    """Return a row for each test, by its usual metric."""
    rows = [["test", "metric", "baseline", "now", "delta", "n", "worse", "better"]]
    for test, one in compared.items():
        usual = usual_metric([change.metric for change in one.changes])
        change = next((change for change in one.changes if usual in (None, change.metric)), None)
        cells = ["nothing to compare"] if change is None else score_cells(change, screen)
        rows.append([screen.line(test), *cells])
    return table(rows, "<<>>>>>>", screen.width, ascii_only=screen.ascii_only, whole=(1,))


def _notes_on_tests(only: Iterable[tuple[str, Sequence[str]]], screen: Screen) -> Iterator[str]:
    """Yield a note for each report that has tests which the other one lacks."""
    for name, tests in only:
        if tests:
            note = f"note: {plural(len(tests), 'test')} only in {name}: {listed(tests)}."
            yield from screen.wrapped(note, hanging="  ")


def _lines_of_tests(
    compared: Mapping[str, TwoRuns], moved: Mapping[str, MovedByQuery], documents: Documents, screen: Screen
) -> Iterator[str]:
    """Yield each test's own comparison."""
    for test, one in compared.items():
        yield ""
        yield screen.cut(f"== {test}")
        yield from comparison_lines(one, moved[test], documents, screen)
