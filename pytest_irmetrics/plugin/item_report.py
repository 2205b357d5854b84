"""Build the ItemReport of a test item: all that is printed, reported and stored of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.notes import gains, losses
from pytest_irmetrics.base.files import relative_path
from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.gates.limits import own_gates, stored_form
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport, Note
from pytest_irmetrics.retrieval.answers import describe
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.run import Answer, Header, Run

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.item import GatedItem

_LONGEST_TITLE = 120


def item_report(item: GatedItem, result: ItemResult, baseline_shown: str = "") -> ItemReport:
    """Build the ItemReport that travels to the controller on the item's test report.

    `baseline_shown` is the path, as messages show it, of the run that it was compared with, if it was read from a file.
    """
    settings, golden = item.settings, result.evaluation.golden
    own = result.against == OWN_BASELINE

    def judge() -> list[str]:
        return (
            []
            if settings.only_queries
            else item.label_commands(golden, result.leading_metric, baseline_shown)
        )

    everything = bool(settings.only_queries or settings.reports) or item.verbosity >= 2
    name = item.golden_name(golden)
    report = result.report(item.node.nodeid, name, everything=everything, judge=judge)
    report.only_queries = bool(settings.only_queries)
    report.unbound = item.session.unbound(golden) if result.checked else []
    report.look = item.command(*(["--ir-baseline"] if own else []))
    report.accept = item.command("--ir-baseline-update") if own and result.acceptable else None
    _add_titles(report, item, golden)
    _add_run(report, item, result)
    if own and not (settings.update or settings.only_queries or settings.selftest):
        report.notes += gains(result)
    return report


def _add_titles(report: ItemReport, item: GatedItem, golden: GoldenSet) -> None:
    """Add the titles of the documents that a report shows, and a note where the user's function cannot give them.

    Of a chunk, or a judged passage, it is that of its document.
    """
    given = item.doc_title
    passages = {passage.key: passage.doc for query in golden.queries.values() for passage in query.passages}
    for doc_id in report.documents:
        document = passages.get(doc_id) or document_of(doc_id)
        problem = ""
        try:
            titles = item.returned_titles if given is None else given
            title: Any = titles.get(document) if isinstance(titles, Mapping) else titles(document)
            if title is not None and not isinstance(title, str):
                problem = f"gave {describe(title)}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the user's function may skip, exit or fail, and a title decides nothing
            problem = f"raised {describe(error)}"
        if problem:
            what = "a title is a text, or None where there is none. No more titles are shown."
            said = f"ir_doc_title {problem} for the document {cut(document)}; {what}"
            report.notes.append(Note("normal", said))
            return
        if title:
            report.titles[doc_id] = cut(" ".join(title.split()), _LONGEST_TITLE)


def _add_run(report: ItemReport, item: GatedItem, result: ItemResult) -> None:
    """Add today's run, for report files, and in an updating run the baseline to store, with what it takes from the one there."""
    settings, own = item.settings, result.against == OWN_BASELINE
    reports = settings.reports and not result.evaluation.errors
    updates = settings.update and result.checked and not result.failed and (own or result.against is None)
    if not reports and not updates:
        return
    run = _run_to_store(item, result.evaluation)
    text = run.dumps()
    report.run = text if reports else None
    if not updates:
        return
    report.baseline_file = relative_path(item.baseline_file, item.node.config.rootpath)
    report.baseline_read = item.baseline_read
    report.baseline_text = text
    if settings.only_queries and result.comparison is not None:
        from pytest_irmetrics.analysis.accepted_queries import accept_queries  # noqa: PLC0415 - few runs accept single queries

        accepted = accept_queries(result.comparison, run, result.leading_metric)
        report.baseline_text = accepted.run.dumps()
        report.notes += accepted.notes
    elif own:
        rows = [row for row in report.rows if not row.metric.startswith("judged")]
        report.notes += losses(
            (row.metric if row.tag is None else f"{row.metric} of {row.tag}", row.baseline, row.now)
            for row in rows
        )


def _run_to_store(item: GatedItem, evaluation: Evaluation) -> Run:
    golden = evaluation.golden
    answers = {}
    # With --ir-query the others were not asked, which is no empty answer.
    for query in item.queries(golden):
        answer = evaluation.run.answers.get(query.id)
        answers[query.id] = Answer(
            rankings=answer.rankings if answer is not None else ((),),
            text=query.text,
            params=query.params,
            judgments=query.judgments,
            weight=query.weight,
            tags=query.tags,
            passages=answer.passages if answer is not None else {},
            xfail=query.xfail is not None,
            limits=stored_form(own_gates(query)),
        )
    found = {
        metric.name: evaluation.mean_or_none(metric)
        for metric in evaluation.metrics
        if metric.kind != "latency"
    }
    means = {name: mean for name, mean in found.items() if mean is not None}
    path = golden.path
    header = Header(
        depth=evaluation.depth,
        golden_set=golden.name if path is None else relative_path(path, Path(item.node.path).parent),
        relevance_level=golden.relevance_level,
        means=means,
        limits=stored_form(item.gates(golden, regression=True)),
    )
    return Run.of(answers, header)
