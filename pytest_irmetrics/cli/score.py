"""Gate a stored run, alone or against another.

Print what pytest prints of a stored run (TREC run, baseline, JSON report): its
means and whether the golden set's own thresholds hold. With --against, a run
before, also how far it fell: max_drop and the other words that compare hold,
`auto` for a metric without any, and the queries that explain it are shown. Exits
with 1 where a gate fails. Queries that the run does not have score 0, as with
trec_eval -c. Settings and marks of tests are not read.

examples:
  pytest-irmetrics score golden/faq.yaml bm25.run
  pytest-irmetrics score golden/faq.yaml dense.run --against bm25.run
  pytest-irmetrics score dev.qrels bm25.run --metrics ndcg_cut_10,recip_rank
  pytest-irmetrics score golden/faq.yaml bm25.run --query refund
  pytest-irmetrics score golden/faq.yaml quality.json --against quality.json --test dense --test bm25
  zcat bm25.run.gz | pytest-irmetrics score dev.qrels -
  pytest-irmetrics score golden/faq.yaml bm25.run --json | pytest-irmetrics report - -o bm25.html
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.notes import notes_on
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import inputs, shared
from pytest_irmetrics.cli.shared import argument
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import DEFAULT_DEPTH, evaluate_run
from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.verdict import Against, Case, resolve_with_default
from pytest_irmetrics.reports.document import failure, query_block
from pytest_irmetrics.reports.formats import json
from pytest_irmetrics.reports.item_report import ItemReport, Note
from pytest_irmetrics.reports.session_report import SessionReport
from pytest_irmetrics.reports.summary import summary_lines
from pytest_irmetrics.reports.text import lines
from pytest_irmetrics.thresholds import AUTO, COMPARING_WORDS, Gates, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run
    from pytest_irmetrics.thresholds import Threshold

ARGUMENTS = (
    shared.TEST,
    shared.METRICS,
    shared.METRIC,
    argument("golden", metavar="GOLDEN", help=shared.GOLDEN_HELP),
    argument("stored", metavar="RUN", help="the run; JSON where its name ends in .json, else TREC; - is standard input"),
    argument("--against", metavar="RUN", help="the run before, to compare with; - is standard input"),
    argument("--query", dest="queries", action="append", default=[], metavar="ID", help="print this query in full, its ranking and judgments, in place of all else (repeatable)"),
    argument("--json", action="store_true", help="print it as the JSON report that pytest writes, which `report` reads"),
)  # fmt: skip
_NOT_ALONE = (*COMPARING_WORDS, "significance")
"""The words that say nothing of a run that is compared with none."""


def run(options: argparse.Namespace) -> int:
    """Score the run, print what pytest would, and return 1 where a gate fails."""
    paths = [path for path in (options.stored, options.against) if path is not None]
    golden = inputs.load_golden(options.golden, options.metric)
    wanted = [inputs.find_query(golden, query_id, f"{options.golden}:1").id for query_id in options.queries]
    (name, run), *before = inputs.load_runs(paths, options.tests)
    for shown, one in ((name, run), *before):
        if golden.queries.keys().isdisjoint(one):
            raise shared.CommandError(
                f"{shown}: answers no query of {options.golden}. Check that both call the queries the same."
            )
    result = _result(golden, options.golden, run, before[0] if before else None, options.metrics)
    report = _report(result, options, name, wanted)
    for text in _printed(report, wanted, as_json=options.json):
        shared.print_line(text)
    return shared.FAILED if result.failed and (options.json or not wanted) else shared.OK


def _printed(report: ItemReport, wanted: Sequence[str], *, as_json: bool) -> Iterator[str]:
    """Yield the lines to print: of the queries that are wanted, without any of the whole run."""
    screen, failed = shared.stdout_screen(), report.outcome == "failed"
    session = SessionReport([report], exit_status=int(failed))
    if as_json:
        yield shared.harmless_json(json.render(session).rstrip("\n"))
    elif wanted:
        shown = (query for query in report.queries if query.query_id in wanted)
        blocks = (query_block(query, report, in_full=True) for query in shown)
        yield from (line.text for line in lines(blocks, screen, 0))
    else:
        if failed:
            yield from (line.text for line in lines(failure(report), screen, 1, spaced=True))
            yield ""
        yield from (line.text for line in summary_lines(session, screen, 1))


def _result(
    golden: GoldenSet,
    shown: str,
    run: Run,
    before: tuple[str, Run] | None,
    asked: Sequence[Metric] | None,
) -> ItemResult:
    """Score a run, compare it with the one before, and hold it to the golden set's thresholds."""
    of_queries = (threshold for query in golden.queries.values() for threshold in query.thresholds)
    gated = list(dict.fromkeys(threshold.metric for threshold in (*golden.thresholds, *of_queries)))
    shallow = [metric.name for metric in inputs.metrics_beyond(gated, run.depth)]
    if shallow:
        raise shared.CommandError(
            f"{shown}: The run holds {plural(run.depth or 0, 'result')} a query, too few for {listed(shallow)}. Store more of "
            "them, or gate on a cut-off that it reaches."
        )
    depths = [one.depth for one in (run, before and before[1]) if one is not None and one.depth is not None]
    wanted = asked or inputs.USUAL_METRICS
    beyond = inputs.metrics_beyond(wanted, min(depths, default=None))
    metrics = inputs.scorable_metrics(
        [*(metric for metric in wanted if metric not in beyond), *gated], golden
    )
    unscorable = [metric for metric in gated if metric not in metrics]
    golden = _without_thresholds_on(golden, unscorable)
    now = evaluate_run(golden, run, metrics, depth=run.depth)
    missing = tuple(query.id for query in now.counted if query.id not in run)
    retrieved = replace(now.retrieved, missing=missing, depth_advice="That is all that the run holds.")
    now = replace(now, retrieved=retrieved)
    places = [golden.thresholds]
    if before is None:
        against, comparison = "", None
        gates = Gates(gate for gate in resolve(places) if gate.word not in _NOT_ALONE)
    else:
        against, other = before
        comparison = compare(now, evaluate_run(golden, other, metrics, depth=other.depth))
        gates = resolve_with_default(places, metrics, AUTO, "the default of max_drop")
    verdicts = decide(Case(now, gates, comparison, Against(against)))
    if comparison is None:
        verdicts = tuple(verdict for verdict in verdicts if verdict.state != "not checked")
    result = ItemResult(now, gates, verdicts, comparison, against=against or None)
    result.notes += [Note("normal", text) for text in _notes_on_run(now, beyond, unscorable)]
    result.notes += notes_on(result)
    return result


