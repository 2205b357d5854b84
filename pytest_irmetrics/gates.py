"""Thresholds against scores: the one place that decides a verdict, and words it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics import significance
from pytest_irmetrics.change import SLACK
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.passages import document_of
from pytest_irmetrics.reports.text import plural, score_text, signed_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.change import Change
    from pytest_irmetrics.comparison import Comparison, RunNoise
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Limit

    Limits = Mapping[tuple[str, str | None], Mapping[str, tuple[Limit, str]]]
    """(metric, tag) → word → the limit and where it was set."""

SURELY = 1.645
"""How many standard deviations of run noise a fall must exceed its tolerance by: 5 % of false alarms, one-sided."""

_ENOUGH = 0.5
"""The share of the baseline's queries, by weight, under which too few are paired to speak of the rest."""

State = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate says."""

    state: State
    text: str
    """One line: the metric, its value, its limit, and by how much it is off."""
    word: str
    """The marker's word (``min``, ``max_drop``, …), or ``forbidden``, ``no_answer``, ``errors``, ``baseline``."""
    metric: str | None = None
    tag: str | None = None
    queries: tuple[str, ...] = ()
    """Ids of the queries that explain it, those that matter most first."""
    details: tuple[str, ...] = ()
    """Sentences that say more: how many queries moved, and what that shows."""
    origin: str = ""
    """Where the limit was set."""
    limit: float | None = None
    """The limit as a number of the metric's own scale."""
    single: bool = False
    """Whether it is a query's own threshold."""
    shares: tuple[float, ...] = ()
    """Of a drop: the share of all that was lost that each of ``queries`` lost, in [0, 1]."""
    p_value: float | None = None
    """Of a ``max_drop`` that ``significance`` narrows: the sign-flip p of the fall."""

    @property
    def failed(self) -> bool:
        """Whether this gate fails its test."""
        return self.state == "failed"


@dataclass(frozen=True, slots=True)
class Regression:
    """The baseline's side of a decision.

    ``against`` names what today is compared with; ``update`` is the command that accepts today's run.
    """

    comparison: Comparison
    against: str
    update: str
    gated: bool = True
    """False in a run that stores a new baseline: drops are then told, not gated."""


class _Gate(NamedTuple):
    """One limit on one metric."""

    evaluation: Evaluation
    metric: Metric
    tag: str | None
    word: str
    limit: Limit
    origin: str
    limits: Mapping[str, tuple[Limit, str]]

    @property
    def what(self) -> str:
        return (
            self.metric.name if self.tag is None else f"{self.metric.name} of the queries tagged {self.tag}"
        )

    def verdict(
        self,
        state: State,
        text: str,
        *,
        queries: Sequence[str] = (),
        details: Sequence[str] = (),
        limit: float | None = None,
        shares: Sequence[float] = (),
    ) -> Verdict:
        return Verdict(
            state,
            text,
            self.word,
            self.metric.name,
            self.tag,
            tuple(queries),
            tuple(details),
            self.origin,
            limit,
            shares=tuple(shares),
        )


def at_least(value: float, limit: float) -> bool:
    """Tell whether a value reaches a limit, with the slack that every comparison allows for floating point."""
    return value >= limit - SLACK


def decide(
    evaluation: Evaluation,
    limits: Limits,
    *,
    regression: Regression | None = None,
    single_queries_only: bool = False,
) -> tuple[Verdict, ...]:
    """Hold an evaluation against its limits, failed gates first.

    Where a query could not be retrieved nothing else is judged: there is no mean to judge. With
    ``single_queries_only`` the gates that speak of a whole set or slice are left out.
    """
    if evaluation.errors:
        return (_errors(evaluation),)
    if not single_queries_only and (foreign := _foreign_ids(evaluation)):
        return (foreign,)  # of single queries that may be just what is wrong with them
    verdicts = [*_forbidden(evaluation), *_wrongly_answered(evaluation, limits)]
    if regression is not None and not single_queries_only:
        verdicts += _pairing(regression)
    for (name, tag), words in limits.items():
        metric = evaluation.metric(name)
        for word, (limit, origin) in words.items():
            gate = _Gate(evaluation, metric, tag, word, limit, origin, words)
            if word == "min_each":
                verdicts.append(_min_each(gate))
            elif word == "significance" and "max_drop" not in words:
                verdicts.append(_lone_significance(gate, regression))
            elif word != "significance" and not single_queries_only:
                verdicts.append(_set_gate(gate, regression))
    verdicts = _narrow_by_significance(verdicts, limits, regression)
    verdicts += _query_gates(evaluation, regression)
    order: dict[State, int] = {"failed": 0, "not checked": 1, "passed": 2}
    return tuple(sorted(verdicts, key=lambda verdict: order[verdict.state]))


