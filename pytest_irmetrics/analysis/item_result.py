"""The result of one test item: evaluation, comparison and verdicts; it makes the rows and queries of the ItemReport."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from pytest_irmetrics.comparison import MIN_CHANGED, joint_intervals
from pytest_irmetrics.gates import leading_metric
from pytest_irmetrics.metrics import Scorer, mean
from pytest_irmetrics.reports.item_report import (
    ROW_VERDICTS,
    Degradation,
    ItemReport,
    Note,
    QueryReport,
    ScoreRow,
    SinceReport,
    VerdictReport,
    explaining_gates,
)
from pytest_irmetrics.thresholds import BASELINE_WORDS, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.analysis.kind_of_change import KindOfChange
    from pytest_irmetrics.comparison import Comparison, MetricChange
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate, Gates

_NAMED = 20
"""How many of a verdict's queries its report names of its own; it says how many more there are."""


@dataclass
class ItemResult:
    """What was measured and decided in one test item, with the notes that are printed of it."""

    evaluation: Evaluation
    gates: Gates
    verdicts: tuple[Verdict, ...] = ()
    comparison: Comparison | None = None
    checked: bool = True
    """Whether the gates were decided; False for ``evaluate``, which only measures."""
    against: str | None = None
    """What messages call the run that it was compared with."""
    notes: list[Note] = field(default_factory=list)
    not_in_index: frozenset[str] = frozenset()
    """The documents judged relevant that the index is known to lack."""
    since: SinceReport | None = None
    """What this branch accepts, with ``--ir-since``."""
    degradations: list[Degradation] | None = None
    """With ``--ir-selftest``: which degradations of the stored run the gates catch; all else is about the run intact."""

    @property
    def failed(self) -> bool:
        """Whether any gate failed."""
        return any(verdict.failed for verdict in self.verdicts)

    @property
    def state(self) -> str:
        """``error`` where no mean could be computed, else ``failed`` or ``passed``."""
        if self.evaluation.errors:
            return "error"
        return "failed" if self.failed else "passed"

    def report(self, nodeid: str, golden_set: str, *, everything: bool, judge: list[str]) -> ItemReport:
        """Return what is printed and reported of it: all queries with ``everything``, else those that explain what failed.

        ``judge`` are the commands that list what to judge, which are kept where judgments would decide on a failure.
        """
        now, kind, leading = self.evaluation, self.kind(), self.leading_metric
        gates = self.verdict_reports()
        return ItemReport(
            nodeid=nodeid,
            golden_set=golden_set,
            outcome=self.state,
            rows=self.rows(),
            leading_metric=None if leading is None else leading.name,
            gates=gates,
            slices=self.slices(),
            kind=None if kind is None else kind.kind,
            kind_sentences=[] if kind is None else list(kind.sentences),
            notes=list(self.notes),
            query_count=len(now.counted),
            no_answer_count=sum(query.no_answer for query in now.counted),
            xfail_count=len(now.known_bad),
            queries=self._worst_first(self.query_reports(everything=everything), gates),
            against=self.against,
            judge=judge if kind is not None and kind.judge else [],
            depth=now.depth,
            since=self.since,
            selftest=self.degradations,
        )

    def _worst_first(
        self, queries: Iterable[QueryReport], gates: Sequence[VerdictReport]
    ) -> list[QueryReport]:
        """Return queries in the order of every output, and note of each by which metrics it explains a failure.

        Those with an error come first, then what explains the failure best, the largest falls, the lowest scores.
        """
        explaining: dict[str, list[str]] = {i: [] for gate in explaining_gates(gates) for i in gate.queries}
        # A gate that explains nothing (the `min` of another metric, beside a drop) still failed for its queries.
        failed = [gate for gate in gates if gate.state == "failed"]
        for gate in [*explaining_gates(gates), *failed]:
            for query_id in gate.queries:
                metrics = explaining.get(query_id)
                if metrics is not None and gate.metric is not None and gate.metric not in metrics:
                    metrics.append(gate.metric)
        places = {query_id: place for place, query_id in enumerate(explaining)}
        leading = None if self.leading_metric is None else self.leading_metric.name

        def key(query: QueryReport) -> tuple[bool, int, float, float]:
            score = query.scores.get(leading or "")
            fall = min(query.delta(leading) or 0.0, 0.0)
            place = places.get(query.query_id, len(places))
            return query.error is None, place, fall, inf if score is None else score

        for query in queries:
            query.explains = explaining.get(query.query_id)
        return sorted(queries, key=key)

    def rows(self) -> list[ScoreRow]:
        """Return the score table: every metric over all queries, then the gated slices."""
        if self.evaluation.errors:
            return []
        slices = [(metric, tag) for metric, tag in self.gates.slices if tag is not None]
        whole = [(metric, None) for metric in self.evaluation.metrics]
        scored = [row for metric, tag in whole if (row := self._row(metric, tag)) is not None]
        gated = [row for metric, tag in slices if (row := self._row(metric, tag)) is not None]
        return [*scored, *gated]

    def _row(self, metric: Metric, tag: str | None) -> ScoreRow | None:
        full = self.evaluation.mean_or_none(metric, tag)
        words = self.gates.of(metric, tag)
        if full is None and not words:
            return None
        change = self._change(metric, tag)
        asked = len(self.evaluation.queries(metric, tag))
        return ScoreRow(
            metric=metric.name,
            tag=tag,
            n=asked if change is None else change.n,
            full=full,
            now=full if change is None else change.now,
            baseline=None if change is None else change.baseline,
            delta=None if change is None else change.delta,
            gate=" ".join(f"{WORDS[word].sign}{words[word].limit}" for word in WORDS if word in words),
            verdict=self._verdict(metric, tag),
            interval=None if change is None or change.changed < MIN_CHANGED else change.interval,
            bounds=[gate.limit.value for word, gate in words.items() if word in ("min", "max")],
            allowed=_allowed(words, change),
            unpaired=0 if change is None else asked - change.n,
            cut=self._cut(metric),
            changed=None if change is None else change.changed,
            worse=None if change is None else len(change.worse),
            p=change.p_value if change is not None and self._verdict(metric, tag) == "FAILS" else None,
        )

    def _change(self, metric: Metric, tag: str | None) -> MetricChange | None:
        """Return how a mean moved; None where there is nothing to compare."""
        if self.comparison is None or metric.kind == "latency":
            return None
        change = self.comparison.change(metric, tag)
        return change if change.n else None

    def _cut(self, metric: Metric) -> int | None:
        """Return the depth at which rankings are cut for the comparison, where the metric looks deeper into today's."""
        depth = None if self.comparison is None else self.comparison.depth
        if depth is None or (metric.cutoff is not None and metric.cutoff <= depth):
            return None
        return depth if self.evaluation.depth is None or self.evaluation.depth > depth else None

    @property
    def leading_metric(self) -> Metric | None:
        """The metric of the table by tag, and of all outputs that show one: that of the gate furthest beyond its limit."""
        return leading_metric(self.evaluation.metrics, self.gates, self.verdicts)

    def slices(self) -> list[ScoreRow]:
        """Return the table by tag: the leading metric over the queries of each, compared with the baseline."""
        metric = self.leading_metric
        if self.comparison is None or metric is None or self.evaluation.errors:
            return []
        rows = (self._row(metric, tag) for tag in self.evaluation.tags)
        intervals = joint_intervals(self.comparison, metric)
        return [
            replace(row, interval=intervals.get(row.tag or ""))
            for row in rows
            if row is not None and row.baseline is not None
        ]

    @property
    def mean_fell(self) -> bool:
        """Whether a mean over the whole golden set fell further than ``max_drop``."""
        return any(verdict.failed and verdict.on_fall_of_mean for verdict in self.verdicts)

    @property
    def acceptable(self) -> bool:
        """Whether storing a new baseline would make the test pass, so that the command for it is worth printing."""
        failed = [verdict for verdict in self.verdicts if verdict.failed]
        fell = [v for v in failed if v.word in (*BASELINE_WORDS, "baseline")]
        if len(fell) < len(failed):
            return False
        # A gate over no query would have none under a new baseline either.
        return any(not v.over_no_query for v in fell) if fell else not self.failed

    def kind(self) -> KindOfChange | None:
        """Return what a failure says of its cause; None where no failed gate compares, or there is nothing to say."""
        failed = [verdict for verdict in self.verdicts if verdict.failed]
        if self.comparison is None or not failed:
            return None
        from pytest_irmetrics.analysis.kind_of_change import kind_of_change  # noqa: PLC0415 - needed after a drop alone

        return kind_of_change(self.comparison, self.gates, failed, self.leading_metric, self.not_in_index)

    def _verdict(self, metric: Metric, tag: str | None) -> str:
        states = {
            verdict.state
            for verdict in self.verdicts
            if verdict.metric == metric and verdict.tag == tag and verdict.word in WORDS
        }
        if not states:
            return "not checked" if self.gates.of(metric, tag) else ""
        return next(shown for state, shown in ROW_VERDICTS.items() if state in states)

    def verdict_reports(self) -> list[VerdictReport]:
        """Return the verdicts as they are reported, failed ones first.

        A failed verdict names the queries that matter most for it, and those of its others that another failed verdict
        names: what is shown of a query then has every metric that failed for it.
        """
        shown = {i for verdict in self.verdicts if verdict.failed for i in _first_queries(verdict)}
        gates = []
        for verdict in self.verdicts:
            own = {*_first_queries(verdict), *(shown if verdict.failed else ())}
            places = [place for place, i in enumerate(verdict.queries) if i in own]
            named = [verdict.queries[place] for place in places]
            gates.append(
                VerdictReport(
                    state=verdict.state,
                    text=verdict.text,
                    word=verdict.word,
                    metric=verdict.metric.name if verdict.metric is not None else None,
                    tag=verdict.tag,
                    origin=verdict.origin,
                    queries=named,
                    details=list(verdict.details),
                    single=verdict.single,
                    shares=[verdict.shares[place] for place in places] if verdict.shares else [],
                    more=len(verdict.queries) - len(named),
                    as_stored=verdict.as_stored,
                )
            )
        return gates

    def query_reports(self, *, everything: bool) -> list[QueryReport]:
        """Return the queries that explain the failed gates; with ``everything``, all queries.

        What fails under the stored judgments alone is shown under these; of ``--ir-query`` each whose judgments changed in both ways.
        """
        failed = [gate for gate in self.verdict_reports() if gate.state == "failed"]
        today = {query_id for gate in failed if not gate.as_stored for query_id in gate.queries}
        stored = {query_id for gate in failed if gate.as_stored for query_id in gate.queries} - today
        known = self.evaluation.golden.queries
        ids = dict.fromkeys(query_id for gate in failed for query_id in gate.queries)
        only = self.evaluation.only
        if everything:
            ids = dict.fromkeys(query_id for query_id in known if only is None or query_id in only)
        found = [self._query_report(known[query_id], as_stored=query_id in stored) for query_id in ids]
        if only is not None and self.comparison is not None:
            relabelled = [was for was in self.comparison.relabelled.values() if was.id in ids.keys() - stored]
            also = [known[was.id] for was in relabelled if was.judgments != known[was.id].judgments]
            found += [self._query_report(query, as_stored=True) for query in also]
        return found

    def _query_report(self, query: Query, *, as_stored: bool) -> QueryReport:
        evaluation, comparison, status = self.evaluation, self.comparison, _status(query)
        stored = None if comparison is None else comparison.under_stored_labels
        judged = query if stored is None else stored.now.golden.queries[query.id]
        if as_stored and judged.judgments != query.judgments:
            comparison, status, query = stored, "judged as it was stored", judged
        shown = [metric for metric in evaluation.metrics if metric.kind != "latency"]
        now, before = evaluation, None
        if comparison is not None and comparison.has(query.id):
            # Both rankings are cut at one depth: what is below the baseline's depth has not moved.
            now, before = comparison.now, comparison.baseline

        def scores(side: Evaluation | None) -> dict[str, float | None]:
            return {} if side is None or side.errors else {m.name: side.score(m, query.id) for m in shown}

        return QueryReport(
            query_id=query.id,
            text=query.text,
            where=evaluation.golden.where(query.id),
            judgments=dict(query.judgments),
            forbidden=list(query.forbidden),
            now=list(_typical_ranking(now, query)),
            before=None if before is None else list(_typical_ranking(before, query)),
            scores=scores(now),
            scores_before=scores(before),
            error=evaluation.errors.get(query.id),
            status=status,
            took=max(evaluation.retrieved.latencies.get(query.id, ()), default=None)
            if len(shown) < len(evaluation.metrics)
            else None,
        )


