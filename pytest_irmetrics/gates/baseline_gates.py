"""Judge the gates that compare with the baseline: ``max_drop``, ``max_lost`` and ``min_gain``.

Each is measured twice where the golden set was edited since the baseline was stored: under today's labels and
under the stored ones. The worse verdict counts, so that no edit of labels alone makes a failure pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pytest_irmetrics.comparison import significance
from pytest_irmetrics.comparison.stored_runs import wrong_means
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.regression import Outcome, Regression, change_of
from pytest_irmetrics.gates.verdict import STATES, Verdict, at_least
from pytest_irmetrics.thresholds import COMPARING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import Against, State
    from pytest_irmetrics.thresholds import Gate, Gates

_MAX_EDITED = 0.1
"""The share of the baseline's queries, by weight, of which passages may be edited before a fall could hide behind that."""
_MIN_PAIRED = 0.5
"""The share of the baseline's queries, by weight, under which too few are paired to judge the rest by."""


@dataclass(frozen=True)
class _Side:
    """The regressions under one set of labels: today's, or those stored with the baseline."""

    comparison: Comparison
    gates: Gates
    judged: Sequence[Gate]
    """The gates on means that can be judged."""

    def regression(self, gate: Gate) -> Regression | None:
        """Return how far that which a gate is on fell; None where no query pairs."""
        narrowing = None if gate.query_id else self.gates.of(gate.metric, gate.tag).get("significance")
        found = Regression.measure(gate, self.comparison, narrowing and narrowing.limit.value)
        # A query that a metric leaves out today has none to pair with, and is lost.
        pairs = found.change.n or (gate.word == "max_lost" and found.change.before)
        return found if pairs else None

    def family(self, gate: Gate) -> int:
        """Return how many gates are judged by a p-value together with this one."""
        return sum(one.limit.auto == gate.limit.auto for one in self._p_values)

    def p_value(self, gate: Gate) -> float | None:
        """Return the p-value of a gate's fall, adjusted for its family (Holm); None where it has none."""
        return self._p_values.get(gate)

    @cached_property
    def _p_values(self) -> Mapping[Gate, float]:
        """The adjusted p-values: of the gates with ``significance``, and apart from them those of `auto`."""
        adjusted: dict[Gate, float] = {}
        found = {gate: self.regression(gate) for gate in self.judged}
        for auto in (False, True):
            family = {
                gate: p
                for gate, one in found.items()
                if one is not None and one.significance is not None and gate.limit.auto == auto
                if (p := one.change.p_value) is not None
            }
            adjusted |= zip(family, significance.holm(list(family.values())), strict=True)
        return adjusted


