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
from pytest_irmetrics.base.escape import id_printed_as
from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import MAX_GRADE, score_text
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.cli import label_csv
from pytest_irmetrics.cli.command_line import (
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_metric_option,
    add_test_option,
    json_line,
    print_escaped,
    print_line,
    ranking_metric,
    stdout_screen,
)
from pytest_irmetrics.cli.inputs import (
    STANDARD,
    baselines_of_golden_set,
    no_run_message,
    print_about,
    readable_file,
    runs_of_golden_set,
    write_file,
)
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.passage import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Pool, Unjudged
    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run import Run

_DEFAULT_LIMIT = 20
"""Documents that are listed."""
_MAX_NAMED = 3
"""Ids that a note names."""
_EDITABLE_SUFFIXES = (".yaml", ".yml")
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
            "With --append, --judge or --from the "
            "judgments go into FILE, of which everything else stays as it is, comments and layout too; a document that "
            "is judged already is never changed. As FILE, - is YAML on standard input, which then goes to standard output."
        ),
        examples="""
pytest-irmetrics label golden/faq.yaml
pytest-irmetrics label golden/faq.yaml --run report.json
pytest-irmetrics label golden/faq.yaml --run bm25.run --run dense.run --limit 50
pytest-irmetrics label golden/faq.yaml --out todo.csv
pytest-irmetrics label golden/faq.yaml --from todo.csv
pytest-irmetrics label golden/faq.yaml --judge refund doc-77 2 --judge refund doc-5 0
pytest-irmetrics label golden/faq.yaml --passage refund handbook "within thirty days" 2
pytest-irmetrics label golden/faq.yaml --query refund --append 0
pytest-irmetrics label golden/faq.yaml --out - | column -s, -t
""",
    )
    parser.add_argument(
        "file", metavar="FILE", help="a golden set; one in YAML to append to; - is standard input"
    )
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
        help="the metric that the documents are to matter to, and whose cut-off says how deep to look (default: ndcg@10)",
    )
    which.add_argument(
        "--query",
        dest="queries",
        action="append",
        default=[],
        metavar="ID",
        help="those of this query alone (repeatable)",
    )
    which.add_argument(
        "--limit",
        type=_limit,
        default=_DEFAULT_LIMIT,
        metavar="N",
        help=f"at most so many documents, or `all` (default: {_DEFAULT_LIMIT})",
    )
    add_baseline_dir_option(which)
    what = parser.add_argument_group("what to do with them").add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print them as one JSON list")
    what.add_argument(
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
    what.add_argument(
        "--append",
        type=_grade,
        metavar="GRADE",
        help="append every document that would be printed, with this grade: 0 after a look at the list, or to edit in FILE",
    )
    add_metric_option(parser)


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


def _grade(text: str) -> Grade:
    grade = label_csv.parse_grade(text)
    if grade is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no grade. Write a number from 0 to {MAX_GRADE}.")
    return grade


def _label(options: argparse.Namespace) -> int:
    with readable_file(options.file, ".yaml") as options.path:
        return _label_file(options)


def _label_file(options: argparse.Namespace) -> int:
    golden = GoldenSet.load(options.path, custom_metrics=options.metric, shown=options.file)
    options.queries = [_find_query(golden, query_id, options.file).id for query_id in options.queries]
    runs = dict(runs_of_golden_set(Path(options.file), options.stored, options.tests, options.baseline_dir))
    if len(options.stored) == 1:
        beside = baselines_of_golden_set(Path(options.file), options.baseline_dir, options.stored)
        runs = {**dict(beside), **runs}
    if options.csv_file is not None:
        with readable_file(options.csv_file) as path:
            judgments = label_csv.read(path, options.csv_file, golden)
        return _append(golden, judgments, runs.values(), options)
    if options.judge is not None:
        return _append(golden, list(_judgments_given(golden, runs.values(), options)), runs.values(), options)
    if options.passage is not None:
        return _append_passages(golden, options)
    if not runs:
        raise CommandError(f"{options.file}: {no_run_message(options.baseline_dir)}")
    if len(options.stored) == len(runs) == 1 and options.append is None:
        print_escaped(
            f"note: {options.file}: No other run is at hand to pool with {options.stored[0]}. Name the one that it is compared "
            "with, too (--run): judging one run's documents alone favours that run.",
            sys.stderr,
        )
    found = pool(golden, list(runs.values()), options.by)
    wanted = [one for one in found.unjudged if not options.queries or one.query.id in options.queries]
    top = wanted[: options.limit]
    _print_unpaired(runs, found)
    if options.append is not None:
        chosen = [label_csv.Judgment(options.file, one.query.id, one.doc_id, options.append) for one in top]
        return _append(golden, chosen, runs.values(), options)
    if options.json:
        print_line("\n".join(["[", ",\n".join(_json_line(one, golden, options.file) for one in top), "]"]))
    elif options.out is not None:
        _write_csv(top, options)
    else:
        for line in _list_lines(top, len(wanted), found, list(runs), options, stdout_screen()):
            print_line(line)
    return OK


def _find_query(golden: GoldenSet, query_id: str, file: str) -> Query:
    """Return a query of the golden set by id. Raises CommandError if there is none."""
    query = golden.find(query_id)
    if query is None:
        raise CommandError(
            f"{file}:1: There is no query {quote(query_id)}. `pytest-irmetrics check --json {shlex.quote(file)}` lists the "
            "ids of its queries."
        )
    return query


def _print_unpaired(runs: Mapping[str, Run], found: Pool) -> None:
    """Print a note on the queries that a run has no comparable answer to."""
    for name, ids in zip(runs, found.unpaired, strict=True):
        if ids:
            print_escaped(
                f"note: {name}: {plural(len(ids), 'query was', 'queries were')} not asked, or in other words, and left "
                f"out: {listed(ids)}",
                sys.stderr,
            )


# The list -------------------------------------------------------------------------------------------------------


def _list_lines(
    top: Sequence[Unjudged],
    count: int,
    found: Pool,
    names: Sequence[str],
    options: argparse.Namespace,
    screen: Screen,
) -> Iterator[str]:
    """Yield the lines of the list as a table, and how to judge the documents."""
    of = f" of {listed(options.queries)}" if options.queries else ""
    heading = (
        f"{options.file}: {count} of the {plural(found.returned, 'returned document')} that {options.by} looks at "
        f"{'is' if count == 1 else 'are'} not judged{of}."
        if not options.queries
        else f"{options.file}: {plural(count, 'returned document')}{of} that {options.by} looks at "
        f"{'is' if count == 1 else 'are'} not judged."
    )
    if len(top) < count:
        first = "to judge first" if len(names) > 1 else "on which it hangs most"
        heading += f" The {len(top)} {first} (--limit {min(count, 5 * len(top))} shows more):"
    yield from screen.wrapped(heading)
    if not top:
        return
    several = len(names) > 1
    for number, name in enumerate(names, 1) if several else ():
        yield screen.cut(f"  rank {number}: in {name}")
    ranks = [f"rank {number}" for number in range(1, len(names) + 1)] if several else ["rank"]
    rows = [["influence", *ranks, "document", "query"]]
    for one in top:
        text = one.query.text
        question = one.query.id if text is None or text == one.query.id else f"{one.query.id}: {text}"
        places = ["-" if rank is None else str(rank) for rank in one.ranks]
        rows.append([score_text(one.influence), *places, screen.line(one.doc_id), screen.line(question)])
    aligned = ">" * (1 + len(ranks)) + "<<"
    for line in table(rows, aligned, screen.width - 2, ascii_only=screen.ascii_only):
        yield f"  {line}"
    file = shlex.quote(options.file)
    yield from screen.wrapped(
        _why_not_editable(options.file)
        or f"To judge them: `pytest-irmetrics label {file} --judge QUERY DOC GRADE` one by one, --out LIST.csv and then "
        "--from LIST.csv in a spreadsheet, or --append 0 and then an editor.",
    )


def _json_line(one: Unjudged, golden: GoldenSet, file: str) -> str:
    record = {
        "id": one.query.id,
        "query": one.query.text,
        "docid": one.doc_id,
        "influence": one.influence,
        "ranks": one.ranks,
        "file": file,
        "line": golden.queries[one.query.id].line,
    }
    return json_line(record)


def _write_csv(top: Sequence[Unjudged], options: argparse.Namespace) -> None:
    path = Path(options.out)
    if options.out != STANDARD and path.suffix.lower() != ".csv":
        raise CommandError(f"{options.out}: The list is CSV. Give it a name that ends in .csv.")
    if options.out != STANDARD and os.path.lexists(path):
        raise CommandError(
            f"{options.out}: is there already, perhaps with ratings in it. Append those (--from), then delete it, or give "
            "another name."
        )
    write_file(options.out, label_csv.write(top))
    back = f"pytest-irmetrics label {shlex.quote(options.file)} --from {shlex.quote(options.out)}"
    how = _why_not_editable(options.file) or f"Fill in the column rating, and then: {back}"
    print_about(options.out, f"{options.out}: {plural(len(top), 'document')} to judge. {how}")


# Judgments ------------------------------------------------------------------------------------------------------


def _judgments_given(
    golden: GoldenSet, runs: Iterable[Run], options: argparse.Namespace
) -> Iterator[label_csv.Judgment]:
    """Yield the judgments given with ``--judge``; an id may also be written as the list prints it, with escapes."""
    returned = _returned_documents(runs)
    for query_id, doc_id, grade in options.judge:
        where = f"--judge {shlex.join([query_id, doc_id, grade])}"
        query = _find_query(golden, query_id, options.file)
        number = label_csv.parse_grade(grade)
        if number is None:
            raise CommandError(f"{where}: {quote(grade)} is no grade. Write a number from 0 to {MAX_GRADE}.")
        if not doc_id:
            raise CommandError(f"{where}: The document's id is empty. Write it.")
        known = doc_id in returned or doc_id in query.judgments
        printed = None if known else id_printed_as(doc_id, [*returned, *query.judgments])
        yield label_csv.Judgment(where, query.id, doc_id if printed is None else printed, number)


def _why_not_editable(file: str) -> str | None:
    """Return why judgments cannot be appended to a file and what to do instead; None for YAML, where they can."""
    path = Path(file)
    if file == STANDARD or path.suffix.lower() in _EDITABLE_SUFFIXES:
        return None
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return (
        "Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: "
        f"`{convert}`."
    )


def _returned_documents(runs: Iterable[Run]) -> set[str]:
    return {
        doc_id for run in runs for answer in run.answers.values() for r in answer.rankings for doc_id in r
    }


def _append(
    golden: GoldenSet,
    judgments: Sequence[label_csv.Judgment],
    runs: Iterable[Run],
    options: argparse.Namespace,
) -> int:
    """Append judgments to the file, all of them or none, and print their places."""
    path: Path = options.path
    refused = _why_not_editable(options.file)
    if refused is not None:
        raise CommandError(f"{options.file}: {refused}")
    new, known = label_csv.new_judgments(judgments, golden)
    after = golden
    if new:
        from pytest_irmetrics.golden.append import append_judgments  # noqa: PLC0415 - only who appends needs it

        data, after = append_judgments(path.read_bytes(), new, path, options.file, options.metric)
        write_whole(path, data)
    _print_edited(options)
    for query_id, documents in new.items():
        for doc_id, grade in documents.items():
            print_about(
                options.file, f"{after.where_judged(query_id, doc_id)}: {query_id}: {doc_id} {grade:g}"
            )
    count = sum(map(len, new.values()))
    also = f", {known} there already" if known else ""
    print_about(options.file, f"{options.file}: {plural(count, 'judgment')} appended{also}.")
    returned = _returned_documents(runs)
    unknown = [doc_id for documents in new.values() for doc_id in documents if doc_id not in returned]
    if returned and unknown:
        print_escaped(
            f"note: No run returned {listed(unknown, _MAX_NAMED)}, for any query. Check that the ids are spelt as the index "
            "spells them.",
            sys.stderr,
        )
    return OK


def _print_edited(options: argparse.Namespace) -> None:
    """Write the edited golden set to standard output, if that is where FILE says it came from."""
    if options.file == STANDARD:
        write_file(STANDARD, options.path.read_bytes())


def _append_passages(golden: GoldenSet, options: argparse.Namespace) -> int:
    """Append the judgments given with ``--passage`` to the file, all of them or none, and print their places."""
    refused = _why_not_editable(options.file)
    if refused is not None:
        raise CommandError(f"{options.file}: {refused}")
    new: dict[str, list[Passage]] = {}
    for query_id, doc_id, text, grade in options.passage:
        where = f"--passage {shlex.join([query_id, doc_id, text, grade])}"
        query = _find_query(golden, query_id, options.file)
        number = label_csv.parse_grade(grade)
        if number is None:
            raise CommandError(f"{where}: {quote(grade)} is no grade. Write a number from 0 to {MAX_GRADE}.")
        passage = Passage(doc_id, text, number)
        if not doc_id or not passage.normalized:
            raise CommandError(f"{where}: The document's id or the text is empty. Write it.")
        if passage.key in query.judgments or any(one.key == passage.key for one in new.get(query.id, ())):
            raise CommandError(
                f"{where}: {quote(query.id)} judges this passage already ({golden.where_judged(query.id, passage.key)}). Change "
                "it there, or leave it out here."
            )
        new.setdefault(query.id, []).append(passage)
    from pytest_irmetrics.golden.append import append_judgments  # noqa: PLC0415 - only who appends needs it

    path: Path = options.path
    data, after = append_judgments(path.read_bytes(), {}, path, options.file, options.metric, new)
    write_whole(path, data)
    _print_edited(options)
    for query_id, passages in new.items():
        for passage in passages:
            print_about(
                options.file,
                f"{after.where_judged(query_id, passage.key)}: {query_id}: {passage.key} {passage.grade:g}",
            )
    print_about(options.file, f"{options.file}: {plural(sum(map(len, new.values())), 'judgment')} appended.")
    return OK
