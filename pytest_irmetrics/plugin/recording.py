"""What was found for a test item, as the record that its report carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.evaluation import Evaluation, NoQueryError
from pytest_irmetrics.plugin import paths as places
from pytest_irmetrics.reports.record import OWN_BASELINE, Record
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.result import Outcome
    from pytest_irmetrics.analysis.selftest import Selftest
    from pytest_irmetrics.plugin.item import Case


@dataclass
class Finding:
    """What was measured for a test item, and what a reader should know besides."""

    outcome: Outcome
    against: str | None = None
    """What messages call the run that it was compared with."""
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    """What is told with `-v` alone."""
    selftest: Selftest | None = None


def as_record(case: Case, finding: Finding) -> Record:
    """Give a finding as the plain data that rides on the test's report."""
    outcome, against = finding.outcome, finding.against
    config, settings = case.item.config, case.settings
    golden = outcome.evaluation.golden
    wanted = bool(settings.only_queries) or case.verbosity >= 2 or bool(config.getoption("ir_report"))
    updating = settings.update and outcome.checked and not outcome.failed and not settings.only_queries
    reporting = bool(config.getoption("ir_report")) and not outcome.evaluation.errors
    run = _run_to_store(case, outcome.evaluation).dumps() if updating or reporting else None
    own = against == OWN_BASELINE
    return Record(
        nodeid=case.item.nodeid,
        golden_set=case.golden_name(golden),
        queries=len(outcome.evaluation.counted),
        outcome=outcome.state,
        rows=outcome.rows(),
        gates=outcome.gates(),
        explained_by=outcome.explained_by(),
        slices=outcome.slices(),
        kind=outcome.kind(),
        notes=list(finding.notes),
        hints=list(finding.hints),
        views=outcome.views(everything=wanted),
        lowered=list(outcome.lowered()) if settings.update else [],
        unbound=case.session.unbound(golden) if outcome.checked else [],
        stale=case.stale(),
        baseline_file=places.in_root(config, case.baseline_file) if updating else None,
        baseline_text=run if updating else None,
        run=run if reporting else None,
        against=against,
        look=case.command(*(["--ir-baseline"] if own else [])),
        accept=case.command("--ir-baseline-update") if own and outcome.acceptable else None,
        depth=outcome.evaluation.depth,
        only_queries=bool(settings.only_queries),
        selftest=list(finding.selftest.degradations) if finding.selftest is not None else None,
        advice=list(finding.selftest.advice) if finding.selftest is not None else [],
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
