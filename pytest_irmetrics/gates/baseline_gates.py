"""Judge the gates that compare with the baseline: ``max_drop``, ``max_lost`` and ``min_gain``.

Each regression is measured twice where the golden set was edited since the baseline was stored: under today's labels and
under the stored ones. The gate fails if either falls too far, so that no edit of labels alone makes a failure pass.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_irmetrics.comparison import significance
from pytest_irmetrics.comparison.stored_means import wrong_means
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.regression import Regression
from pytest_irmetrics.gates.verdict import Verdict, at_least, verdict_on
from pytest_irmetrics.thresholds import BASELINE_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Comparison, LabelPart
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates

_MAX_EDITED = 0.1
"""The share of the baseline's queries, by weight, of which passages may be edited before a fall could hide behind that."""
_MIN_PAIRED = 0.5
"""The share of the baseline's queries, by weight, under which too few are paired to judge the rest by."""


class BaselineJudge:
    """The gates of one test that compare its run with the baseline, or with a run that stands in for it.

    ``against`` is what messages call the other run. ``update_command`` is the command that accepts today's run as the
    new baseline, empty where no baseline is compared with; ``file`` is the other run's, where it was read from one.
    Where ``storing``, a new baseline is being stored: what would fail is then reported as not checked.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        gates: Gates,
        comparison: Comparison,
        *,
        against: str,
        update_command: str,
        storing: bool,
        file: str = "",
    ) -> None:
        self._evaluation = evaluation
        self._gates = gates
        self._comparison = comparison
        self._against = against
        self._update_command = update_command
        self._storing = storing
        self._file = file
        self._failure: State = "not checked" if storing else "failed"

    def judge_pairing(self) -> Iterator[Verdict]:
        """Fail where less than half of the baseline's weight is compared, or the passages of more than a tenth are edited."""
        comparison = self._comparison
        if self._storing:
            return
        share = comparison.paired_share()
        if share < _MIN_PAIRED:
            yield Verdict(
                "failed",
                wording.too_few_paired(comparison, share, self._against),
                "baseline",
                queries=(*comparison.reworded, *comparison.passages_edited, *comparison.new),
                details=(wording.pair_again(self._update_command),),
            )
        elif not at_least(_MAX_EDITED, comparison.passages_edited_share):
            yield Verdict(
                "failed",
                wording.too_many_passages_edited(comparison, self._against),
                "baseline",
                queries=comparison.passages_edited,
                details=(wording.pair_passages_again(self._update_command),),
            )

    def judge_means(self) -> Iterator[Verdict]:
        """Fail where the baseline's header tells other means than its rankings give: the file was edited."""
        if not self._file:
            return
        wrong = wrong_means(self._comparison)
        if wrong:
            text, details = wording.edited(wrong, self._file)
            yield Verdict("failed", text, "baseline", details=details)

    def judge(self, gate: Gate) -> Verdict:
        """Judge a ``max_drop``, ``max_lost`` or ``min_gain``."""
        depth = self._depth_below_cutoff(gate)
        if depth is not None:
            text, details = wording.too_shallow(gate, depth, self._against, self._update_command)
            return verdict_on(gate, self._failure, text, details=details)
        share = self._paired_share(gate)
        if share < _MIN_PAIRED:
            text = wording.too_few_paired_in_slice(gate, share, self._against)
            details = (wording.pair_again(self._update_command),) if not self._storing else ()
            return verdict_on(gate, self._failure, text, details=details)
        if gate.word == "min_gain":
            return self._judge_gain(gate)
        regression = self._regressions.get(gate)
        return self._over_nothing(gate) if regression is None else self._verdict(regression)

    def _depth_below_cutoff(self, gate: Gate) -> int | None:
        """Return the baseline's depth where it does not reach the metric's cut-off, else None."""
        cutoff, depth = gate.metric.cutoff, self._comparison.baseline.depth
        return depth if cutoff is not None and depth is not None and cutoff > depth else None

    def _paired_share(self, gate: Gate) -> float:
        # The whole set has a verdict of its own, from `judge_pairing`.
        return 1.0 if gate.tag is None else self._comparison.paired_share(gate.tag)

    @cached_property
    def _regressions(self) -> Mapping[Gate, Regression]:
        """The regression that each gate is judged by, of the gates that the baseline can judge."""
        regressions = {}
        for gate in self._gates:
            if (
                gate.word in BASELINE_WORDS
                and self._depth_below_cutoff(gate) is None
                and self._paired_share(gate) >= _MIN_PAIRED
            ):
                regression = self._decisive_regression(gate)
                if regression is not None:
                    regressions[gate] = regression
        return regressions

    def _decisive_regression(self, gate: Gate) -> Regression | None:
        """Choose between the regression under today's labels and the one under the stored labels; None where no query pairs."""
        narrowing = self._gates.of(gate.metric, gate.tag).get("significance")
        level = narrowing.limit.value if narrowing is not None else None
        today = Regression.measure(gate, self._comparison, level)
        under_stored = self._comparison.under_stored_labels
        if under_stored is not None and under_stored.change(gate.metric, gate.tag).n:
            then = Regression.measure(gate, under_stored, level)
            # `significance` may let a failure pass: of two, the one that is less likely by chance decides.
            if then.failed and (not today.failed or (then.p_value or 0.0) < (today.p_value or 0.0)):
                return then
        if today.change.n or (gate.word == "max_lost" and today.change.before):
            return today
        return None

    @cached_property
    def _adjusted(self) -> Mapping[Gate, float]:
        """The p-values of the gates that ``significance`` narrows, adjusted for their number (Holm)."""
        p_values = {
            gate: regression.p_value
            for gate, regression in self._regressions.items()
            if regression.p_value is not None
        }
        return dict(zip(p_values, significance.holm(list(p_values.values())), strict=True))

    def _verdict(self, regression: Regression) -> Verdict:
        gate, change, is_drop = regression.gate, regression.change, regression.gate.word == "max_drop"
        as_stored = regression.comparison is not self._comparison
        labels = self._comparison.changed_labels(gate.tag) if as_stored else ()
        queries = change.worse if is_drop and regression.failed else () if is_drop else change.lost
        if regression.failed and self._storing:
            text = wording.regression(regression, self._against, labels)
            return verdict_on(gate, "not checked", text, queries=queries, limit=regression.allowed)
        p = self._adjusted.get(gate) if regression.failed else None
        passed = not regression.failed or (
            p is not None and regression.significance is not None and p >= regression.significance
        )
        lost = [-change.weighted_differences[query_id] for query_id in queries] if is_drop else []
        total = math.fsum(lost)
        return verdict_on(
            gate,
            "passed" if passed else "failed",
            wording.regression(regression, self._against, labels, p, len(self._adjusted)),
            queries=queries,
            details=[*wording.regression_details(regression, self._comparison, labels)],
            limit=regression.allowed,
            value=regression.size,
            shares=[cost / total for cost in lost],
            as_stored=as_stored,
        )

    def _judge_gain(self, gate: Gate) -> Verdict:
        """Hold the rise of a mean against ``min_gain``, under today's labels and under the stored ones."""
        comparison = self._comparison
        labels: Sequence[LabelPart] = ()
        change = comparison.change(gate.metric, gate.tag)
        if not change.n:
            return self._over_nothing(gate)
        under_stored = comparison.under_stored_labels
        then = None if under_stored is None else under_stored.change(gate.metric, gate.tag)
        if under_stored is not None and then is not None and then.n and then.delta < change.delta:
            labels = comparison.changed_labels(gate.tag)
            comparison, change = under_stored, then
        holds = at_least(change.delta, gate.limit.value)
        return verdict_on(
            gate,
            "passed" if holds else self._failure,
            wording.gain(gate, change, self._against, labels),
            queries=() if holds else change.worse,
            details=[*wording.gain_details(change, comparison.run_noise(gate.metric, gate.tag))],
            limit=gate.limit.value,
            value=change.delta,
            as_stored=bool(labels),
        )

    def _over_nothing(self, gate: Gate) -> Verdict:
        """Judge a gate for which no query pairs: fail where there is nothing left to gate, else wait for a new baseline."""
        change = self._comparison.change(gate.metric, gate.tag)
        if change.before:
            text = wording.left_out(gate, self._against)
            return verdict_on(gate, self._failure, text, queries=change.left_out, over_no_query=True)
        try:
            self._evaluation.mean(gate.metric, gate.tag)
        except NoQueryError as error:
            if gate.by_default:  # nobody asked for a gate on this metric of this set
                return verdict_on(gate, "not checked", wording.nothing_to_compare(gate, error))
            return verdict_on(gate, self._failure, wording.no_query(error), over_no_query=True)
        reason = f"{self._against} has none of its queries."
        return verdict_on(gate, "not checked", wording.nothing_to_compare(gate, reason))

    def judge_query(self, gate: Gate, query: Query) -> Verdict:
        """Judge a query's own ``max_drop``, under today's labels and under the stored ones."""
        depth = self._depth_below_cutoff(gate)
        if depth is not None:
            text, details = wording.too_shallow(gate, depth, self._against, self._update_command, query.id)
            return query_verdict(gate, query, self._failure, text, details=details)
        labels, under_stored = self._comparison.changed_labels(), self._comparison.under_stored_labels
        sides: list[tuple[Comparison, Sequence[LabelPart]]] = [(self._comparison, ())]
        if under_stored is not None and labels:
            sides.append((under_stored, labels))
        drop, allowed = None, 0.0
        for side, changed in sides:
            change = side.change(gate.metric)
            if query.id not in change.differences:
                continue
            before, after = change.before[query.id], change.after[query.id]
            drop, allowed = -change.differences[query.id], gate.limit.absolute(before)
            if not at_least(allowed, drop):
                text = wording.query_drop(
                    gate, query.id, before, after, drop, allowed, changed, self._against
                )
                details = (wording.accept_or_take_back(changed),) if changed else ()
                return query_verdict(
                    gate, query, self._failure, text, details=details, as_stored=bool(changed)
                )
        if drop is None:
            text = wording.query_not_paired(gate, query.id, self._against)
            return query_verdict(gate, query, "not checked", text)
        return query_verdict(gate, query, "passed", wording.query_within(gate, query.id, drop, allowed))


def query_verdict(
    gate: Gate,
    query: Query,
    state: State,
    text: str,
    *,
    details: Sequence[str] = (),
    as_stored: bool = False,
) -> Verdict:
    """Return the verdict on a query's own threshold."""
    limit = gate.limit.value
    return verdict_on(
        gate, state, text, queries=(query.id,), details=details, limit=limit, single=True, as_stored=as_stored
    )