class BaselineJudge:
    """The gates of one test that compare its run with the baseline, or with a run that stands in for it.

    Where ``storing``, a new baseline is being stored: what would fail is then reported as not checked.
    """

    def __init__(
        self, evaluation: Evaluation, gates: Gates, comparison: Comparison, against: Against, *, storing: bool
    ) -> None:
        self._evaluation = evaluation
        self._gates = gates
        self._comparison = comparison
        self._against = against
        self._storing = storing
        self._failure: State = "not checked" if storing else "failed"

    def judge_pairing(self) -> Iterator[Verdict]:
        """Fail where less than half of the baseline's weight is compared, or the passages of more than a tenth are edited."""
        comparison, against = self._comparison, self._against
        if self._storing:
            return
        share = comparison.paired_share()
        if share < _MIN_PAIRED:
            queries = (*comparison.reworded, *comparison.passages_edited, *comparison.new)
            text = wording.too_few_paired(comparison, share, against.name)
        elif not at_least(_MAX_EDITED, comparison.passages_edited_share):
            queries = comparison.passages_edited
            text = wording.too_many_passages_edited(comparison, against.name)
        else:
            return
        yield Verdict("failed", text, "baseline", queries=queries, details=(wording.pair_again(against),))

    def judge_means(self) -> Iterator[Verdict]:
        """Fail where the baseline's header tells other means than its rankings give: the file was edited."""
        if self._against.file and (wrong := wrong_means(self._comparison.baseline.run)):
            text, advice = wording.edited(wrong, self._against.file)
            yield Verdict("failed", text, "baseline", details=(advice,))

    def judge(self, gate: Gate) -> Verdict:
        """Judge a ``max_drop``, ``max_lost`` or ``min_gain``, on a mean or on one query."""
        if self._is_too_shallow(gate):
            text, advice = wording.too_shallow(gate, self._comparison.baseline.depth, self._against)
            return Verdict.of(gate, self._failure, text, details=(advice,))
        share = self._paired_share(gate)
        if share < _MIN_PAIRED:
            text = wording.too_few_paired(self._comparison, share, self._against.name, gate.tag)
            details = () if self._storing else (wording.pair_again(self._against),)
            return Verdict.of(gate, self._failure, text, details=details)
        found = [(side, one) for side in self._sides if (one := side.regression(gate)) is not None]
        if not found:
            return self._over_nothing(gate)
        outcomes = [(one.outcome(partial(side.p_value, gate)), side, one) for side, one in found]
        return self._verdict(*min(outcomes, key=lambda one: STATES.index(one[0].state)))

    def _is_too_shallow(self, gate: Gate) -> bool:
        """Whether the baseline's depth does not reach the metric's cut-off."""
        cutoff, depth = gate.metric.cutoff, self._comparison.baseline.depth
        return cutoff is not None and depth is not None and cutoff > depth

    def _paired_share(self, gate: Gate) -> float:
        # The whole set has a verdict of its own, from `judge_pairing`.
        return 1.0 if gate.tag is None else self._comparison.paired_share(gate.tag)

    @cached_property
    def _sides(self) -> list[_Side]:
        """The regressions under today's labels, and those under the stored ones where these are others."""
        judged = [
            gate
            for gate in self._gates
            if gate.word in COMPARING_WORDS
            and not self._is_too_shallow(gate)
            and self._paired_share(gate) >= _MIN_PAIRED
        ]
        comparisons = (self._comparison, self._comparison.under_stored_labels)
        return [_Side(one, self._gates, judged) for one in comparisons if one is not None]

    def _verdict(self, outcome: Outcome, side: _Side, regression: Regression) -> Verdict:
        gate, change = regression.gate, regression.change
        as_stored = side.comparison is not self._comparison
        labels = self._comparison.changed_labels(gate.tag) if as_stored else ()
        passes = outcome.state == "passed"
        queries = change.lost if gate.word == "max_lost" else () if passes else change.worse
        shares: list[float] = []
        if gate.word == "max_drop" and gate.query_id is None and outcome.state == "failed":
            lost = [-change.weighted_differences[query_id] for query_id in queries]
            total = math.fsum(lost)
            shares = [cost / total for cost in lost]
        by_p = outcome.why in ("chance", "unlikely")
        p, family = (side.p_value(gate), side.family(gate)) if by_p else (None, 1)
        sign = -1 if gate.word == "min_gain" else 1
        return Verdict.of(
            gate,
            "not checked" if self._storing and not passes else outcome.state,
            wording.regression(outcome, regression, self._against.name, labels, p, family),
            queries=queries,
            details=(*wording.regression_details(outcome, regression, self._comparison, labels),),
            limit=sign * regression.allowed,
            value=sign * regression.size,
            shares=tuple(shares),
            as_stored=as_stored,
        )

    def _over_nothing(self, gate: Gate) -> Verdict:
        """Judge a gate for which no query pairs: fail where there is nothing left to gate, else wait for a new baseline."""
        change = change_of(gate, self._comparison)
        if change.before:
            text = wording.left_out(gate, self._against.name)
            return Verdict.of(gate, self._failure, text, queries=tuple(change.left_out), over_no_query=True)
        try:
            self._evaluation.mean(gate.metric, gate.tag)
        except NoQueryError as error:
            if gate.by_default:  # nobody asked for a gate on this metric of this set
                return Verdict.of(gate, "not checked", wording.nothing_to_compare(gate, error))
            return Verdict.of(gate, self._failure, wording.no_query(error), over_no_query=True)
        lacks = "has none of its queries" if gate.query_id is None else "does not have this query"
        return Verdict.of(
            gate, "not checked", wording.nothing_to_compare(gate, f"{self._against.name} {lacks}.")
        )
