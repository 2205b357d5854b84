"""The gates against the baseline: how far a mean may fall, how many queries may be lost, and whose doing it is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import significance
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.gates.verdict import Regression, Verdict, at_least, named, verdict_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_irmetrics.comparison import Comparison, MetricChange, RunNoise
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate, Gates, Limit


SURELY = 1.645
"""How many standard deviations of run noise a fall must exceed its tolerance by: 5 % of false alarms, one-sided."""

_ENOUGH = 0.5
"""The share of the baseline's queries, by weight, under which too few are paired to speak of the rest."""


def too_few_paired(regression: Regression) -> Iterator[Verdict]:
    """Fail where less than half of the baseline's weight is still asked in the same words."""
    comparison = regression.comparison
    share = comparison.paired_share()
    if share >= _ENOUGH or not regression.gated:
        return
    text = (
        f"Only {_per_cent(share)} of {regression.against}'s queries (by weight) are still asked in the same words: "
        f"{len(comparison.removed)} removed, {len(comparison.reworded)} reworded, {len(comparison.new)} new. "
        "That is too few to say that nothing regressed."
    )
    details = (_as_before(regression),)
    queries = (*comparison.reworded, *comparison.new)
    yield Verdict("failed", text, "baseline", queries=queries, details=details)


def regression_gate(
    evaluation: Evaluation, gate: Gate, gates: Gates, regression: Regression | None
) -> Verdict:
    """Judge a ``max_drop`` or ``max_lost``; ``not checked`` where there is no baseline, or it is being stored."""
    if regression is None:
        limit = f"{gate.word} {gate.limit}"
        return verdict_on(
            gate, "not checked", f"{named(gate)}: {limit} is not checked without --ir-baseline."
        )
    shallow = too_shallow(gate.metric, named(gate), regression)
    if shallow is not None:
        text, deeper = shallow
        return verdict_on(gate, "failed" if regression.gated else "not checked", text, details=(deeper,))
    verdict = _unpaired_slice(gate, regression) or _judged_both_ways(evaluation, gate, gates, regression)
    if verdict.failed and not regression.gated:
        return verdict_on(gate, "not checked", verdict.text, queries=verdict.queries, limit=verdict.limit)
    return verdict


def too_shallow(metric: Metric, what: str, regression: Regression) -> tuple[str, str] | None:
    """Say that the baseline does not reach a metric's cut-off, and what mends that; None where it does."""
    depth = regression.comparison.baseline.depth
    if metric.cutoff is None or depth is None or metric.cutoff <= depth:
        return None
    deeper = f"Store a deeper one: {regression.update}" if regression.update else "Give a deeper one."
    return f"{what} needs {metric.cutoff} results a query, and {regression.against} holds {depth}.", deeper


def _unpaired_slice(gate: Gate, regression: Regression) -> Verdict | None:
    """Refuse to speak of a slice of which less than half is left, as of a whole set."""
    share = 1.0 if gate.tag is None else regression.comparison.paired_share(gate.tag)
    if share >= _ENOUGH:
        return None
    return verdict_on(
        gate,
        "failed",
        f"{named(gate)}: only {_per_cent(share)} of those that {regression.against} has (by weight) are still asked in the same "
        "words. That is too few to say that nothing regressed.",
        details=(_as_before(regression),),
    )


def _per_cent(share: float) -> str:
    """Round down: less than a half must not read as one."""
    return f"{math.floor(share * 100 + TOLERANCE)}%"


def _as_before(regression: Regression) -> str:
    """Say what makes the queries pair again."""
    if not regression.update:
        return "Ids and texts pair the queries: compare with a run of this golden set."
    return f"Restore the ids and texts, or store a new baseline: {regression.update}"


def _judged_both_ways(evaluation: Evaluation, gate: Gate, gates: Gates, regression: Regression) -> Verdict:
    """Judge a fall by the golden set as it is, and as it was stored: an edit alone turns no failure into a pass."""
    change = regression.comparison.change(gate.metric, gate.tag)
    then = regression.comparison.as_labelled_then
    verdict = _fallen(gate, gates, regression)
    if then is not None and then.change(gate.metric, gate.tag).n:
        before = _fallen(gate, gates, replace(regression, comparison=then))
        # Of two falls that significance may let pass, the surer one.
        if before.failed and (not verdict.failed or (before.p_value or 0.0) < (verdict.p_value or 0.0)):
            return _relabelled(before, then.change(gate.metric, gate.tag), change, regression)
    if change.n or (gate.word == "max_lost" and change.before):
        return verdict
    return _over_nothing(evaluation, gate, change, regression)


def _over_nothing(
    evaluation: Evaluation, gate: Gate, change: MetricChange, regression: Regression
) -> Verdict:
    """Tell what has no counterpart yet, and gates from the next baseline on, from what has nothing to gate any more."""
    if change.before:
        text = f"A gate over no query: {named(gate)} leaves out today whatever it counted in {regression.against}."
        return verdict_on(gate, "failed", text, queries=change.left_out)
    unchecked = f"{named(gate)}: {gate.word} is not checked, because"
    try:
        evaluation.mean(gate.metric, gate.tag)
    except NoQueryError as error:
        if gate.by_default:  # nobody asked for a gate on this metric of this set
            return verdict_on(gate, "not checked", f"{unchecked} {error}")
        return verdict_on(gate, "failed", f"A gate over no query: {error}")
    return verdict_on(gate, "not checked", f"{unchecked} {regression.against} has none of its queries.")