def _allowed(words: Mapping[str, Gate], change: MetricChange | None) -> float | None:
    """Return the limit on how far a mean moves: how far it may fall, or else must rise; None where there is none."""
    gate = words.get("max_drop") or words.get("min_gain")
    return None if change is None or gate is None else gate.allowed(change.baseline)


def _first_queries(verdict: Verdict) -> Sequence[str]:
    """Return the queries that matter most for a verdict; of errors all."""
    return verdict.queries if verdict.word == "errors" else verdict.queries[:_NAMED]


def _typical_ranking(evaluation: Evaluation, query: Query) -> Sequence[str]:
    """Choose the ranking to show of a query that was asked several times.

    One with a forbidden document, or of a ``no_answer`` query one that is not empty; else that whose score is nearest
    to their average.
    """
    rankings = evaluation.rankings(query.id)
    if len(rankings) == 1:
        return rankings[0]
    if query.forbidden or query.no_answer:
        wrong = (r for r in rankings if (r if query.no_answer else any(d in r for d in query.forbidden)))
        found = next(wrong, None)
        if found is not None:
            return found
    metric = next((metric for metric in evaluation.metrics if metric.kind == "ranking"), None)
    if metric is None:
        return rankings[0]
    scorer = Scorer([metric], relevance_level=evaluation.golden.relevance_level)
    scores = [scorer.row(query.judgments, ranking)[0] or 0.0 for ranking in rankings]
    average = mean(scores)
    return min(zip(scores, rankings, strict=True), key=lambda scored: abs(scored[0] - average))[1]


def _status(query: Query) -> str:
    if query.xfail is not None:
        return f"xfail: {query.xfail}"
    return "no_answer" if query.no_answer else ""
