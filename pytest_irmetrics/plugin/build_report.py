"""Build the ItemReport of a test item: all that is printed, reported and stored of it, with the notes to its result."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import floor
from pathlib import Path
from typing import Any

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.notes import notes_on, notes_on_lower, notes_on_replaced
from pytest_irmetrics.base.files import relative_path
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import as_title, cut, describe, listed
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_runs import with_answers
from pytest_irmetrics.gates.stored_limits import limit_edits, read_limits, stored_form
from pytest_irmetrics.gates.verdict import Against
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport, Note, mean_name
from pytest_irmetrics.run import Header, Run
from pytest_irmetrics.run.answer import document_of, how_to_restore


def build_item_report(item: GatedItem, result: ItemResult) -> ItemReport:
    """Build the ItemReport that travels to the controller on the item's test report."""
    settings, narrowed = item.settings, bool(item.settings.only_queries)
    own = result.against.name == OWN_BASELINE
    gating = ["--ir-baseline"] if own else [f"--ir-since={settings.since}"] if settings.since else []
    judge = None if narrowed else item.label_command(result.against.file, *gating)
    everything = bool(narrowed or settings.reports) or item.verbosity >= 2
    report = result.report(item.node.nodeid, item.golden_name, everything=everything, judge=judge)
    report.only_queries = narrowed
    limits = item.setting_thresholds if result.checked else ()
    report.unbound = [mean_name(one.metric, one.tag) for one in limits if not item.golden.has_tag(one.tag)]
    # retrieval/errors.py logs the traceback
    report.look = item.command(*gating, *(["--log-level=INFO"] if result.evaluation.errors else []))
    acceptable = result.is_acceptable(report.kind)
    report.accept = item.command("--ir-baseline-update") if own and acceptable else None
    if own or not item.baseline_file.exists():
        report.notes += _on_floors(result, acceptable=acceptable)
    _add_titles(report, item)
    for query in report.queries:
        texts = item.seen.texts.get(query.query_id, {})
        query.texts = {doc_id: text for doc_id, text in texts.items() if doc_id not in query.judgments}
    _add_run(report, item, result)
    return report


def _add_titles(report: ItemReport, item: GatedItem) -> None:
    """Add the titles of the documents that a report shows, and a note where the user's function cannot give them.

    Of a chunk, or a judged passage, it is that of its document.
    """
    given = item.fixtures.doc_title
    queries = item.golden.queries.values()
    passages = {passage.key: passage.doc for query in queries for passage in query.passages}
    for doc_id in report.documents:
        document = passages.get(doc_id) or document_of(doc_id)
        problem = ""
        try:
            titles = item.seen.titles if given is None else given
            title: Any = titles.get(document) if isinstance(titles, Mapping) else titles(document)
            if title is not None and not isinstance(title, str):
                problem = f"gave {describe(title)}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the user's function may skip, exit or fail, and a title decides nothing
            problem = f"raised {describe(error)}"
        if problem:
            what = "a title is a text, or None where there is none. No more titles are shown."
            said = f"ir_doc_title {problem} for the document {cut(document, 30)}; {what}"
            report.notes.append(Note("normal", said))
            return
        if title:
            report.titles[doc_id] = as_title(title)


def _add_run(report: ItemReport, item: GatedItem, result: ItemResult) -> None:
    """Add today's run, for report files, and in an updating run the baseline to store, with what it takes from the one there."""
    settings = item.settings
    reports = settings.reports and not result.evaluation.errors
    updates = settings.update and result.checked and not result.failed and not result.against.given
    if not reports and not updates:
        return
    run = _run_to_store(item, result)
    text = run.dumps()
    report.run = text if reports else None
    if not updates:
        return
    report.baseline_digest = item.baseline_digest
    report.baseline_text = text
    if result.comparison is None:
        return
    stored = result.comparison.baseline.run
    if settings.only_queries:
        merged = with_answers(stored, run, settings.custom_metrics)
        report.baseline_text = merged.dumps()
        report.notes += notes_on_replaced(stored, run, merged)
    else:
        if result.comparison.edited_means:
            said = "The baseline that this replaces was edited after it was stored, or merged by hand, so that what this run lowers may not show."
            report.notes.append(Note("quiet", f"{said} {how_to_restore(result.against.file)}"))
        # Of answers of another depth a part alone is compared.
        deep = stored.means if stored.depth != run.depth else {}
        overlaps = [one.name for one in result.evaluation.metrics if one.kind == "overlap"]
        report.notes += notes_on_lower(
            (row.name, deep.get(row.name, row.baseline), row.now)
            for row in report.rows
            if row.metric not in overlaps  # which are 1 with the new baseline
        )
        if (by_stored := result.comparison.under_stored_labels) is not None:
            changes = (by_stored.change(one) for one in by_stored.now.metrics if one.kind == "ranking")
            means = ((one.metric.name, one.baseline, one.now) for one in changes)
            report.notes += notes_on_lower(means, ", by the labels that were stored")