def _fallen(gate: Gate, gates: Gates, regression: Regression) -> Verdict:
    change = regression.comparison.change(gate.metric, gate.tag)
    if gate.word == "max_drop":
        verdict = _max_drop(gate, change, regression)
        return (
            replace(verdict, p_value=change.p_value)
            if "significance" in gates.of(gate.metric, gate.tag)
            else verdict
        )
    return _max_lost(gate, change, regression)


def _relabelled(before: Verdict, fell: MetricChange, today: MetricChange, regression: Regression) -> Verdict:
    """Let no gate pass through an edited golden set alone: the baseline knew nothing of what it says now."""
    what = regression.comparison.relabelled(today.tag)
    parts = [_parts(fell.baseline, today.now, fell.delta, what)] if before.word == "max_drop" else []
    return replace(
        before,
        text=under_stored(what, regression.against) + before.text,
        details=(*parts, _under_todays(before.word, today, what), *before.details),
        as_stored=True,
    )


def _under_todays(word: str, today: MetricChange, what: str) -> str:
    """Say how the same fall looks by the golden set as it is, and why that does not count."""
    if today.n and word == "max_lost":
        seen = f"By today's {what}, which the table goes by, {len(today.lost) or 'none'} did."
    elif today.n and abs(today.delta) <= TOLERANCE:
        seen = f"By today's {what}, which the table goes by, the retriever moved nothing."
    elif today.n:
        moved = f"{score_text(today.baseline, today.now)} to {score_text(today.now, today.baseline)}"
        seen = f"By today's {what}, which the table goes by, the retriever moved it from {moved}."
    else:
        seen = f"By today's {what}, which the table goes by, there is nothing to compare."
    return f"{seen} {accept_or_take_back(what)}"


def accept_or_take_back(what: str) -> str:
    """Say what to do where only an edit of the golden set, of ``what``, hides a fall."""
    subject = (
        "But a changed relevance level alone turns"
        if what == "relevance level"
        else f"But changed {what} alone turn"
    )
    return (
        f"{subject} no failure into a pass: if the change is right, accept today's run; if not, take it back."
    )


def under_stored(what: str, against: str) -> str:
    """Begin the sentence about a fall that ``what`` was edited to hide: ``Under the judgments that were …, ``."""
    return f"Under the {what} that {'was' if what == 'relevance level' else 'were'} stored with {against}, "


def _labels_part(change: MetricChange, comparison: Comparison) -> Iterator[str]:
    """Tell the retriever's part of a fall from the labels', where these changed and the mean moves by it."""
    labels = comparison.labels_delta(change.metric, change.tag)
    if labels is not None and abs(labels) > TOLERANCE:
        yield _parts((change.baseline or 0.0) - labels, change.now, change.delta, comparison.relabelled())


def _parts(then: float | None, now: float | None, retriever: float, what: str) -> str:
    labels = (now or 0.0) - (then or 0.0) - retriever
    article = "a " if what == "relevance level" else ""
    return (
        f"From {score_text(then, now)} when it was stored to {score_text(now, then)} today: {signed_text(retriever)} is the "
        f"retriever's doing, {signed_text(labels)} that of {article}changed {what}. Only the retriever's part is gated."
    )


def allowed_drop(limit: Limit, change: MetricChange) -> float:
    """Return a ``max_drop`` as an absolute number: a percentage is one of the baseline's mean."""
    return limit.value / 100 * abs(change.baseline or 0.0) if limit.percent else limit.value


def _max_drop(gate: Gate, change: MetricChange, regression: Regression) -> Verdict:
    allowed = allowed_drop(gate.limit, change)
    drop = -change.delta
    per_cent = f" ({gate.limit} of {score_text(change.baseline)})" if gate.limit.percent else ""
    rule = f"at most {score_text(allowed, drop)}{per_cent} is allowed"
    details = [*_labels_part(change, regression.comparison), _counts(change)]
    noise = regression.comparison.run_noise(gate.metric, gate.tag)
    if noise is not None and noise.deviation > 0:
        details.append(_noise_text(noise, allowed))
        if not at_least(allowed, drop) and (drop - allowed) / noise.deviation <= SURELY:
            text = (
                f"{named(gate)} moved by {signed_text(change.delta)} from {regression.against}; {rule}, and this much "
                "more is within what differs from run to run."
            )
            return verdict_on(gate, "passed", text, details=details, limit=allowed)
    if at_least(allowed, drop):
        moved = f"moved by {signed_text(change.delta)}" if abs(change.delta) > TOLERANCE else "did not move"
        return verdict_on(
            gate,
            "passed",
            f"{named(gate)} {moved} from {regression.against}; {rule}.",
            details=details,
            limit=allowed,
        )
    text = (
        f"{named(gate)} fell by {score_text(drop, allowed)} from {regression.against} "
        f"to {score_text(change.now, change.baseline)}; {rule}."
    )
    lost = [-change.weighted_differences[query_id] for query_id in change.worse]
    total = math.fsum(lost)
    return verdict_on(
        gate,
        "failed",
        text,
        queries=change.worse,
        details=[*details, *_what_it_shows(change, noisy=noise is not None and noise.deviation > 0)],
        limit=allowed,
        shares=[cost / total for cost in lost],
    )


