"""The command ``show``: print one query of a golden set with its judgments and the stored rankings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.cli.command_line import (
    GOLDEN_HELP,
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_format_option,
    add_metric_option,
    add_metrics_option,
    add_test_option,
    print_json_object,
    print_line,
    stdout_screen,
)
from pytest_irmetrics.cli.corpus import add_corpus_option, load_documents
from pytest_irmetrics.cli.inputs import (
    USUAL_METRICS,
    load_golden,
    metrics_beyond,
    no_run_message,
    runs_of_golden_set,
    scorable_metrics,
    subset,
    unknown_query,
)
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden.query_as_dict import query_as_dict
from pytest_irmetrics.reports.failure import query_in_full
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "show",
        _show,
        short="show one query: its text, judgments and ranking",
        description=(
            "Print one query of a golden set: where it stands, its text, parameters, tags and judgments, and what "
            "was returned for it, with scores under today's judgments. The rankings are those of the baselines of "
            "this golden set, found in its project, or of the run that --run names."
        ),
        examples="""
pytest-irmetrics show golden/faq.yaml refund
pytest-irmetrics show golden/faq.yaml 'how do I reset my password'
pytest-irmetrics show golden/faq.yaml refund --run bm25.run --metrics ndcg@5,P@3
pytest-irmetrics show golden/faq.yaml refund --run quality.json --test dense
pytest-irmetrics show golden/faq.yaml refund --json | jq '.runs[].ranking[].docid'
""",
    )
    parser.add_argument("file", metavar="FILE", help=GOLDEN_HELP)
    parser.add_argument(
        "query", metavar="QUERY", help="the query's id, which is its text where it has no other"
    )
    parser.add_argument(
        "--run",
        dest="stored",
        metavar="RUN",
        help="a baseline, a JSON report, or a TREC run, in place of the baselines; - is standard input",
    )
    add_format_option(parser)
    add_test_option(parser)
    add_metrics_option(parser)
    add_corpus_option(parser)
    parser.add_argument("--json", action="store_true", help="print it as one JSON object")
    add_baseline_dir_option(parser)
    add_metric_option(parser)


def _show(options: argparse.Namespace) -> int:
    golden = load_golden(options.file, options.metric, options.form)
    query = golden.find(options.query)
    if query is None:
        raise CommandError(unknown_query(options.file, options.query, golden))
    named = [] if options.stored is None else [options.stored]
    runs = list(runs_of_golden_set(Path(options.file), named, options.tests, options.baseline_dir))
    screen = stdout_screen()
    only = subset(golden, [query.id], options.file)
    metrics = options.metrics or _default_metrics(query, golden)
    wanted = {*query.judgments, *query.forbidden}
    for _, run in runs:
        wanted.update(*run.answers[query.id].rankings if query.id in run else ())
    titles = load_documents(named, options.corpus, wanted).titles
    if options.json:
        print_json_object(_record(query, options.file, only, runs, metrics, titles))
        return OK
    for line in _query_lines(query, golden, screen, titles):
        print_line(line)
    for name, run in runs:
        print_line("")
        for line in _answer_lines(query, only, run, name, metrics, screen, titles):
            print_line(line)
    if not runs:
        print_line("")
        for line in screen.wrapped(no_run_message(options.baseline_dir)):
            print_line(line)
    return OK


def _record(
    query: Query,
    file: str,
    only: GoldenSet,
    runs: Sequence[tuple[str, Run]],
    metrics: Sequence[Metric],
    titles: Mapping[str, str],
) -> dict[str, object]:
    """Return a query as `check --json` prints it, with what each run answered."""
    answers: list[dict[str, object]] = []
    for name, run in runs:
        if query.id not in run:
            answers.append({"run": name, "scores": {}, "ranking": None})
            continue
        evaluation = _evaluated(only, run, metrics)[0]
        ranking = [
            {"docid": doc_id, "grade": query.judgments.get(doc_id)}
            | ({"title": titles[doc_id]} if doc_id in titles else {})
            for doc_id in evaluation.rankings(query.id)[0]
        ]
        scores = {metric.name: evaluation.score(metric, query.id) for metric in evaluation.metrics}
        answers.append({"run": name, "scores": scores, "ranking": ranking})
    return query_as_dict(query) | {"file": file, "line": query.line, "runs": answers}


def _evaluated(only: GoldenSet, run: Run, metrics: Sequence[Metric]) -> tuple[Evaluation, Sequence[Metric]]:
    """Score a run's answer to one query; also return the metrics that the run is too shallow for."""
    evaluation = evaluate_run(only, run, scorable_metrics(metrics, only), depth=run.depth)
    beyond = metrics_beyond(evaluation.metrics, run.depth)
    if beyond:
        evaluation = evaluation.narrowed(metrics=[m for m in evaluation.metrics if m not in beyond])
    return evaluation, beyond


