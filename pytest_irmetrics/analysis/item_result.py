"""The result of one test item: evaluation, comparison and verdicts; it makes the rows and queries of the ItemReport."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf

from pytest_irmetrics.base.wording import listed, printable
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.metric_change import MIN_CHANGED
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.evaluation.evaluation import Rankings
from pytest_irmetrics.gates.verdict import ON_ALL_ANSWERS, Against, Case, Verdict, usual_metric
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import Grade, Metric
from pytest_irmetrics.reports.item_report import (
    ROW_VERDICTS,
    WORST,
    Degradation,
    ItemReport,
    Note,
    QueryReport,
    ScoreRow,
    SinceReport,
    VerdictReport,
)
from pytest_irmetrics.run.answer import Provenance
from pytest_irmetrics.thresholds import WORDS, Gates

_NAMED = 20
"""How many of a verdict's queries its report names of its own; it says how many more there are."""

_LONGEST = 80
"""Characters of a name or a value of the provenance in a message; a hash has up to 64."""


@dataclass(eq=False)
class ItemResult:
    """What was measured and decided in one test item, with the notes that are printed of it."""

    evaluation: Evaluation
    gates: Gates
    verdicts: tuple[Verdict, ...]
    """The failed ones first, in the order of `decide`, then those of a fall that is accepted."""
    comparison: Comparison | None = None
    checked: bool = True
    """Whether the gates were decided; False for ``evaluate``, which only measures."""
    against: Against = field(default_factory=Against)
    """The run that it was compared with: where a fall since another commit is all that counts, the run of that commit."""
    notes: list[Note] = field(default_factory=list)
    almost_held: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Query id and key of a judged passage → what a returned chunk holds of it, as `passages._near_match` has it."""
    not_in_index: frozenset[str] = frozenset()
    """The documents with a grade above 0 that the index is known to lack."""
    since: SinceReport | None = None
    """What this branch accepts, with ``--ir-since``."""
    degradations: list[Degradation] | None = None
    """With ``--ir-selftest``: which degradations of the stored run the gates catch; all else is about the run intact."""

    @property
    def failed(self) -> bool:
        """Whether any gate failed."""
        return any(verdict.failed for verdict in self.verdicts)

    def report(self, nodeid: str, golden_set: str, *, everything: bool, judge: str | None) -> ItemReport:
        """Return what is printed and reported of it: all queries with ``everything``, else those that explain what failed.

        ``judge`` is the command that lists what to judge, which is kept where judgments would decide on a failure: by what metric is added.
        """
        now, leading = self.evaluation, self.leading_metric
        report = ItemReport(
            nodeid=nodeid,
            golden_set=golden_set,
            outcome="error" if now.errors else "failed" if self.failed else "passed",
            rows=self._rows(),
            leading_metric=None if leading is None else leading.name,
            gates=[_verdict_report(verdict) for verdict in self.verdicts],
            slices=self._rows_by_tag(),
            notes=list(self.notes),
            query_count=len(now.counted),
            unasked=now.retrieved.unasked,
            xfail_count=len(now.known_bad),
            against=self.against.name or None,
            depth=now.depth,
            since=self.since,
            selftest=self.degradations,
        )
        report.queries = self._queries(report, everything=everything)
        if self.comparison is not None:
            if self.failed:
                self._add_kind_of_change(report, self.comparison, judge)
            difference = _provenance_difference(self.comparison)
            if self.failed:
                report.provenance = difference
            elif difference:
                report.notes.insert(0, Note("normal", f"Provenance: {difference}"))
        if not report.kind_sentences and any(map(_is_about_results, self.verdicts)):
            from pytest_irmetrics.analysis.stages import lost_at_stages  # noqa: PLC0415 - needed after a failure alone

            sentence, _ = lost_at_stages(now)
            report.kind_sentences = [] if sentence is None else [sentence]
        return report

    def _add_kind_of_change(self, report: ItemReport, comparison: Comparison, judge: str | None) -> None:
        """Add to the report of a failure what kind of change it is about, and the command to judge where judgments decide."""
        from pytest_irmetrics.analysis.kind_of_change import kind_of_change  # noqa: PLC0415 - needed after a failure alone

        leading = self.leading_metric
        shown = [one.query_id for one in report.queries[:WORST] if one.explains is not None]
        report.kind, report.kind_sentences, judgments_decide = kind_of_change(
            comparison, self.gates, self.verdicts, leading, self.not_in_index, shown
        )
        by = "" if leading is None or leading.kind != "ranking" else f" --by {shlex.quote(leading.name)}"
        report.judge = judge + by if judge and judgments_decide else None
        report.notes = [note for note in self.notes if note.text not in report.kind_sentences]

    def _queries(self, report: ItemReport, *, everything: bool) -> list[QueryReport]:
        """Return the queries that explain the failed gates, or all, in the order of every output.

        Those with an error come first, then what explains the failure best, the largest falls, the lowest scores.
        """
        known, only = self.evaluation.golden.queries, self.evaluation.only
        decisive = report.decisive_gates
        ids = dict.fromkeys(query_id for gate in decisive for query_id in gate.queries)
        today = {query_id for gate in decisive if not gate.as_stored for query_id in gate.queries}
        as_stored = ids.keys() - today
        if everything:
            ids = dict.fromkeys(query_id for query_id in known if only is None or query_id in only)
        explaining = {i: dict[str, None]() for gate in report.explaining_gates for i in gate.queries}
        # The first verdicts are these gates', with all their queries; the report leaves some out.
        for verdict in self.verdicts[: len(decisive)]:
            for query_id in explaining.keys() & verdict.queries if verdict.metric else ():
                explaining[query_id][str(verdict.metric)] = None
        places = {query_id: place for place, query_id in enumerate(explaining)}
        leading = str(self.leading_metric or "")

        def key(query: QueryReport) -> tuple[bool, int, float, float]:
            score, place = query.scores.get(leading), places.get(query.query_id, len(places))
            fall = min(query.delta(leading) or 0.0, 0.0)
            return query.error is None, place, fall, inf if score is None else score

        queries = [self._query_report(known[query_id], as_stored=query_id in as_stored) for query_id in ids]
        if only is not None and self.comparison is not None:
            # With --ir-query, one that was relabelled is shown by both judgments.
            shown = (was for was in self.comparison.relabelled.values() if was.id in ids.keys() - as_stored)
            edited = [known[was.id] for was in shown if was.judgments != known[was.id].judgments]
            queries += [self._query_report(query, as_stored=True) for query in edited]
        for query in queries:
            query.explains = [*explaining[query.query_id]] if query.query_id in explaining else None
        return sorted(queries, key=key)

    def _rows(self) -> list[ScoreRow]:
        """Return the score table: every metric over all queries, then the gated slices."""
        if self.evaluation.errors:
            return []
        whole = [(metric, None) for metric in self.evaluation.metrics]
        slices = [(metric, tag) for metric, tag in self.gates.slices if tag is not None]
        rows = [row for metric, tag in (*whole, *slices) if (row := self._row(metric, tag)) is not None]
        if self.evaluation.retrieved.stages:
            from pytest_irmetrics.analysis.stages import stage_rows  # noqa: PLC0415 - few retrievers tell of stages

            rows += stage_rows(self.evaluation)
        return rows

    def _row(self, metric: Metric, tag: str | None) -> ScoreRow | None:
        case = Case(self.evaluation, self.gates, self.comparison)
        full = case.measured(metric).mean_or_none(metric, tag)
        words = self.gates.of(metric, tag)
        if full is None and not words:
            return None
        # The check `no_answer` is on each such query: limits alone are on their mean.
        own = [v for v in self.verdicts if (v.metric, v.tag) == (metric, tag) and v.word != "no_answer"]
        broken = {v.sign: " as stored" if v.as_stored else "" for v in own if v.failed and not v.single}
        shown = {ROW_VERDICTS[verdict.state] for verdict in own}
        default = "not checked" if words else ""
        limits = [words[word].sign for word in WORDS if word in words]
        # Where this branch loosened one, that of the other commit is another.
        limits += [limit for limit in broken if limit not in limits]
        row = ScoreRow(
            metric=metric.name,
            tag=tag,
            n=len(self.evaluation.queries(metric, tag)),
            full=full,
            now=full,
            gate=" ".join(f"✗{limit}{broken[limit]}" if limit in broken else limit for limit in limits),
            verdict=next((one for one in ROW_VERDICTS.values() if one in shown), default),
            bounds=[gate.limit.value for word, gate in words.items() if word in ("min", "max")],
        )
        if self.comparison is not None and metric.is_compared:
            change = self.comparison.change(metric, tag)
            if change.n and metric.is_within(self.comparison.baseline.depth):
                # A query that was excluded since another commit is compared with that, and in no mean of today.
                row.unpaired, row.n = max(row.n - change.n, 0), change.n
                row.now, row.baseline, row.delta = change.now, change.baseline, change.delta
                row.changed, row.worse = change.changed, len(change.worse)
                row.interval = change.interval if change.changed >= MIN_CHANGED else None
                moving = words.get("max_drop") or words.get("min_gain")
                row.allowed = None if moving is None else moving.allowed(change.baseline)
        return row

    @property
    def leading_metric(self) -> Metric | None:
        """The metric of the table by tag, and of all outputs that show one: of the gate furthest beyond its limit, or undecided."""
        moved = (v.metric for v in self.verdicts if v.metric and v.state not in ("not checked", "passed"))
        broken = next((one for one in moved if one.rates_rankings or one.kind == "overlap"), None)
        gated = [metric for metric, tag in self.gates.slices if tag is None]
        others = [*gated, *self.evaluation.metrics] if self.evaluation.golden.judges_nothing else ()
        overlap = next((metric for metric in others if metric.kind == "overlap"), None)
        return broken or overlap or usual_metric(gated) or usual_metric(self.evaluation.metrics)

    def _rows_by_tag(self) -> list[ScoreRow]:
        """Return the table by tag: the leading metric over the queries of each, compared with the baseline."""
        metric = self.leading_metric
        tags = self.evaluation.tags
        if self.comparison is None or metric is None or self.evaluation.errors or not tags:
            return []
        from pytest_irmetrics.comparison.slices import joint_intervals  # noqa: PLC0415 - many golden sets have no tags

        rows = (self._row(metric, tag) for tag in tags)
        compared = [row for row in rows if row is not None and row.baseline is not None]
        intervals = joint_intervals(self.comparison, metric)
        return [replace(row, interval=intervals.get(row.tag or "")) for row in compared]

    @property
    def floors(self) -> list[Verdict]:
        """The failed gates on how low all queries, or the queries with a tag, may score."""
        least = [word for word in WORDS if WORDS[word].is_least]
        floors = [v for v in self.verdicts if v.failed and v.word in least and not v.single]
        return [verdict for verdict in floors if not verdict.holds_to_baseline and not verdict.over_no_query]

    def is_acceptable(self, kind: str | None) -> bool:
        """Tell whether to offer a new baseline: the test would pass with it, but for floors, and a change of this kind may be meant.

        So too where floors alone fail of a golden set that was edited: what the judgments give now is the new state.
        """
        if any(verdict.word == "min" and not verdict.value for verdict in self.floors):
            return False  # a mean of 0 is no state to go on from
        if kind is not None:
            from pytest_irmetrics.analysis.signs import MISTAKES  # noqa: PLC0415 - needed after a failure alone

            if kind in MISTAKES:
                return False
        failed = [verdict for verdict in self.verdicts if verdict.failed]
        fell = [verdict for verdict in failed if verdict.holds_to_baseline or verdict.word == "baseline"]
        if self.comparison is not None and self.comparison.edited_means:
            return False  # the file is to be restored
        # A gate over no query would have none under a new baseline either.
        if len(fell) + len(self.floors) < len(failed):
            return False
        edited = self.comparison is not None and self.comparison.is_edited
        return any(not verdict.over_no_query for verdict in fell) if fell else edited or not failed

    def _query_report(self, query: Query, *, as_stored: bool) -> QueryReport:
        evaluation, comparison = self.evaluation, self.comparison
        status = "unjudged" if query.is_unjudged else "no_answer" if query.no_answer else ""
        status = status if query.xfail is None else f"xfail: {query.xfail}"
        stored = None if comparison is None else comparison.under_stored_labels
        judged = query if stored is None else stored.now.golden.queries[query.id]
        stages = evaluation.retrieved.stages.get(query.id, {})
        if as_stored and judged.judgments != query.judgments:
            comparison, status, query = stored, "judged as it was stored", judged
            stages = {}  # they are known of the documents that are judged today
        shown = [metric for metric in evaluation.metrics if metric.is_compared]
        timed = len(shown) < len(evaluation.metrics)
        now, before = evaluation, None
        if comparison is not None and comparison.has(query.id):
            # Both rankings are cut at one depth: what is below the baseline's depth has not moved.
            now, before = comparison.now, comparison.baseline
            if any(metric.kind == "overlap" for metric in shown):
                now, before = comparison.for_overlap

        def scores(side: Evaluation | None) -> dict[str, float | None]:
            return {} if side is None or side.errors else {m.name: side.score(m, query.id) for m in shown}

        rankings = now.rankings(query.id)
        worst = _worst(query, rankings)
        # Of the answers before, the one that came most often.
        was = None if before is None else max(earlier := before.rankings(query.id), key=earlier.count)
        if any(ranking != worst for ranking in rankings):
            status = status or f"the worst of {len(rankings)} answers"
        return QueryReport(
            query_id=query.id,
            text=query.text,
            where=evaluation.golden.where(query.id),
            judgments=dict(query.judgments),
            forbidden=list(query.forbidden),
            now=list(worst),
            before=None if was is None else list(was),
            scores=scores(now),
            scores_before=scores(before),
            stages=stages,
            error=evaluation.errors.get(query.id),
            status=status,
            took=max(evaluation.retrieved.latencies.get(query.id, ()) if timed else (), default=None),
        )


def _is_about_results(verdict: Verdict) -> bool:
    """Whether a verdict failed by what came back: not by a latency, nor by documents that must not come back."""
    rated = verdict.word in ON_ALL_ANSWERS if verdict.metric is None else verdict.metric.rates_rankings
    return verdict.failed and rated


def _provenance_difference(comparison: Comparison) -> str:
    """Say how the provenance of today's run, as the fixture `ir_provenance` gave it, differs from the other run's.

    It reads `model minilm → bge-small; docs 973, as before.` Empty where nothing differs, or one of the two does not say.
    """
    now, before = comparison.now.run.provenance, comparison.baseline.run.provenance
    if not now or not before or now == before:
        return ""

    def value(provenance: Provenance, name: str) -> str:
        return printable(str(provenance[name]), _LONGEST) if name in provenance else "(not given)"

    names = {name: printable(name, _LONGEST) for name in sorted({**before, **now})}
    same = [name for name in names if before.get(name) == now.get(name)]
    differing = [f"{names[i]} {value(before, i)} → {value(now, i)}" for i in names if i not in same]
    kept = f"; {listed(same, word=lambda i: f'{names[i]} {value(now, i)}')}, as before" if same else ""
    said = f"{listed(differing)}{kept}."
    advice = "No answer differs: leave what changes in every run, such as a time, out of ir_provenance."
    return f"{said} {advice}" if comparison.is_unchanged else said


def _verdict_report(verdict: Verdict) -> VerdictReport:
    """Return a verdict as it is reported, with the queries that matter most for it; of errors with all."""
    most = len(verdict.queries) if verdict.word == "errors" else _NAMED
    reported = {one.name for one in fields(VerdictReport)}
    decided = {name: value for name, value in verdict._asdict().items() if name in reported}
    metric, queries = verdict.metric and verdict.metric.name, list(verdict.queries[:most])
    changed = {"metric": metric, "queries": queries, "details": list(verdict.details)}
    return VerdictReport(**decided | changed, more=len(verdict.queries[most:]))


def _worst(query: Query, rankings: Rankings) -> Sequence[str]:
    """Return the worst of the answers to a query: one with a forbidden document, or any where none is right; else by its grades from the top."""

    def rating(ranking: Sequence[str]) -> tuple[bool, list[Grade]]:
        right = not ranking if query.no_answer else {*ranking}.isdisjoint(query.forbidden)
        return right, [query.judgments.get(doc_id, 0) for doc_id in ranking]

    return min(rankings, key=rating)