def _noise_text(noise: RunNoise, allowed: float) -> str:
    text = f"From run to run the difference varies by {score_text(noise.deviation)} (standard deviation)"
    if noise.unstable:
        text += f"; least stable: {', '.join(noise.unstable[:3])}"
    if allowed < SURELY * noise.deviation:
        text += f". A tolerance under {score_text(SURELY * noise.deviation)} cannot be told from that: ask more often (--ir-repeat)"
    return f"{text}."


def _counts(change: MetricChange) -> str:
    worse, better = len(change.worse), len(change.better)
    same = change.n - worse - better
    return f"{plural(change.n, 'query', 'queries')}: {worse:,} worse, {better:,} better, {same:,} same."


def _what_it_shows(change: MetricChange, *, noisy: bool) -> Iterator[str]:
    """Say whether other queries would drop too; the drop itself is a fact about this golden set."""
    if change.p_value is None or change.interval is None:
        return
    changed = len(change.worse) + len(change.better)
    smallest = 0.5**changed
    if smallest > 0.05:
        if changed == 1:
            yield "Only 1 query changed: too few to generalise from, but this one did break."
            return
        how = "all down" if not change.better else f"{len(change.worse)} of them down"
        yield (
            f"Only {changed} queries changed, {how}. The smallest p that {changed} can give is "
            f"{smallest:.2f}: too few to generalise from, but these did break."
        )
        return
    low, high = change.interval
    likely = "likely drop too" if change.p_value < 0.05 else "may or may not drop"
    exact = "" if noisy else "This drop is exact for this golden set. "
    yield (
        f"{exact}Other queries {likely} ({_p_text(change.p_value, 0.05)}, "
        f"95 % interval {signed_text(low, digits=3)} to {signed_text(high, digits=3)})."
    )


def _p_text(p: float, *against: float) -> str:
    """Print a p with two or three decimals, or more beside a level that it would else print like."""
    if p < 0.001 and all(level >= 0.001 for level in against):
        return "p < 0.001"
    return f"p = {score_text(p, *against, digits=3 if p < 0.01 else 2)}"


def _max_lost(gate: Gate, change: MetricChange, regression: Regression) -> Verdict:
    lost, allowed = len(change.lost), gate.limit.value
    scored = len(change.before)
    rule = f"at most {gate.limit} may be"
    text = f"{plural(lost, 'query', 'queries')} of {scored} lost every point of {named(gate)} against {regression.against}; {rule}."
    state: State = "passed" if lost <= allowed else "failed"
    return verdict_on(gate, state, text, queries=change.lost, limit=allowed)


def lone_significance(gate: Gate, regression: Regression | None) -> Verdict:
    """Never let a limit gate nothing unseen: a significance level only narrows a ``max_drop``."""
    if regression is None:
        return verdict_on(
            gate,
            "not checked",
            f"{named(gate)}: significance {gate.limit} is not checked without --ir-baseline.",
        )
    text = (
        f"{named(gate)}: significance {gate.limit} has no max_drop to narrow. Give it one, or take it away."
    )
    return verdict_on(gate, "failed", text)


def narrow_by_significance(
    verdicts: list[Verdict], gates: Gates, regression: Regression | None
) -> list[Verdict]:
    """Let a failed ``max_drop`` that has ``significance`` pass where the fall is not significant (Holm)."""
    if regression is None:
        return verdicts
    levels = {(gate.metric, gate.tag): gate.limit.value for gate in gates.with_word("significance")}
    p_values = {
        (verdict.metric, verdict.tag): verdict.p_value
        for verdict in verdicts
        if verdict.metric is not None and verdict.p_value is not None
    }
    adjusted = dict(zip(p_values, significance.holm(list(p_values.values())), strict=True))
    return [_narrowed(verdict, levels, adjusted) for verdict in verdicts]


def _narrowed(
    verdict: Verdict,
    levels: Mapping[tuple[Metric, str | None], float],
    adjusted: Mapping[tuple[Metric, str | None], float],
) -> Verdict:
    if verdict.metric is None or verdict.word != "max_drop" or not verdict.failed:
        return verdict
    p = adjusted.get((verdict.metric, verdict.tag))
    if p is None:
        return verdict
    level = levels[verdict.metric, verdict.tag]
    significant = p < level
    several = f", adjusted for {len(adjusted)} gates (Holm)," if len(adjusted) > 1 else ""
    text = f"{verdict.text} {_p_text(p, level)}{several} {'is' if significant else 'is not'} below the significance {level:g}."
    return replace(verdict, state="failed" if significant else "passed", text=text)