def _default_metrics(query: Query, golden: GoldenSet) -> list[Metric]:
    """Return the metrics that are shown by default: the usual ones, and those with thresholds."""
    gated = [threshold.metric for threshold in (*golden.thresholds, *query.thresholds)]
    return [*USUAL_METRICS, *gated]


def _query_lines(query: Query, golden: GoldenSet, screen: Screen, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines about a query in the golden set: its place, keys and judgments."""
    yield screen.cut(f"{golden.where(query.id)}: {query.id}")
    values = {
        "query": query.text,
        "params": json.dumps(query.params, ensure_ascii=False) if query.params else None,
        "tags": ", ".join(query.tags),
        "weight": f"{query.weight:g}" if query.weight != 1 else None,
        "gated": "; ".join(
            f"{threshold.metric} {word} {'off' if limit is None else limit}"
            for threshold in query.thresholds
            for word, limit in threshold.limits.items()
        ),
        "xfail": query.xfail,
        "note": query.note,
        "forbidden": ", ".join(query.forbidden),
        "judged": "no_answer: the right answer is an empty one" if query.no_answer else None,
    }
    for name, value in values.items():
        if value:
            yield from screen.wrapped(f"{name:<9}  {value}", "  ", " " * 13)
    if query.judgments:
        best_first = sorted(query.judgments.items(), key=lambda judged: -judged[1])
        count = plural(len(best_first), "document")
        yield from screen.wrapped(
            f"judged     {count}, relevant from grade {golden.relevance_level:g}", "  ", " " * 13
        )
        known = any(doc_id in titles for doc_id in query.judgments)
        rows = [["grade", "document", "title" if known else ""]]
        for doc_id, grade in best_first:
            rows.append([f"{grade:g}", screen.line(doc_id), screen.line(titles.get(doc_id, ""))])
        for line in table(rows, "><<", screen.width - 13, ascii_only=screen.ascii_only):
            yield " " * 13 + line


def _answer_lines(
    query: Query,
    only: GoldenSet,
    run: Run,
    name: str,
    metrics: Sequence[Metric],
    screen: Screen,
    titles: Mapping[str, str],
) -> Iterator[str]:
    """Yield the lines about a run's answer to a query: its scores and rankings."""
    evaluation, beyond = _evaluated(only, run, metrics)
    pairing = compare(
        evaluation, evaluation
    )  # tells whether the stored answer is to the same text and judgments
    if pairing.new:
        yield screen.cut(f"{name}: has no answer to this query")
        return
    report = ItemResult(evaluation, Gates()).query_reports(everything=True)[0]
    yield from query_in_full(replace(report, where=name, text=None, status=""), screen, titles)
    for note in _notes(query, run, pairing, beyond):
        yield from screen.wrapped(f"note: {note}", "  ", "    ")


def _notes(query: Query, run: Run, pairing: Comparison, beyond: Sequence[Metric]) -> Iterator[str]:
    """Yield what a reader should know of a stored answer, if anything."""
    answer = run.answers[query.id]
    if pairing.reworded:
        params = f" with {json.dumps(dict(answer.params), ensure_ascii=False)}" if answer.params else ""
        yield f"this answered another text or other params: {quote(answer.text or '')}{params}."
    if pairing.label_changes:
        judgments = plural(len(pairing.label_changes), "judgment")
        yield f"{judgments} changed since this was stored; the scores are under today's."
    if len(answer.rankings) > 1:
        yield f"this was asked {len(answer.rankings)} times; scores are averages, and the first ranking is shown."
    if beyond and run.depth is not None:
        yield f"the run holds {plural(run.depth, 'result')} a query, too few for {', '.join(map(str, beyond))}."
