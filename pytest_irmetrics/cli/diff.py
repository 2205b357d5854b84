"""The command ``diff``: compare two stored runs by metric and by query, or two reports test by test."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.kind_of_change import kind_of_change
from pytest_irmetrics.analysis.slices import on_main_slice
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli.command_line import (
    OK,
    CommandError,
    add_command,
    add_metric_option,
    add_metrics_option,
    add_test_option,
    print_line,
    stdout_screen,
)
from pytest_irmetrics.cli.corpus import add_corpus_option, load_documents
from pytest_irmetrics.cli.diff_json import Record, comparison_record, record_lines
from pytest_irmetrics.cli.diff_notes import notes_on, on_other_means
from pytest_irmetrics.cli.inputs import (
    USUAL_METRICS,
    golden_set_of_baseline,
    load_golden,
    load_runs,
    metrics_beyond,
    runs_by_test,
    scorable_metrics,
    subset,
)
from pytest_irmetrics.comparison import Comparison, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import usual_metric
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.reports.texts import judgment_text
from pytest_irmetrics.retrieval.passages import passages_when_stored
from pytest_irmetrics.run import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.comparison import MetricChange
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_MAX_DOCUMENTS = 10
"""Documents of one query that are shown."""

_SHOWN = 5
"""Queries that moved that are shown of two runs, unless ``--queries`` says otherwise."""

_MAX_OVERTAKING = 2
"""Documents that are shown of those that overtook a fallen one."""


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
        type=_count,
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


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no count. Write a whole number, 0 or more.")
    return int(text)


def _diff(options: argparse.Namespace) -> int:
    screen = stdout_screen()
    options.baseline_file, options.now_file = options.baseline, options.now
    if not options.tests:
        reports = runs_by_test(options.baseline), runs_by_test(options.now)
        if min(map(len, reports)) > 1:
            if options.json:
                _print_reports_json(*reports, options)
                return OK
            for line in _report_lines(*reports, options, screen):
                print_line(line)
            return OK
    named = load_runs([options.baseline, options.now], options.tests)
    (options.baseline, before), (options.now, after) = named
    if options.json:
        for line in record_lines(_record(before, after, options)):
            print_line(line)
        return OK
    for line in _run_lines(before, after, options, screen):
        print_line(line)
    return OK


def _print_reports_json(
    before: Mapping[str, Run], after: Mapping[str, Run], options: argparse.Namespace
) -> None:
    """Print a comparison for each test that two reports have, and the tests that one of them has alone."""
    record = {
        "tests": [
            {"test": test, **_record(before[test], after[test], options)} for test in after if test in before
        ],
        "only_in_baseline": [test for test in before if test not in after],
        "only_in_now": [test for test in after if test not in before],
    }
    for line in record_lines(record):
        print_line(line)


def _record(before: Run, after: Run, options: argparse.Namespace) -> Record:
    """Return what `diff` says of two runs, as data."""
    golden, marks = _judged_by(before, after, options)
    measured = _measure(golden, before, after, options)
    comparison, changes, beyond, reworded_in_now, _ = measured
    leading = _leading_change(changes)
    notes = notes_on(golden, comparison, before, after, marks, reworded_in_now, beyond, options)
    ids = [] if leading is None else _moved(leading)[: options.queries]
    rows = {query_id: list(_document_rows(comparison, golden.queries[query_id])) for query_id in ids}
    ranks = {
        query_id: [(row[3], _rank(row[0]), _rank(row[1])) for row in of_query]
        for query_id, of_query in rows.items()
    }
    documents = _documents_of(rows, options)
    return comparison_record(
        (options.baseline, options.now), comparison, changes, ranks, documents, list(notes)
    )


def _rank(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _run_lines(before: Run, after: Run, options: argparse.Namespace, screen: Screen) -> Iterator[str]:
    """Yield the lines about two runs."""
    golden, marks = _judged_by(before, after, options)
    yield from _diff_lines(golden, before, after, marks, options, screen)


def _report_lines(
    before: Mapping[str, Run], after: Mapping[str, Run], options: argparse.Namespace, screen: Screen
) -> Iterator[str]:
    """Yield the lines about two reports: a row for each test that both have, then each test's own comparison."""
    tests = [test for test in after if test in before]
    yield screen.cut(f"baseline  {options.baseline}: {plural(len(before), 'test')}")
    yield screen.cut(f"now       {options.now}: {plural(len(after), 'test')}")
    yield ""
    rows = [["test", "metric", "baseline", "now", "delta", "n", "worse", "better"]]
    for test in tests:
        golden, _ = _judged_by(before[test], after[test], options)
        changes = _measure(golden, before[test], after[test], options).changes
        usual = usual_metric([change.metric for change in changes])
        change = next((one for one in changes if usual in (None, one.metric)), None)
        cells = ["nothing to compare"] if change is None else _score_cells(change, screen)
        rows.append([screen.line(test), *cells])
    yield from table(rows, "<<>>>>>>", screen.width, ascii_only=screen.ascii_only, whole=(1,))
    for name, ids in (
        (options.baseline, [test for test in before if test not in after]),
        (options.now, [test for test in after if test not in before]),
    ):
        if ids:
            yield from screen.wrapped(
                f"note: {plural(len(ids), 'test')} only in {name}: {listed(ids)}.", hanging="  "
            )
    for test in tests:
        yield ""
        yield screen.cut(f"== {test}")
        own = argparse.Namespace(**vars(options))
        own.queries = options.queries or 0
        yield from _run_lines(before[test], after[test], own, screen)