def _errors(evaluation: Evaluation) -> Verdict:
    # Those that count, as everywhere, and what failed of those that are known to be bad.
    asked = len({*(query.id for query in evaluation.counted), *evaluation.errors})
    text = f"{len(evaluation.errors)} of {plural(asked, 'query', 'queries')} could not be retrieved, so no mean was computed."
    if evaluation.retrieved.stopped:
        text += f" {evaluation.retrieved.stopped}"
    return Verdict("failed", text, "errors", queries=tuple(evaluation.errors))


def _foreign_ids(evaluation: Evaluation) -> Verdict | None:
    """Tell ids of another kind from bad quality: not one returned id occurs anywhere in the golden set."""
    counted = evaluation.counted
    if any(
        not query.judgments.keys().isdisjoint(ranking)
        for query in counted
        for ranking in evaluation.rankings(query.id)
    ):
        return None  # as nearly always, at the first query
    asked = [(query, evaluation.rankings(query.id)) for query in counted]
    known = {doc_id for query, _ in asked for doc_id in (*query.documents, *query.forbidden)}
    returned = [document_of(entry) for _, rankings in asked for ranking in rankings for entry in ranking]
    if not known or not returned or not known.isdisjoint(returned):
        return None
    first = dict.fromkeys(returned)
    text = f"None of the {plural(len(first), 'returned id')} occurs in the golden set; this is about ids, not about quality."
    details = (
        f"Returned: {_some(list(first))}.",
        f"Expected: {_some(sorted(known))}.",
        "Return the ids as the golden set writes them; the fixture ir_doc_id can turn a result into its id.",
    )
    return Verdict("failed", text, "ids", details=details)


