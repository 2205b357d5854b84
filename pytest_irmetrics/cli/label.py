"""The command ``label``: list the returned documents that should be judged next, and append judgments to a golden set."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.labelling import pool
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import judgments
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
from pytest_irmetrics.cli.inputs import find_query, no_run_message, runs_of_golden_set
from pytest_irmetrics.cli.label_loop import Session
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, readable_file, write_file
from pytest_irmetrics.golden import GoldenSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Pool, Unjudged
    from pytest_irmetrics.cli.command_line import Commands, Parser
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.run import Run

_DEFAULT_LIMIT = 20
"""Documents that are listed."""
_MAX_NAMED = 3
"""Ids that a note names."""


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
        help="show them one after the other and append the grade that is written for each; or s skip, u undo, q quit",
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
        metavar=("QUERY", "DOC", "GRADE"),
        help="append this judgment (repeatable)",
    )
    what.add_argument(
        "--passage",
        nargs=4,
        action="append",
        metavar=("QUERY", "DOC", "TEXT", "GRADE"),
        help="append this judgment by passage: whatever chunk of DOC holds TEXT (repeatable)",
    )


def _limit(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count. Write a whole number from 1, or all.")
    return int(text)


def _label(options: argparse.Namespace) -> int:
    if options.interactive:
        refused = judgments.why_not_editable(options.file)
        if refused is not None:
            raise CommandError(f"{options.file}: {refused}")
        if STANDARD in (options.file, options.corpus, *options.stored):
            raise CommandError(f"{STANDARD}: --interactive takes grades from standard input. Name a file.")
    with readable_file(options.file, ".yaml") as path:
        golden = GoldenSet.load(path, custom_metrics=options.metric, shown=options.file)
        options.queries = [find_query(golden, one, options.file).id for one in options.queries]
        runs = _find_runs(options)
        returned = {
            doc_id
            for run in runs.values()
            for answer in run.answers.values()
            for ranking in answer.rankings
            for doc_id in ranking
        }
        given = _given(golden, returned, options)
        if given is None:
            _label_returned(golden, runs, returned, options)
        else:
            _append(golden, given, returned, options)
    return OK


def _find_runs(options: argparse.Namespace) -> dict[str, Run]:
    """Return the runs to pool, by name: those that are named, and the golden set's baselines beside a single one or none."""
    file = Path(options.file)
    runs = dict(runs_of_golden_set(file, options.stored, options.tests, options.baseline_dir))
    if len(options.stored) != 1:
        return runs
    return {**dict(baselines_of_golden_set(file, options.baseline_dir, options.stored)), **runs}


# Judgments that are given ---------------------------------------------------------------------------------------


def _given(
    golden: GoldenSet, returned: Collection[str], options: argparse.Namespace
) -> list[judgments.Judgment] | None:
    """Return the judgments that the command line or a CSV file gives; None where it gives none."""
    if options.csv_file is not None:
        with readable_file(options.csv_file) as path:
            return judgments.of_csv(path, options.csv_file, golden)
    for option, given in (("--judge", options.judge), ("--passage", options.passage)):
        if given is not None:
            texts = load_documents(options.stored, options.corpus, returned).texts
            return list(judgments.of_options(option, given, golden, options.file, returned, texts))
    return None


def _append(
    golden: GoldenSet,
    given: Sequence[judgments.Judgment],
    returned: Collection[str],
    options: argparse.Namespace,
) -> None:
    """Append judgments to the file, all of them or none, and print their places."""
    path = golden.path
    assert path is not None  # noqa: S101 - it was loaded
    refused = judgments.why_not_editable(options.file)
    if refused is not None:
        raise CommandError(f"{options.file}: {refused}")
    new, after = judgments.new_judgments(given, golden), golden
    if new:
        data, after = judgments.written(new, path.read_bytes(), path, options.file, options.metric)
        write_whole(path, data)
    if options.file == STANDARD:
        write_file(STANDARD, path.read_bytes())
    if not options.quiet:
        for one in new:
            where = after.where_judged(one.query_id, one.key)
            print_about(options.file, f"{where}: {one.query_id}: {one.key} {one.grade:g}")
        known = len(given) - len(new)
        also = (
            f", {known} there already"
            if known
            else ""
            if given
            else f": no row of {options.csv_file} has a rating"
        )
        print_about(options.file, f"{options.file}: {plural(len(new), 'judgment')} appended{also}.")
    unknown = dict.fromkeys(one.doc_id for one in new if one.text is None and one.doc_id not in returned)
    if returned and unknown:
        print_escaped(
            f"note: No run returned {listed(list(unknown), _MAX_NAMED)}, for any query. Check that the ids are spelt as the index "
            "spells them.",
            sys.stderr,
        )