def _judged_by(before: Run, after: Run, options: argparse.Namespace) -> tuple[GoldenSet, GoldenSet | None]:
    """Return the golden set to score two runs by, and the one that says which queries are marked ``xfail``, if it is found."""
    marks: GoldenSet | None = None
    if options.golden is None:
        files = (options.now_file, after), (options.baseline_file, before)
        marks = next(filter(None, (golden_set_of_baseline(path, run) for path, run in files)), None)
        golden = _golden_set_of_runs(before, after, options, marks)
    else:
        golden = load_golden(options.golden, options.metric)
    return golden, marks


def _golden_set_of_runs(
    before: Run, after: Run, options: argparse.Namespace, marks: GoldenSet | None
) -> GoldenSet:
    """Make a golden set of the judgments stored with two runs; where both have them, of the later run.

    No run says which queries are marked ``xfail``: ``marks`` is the golden set that one of them names, where it is found.
    """
    known_bad = {} if marks is None else {i: query.xfail for i, query in marks.queries.items()}
    queries, missing = [], Answer(())
    for query_id in sorted({*before, *after}):
        old, new = before.answers.get(query_id, missing), after.answers.get(query_id, missing)
        judged = new if new.judgments is not None else old
        if judged.judgments is None:
            continue
        asked = new if new.text is not None else old
        weight = new.weight or old.weight or 1.0
        queries.append(
            Query(
                query_id,
                asked.text,
                judged.judgments,
                weight=weight,
                params=asked.params,
                no_answer=not judged.judgments,
                xfail=known_bad.get(query_id),
                passages=passages_when_stored((), judged.passages, judged.judgments),
            )
        )
    if not queries:
        raise CommandError(
            f"{options.now}:1: Neither run has judgments to score it by. Name a golden set: --golden FILE."
        )
    levels = [run.relevance_level for run in (after, before) if run.relevance_level is not None]
    return GoldenSet(queries, shown=options.now, relevance_level=next(iter(levels), 1))


class _Measured(NamedTuple):
    """Two runs compared under one golden set."""

    comparison: Comparison
    changes: Sequence[MetricChange]
    beyond: Sequence[Metric]
    """The metrics that the runs are too shallow for."""
    reworded_in_now: Sequence[str]
    now: Evaluation


def _measure(golden: GoldenSet, before: Run, after: Run, options: argparse.Namespace) -> _Measured:
    where = options.now if options.golden is None else options.golden
    metrics = scorable_metrics(options.metrics or USUAL_METRICS, golden)
    asked = subset(golden, [query_id for query_id in golden.queries if query_id in after], where)
    now = evaluate_run(asked, after, metrics, depth=after.depth)
    # A query that B answered under another text is not comparable either.
    reworded_in_now = compare(now, now).reworded
    if reworded_in_now:
        asked = subset(
            golden, [query_id for query_id in asked.queries if query_id not in reworded_in_now], where
        )
        now = now.narrowed(golden=asked)
    comparison = compare(now, evaluate_run(asked, before, metrics, depth=before.depth))
    beyond = metrics_beyond(metrics, comparison.depth)
    changes = [comparison.change(metric) for metric in metrics if metric not in beyond]
    changes = [change for change in changes if change.n]
    return _Measured(comparison, changes, beyond, reworded_in_now, now)


def _diff_lines(
    golden: GoldenSet,
    before: Run,
    after: Run,
    marks: GoldenSet | None,
    options: argparse.Namespace,
    screen: Screen,
) -> Iterator[str]:
    comparison, changes, beyond, reworded_in_now, now = _measure(golden, before, after, options)
    yield screen.cut(f"baseline  {options.baseline}: {plural(len(before), 'query', 'queries')}")
    yield screen.cut(f"now       {options.now}: {plural(len(after), 'query', 'queries')}")
    yield ""
    if changes:
        yield from _table(changes, screen)
    else:
        yield "There is nothing to compare."
    leading = _leading_change(changes)
    kind = kind_of_change(comparison) if changes else None
    told = [] if leading is None else [*on_main_slice(comparison, leading.metric)]
    told += [] if kind is None else kind.sentences
    if told:
        yield ""
        yield from (line for sentence in told for line in screen.wrapped(sentence))
    notes = list(notes_on(golden, comparison, before, after, marks, reworded_in_now, beyond, options))
    if options.golden is None and marks is None:
        notes += on_other_means(now, options)
    for note in notes:
        yield from screen.wrapped(f"note: {note}", hanging="  ")
    yield from _moved_queries(comparison, changes, leading, options, screen)


def _table(changes: Sequence[MetricChange], screen: Screen) -> list[str]:
    rows = [["metric", "baseline", "now", "delta", "n", "worse", "better", "same"]]
    rows += [[*_score_cells(change, screen), str(len(change.same))] for change in changes]
    return table(rows, "<>>>>>>>", screen.width, ascii_only=screen.ascii_only, whole=(0,))