def _run_to_store(item: GatedItem, result: ItemResult) -> Run:
    """Return today's run as a baseline: with each query's judgments, and the limits that judge it."""
    evaluation, golden = result.evaluation, result.evaluation.golden
    gates, answers = item.gates(result.against.gone_tags), {}
    # With --ir-query the others were not asked, which is no empty answer. Where one failed, nothing is stored.
    for query in item.queries():
        answers[query.id] = replace(
            evaluation.run.answers[query.id],
            judgments=query.judgments,
            weight=query.weight,
            tags=query.tags,
            xfail=query.xfail is not None,
            unjudged=query.is_unjudged,
            limits=stored_form((t.metric, None, *one) for t in query.thresholds for one in t.limits.items()),
        )
    means = {
        metric.name: mean
        for metric in evaluation.metrics
        if metric.is_stored and (mean := evaluation.mean_or_none(metric)) is not None
    }
    path, limits = golden.path, [(one.metric, one.tag, one.word, one.limit) for one in gates]
    header = Header(
        depth=evaluation.depth,
        golden_set=golden.name if path is None else relative_path(path, Path(item.node.path).parent),
        relevance_level=golden.relevance_level,
        means=means,
        provenance=evaluation.run.provenance,
        limits=stored_form([*limits, *((*one, None) for one in gates.off)]),
    )
    return Run.of(answers, header)


def add_notes(item: GatedItem, result: ItemResult) -> None:
    """Add what a reader should know besides the verdicts."""
    update, comparison, against = item.settings.update, result.comparison, result.against.name
    result.notes += notes_on(result, verbose=item.verbosity >= 1)
    if comparison is not None and against == OWN_BASELINE and not update:
        result.notes += _on_limits(item, comparison, result.against)
    file = item.settings.shown(item.baseline_file)
    if result.against.given and against != file and (item.baseline_file.exists() or update):
        said = f"{file}, is neither read nor stored: `against` gives {against} in its place."
        result.notes.append(Note("quiet", f"The baseline of this test, {said}"))
    if not result.gates.slices and not result.verdicts and not update:
        compared = ", and no baseline was compared" if comparison is None else ""
        said = f"Nothing is gated here: no threshold binds to this test{compared}."
        result.notes.append(Note("normal", said))


def _on_floors(result: ItemResult, *, acceptable: bool) -> Iterator[Note]:
    """Say which limits on how low scores may be would hold today, where there is no stored run, or a new one may be accepted."""
    starts = []
    for verdict in result.floors:
        held = floor((verdict.value or 0.0) * 100 + TOLERANCE) / 100
        if held or result.against.name:
            tag = "" if verdict.tag is None else f" tag={shlex.quote(verdict.tag)}"
            least = f"{held:.12g}" if held else "off"  # at 0 nothing would fail
            starts.append(f"`{verdict.metric} {verdict.word}={least}{tag}`")  # as ir_thresholds has it
    if starts and not result.against.name:
        rest = " Other gates fail too." if sum(v.failed for v in result.verdicts) > len(starts) else ""
        yield Note("normal", f"To start from here: {', '.join(starts)}.{rest}")
    elif starts and acceptable:
        yield Note("normal", f"To accept it, set first: {', '.join(starts)}.")


def _on_limits(item: GatedItem, comparison: Comparison, against: Against) -> Iterator[Note]:
    """Say which limits differ from those that judged the baseline when it was stored, those that let more pass first."""
    run, golden = comparison.baseline.run, comparison.now_in_full.golden
    stored = read_limits(run, item.settings.custom_metrics)
    if stored is None or item.settings.only_queries:
        return
    edits = limit_edits(stored, item.gates(against.gone_tags), golden.queries, run.means)
    if edits:
        lead = "Limits differ from those that judged the baseline when it was stored"
        command = item.command("--ir-baseline-update")
        yield Note("quiet", f"{lead}: {listed(edits)}. To store today's, with today's answers: `{command}`")
