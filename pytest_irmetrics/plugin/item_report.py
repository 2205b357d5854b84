"""Build the ItemReport of a test item: all that is printed, reported and stored of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.evaluation import Evaluation, NoQueryError
from pytest_irmetrics.plugin import paths as places
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.plugin.item import Case


def item_report(case: Case, result: ItemResult) -> ItemReport:
    """Build the ItemReport that travels to the controller on the item's test report."""
    against = result.against
    config, settings = case.item.config, case.settings
    golden = result.evaluation.golden
    wanted = bool(settings.only_queries) or case.verbosity >= 2 or bool(config.getoption("ir_report"))
    updating = settings.update and result.checked and not result.failed and not settings.only_queries
    reporting = bool(config.getoption("ir_report")) and not result.evaluation.errors
    run = _run_to_store(case, result.evaluation).dumps() if updating or reporting else None
    own = against == OWN_BASELINE
    return ItemReport(
        nodeid=case.item.nodeid,
        golden_set=case.golden_name(golden),
        queries=len(result.evaluation.counted),
        outcome=result.state,
        rows=result.rows(),
        gates=result.verdict_reports(),
        explained_by=result.explained_by(),
        slices=result.slices(),
        kind=result.kind(),
        notes=list(result.notes),
        hints=list(result.hints),
        views=result.views(everything=wanted),
        lowered=list(result.lowered()) if settings.update else [],
        unbound=case.session.unbound(golden) if result.checked else [],
        stale=case.stale(),
        baseline_file=places.in_root(config, case.baseline_file) if updating else None,
        baseline_text=run if updating else None,
        run=run if reporting else None,
        against=against,
        look=case.command(*(["--ir-baseline"] if own else [])),
        accept=case.command("--ir-baseline-update") if own and result.acceptable else None,
        depth=result.evaluation.depth,
        only_queries=bool(settings.only_queries),
        selftest=list(result.selftest.degradations) if result.selftest is not None else None,
        advice=list(result.selftest.advice) if result.selftest is not None else [],
    )


def _run_to_store(case: Case, evaluation: Evaluation) -> Run:
    golden = evaluation.golden
    answers = {}
    # With --ir-query the others were not asked, which is no empty answer.
    for query in case.queries(golden):
        answer = evaluation.run.answers.get(query.id)
        answers[query.id] = Answer(
            rankings=answer.rankings if answer is not None else ((),),
            text=query.text,
            params=query.params,
            judgments=query.judgments,
            weight=query.weight,
            tags=query.tags,
            passages=answer.passages if answer is not None else {},
        )
    means = {}
    for metric in evaluation.metrics:
        if metric.kind != "latency":
            try:
                means[metric.name] = evaluation.mean(metric)
            except NoQueryError:  # a metric over no query has no mean to tell
                continue
    path = golden.path
    return Run.of(
        answers,
        depth=evaluation.depth,
        golden_set=golden.name if path is None else places.relative(path, Path(case.item.path).parent),
        relevance_level=golden.relevance_level,
        means=means,
    )
