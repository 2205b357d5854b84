"""The command ``label``: list the returned documents that should be judged next, and append judgments to a golden set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.labelling import pool
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import label_csv
from pytest_irmetrics.cli.command_line import (
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_metric_option,
    add_quiet_option,
    add_test_option,
    print_escaped,
    print_json_list,
    print_line,
    ranking_metric,
    stdout_screen,
)
from pytest_irmetrics.cli.corpus import add_corpus_option, load_documents
from pytest_irmetrics.cli.find_baselines import baselines_of_golden_set
from pytest_irmetrics.cli.inputs import no_run_message, runs_of_golden_set
from pytest_irmetrics.cli.label_append import (
    append,
    find_query,
    judgments_given,
    passages_given,
    why_not_editable,
)
from pytest_irmetrics.cli.label_list import list_lines, record, write_csv
from pytest_irmetrics.cli.standard_streams import STANDARD, readable_file
from pytest_irmetrics.golden import GoldenSet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Pool
    from pytest_irmetrics.cli.command_line import Commands, Parser
    from pytest_irmetrics.cli.judgment import Judgment
    from pytest_irmetrics.run import Run

_DEFAULT_LIMIT = 20
"""Documents that are listed."""
_PROTECTED = "\0"
"""A prefix that no argument of a command line can have."""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "label",
        _label,
        short="say which documents to judge next, and append judgments",
        description=(
            "Print the returned documents that the golden set does not judge, those on which its mean hangs most "
            "first: a document counts for what its rank would be worth if it were as good as the query's best, times "
            "the query's share of the weight. The rankings are those of the baselines of this golden set, found in its "
            "project, and of the run that --run names; several that --run names stand for themselves. Of several runs, "
            "what all return at one rank comes last, as it settles nothing between them. "
            "With --interactive, --from, --judge or --passage the "
            "judgments go into FILE, of which everything else stays as it is, comments and layout too; a document that "
            "is judged already is never changed. As FILE, - is YAML on standard input, which then goes to standard output."
        ),
        examples="""
pytest-irmetrics label golden/faq.yaml
pytest-irmetrics label golden/faq.yaml --run report.json
pytest-irmetrics label golden/faq.yaml --run report.json --interactive
pytest-irmetrics label golden/faq.yaml --run bm25.run --run dense.run --limit 50
pytest-irmetrics label golden/faq.yaml --out todo.csv
pytest-irmetrics label golden/faq.yaml --from todo.csv
pytest-irmetrics label golden/faq.yaml --judge refund doc-77 2 --judge refund doc-5 0
pytest-irmetrics label golden/faq.yaml --passage refund handbook "within thirty days" 2
pytest-irmetrics label golden/faq.yaml --out - | column -s, -t
""",
    )
    parser.add_argument(
        "file", metavar="FILE", help="a golden set; one in YAML to append to; - is standard input"
    )
    _add_choice_of_documents(parser)
    parser.add_argument(
        "--scale",
        type=_scale,
        metavar="N",
        help="with --interactive: the highest grade that a key gives, up to 9 (default: the highest of the golden set)",
    )
    _add_what_to_do(parser)
    add_quiet_option(parser, "which judgments were appended")
    add_metric_option(parser)


def _add_choice_of_documents(parser: Parser) -> None:
    """Add the options that say which documents are listed."""
    which = parser.add_argument_group("which documents")
    which.add_argument(
        "--run",
        dest="stored",
        action="append",
        default=[],
        metavar="RUN",
        help="a baseline, a JSON report, or a TREC run: one is pooled with the baselines, several stand for themselves",
    )
    add_test_option(which)
    which.add_argument(
        "--by",
        type=ranking_metric,
        default="ndcg@10",
        metavar="METRIC",
        help="list documents by what they are worth to this metric, down to its cut-off (default: ndcg@10)",
    )
    which.add_argument(
        "--query",
        dest="queries",
        action="append",
        default=[],
        metavar="ID",
        help="only documents of this query (repeatable)",
    )
    which.add_argument(
        "--limit",
        type=_limit,
        default=_DEFAULT_LIMIT,
        metavar="N",
        help=f"at most so many documents, or `all` (default: {_DEFAULT_LIMIT})",
    )
    add_corpus_option(which)
    add_baseline_dir_option(which)


def _add_what_to_do(parser: Parser) -> None:
    """Add the options that say what to do with the documents, of which one can be given."""
    what = parser.add_argument_group("what to do with them").add_mutually_exclusive_group()
    what.add_argument(
        "-i",
        "--interactive",
        action="store_true",
        help="on a terminal, show them one after the other and append what is judged with a key: a grade, s skip, u undo, q quit",
    )
    what.add_argument("--json", action="store_true", help="print them as one JSON list")
    what.add_argument(
        "-o",
        "--out",
        metavar="LIST.csv",
        help="write them to a new CSV file, or to -, with an empty column `rating`, for a spreadsheet",
    )
    what.add_argument(
        "--from",
        dest="csv_file",
        metavar="LIST.csv",
        help="append the judgments of the rows that have a rating; - is standard input",
    )
    what.add_argument(
        "--judge",
        nargs=3,
        action="append",
        type=lambda text: text.removeprefix(_PROTECTED),
        metavar=("QUERY", "DOC", "GRADE"),
        help="append this judgment (repeatable)",
    )
    what.add_argument(
        "--passage",
        nargs=4,
        action="append",
        type=lambda text: text.removeprefix(_PROTECTED),
        metavar=("QUERY", "DOC", "TEXT", "GRADE"),
        help="append this judgment by passage: whatever chunk of DOC holds TEXT (repeatable)",
    )


def protect_ids(arguments: Sequence[str]) -> list[str]:
    """Put a prefix before ids and texts given to ``--judge`` and ``--passage`` that begin with a dash, as argparse would take them for options."""
    places = {"--judge": (1, 2), "--passage": (1, 2, 3)}
    ids = {at + place for at, argument in enumerate(arguments) for place in places.get(argument, ())}
    return [
        _PROTECTED + argument if at in ids and argument.startswith("-") else argument
        for at, argument in enumerate(arguments)
    ]


def _limit(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count. Write a whole number from 1, or all.")
    return int(text)


def _scale(text: str) -> int:
    if text not in "123456789" or len(text) != 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no grade that a key gives. Write a number from 1 to 9."
        )
    return int(text)


def _label(options: argparse.Namespace) -> int:
    if options.interactive:
        _check_interactive(options)
    elif options.scale is not None:
        raise CommandError("--scale is for the keys of --interactive. Add it, or leave it out.")
    with readable_file(options.file, ".yaml") as path:
        golden = GoldenSet.load(path, custom_metrics=options.metric, shown=options.file)
        queries = [find_query(golden, query_id, options.file).id for query_id in options.queries]
        runs = _find_runs(options)
        returned = {
            doc_id
            for run in runs.values()
            for answer in run.answers.values()
            for ranking in answer.rankings
            for doc_id in ranking
        }
        given = _given_judgments(golden, returned, options)
        if given is not None:
            return append(golden, given, returned, options)
        return _label_returned(golden, runs, returned, queries, options)


def _find_runs(options: argparse.Namespace) -> dict[str, Run]:
    """Return the runs to pool, by name: those that are named, and the golden set's baselines beside a single one or none."""
    file = Path(options.file)
    runs = dict(runs_of_golden_set(file, options.stored, options.tests, options.baseline_dir))
    if len(options.stored) != 1:
        return runs
    return {**dict(baselines_of_golden_set(file, options.baseline_dir, options.stored)), **runs}


