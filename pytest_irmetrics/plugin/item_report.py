"""Build the ItemReport of a test item: all that is printed, reported and stored of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.notes import gains, losses
from pytest_irmetrics.base.paths import relative_path
from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.gates.limits import own_gates, stored_form
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport, Note
from pytest_irmetrics.retrieval.answers import describe
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.analysis.accepted_queries import AcceptedQueries
    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.item import GatedItem
    from pytest_irmetrics.reports.item_report import QueryReport

_LONGEST_TITLE = 120


def item_report(item: GatedItem, result: ItemResult, baseline_shown: str = "") -> ItemReport:
    """Build the ItemReport that travels to the controller on the item's test report.

    `baseline_shown` is the path, as messages show it, of the run that it was compared with, if it was read from a file.
    """
    against = result.against
    own = against == OWN_BASELINE
    config, settings = item.node.config, item.settings
    golden = result.evaluation.golden
    wanted = bool(settings.only_queries) or item.verbosity >= 2 or bool(settings.reports)
    updating = settings.update and result.checked and not result.failed and (own or against is None)
    kind = result.kind()
    reporting = bool(settings.reports) and not result.evaluation.errors
    run = _run_to_store(item, result.evaluation) if updating or reporting else None
    text = None if run is None else run.dumps()
    accepted = _accepted_queries(result, run) if updating and settings.only_queries else None
    queries = result.query_reports(everything=wanted)
    titles, no_titles = _titles(item, golden, queries)
    return result.report(
        nodeid=item.node.nodeid,
        golden_set=item.golden_name(golden),
        titles=titles,
        notes=[
            *result.notes,
            *(Note("normal", problem) for problem in no_titles),
            *_notes_on_storing(item, result, accepted),
        ],
        queries=queries,
        unbound=item.session.unbound(golden) if result.checked else [],
        baseline_file=relative_path(item.baseline_file, config.rootpath) if updating else None,
        baseline_text=(text if accepted is None else accepted.run.dumps()) if updating else None,
        baseline_read=item.baseline_read if updating else None,
        run=text if reporting else None,
        look=item.command(*(["--ir-baseline"] if own else [])),
        judge=item.label_commands(golden, result.leading_metric, baseline_shown)
        if kind is not None and kind.judge and not settings.only_queries
        else [],
        accept=item.command("--ir-baseline-update") if own and result.acceptable else None,
        only_queries=bool(settings.only_queries),
        since=None if result.since is None else result.since.as_dict(),
        selftest=list(result.selftest.degradations) if result.selftest is not None else None,
    )


def _titles(
    item: GatedItem, golden: GoldenSet, queries: Iterable[QueryReport]
) -> tuple[dict[str, str], list[str]]:
    """Return the titles of the documents of some queries, by id, and a note where the user's function cannot give them.

    Of a chunk, or a judged passage, it is that of its document.
    """
    given = item.doc_title
    titles: dict[str, str] = {}
    passages = {passage.key: passage.doc for query in golden.queries.values() for passage in query.passages}
    shown = (doc_id for query in queries for doc_id in (*query.now, *(query.before or ()), *query.judgments))
    for doc_id in dict.fromkeys(shown):
        document = passages.get(doc_id) or document_of(doc_id)
        if given is None:
            title = item.returned_titles.get(document)
        else:
            try:
                title = given.get(document) if isinstance(given, Mapping) else given(document)
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything, and a title decides nothing
                what = f"raised {describe(error)} for the document {cut(document)}"
                return titles, [f"ir_doc_title {what}; no more titles are shown."]
        if title is not None and not isinstance(title, str):
            what = f"gave {describe(title)} for the document {cut(document)}; a title is a text, or None where there is none"
            return titles, [f"ir_doc_title {what}. No more titles are shown."]
        if title:
            titles[doc_id] = cut(" ".join(title.split()), _LONGEST_TITLE)
    return titles, []


def _accepted_queries(result: ItemResult, asked: Run | None) -> AcceptedQueries | None:
    """Return the stored baseline with today's answers to the queries of ``--ir-query``; None where these are not to be stored."""
    if asked is None or result.comparison is None:
        return None
    from pytest_irmetrics.analysis.accepted_queries import accept_queries  # noqa: PLC0415 - few runs accept single queries

    return accept_queries(result.comparison, asked, result.leading_metric)


def _notes_on_storing(
    item: GatedItem, result: ItemResult, accepted: AcceptedQueries | None
) -> Iterable[Note]:
    """Say what storing this run as the baseline takes from it, or what not storing it leaves open."""
    settings = item.settings
    if accepted is not None:
        return accepted.notes
    if settings.only_queries or result.against != OWN_BASELINE or result.selftest is not None:
        return ()
    if not settings.update:
        return gains(result)
    measured = [row for row in result.rows() if not row.metric.startswith("judged")]
    means = [
        (row.metric if row.tag is None else f"{row.metric} of {row.tag}", row.baseline, row.now)
        for row in measured
    ]
    return () if result.failed else losses(means)


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
    return Run.of(
        answers,
        depth=evaluation.depth,
        golden_set=golden.name if path is None else relative_path(path, Path(item.node.path).parent),
        relevance_level=golden.relevance_level,
        means=means,
        limits=stored_form(item.gates(golden, regression=True)),
    )