def _without_thresholds_on(golden: GoldenSet, metrics: Sequence[Metric]) -> GoldenSet:
    """Return a golden set without thresholds on metrics that a stored run does not tell."""

    def without(thresholds: Sequence[Threshold]) -> tuple[Threshold, ...]:
        return tuple(one for one in thresholds if one.metric not in metrics)

    queries = [replace(query, thresholds=without(query.thresholds)) for query in golden.queries.values()]
    return replace(golden, _queries=queries, thresholds=without(golden.thresholds)) if metrics else golden


def _notes_on_run(
    evaluation: Evaluation, beyond: Sequence[Metric], unscorable: Sequence[Metric]
) -> Iterator[str]:
    """Yield a note for whatever of the run, or of the golden set, is in no number, with the reason."""
    foreign = [query_id for query_id in evaluation.run if query_id not in evaluation.golden.queries]
    if foreign:
        verb = "is" if len(foreign) == 1 else "are"
        yield f"{plural(len(foreign), 'query', 'queries')} of the run {verb} not in the golden set: {listed(foreign)}."
    reworded = compare(evaluation, evaluation).reworded
    if reworded:
        yield f"{plural(len(reworded), 'query', 'queries')} of the run answered another text or other params: {listed(reworded)}."
    if beyond:
        yield f"A run holds too few results a query for {listed([metric.name for metric in beyond])}."
    lengths = (len(ranking) for query in evaluation.counted for ranking in evaluation.rankings(query.id))
    deepest = max(lengths, default=0)
    uncut = [one.name for one in evaluation.metrics if one.kind == "ranking" and one.cutoff is None]
    if uncut and deepest > DEFAULT_DEPTH:
        yield (
            f"{listed(uncut)} {'is' if len(uncut) == 1 else 'are'} over up to {deepest} results a query; a test asks for "
            f"{DEFAULT_DEPTH}, unless the setting ir_depth says otherwise."
        )
    if unscorable:
        yield f"A stored run does not tell {listed([metric.name for metric in unscorable])}: not checked."


def _report(result: ItemResult, options: argparse.Namespace, name: str, wanted: Sequence[str]) -> ItemReport:
    """Return all that is printed of a run; `wanted` are the queries to show in full."""
    files = [options.golden, options.stored, *([] if options.against is None else [options.against])]
    titles = inputs.titles_of_reports(files[1:])
    runs = [part for path in files[1:] for part in ("--run", path)]
    judge = shlex.join(["pytest-irmetrics", "label", options.golden, *runs])
    report = result.report(
        name,
        options.golden,
        everything=bool(wanted) or options.json,
        judge=[] if shared.STANDARD in files else [judge],
    )
    report.slices = report.slices if options.json else []
    report.titles = {doc_id: titles[doc_id] for doc_id in report.documents if doc_id in titles}
    return report