def _some(ids: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(doc_id[:60]) for doc_id in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


def _forbidden(evaluation: Evaluation) -> Iterator[Verdict]:
    guilty: dict[str, list[str]] = {}
    for query in evaluation.counted:
        for ranking in evaluation.rankings(query.id) if query.forbidden else ():
            returned = [doc_id for doc_id in query.forbidden if doc_id in ranking]
            if returned:
                guilty.setdefault(query.id, returned)
    if guilty:
        text = f"{plural(len(guilty), 'query returns', 'queries return')} a document that is forbidden."
        yield Verdict("failed", text, "forbidden", queries=tuple(guilty))
    elif any(query.forbidden for query in evaluation.counted):
        yield Verdict("passed", "No forbidden document is returned.", "forbidden")


def _wrongly_answered(evaluation: Evaluation, limits: Limits) -> Iterator[Verdict]:
    unanswerable = [query for query in evaluation.counted if query.no_answer]
    if not unanswerable or any(evaluation.metric(name).kind == "no_answer" for name, _ in limits):
        return
    answered = tuple(query.id for query in unanswerable if any(map(len, evaluation.rankings(query.id))))
    if answered:
        text = (
            f"{plural(len(answered), 'query', 'queries')} marked `no_answer` got an answer; "
            "set a threshold on the metric no_answer to allow some."
        )
        yield Verdict("failed", text, "no_answer", "no_answer", queries=answered)
    else:
        yield Verdict("passed", "Every `no_answer` query came back empty.", "no_answer", "no_answer")


def _pairing(regression: Regression) -> Iterator[Verdict]:
    comparison = regression.comparison
    share = comparison.paired_share()
    if share >= _ENOUGH or not regression.gated:
        return
    text = (
        f"Only {share:.0%} of the baseline's queries (by weight) are still asked in the same words: "
        f"{len(comparison.removed)} removed, {len(comparison.reworded)} reworded, {len(comparison.new)} new. "
        "That is too few to say that nothing regressed."
    )
    details = (f"Restore the ids and texts, or store a new baseline: {regression.update}",)
    queries = (*comparison.reworded, *comparison.new)
    yield Verdict("failed", text, "baseline", queries=queries, details=details)


def _set_gate(gate: _Gate, regression: Regression | None) -> Verdict:
    if gate.word in ("max_drop", "max_lost"):
        return _regression_gate(gate, regression)
    try:
        value = gate.evaluation.mean(gate.metric, gate.tag)
    except NoQueryError as error:
        return gate.verdict("failed", f"A gate over no query: {error}")
    return _bound(gate, value)


def _bound(gate: _Gate, value: float) -> Verdict:
    limit = gate.limit.value
    unit = " ms" if gate.metric.kind == "latency" else ""
    shown, wanted = score_text(value, limit), score_text(limit, value)
    if gate.word == "min":
        holds, rule, side = at_least(value, limit), "at least", "below"
    else:
        holds, rule, side = at_least(-value, -limit), "at most", "above"
    if holds:
        return gate.verdict(
            "passed", f"{gate.what} is {shown}{unit}; {rule} {wanted}{unit} is required.", limit=limit
        )
    gap = score_text(abs(value - limit), 0.0)
    return gate.verdict(
        "failed",
        f"{gate.what} is {shown}{unit}, {gap}{unit} {side} the threshold: {rule} {wanted}{unit} is required.",
        queries=_lowest(gate),
        limit=limit,
    )


def _lowest(gate: _Gate) -> tuple[str, ...]:
    """Order a mean's queries by what they cost it: the weight times what is missing to the metric's best."""
    if gate.metric.kind == "latency":
        times = gate.evaluation.retrieved.latencies
        asked = (query.id for query in gate.evaluation.queries(gate.metric, gate.tag))
        return tuple(sorted(asked, key=lambda query_id: (-max(times.get(query_id, (0.0,))), query_id)))
    scored = gate.evaluation.scored(gate.metric, gate.tag)
    best = max((score for _, score in scored), default=0.0)
    if gate.metric.upper < float("inf"):
        best = gate.metric.upper
    missing = {query.id: query.weight * (best - score) for query, score in scored}
    return tuple(sorted((i for i, gap in missing.items() if gap > SLACK), key=lambda i: (-missing[i], i)))


def _min_each(gate: _Gate) -> Verdict:
    limit = gate.limit.value
    judged = [
        (query, score)
        for query, score in gate.evaluation.scored(gate.metric, gate.tag)
        if not _has_own(query, gate.metric)
    ]
    if not judged:
        return gate.verdict("failed", f"A gate over no query: nothing is left for min_each on {gate.what}.")
    below = sorted((score, query.id) for query, score in judged if not at_least(score, limit))
    if not below:
        return gate.verdict(
            "passed",
            f"{gate.what} is at least {score_text(limit)} for each of {plural(len(judged), 'query', 'queries')}.",
            limit=limit,
        )
    lowest = below[0][0]
    return gate.verdict(
        "failed",
        f"{gate.what} is below {score_text(limit, lowest)} for {len(below)} of {plural(len(judged), 'query', 'queries')}; "
        f"the lowest is {score_text(lowest, limit)}, and each must reach it.",
        queries=[query_id for _, query_id in below],
        limit=limit,
    )


def _has_own(query: Query, metric: Metric) -> bool:
    return any(own.metric.name == metric.name and "min" in own.limits for own in query.thresholds)


def _regression_gate(gate: _Gate, regression: Regression | None) -> Verdict:
    if regression is None:
        limit = f"{gate.word} {gate.limit}"
        return gate.verdict("not checked", f"{gate.what}: {limit} is not checked without --ir-baseline.")
    depth = regression.comparison.baseline.depth
    if gate.metric.cutoff is not None and depth is not None and gate.metric.cutoff > depth:
        text = (
            f"{gate.what} needs {gate.metric.cutoff} results a query, and {regression.against} holds {depth}."
        )
        details = (f"Store a deeper one: {regression.update}",)
        return gate.verdict("failed" if regression.gated else "not checked", text, details=details)
    verdict = _unpaired_slice(gate, regression) or _judged_both_ways(gate, regression)
    if verdict.failed and not regression.gated:
        return gate.verdict("not checked", verdict.text, queries=verdict.queries, limit=verdict.limit)
    return verdict


def _unpaired_slice(gate: _Gate, regression: Regression) -> Verdict | None:
    """Refuse to speak of a slice of which less than half is left, as of a whole set."""
    share = regression.comparison.paired_share(gate.tag)
    if gate.tag is None or share >= _ENOUGH:
        return None
    return gate.verdict(
        "failed",
        f"{gate.what}: only {share:.0%} of those that {regression.against} has (by weight) are still asked in the same "
        "words. That is too few to say that nothing regressed.",
        details=(f"Restore the ids and texts, or store a new baseline: {regression.update}",),
    )


def _judged_both_ways(gate: _Gate, regression: Regression) -> Verdict:
    """Judge a fall by the golden set as it is, and as it was stored: an edit alone turns no failure into a pass."""
    change = regression.comparison.change(gate.metric, gate.tag)
    then = regression.comparison.as_labelled_then
    verdict = _fallen(gate, regression)
    if then is not None and then.change(gate.metric, gate.tag).n:
        before = _fallen(gate, replace(regression, comparison=then))
        # Of two falls that significance may let pass, the surer one.
        if before.failed and (not verdict.failed or (before.p_value or 0.0) < (verdict.p_value or 0.0)):
            return _relabelled(before, then.change(gate.metric, gate.tag), change, regression)
    if not change.n:
        text = (
            f"{gate.what}: {gate.word} is not checked, because {regression.against} has none of its queries."
        )
        return gate.verdict("not checked", text)
    return verdict


def _fallen(gate: _Gate, regression: Regression) -> Verdict:
    change = regression.comparison.change(gate.metric, gate.tag)
    if gate.word == "max_drop":
        verdict = _max_drop(gate, change, regression)
        return replace(verdict, p_value=change.p_value) if "significance" in gate.limits else verdict
    return _max_lost(gate, change, regression)


def _relabelled(before: Verdict, fell: Change, today: Change, regression: Regression) -> Verdict:
    """Let no gate pass through an edited golden set alone: the baseline knew nothing of what it says now."""
    what = regression.comparison.relabelled(today.tag)
    parts = [_parts(fell.baseline, today.now, fell.delta, what)] if before.word == "max_drop" else []
    return replace(
        before,
        text=f"Under the {what} that {_was(what)} stored with {regression.against}, {before.text}",
        details=(*parts, _under_todays(today, what), *before.details),
    )


def _under_todays(today: Change, what: str) -> str:
    """Say how the same fall looks by the golden set as it is, and why that does not count."""
    if today.n and abs(today.delta) <= SLACK:
        seen = f"By today's {what}, which all below goes by, the retriever moved nothing."
    elif today.n:
        moved = f"{score_text(today.baseline, today.now)} to {score_text(today.now, today.baseline)}"
        seen = f"By today's {what}, which all below goes by, the retriever moved it from {moved}."
    else:
        seen = f"By today's {what}, which all below goes by, there is nothing to compare."
    return f"{seen} {_accept_or_take_back(what)}"


def _accept_or_take_back(what: str) -> str:
    subject = (
        "But a changed relevance level alone turns"
        if what == "relevance level"
        else f"But changed {what} alone turn"
    )
    return (
        f"{subject} no failure into a pass: if the change is right, accept today's run; if not, take it back."
    )


def _was(what: str) -> str:
    return "was" if what == "relevance level" else "were"


def _labels_part(change: Change, comparison: Comparison) -> Iterator[str]:
    """Tell the retriever's part of a fall from the labels', where these changed and the mean moves by it."""
    labels = comparison.labels_delta(change.metric, change.tag)
    if labels is not None and abs(labels) > SLACK:
        yield _parts((change.baseline or 0.0) - labels, change.now, change.delta, comparison.relabelled())


def _parts(then: float | None, now: float | None, retriever: float, what: str) -> str:
    labels = (now or 0.0) - (then or 0.0) - retriever
    article = "a " if what == "relevance level" else ""
    return (
        f"From {score_text(then, now)} when it was stored to {score_text(now, then)} today: {signed_text(retriever)} is the "
        f"retriever's doing, {signed_text(labels)} that of {article}changed {what}. Only the retriever's part is gated."
    )


def allowed_drop(limit: Limit, change: Change) -> float:
    """Return a ``max_drop`` as an absolute number: a percentage is one of the baseline's mean."""
    return limit.value / 100 * abs(change.baseline or 0.0) if limit.percent else limit.value


def _max_drop(gate: _Gate, change: Change, regression: Regression) -> Verdict:
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
                f"{gate.what} moved by {signed_text(change.delta)} from {regression.against}; {rule}, and this much "
                "more is within what differs from run to run."
            )
            return gate.verdict("passed", text, details=details, limit=allowed)
    if at_least(allowed, drop):
        moved = f"moved by {signed_text(change.delta)}" if abs(change.delta) > SLACK else "did not move"
        return gate.verdict(
            "passed",
            f"{gate.what} {moved} from {regression.against}; {rule}.",
            details=details,
            limit=allowed,
        )
    text = (
        f"{gate.what} fell by {score_text(drop, allowed)} from {regression.against} "
        f"to {score_text(change.now, change.baseline)}; {rule}."
    )
    lost = [-change.weighted_differences[query_id] for query_id in change.worse]
    total = math.fsum(lost)
    return gate.verdict(
        "failed",
        text,
        queries=change.worse,
        details=[*details, *_what_it_shows(change)],
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


def _counts(change: Change) -> str:
    return (
        f"{plural(change.n, 'query', 'queries')}: {len(change.worse):,} worse, {len(change.better):,} better, "
        f"{len(change.same):,} same."
    )


def _what_it_shows(change: Change) -> Iterator[str]:
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
    yield (
        f"This drop is exact for this golden set. Other queries {likely} ({_p_text(change.p_value)}, "
        f"95 % interval {signed_text(low, digits=3)} to {signed_text(high, digits=3)})."
    )


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.01 else f"p = {p:.2f}"


def _max_lost(gate: _Gate, change: Change, regression: Regression) -> Verdict:
    lost, allowed = len(change.lost), gate.limit.value
    scored = len(change.before)
    rule = f"at most {gate.limit} may be"
    text = f"{plural(lost, 'query', 'queries')} of {scored} lost every point of {gate.what} against {regression.against}; {rule}."
    state: State = "passed" if lost <= allowed else "failed"
    return gate.verdict(state, text, queries=change.lost, limit=allowed)


def _lone_significance(gate: _Gate, regression: Regression | None) -> Verdict:
    """Never let a limit gate nothing unseen: a significance level only narrows a ``max_drop``."""
    if regression is None:
        return gate.verdict(
            "not checked", f"{gate.what}: significance {gate.limit} is not checked without --ir-baseline."
        )
    text = f"{gate.what}: significance {gate.limit} has no max_drop to narrow. Give it one, or take it away."
    return gate.verdict("failed", text)


def _narrow_by_significance(
    verdicts: list[Verdict], limits: Limits, regression: Regression | None
) -> list[Verdict]:
    """Let a failed ``max_drop`` that has ``significance`` pass where the fall is not significant (Holm)."""
    if regression is None:
        return verdicts
    levels = {key: words["significance"][0].value for key, words in limits.items() if "significance" in words}
    p_values = {
        (verdict.metric or "", verdict.tag): verdict.p_value
        for verdict in verdicts
        if verdict.p_value is not None
    }
    adjusted = dict(zip(p_values, significance.holm(list(p_values.values())), strict=True))
    return [_narrowed(verdict, levels, adjusted) for verdict in verdicts]


def _narrowed(
    verdict: Verdict,
    levels: Mapping[tuple[str, str | None], float],
    adjusted: Mapping[tuple[str, str | None], float],
) -> Verdict:
    key = verdict.metric or "", verdict.tag
    p = adjusted.get(key) if verdict.word == "max_drop" and verdict.failed else None
    if p is None:
        return verdict
    level = levels[key]
    significant = p < level
    text = (
        f"{verdict.text} {_p_text(p)} {'is' if significant else 'is not'} below the significance {level:g}."
    )
    return replace(verdict, state="failed" if significant else "passed", text=text)


def _query_gates(evaluation: Evaluation, regression: Regression | None) -> Iterator[Verdict]:
    """Hold single queries against their own thresholds."""
    for query in evaluation.counted:
        for own in query.thresholds:
            score = evaluation.score(own.metric, query.id)
            for word, limit in own.limits.items():
                if limit is not None:
                    yield _query_gate(query, own.metric, word, limit, own.origin, score, regression)


def _query_gate(
    query: Query,
    metric: Metric,
    word: str,
    limit: Limit,
    origin: str,
    score: float | None,
    regression: Regression | None,
) -> Verdict:
    what = f"{metric.name} of the query {query.id}"

    def verdict(state: State, text: str, details: tuple[str, ...] = ()) -> Verdict:
        return Verdict(
            state, text, word, metric.name, None, (query.id,), details, origin, limit.value, single=True
        )

    if score is None:
        return verdict("failed", f"A gate over no query: {what} is not defined.")
    if word == "min":
        shown, wanted = score_text(score, limit.value), score_text(limit.value, score)
        holds = at_least(score, limit.value)
        gap = "" if holds else f", {score_text(limit.value - score, 0.0)} below its own threshold"
        return verdict(
            "passed" if holds else "failed", f"{what} is {shown}{gap}; at least {wanted} is required."
        )
    if regression is None:
        return verdict("not checked", f"{what}: max_drop {limit} is not checked without --ir-baseline.")
    comparison = regression.comparison
    then, change = comparison.as_labelled_then, comparison.change(metric)
    # An edited golden set alone turns no failure into a pass, as with the gates on means.
    changed = comparison.relabelled()
    sides = [change, *([then.change(metric)] if then is not None and changed else [])]
    sides = [side for side in sides if query.id in side.differences]
    if not sides:
        return verdict(
            "not checked",
            f"{what}: max_drop is not checked, because {regression.against} does not have this query.",
        )
    for side in sides:
        before = side.before[query.id]
        allowed = limit.value / 100 * before if limit.percent else limit.value
        drop = -side.differences[query.id]
        rule = f"at most {score_text(allowed, drop)} is allowed"
        if not at_least(allowed, drop):
            text = f"{what} fell by {score_text(drop, allowed)} to {score_text(side.after[query.id], before)}; {rule}."
            details: tuple[str, ...] = ()
            if side is not change:
                text = f"Under the {changed} that {_was(changed)} stored with {regression.against}, {text}"
                details = (_accept_or_take_back(changed),)
            return verdict("failed" if regression.gated else "not checked", text, details)
    return verdict("passed", f"{what} did not fall beyond its limit; {rule}.")


def would_pass(evaluation: Evaluation, query: Query, limits: Limits) -> bool:
    """Tell whether an ``xfail`` query has mended: nothing that gates single queries would fail for it now.

    Without a gate of its own, an answerable query must at least find a relevant document.
    """
    rankings = evaluation.rankings(query.id)
    if any(doc_id in ranking for ranking in rankings for doc_id in query.forbidden):
        return False
    if query.no_answer:
        return not any(map(len, rankings))
    own = {gate.metric.name: gate.limits.get("min") for gate in query.thresholds}
    inherited = {
        name: words["min_each"][0]
        for (name, tag), words in limits.items()
        if "min_each" in words and (tag is None or tag in query.tags)
    }
    for name, limit in {**inherited, **own}.items():
        score = evaluation.score(name, query.id)
        if limit is not None and score is not None and not at_least(score, limit.value):
            return False
    relevant = {
        doc_id for doc_id, grade in query.judgments.items() if grade >= evaluation.golden.relevance_level
    }
    return all(relevant.intersection(ranking) for ranking in rankings)
