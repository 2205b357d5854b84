"""The command ``score``: one stored run over a golden set, as a table of means and by query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli.command_line import (
    GOLDEN_HELP,
    OK,
    CommandError,
    add_command,
    add_format_option,
    add_metric_option,
    add_metrics_option,
    add_test_option,
    print_json_object,
    print_line,
    stdout_screen,
)
from pytest_irmetrics.cli.inputs import (
    USUAL_METRICS,
    load_golden,
    load_runs,
    metrics_beyond,
    scorable_metrics,
)
from pytest_irmetrics.cli.standard_streams import STANDARD
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import evaluate_run, judged_metrics
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports.texts import now_text, row_name
from pytest_irmetrics.thresholds import COMPARING_WORDS, Gates, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_HEADER = ("metric", "n", "mean", "threshold", "")
_NOT_ALONE = (*COMPARING_WORDS, "significance")
"""The words of thresholds that one run alone cannot be held to."""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "score",
        _score,
        short="score a stored run over a golden set",
        description=(
            "Print the mean of each metric of one run (TREC run, baseline, JSON report) over a golden set, with the "
            "set's own thresholds and whether they hold; -q prints each query's scores as well. Queries that the run does not "
            "have score 0, as with trec_eval -c. Nothing is gated: it exits with 0 whatever the scores, and with 1 only for "
            "what cannot be read."
        ),
        examples="""
pytest-irmetrics score golden/faq.yaml bm25.run
pytest-irmetrics score dev.qrels bm25.run -q --metrics ndcg_cut_10,recip_rank
pytest-irmetrics score golden/faq.yaml quality.json --test dense
zcat bm25.run.gz | pytest-irmetrics score dev.qrels -
pytest-irmetrics score golden/faq.yaml bm25.run --json | jq .metrics
""",
    )
    parser.add_argument("golden", metavar="GOLDEN", help=GOLDEN_HELP)
    parser.add_argument(
        "stored",
        metavar="RUN",
        help="the run; JSON where its name ends in .json, else TREC; - is standard input",
    )
    parser.add_argument("-q", "--by-query", action="store_true", help="print the scores of each query, too")
    parser.add_argument(
        "--json", action="store_true", help="print means, thresholds and the scores of each query as JSON"
    )
    add_format_option(parser)
    add_test_option(parser)
    add_metrics_option(parser)
    add_metric_option(parser)


def _score(options: argparse.Namespace) -> int:
    if options.golden == options.stored == STANDARD:
        raise CommandError(
            "Standard input cannot be both the golden set and the run. Name a file for one of them."
        )
    golden = load_golden(options.golden, options.metric, options.form)
    ((name, run),) = load_runs([options.stored], options.tests)
    result, beyond = _result(golden, options.golden, run, options.metrics)
    if options.json:
        print_json_object(_record(result, options.golden, name))
        return OK
    screen = stdout_screen()
    for line in _lines(result, options.golden, name, beyond, screen):
        print_line(line)
    if options.by_query:
        print_line("")
        for line in _query_table(result.evaluation, screen):
            print_line(line)
    return OK


def _result(
    golden: GoldenSet, shown: str, run: Run, asked: Sequence[Metric] | None
) -> tuple[ItemResult, Sequence[Metric]]:
    """Score a run and hold it to the golden set's thresholds; also return the metrics that it is too shallow for."""
    of_queries = [threshold.metric for query in golden.queries.values() for threshold in query.thresholds]
    gated = [threshold.metric for threshold in golden.thresholds]
    wanted = scorable_metrics([*(asked or USUAL_METRICS), *gated, *of_queries], golden)
    beyond = metrics_beyond(wanted, run.depth)
    metrics = [metric for metric in wanted if metric not in beyond]
    golden = _with_scorable_thresholds(golden, shown, metrics)
    evaluation = evaluate_run(golden, run, metrics, depth=run.depth)
    evaluation = replace(evaluation, extra_metrics=judged_metrics(metrics, run.depth))
    gates = Gates(
        gate
        for gate in resolve([golden.thresholds])
        if gate.metric in evaluation.metrics and gate.word not in _NOT_ALONE
    )
    verdicts = tuple(verdict for verdict in decide(evaluation, gates) if verdict.state != "not checked")
    return ItemResult(evaluation, gates, verdicts), beyond


def _with_scorable_thresholds(golden: GoldenSet, shown: str, metrics: Sequence[Metric]) -> GoldenSet:
    """Return a golden set whose queries have no thresholds of their own on any but these metrics."""
    if all(own.metric in metrics for query in golden.queries.values() for own in query.thresholds):
        return golden
    return GoldenSet(
        [
            replace(query, thresholds=tuple(own for own in query.thresholds if own.metric in metrics))
            for query in golden.queries.values()
        ],
        path=golden.path,
        shown=shown,
        name=golden.name,
        relevance_level=golden.relevance_level,
        thresholds=golden.thresholds,
        left_out=golden.left_out,
    )