def _given_judgments(
    golden: GoldenSet, returned: Collection[str], options: argparse.Namespace
) -> list[Judgment] | None:
    """Return the judgments that the command line or a CSV file gives; None where it gives none."""
    if options.csv_file is not None:
        with readable_file(options.csv_file) as path:
            return label_csv.read(path, options.csv_file, golden)
    if options.judge is not None:
        texts = load_documents(options.stored, options.corpus, returned).texts
        return list(judgments_given(golden, returned, texts, options))
    if options.passage is not None:
        return list(passages_given(golden, options))
    return None


def _label_returned(
    golden: GoldenSet,
    runs: Mapping[str, Run],
    returned: Collection[str],
    queries: Sequence[str],
    options: argparse.Namespace,
) -> int:
    """List or judge the documents that runs returned and that are not judged: of some queries, or without any of all."""
    documents = load_documents(options.stored, options.corpus, returned)
    if not runs:
        raise CommandError(f"{options.file}: {no_run_message(options.baseline_dir)}")
    if len(options.stored) == len(runs) == 1:
        print_escaped(
            f"note: {options.file}: No other run is at hand to pool with {options.stored[0]}. Name the one that it is compared "
            "with, too (--run): judging one run's documents alone favours that run.",
            sys.stderr,
        )
    found = pool(golden, list(runs.values()), options.by)
    wanted = [one for one in found.unjudged if not queries or one.query.id in queries]
    top = wanted[: options.limit]
    _print_left_out(runs, found)
    if options.interactive and top:
        from pytest_irmetrics.cli.label_loop import Task, group_by_query, judge  # noqa: PLC0415 - only who judges needs it

        task = Task(group_by_query(top), list(runs), documents, len(wanted) - len(top), options.scale)
        judge(task, golden, options.file, options.metric)
    elif options.json:
        print_json_list(record(one, documents, golden, options.file) for one in top)
    elif options.out is not None:
        write_csv(top, documents, options)
    else:
        lines = list_lines(top, len(wanted), found, list(runs), queries, documents, options, stdout_screen())
        for line in lines:
            print_line(line)
    return OK


def _check_interactive(options: argparse.Namespace) -> None:
    """Raise CommandError where judgments cannot be asked for with keys."""
    from pytest_irmetrics.cli.label_loop import refuse_without_terminal  # noqa: PLC0415 - only who judges needs it

    refused = why_not_editable(options.file)
    if refused is not None:
        raise CommandError(f"{options.file}: {refused}")
    if STANDARD in (options.file, options.corpus, *options.stored):
        raise CommandError(f"{STANDARD}: --interactive takes keys from standard input. Name a file.")
    refuse_without_terminal()


def _print_left_out(runs: Mapping[str, Run], found: Pool) -> None:
    """Print a note on the queries that a run has no comparable answer to."""
    for name, ids in zip(runs, found.unpaired, strict=True):
        if ids:
            print_escaped(
                f"note: {name}: {plural(len(ids), 'query was', 'queries were')} not asked, or in other words, and left "
                f"out: {listed(ids)}",
                sys.stderr,
            )
