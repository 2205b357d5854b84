# This docstring is the --help: `make expected` renews the pages.
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
  pytest-irmetrics score golden/faq.yaml bm25.run --json | pytest-irmetrics report - -o bm25.html
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.notes import notes_on
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import shared
from pytest_irmetrics.comparison import compare, compare_with_itself
from pytest_irmetrics.comparison.stored_runs import under_todays_ids, without_others
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.evaluation.evaluate import DEFAULT_DEPTH, require_depth
from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.verdict import Against, Case, resolve_with_default, with_each_tag
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.reports.blocks import Level
from pytest_irmetrics.reports.document import failure
from pytest_irmetrics.reports.formats import json as json_report
from pytest_irmetrics.reports.item_report import Note
from pytest_irmetrics.reports.query_details import query_block
from pytest_irmetrics.reports.session_report import SessionReport
from pytest_irmetrics.reports.terminal import summary_lines
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import AUTO, resolve

ARGUMENTS = (
    shared.TEST,
    shared.METRICS,
    shared.CUSTOM_METRIC,
    shared.argument("golden", metavar="GOLDEN", help=shared.GOLDEN_HELP),
    shared.argument("stored", metavar="RUN", help="the run; JSON where its name ends in .json, else TREC; - is standard input"),
    shared.argument("--against", metavar="RUN", help="the run before, to compare with; - is standard input"),
    shared.argument("--query", dest="queries", action="append", default=[], metavar="ID", help="print this query in full, its ranking and judgments, in place of all else (repeatable)"),
    shared.argument("--json", action="store_true", help="print it as the JSON report that pytest writes, which `report` reads"),
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Score the run, print what pytest would, and return 1 where a gate fails."""
    golden = shared.load_golden(options.golden, options.custom_metrics)
    wanted = [shared.find_query(golden, query_id, f"{options.golden}:1").id for query_id in options.queries]
    paths = [options.stored, *([] if options.against is None else [options.against])]
    runs, renamed = [], []
    for shown, stored in shared.load_runs(paths, options.tests, options.golden):
        one, note = under_todays_ids(stored, golden.queries, shown)
        if golden.queries.keys().isdisjoint(one):
            raise shared.CommandError(
                f"{shown}: answers no query of {options.golden}. Check that both call the queries the same."
            )
        runs.append((shown, one))
        renamed += [Note("quiet", note)] if note else []
    if len({os.path.realpath(shown) for shown, _ in runs}) < len(runs):
        raise shared.CommandError(
            f"{runs[0][0]}: is compared with itself, so nothing can fall. Give the run before as --against."
        )
    result = _result(golden, runs, options.metrics)
    result.notes += renamed
    given = {"--run": paths, "--test": options.tests, "--metric": options.custom_metrics}
    named = [part for option, values in given.items() for value in values for part in (option, value)]
    label = shlex.join(["pytest-irmetrics", "label", options.golden, *named])
    judge = None if shared.STANDARD in (options.golden, *paths) else label
    in_full = bool(wanted) or options.json
    report = result.report(runs[0][0], options.golden, everything=in_full, judge=judge)
    titles, _ = shared.about_documents(paths)
    report.run = runs[0][1].dumps() if options.json else None
    report.titles = {doc_id: titles[doc_id] for doc_id in report.documents if doc_id in titles}
    session = SessionReport([report], exit_status=int(result.failed))
    if options.json:
        shared.print_line(shared.harmless_json(json_report.render(session).rstrip("\n")))
    elif wanted:
        shown_queries = (query for query in report.queries if query.query_id in wanted)
        shared.print_blocks(query_block(query, report, in_full=True) for query in shown_queries)
    else:
        if result.failed:
            shared.print_blocks(failure(report), spaced=True)
        for line in summary_lines(session, shared.stdout_screen(), Level.VERBOSE):
            shared.print_line(line.text)
    return shared.FAILED if result.failed and (options.json or not wanted) else shared.OK


def _result(golden: GoldenSet, runs: Sequence[tuple[str, Run]], asked: Sequence[Metric] | None) -> ItemResult:
    """Score the first run, compare it with the second, if there is one, and hold it to the golden set's thresholds: as `check` of plugin/fixture.py does."""
    (shown, run), *others = runs
    of_queries = (threshold for query in golden.queries.values() for threshold in query.thresholds)
    gated = list(dict.fromkeys(threshold.metric for threshold in (*golden.thresholds, *of_queries)))
    reason = f"{shown} holds {run.depth}. Store more of them, or gate on a cut-off that it reaches."
    require_depth(gated, run.depth, reason)
    wanted = asked or shared.USUAL_METRICS
    beyond = [metric for metric in wanted if not all(metric.is_within(one.depth) for _, one in runs)]
    metrics = shared.scorable_metrics([*(one for one in wanted if one not in beyond), *gated], golden)
    missing = tuple(i for i, query in golden.queries.items() if query.xfail is None and i not in run)
    retrieved = Retrieved(run, missing=missing)
    now = Evaluation(golden, retrieved, tuple(metrics), run.depth)
    against, comparison = Against(to_compare="--against"), None
    # A no_answer that no query has is judged: a gate over no query fails.
    unscorable = [one for one in gated if one not in metrics and one.kind != "no_answer"]
    held = [threshold for threshold in golden.thresholds if threshold.metric not in unscorable]
    gates = resolve([held])
    if others:
        name, other = others[0]
        # One that says of which golden set it is was stored, and that may have grown since.
        against = Against(name, name, given=other.golden_set is None)
        comparison = compare(now, now.of_run(without_others(other, golden.queries)))
        rated = () if golden.judges_nothing else metrics
        gates = resolve_with_default([held], rated, AUTO, "the default max_drop")
    gates = with_each_tag(gates, now, comparison)
    verdicts = decide(Case(now, gates, comparison, against))
    result = ItemResult(now, gates, verdicts, comparison, against=against)
    on_run = [Note("normal", text) for text in _notes_on_run(now, beyond, unscorable)]
    result.notes = [*on_run, *notes_on(result)]
    return result


def _notes_on_run(
    evaluation: Evaluation, beyond: Sequence[Metric], unscorable: Sequence[Metric]
) -> Iterator[str]:
    """Yield a note for whatever of the run, or of the golden set, is in no number, with the reason."""
    for ids, what in (
        ([one for one in evaluation.run if one not in evaluation.golden.queries], "not in the golden set"),
        (compare_with_itself(evaluation).reworded, "asked with another text or other params"),
    ):
        if ids:
            yield f"Of the run, {plural(len(ids), 'query is', 'queries are')} {what}: {listed(ids)}."
    if beyond:
        yield f"A run holds too few results a query for {listed([metric.name for metric in beyond])}."
    uncut = [one.name for one in evaluation.metrics if one.kind == "ranking" and one.cutoff is None]
    lengths = [len(one) for query in evaluation.counted for one in evaluation.rankings(query.id)]
    deepest = max([DEFAULT_DEPTH, *lengths])
    if uncut and deepest > DEFAULT_DEPTH:
        asks = f"a test asks for {DEFAULT_DEPTH}, unless the setting ir_depth says otherwise"
        yield f"{listed(uncut)} {'is' if len(uncut) == 1 else 'are'} over up to {deepest} results a query; {asks}."
    if unscorable:
        yield f"A stored run does not tell {listed([metric.name for metric in unscorable])}: not checked."