def _lines(
    result: ItemResult, shown: str, name: str, beyond: Sequence[Metric], screen: Screen
) -> Iterator[str]:
    """Yield the lines about a run: the table of means, what fails, and notes."""
    evaluation = result.evaluation
    golden, run = evaluation.golden, evaluation.run
    depth = "" if run.depth is None else f", {plural(run.depth, 'result')} each"
    yield screen.cut(f"golden  {shown}: {plural(len(golden.queries), 'query', 'queries')}")
    yield screen.cut(f"run     {name}: {plural(len(run), 'query', 'queries')}{depth}")
    yield ""
    rows = [[row_name(row), str(row.n), now_text(row), row.gate, row.verdict] for row in result.rows()]
    if rows:
        cells = [[screen.line(cell) for cell in row] for row in (_HEADER, *rows)]
        yield from table(cells, "<>><<", screen.width, ascii_only=screen.ascii_only, whole=(0, 3, 4))
    else:
        yield "There is nothing to score."
    for verdict in result.verdicts:
        if verdict.failed:
            yield from screen.wrapped(f"fails: {verdict.text}", hanging="  ")
            for detail in verdict.details:
                yield from screen.wrapped(detail, "  ")
    for note in _notes(result, beyond):
        yield from screen.wrapped(f"note: {note}", hanging="  ")


def _notes(result: ItemResult, beyond: Sequence[Metric]) -> Iterator[str]:
    """Yield a note for whatever of the run or of the golden set is not in the means, with the reason."""
    evaluation = result.evaluation
    golden, run = evaluation.golden, evaluation.run
    without = [query for query in evaluation.counted if query.id not in run]
    unscored = [query.id for query in without if not query.no_answer]
    empty = [query.id for query in without if query.no_answer]
    if unscored:
        verbs = "is not in the run and scores" if len(unscored) == 1 else "are not in the run and score"
        yield f"{plural(len(unscored), 'query', 'queries')} {verbs} 0: {listed(unscored)}."
    if empty:
        verbs = "is not in the run and counts" if len(empty) == 1 else "are not in the run and count"
        yield f"{plural(len(empty), 'no_answer query', 'no_answer queries')} {verbs} as empty: {listed(empty)}."
    foreign = [query_id for query_id in run if query_id not in golden.queries]
    if foreign:
        yield f"{plural(len(foreign), 'query', 'queries')} of the run {'is' if len(foreign) == 1 else 'are'} not in the golden set: {listed(foreign)}."
    itself = compare(evaluation, evaluation)
    if itself.reworded:
        yield f"{plural(len(itself.reworded), 'query', 'queries')} of the run answered another text or other params: {listed(itself.reworded)}."
    if itself.passages_edited:
        yield f"{plural(len(itself.passages_edited), 'query', 'queries')} of the run not searched for the passages of today: {listed(itself.passages_edited)}."
    if golden.left_out:
        yield f"{plural(len(golden.left_out), 'query', 'queries')} of the golden set without any judgment, and left out: {listed(golden.left_out)}."
    known_bad = [query.id for query in evaluation.known_bad]
    if known_bad:
        yield f"{plural(len(known_bad), 'query', 'queries')} marked xfail, and in no mean: {listed(known_bad)}."
    if evaluation.repeated:
        yield "Some queries were asked more than once; their scores are averages."
    if beyond and run.depth is not None:
        yield f"The run holds {plural(run.depth, 'result')} a query, too few for {', '.join(map(str, beyond))}."


def _query_table(evaluation: Evaluation, screen: Screen) -> list[str]:
    """Return a line for each query with its score by each metric, in the golden set's order."""
    metrics = evaluation.metrics
    rows = [["query", *(metric.name for metric in metrics)]]
    for query_id in evaluation.golden.queries:
        scores = [evaluation.score(metric, query_id) for metric in metrics]
        rows.append([screen.line(query_id), *(score_text(score) for score in scores)])
    align = "<" + ">" * len(metrics)
    return table(rows, align, screen.width, ascii_only=screen.ascii_only, whole=(0,))


def _record(result: ItemResult, golden: str, name: str) -> dict[str, object]:
    """Return means, thresholds and the scores of each query, for ``--json``."""
    evaluation = result.evaluation
    return {
        "golden_set": golden,
        "run": name,
        "depth": evaluation.run.depth,
        "query_count": len(evaluation.counted),
        "xfail_count": len(evaluation.known_bad),
        "metrics": {row.metric: row.now for row in result.rows() if row.tag is None},
        "gates": [
            {
                "metric": verdict.metric.name if verdict.metric is not None else None,
                "tag": verdict.tag,
                "word": verdict.word,
                "limit": verdict.limit,
                "state": verdict.state,
                "text": verdict.text,
                "queries": verdict.queries,
            }
            for verdict in result.verdicts
        ],
        "queries": [
            {
                "id": query_id,
                "scores": {metric.name: evaluation.score(metric, query_id) for metric in evaluation.metrics},
            }
            for query_id in evaluation.golden.queries
        ],
    }