# Documents to judge ---------------------------------------------------------------------------------------------


def _label_returned(
    golden: GoldenSet, runs: Mapping[str, Run], returned: Collection[str], options: argparse.Namespace
) -> None:
    """List or judge the documents that runs returned and that are not judged."""
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
    for name, ids in zip(runs, found.unpaired, strict=True):
        if ids:
            print_escaped(
                f"note: {name}: {plural(len(ids), 'query was', 'queries were')} not asked, or in other words, and left "
                f"out: {listed(ids)}",
                sys.stderr,
            )
    wanted = [one for one in found.unjudged if not options.queries or one.query.id in options.queries]
    top = wanted[: options.limit]
    if options.interactive and top:
        left = len(wanted) - len(top)
        Session(top, list(runs), documents, golden, options.file, options.metric, left).run()
    elif options.json:
        print_json_list(_record(one, documents, golden, options.file) for one in top)
    elif options.out is not None:
        _write_csv(top, documents, options)
    else:
        for line in _lines(top, len(wanted), found, list(runs), documents, options):
            print_line(line)


def _lines(
    top: Sequence[Unjudged],
    count: int,
    found: Pool,
    names: Sequence[str],
    documents: Documents,
    options: argparse.Namespace,
) -> Iterator[str]:
    """Yield the lines of the list as a table, and how to judge the documents; `top` are those to show of `count`."""
    screen, queries = stdout_screen(), options.queries
    what = (
        f"{plural(count, 'returned document')} of {listed(queries)}"
        if queries
        else f"{count:,} of the {plural(found.returned, 'returned document')}"
    )
    heading = f"{options.file}: {what} that {options.by} looks at {'is' if count == 1 else 'are'} not judged."
    if len(top) < count:
        first = "to judge first" if len(names) > 1 else "on which it hangs most"
        heading += f" The {len(top)} {first} (--limit {min(count, 5 * len(top))} shows more):"
    yield from screen.wrapped(heading)
    if not top:
        return
    ranks = ["rank"]
    if len(names) > 1:
        ranks = [f"rank {number}" for number in range(1, len(names) + 1)]
        yield from (screen.cut(f"  {rank}: in {name}") for rank, name in zip(ranks, names, strict=True))
    titles = [documents.title(one.doc_id) or "" for one in top]
    rows = [["influence", *ranks, "document", "title" if any(titles) else "", "query"]]
    for one, title in zip(top, titles, strict=True):
        text = one.query.text
        question = one.query.id if text in (None, one.query.id) else f"{one.query.id}: {text}"
        places = ["-" if rank is None else str(rank) for rank in one.ranks]
        rows.append([score_text(one.influence), *places, *map(screen.line, (one.doc_id, title, question))])
    for line in table(rows, ">" * (1 + len(ranks)) + "<<<", screen.width - 2, ascii_only=screen.ascii_only):
        yield f"  {line}"
    yield from screen.wrapped(
        judgments.why_not_editable(options.file)
        or f"To judge them: `pytest-irmetrics label {shlex.quote(options.file)} -i` one by one, --judge QUERY DOC GRADE, or --out "
        "LIST.csv and then --from LIST.csv in a spreadsheet.",
    )


def _record(one: Unjudged, documents: Documents, golden: GoldenSet, file: str) -> dict[str, object]:
    """Return what there is to judge of one document, for ``--json``."""
    found: dict[str, object] = {
        "id": one.query.id,
        "query": one.query.text,
        "docid": one.doc_id,
        "influence": one.influence,
        "ranks": one.ranks,
        "file": file,
        "line": golden.queries[one.query.id].line,
    }
    known = {"title": documents.title(one.doc_id), "text": documents.texts.get(one.doc_id)}
    return found | {name: value for name, value in known.items() if value is not None}


def _write_csv(top: Sequence[Unjudged], documents: Documents, options: argparse.Namespace) -> None:
    """Write what there is to judge to the file that ``--out`` names, or to standard output. Raises CommandError."""
    path = Path(options.out)
    if options.out != STANDARD and path.suffix.lower() != ".csv":
        raise CommandError(f"{options.out}: The list is CSV. Give it a name that ends in .csv.")
    if options.out != STANDARD and os.path.lexists(path):
        raise CommandError(
            f"{options.out}: is there already, perhaps with ratings in it. Append those (--from), then delete it, or give "
            "another name."
        )
    write_file(options.out, judgments.as_csv(top, documents))
    back = f"pytest-irmetrics label {shlex.quote(options.file)} --from {shlex.quote(options.out)}"
    how = judgments.why_not_editable(options.file) or f"Fill in the column rating, and then: {back}"
    print_about(
        options.out, f"{options.out}: {plural(len(top), 'document')} to judge.{f' {how}' if top else ''}"
    )