def _score_cells(change: MetricChange, screen: Screen) -> list[str]:
    """Return a metric's name, its means, their difference, and how many queries there are, worse and better."""
    return [
        change.metric.name,
        score_text(change.baseline, change.now),
        score_text(change.now, change.baseline),
        screen.line(signed_text(change.delta)),
        *map(str, (change.n, len(change.worse), len(change.better))),
    ]


def _leading_change(changes: Sequence[MetricChange]) -> MetricChange | None:
    """Return the change of the metric that orders queries: `ndcg@10`, or else the first, of those that changed for any query."""
    moved = {change.metric: change for change in changes if change.changed}
    leading = usual_metric(moved)
    return None if leading is None else moved[leading]


def _moved_queries(
    comparison: Comparison,
    changes: Sequence[MetricChange],
    leading: MetricChange | None,
    options: argparse.Namespace,
    screen: Screen,
) -> Iterator[str]:
    """Yield the lines about the queries whose score changed most, for better or worse."""
    if leading is None:
        if changes:
            yield ""
            yield "No query moved."
        return
    ids = _moved(leading)
    most = _SHOWN if options.queries is None else options.queries
    shown = ids[:most]
    if not shown:
        return
    golden = comparison.now.golden
    yield ""
    if len(shown) == len(ids):
        yield f"{plural(len(ids), 'query', 'queries')} moved {leading.metric}:"
    else:
        yield f"Of {plural(len(ids), 'query', 'queries')} that moved {leading.metric}, the {len(shown)} that moved it most (--queries N):"
    rows = {query_id: list(_document_rows(comparison, golden.queries[query_id])) for query_id in shown}
    titles = _documents_of(rows, options)
    for query_id in shown:
        yield ""
        yield from _query_lines(comparison, changes, query_id, rows[query_id], titles, screen)


def _moved(leading: MetricChange) -> list[str]:
    """Return the queries that moved a metric, those that moved its mean most first."""
    weighed = leading.weighted_differences
    return sorted((*leading.worse, *leading.better), key=lambda query_id: (-abs(weighed[query_id]), query_id))


def _documents_of(rows: Mapping[str, Sequence[Sequence[str]]], options: argparse.Namespace) -> Documents:
    """Return what is known of the documents in the rows of some queries."""
    moved = {row[3] for of_query in rows.values() for row in of_query}
    return load_documents([options.now_file, options.baseline_file], options.corpus, moved)


def _query_lines(
    comparison: Comparison,
    changes: Sequence[MetricChange],
    query_id: str,
    rows: Sequence[Sequence[str]],
    documents: Documents,
    screen: Screen,
) -> Iterator[str]:
    golden = comparison.now.golden
    query = golden.queries[query_id]
    yield screen.cut(f"{golden.where(query_id)}: {query_id}" if golden.path is not None else query_id)
    if query.text is not None and query.text != query_id:
        yield screen.cut(f"  {query.text}")
    scores = [
        f"{change.metric} {score_text(change.before[query_id], change.after[query_id])} → "
        f"{score_text(change.after[query_id], change.before[query_id])}"
        for change in changes
        if query_id in change.worse or query_id in change.better
    ]
    yield from screen.wrapped("; ".join(scores), "  ")
    if rows:
        titles = [documents.title(row[3]) or "" for row in rows[:_MAX_DOCUMENTS]]
        cells = [["was", "now", "grade", "document", "title" if any(titles) else ""]]
        for row, title in zip(rows, titles, strict=False):
            cells.append([*row[:3], screen.line(row[3]), screen.line(title)])
        yield from (
            f"  {line}" for line in table(cells, ">>><<", screen.width - 2, ascii_only=screen.ascii_only)
        )
    if len(rows) > _MAX_DOCUMENTS:
        yield f"  and {plural(len(rows) - _MAX_DOCUMENTS, 'more document', 'more documents')}"


def _document_rows(comparison: Comparison, query: Query) -> Iterator[list[str]]:
    """Yield a table row for each judged document that moved, falls first, and for those that overtook them."""
    before = _ranks(comparison.baseline.rankings(query.id)[0])
    now = _ranks(comparison.now.rankings(query.id)[0])
    moves = comparison.moves(query.id)
    judged = [move.doc_id for move in moves]
    forbidden = [doc_id for doc_id in query.forbidden if before.get(doc_id) != now.get(doc_id)]
    above = [doc_id for move in moves if move.grade > 0 for doc_id in move.overtaken_by[:_MAX_OVERTAKING]]
    for doc_id in dict.fromkeys([*judged, *forbidden, *above]):
        grade = judgment_text(doc_id, query.judgments, query.forbidden, grade="")
        yield [str(before.get(doc_id, "-")), str(now.get(doc_id, "-")), grade, doc_id]


def _ranks(ranking: Sequence[str]) -> Mapping[str, int]:
    """Return ranks by document, counted from 1."""
    return {doc_id: rank for rank, doc_id in enumerate(ranking, 1)}
