"""Word verdicts: every sentence of one is made here, after it is decided, and nothing reads sentences back."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import (
    LATENCY_DIGITS,
    TOLERANCE,
    interval_ends_text,
    score_text,
    signed_text,
)
from pytest_irmetrics.base.wording import cut, joined, listed, plural
from pytest_irmetrics.comparison import MIN_CHANGED, main_slice
from pytest_irmetrics.comparison.significance import HARMLESS_IN, drop_for_chance, smallest_p
from pytest_irmetrics.gates.regression import Outcome, Regression, change_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Comparison, JudgedSince, LabelPart, MetricChange
    from pytest_irmetrics.comparison.run_noise import RunNoise
    from pytest_irmetrics.comparison.stored_runs import WrongMean
    from pytest_irmetrics.evaluation import NoQueryError
    from pytest_irmetrics.gates.verdict import Against
    from pytest_irmetrics.thresholds import Gate

_QUERY = ("query", "queries")

_LEVEL = 0.05
"""The p below which a fall is one of other queries too."""

_LONGEST_ERROR = 120
"""Characters of an error within a sentence; the whole of it stands below."""

RETURN_KNOWN_IDS = (
    "Return the ids as the golden set writes them; the fixture ir_doc_id can turn a result into its id."
)
"""What to do where no returned id occurs in the golden set."""


def subject(gate: Gate) -> str:
    """Name what a gate is on: a metric, one of the queries with a tag, or one of a single query."""
    if gate.query_id is not None:
        return f"{gate.metric.name} of the query {gate.query_id}"
    return gate.metric.name if gate.tag is None else f"{gate.metric.name} of the queries tagged {gate.tag}"


# Gates on today's run alone --------------------------------------------------------------------------------


def nothing_returned(asked: int) -> str:
    """Say that every answer was empty, of so many queries that have one."""
    of = f"any of the {asked:,} queries that have" if asked > 1 else "the one query that has"
    return f"Nothing came back for {of} an answer."


def nothing_judged_returned(returned: int, known: int) -> str:
    """Say that no judged document came back for any query, by ids of which the baseline's answers have some."""
    return (
        f"No judged document came back for any query: none of the {plural(returned, 'returned id')} occurs in the golden set. "
        f"The baseline's answers have {known:,} of them, so they are ids of this index."
    )


def not_retrieved(errors: Mapping[str, str], asked: int, stopped: str) -> str:
    """Say how many queries failed, and with which error most of them did.

    ``errors`` maps queries to what went wrong; ``stopped`` is why the retrieval ended early, or empty.
    """
    counts = Counter(errors.values())
    error, _ = counts.most_common(1)[0]
    there = "There is" if len(counts) == 2 else "There are"
    others = f" {there} {plural(len(counts) - 1, 'other error', 'other errors')}." if len(counts) > 1 else ""
    text = f"{len(errors):,} of {plural(asked, *_QUERY)} could not be retrieved: {_beginning(error)}.{others} No mean was computed."
    return f"{text} {stopped}" if stopped else text


def _beginning(error: str) -> str:
    """Return an error without its last full stop; of a long one the sentences that fit, or as much of the first."""
    if len(error) > _LONGEST_ERROR and (end := error.rfind(". ", 0, _LONGEST_ERROR)) > 0:
        return error[:end]
    return cut(error.rstrip("."), _LONGEST_ERROR)


def forbidden(queries: int) -> str:
    """Say how many queries return a forbidden document."""
    if not queries:
        return "No forbidden document is returned."
    return f"{plural(queries, 'query returns', 'queries return')} a document that is forbidden."


def no_answer(answered: int) -> str:
    """Say how many queries that have no answer got one."""
    if not answered:
        return "Every `no_answer` query came back empty."
    return (
        f"{plural(answered, *_QUERY)} marked `no_answer` got an answer; "
        "set a threshold on the metric no_answer to allow some."
    )


def no_query(error: NoQueryError) -> str:
    """Say that a gate fails because the metric has no query."""
    return f"A gate over no query: {error}"


def undefined(gate: Gate) -> str:
    """Say that a metric leaves a query out that has a threshold on it."""
    return f"A gate over no query: {subject(gate)} is not defined."


def bound(gate: Gate, value: float, *, holds: bool) -> str:
    """Say how a mean, or the score of a query, stands to its ``min`` or ``max``."""
    limit, unit, digits = gate.limit.value, "", 4
    if gate.metric.kind == "latency":
        unit, digits = " ms", LATENCY_DIGITS
    shown, wanted = score_text(value, limit, digits=digits), score_text(limit, value, digits=digits)
    rule, side = (
        (f"at least {wanted}{unit} is required", "below")
        if gate.word == "min"
        else (f"at most {wanted}{unit} is allowed", "above")
    )
    if holds:
        return f"{subject(gate)} is {shown}{unit}; {rule}."
    gap = score_text(abs(value - limit), 0.0, digits=digits)
    whose = "the threshold:" if gate.query_id is None else "its own threshold;"
    return f"{subject(gate)} is {shown}{unit}, {gap}{unit} {side} {whose} {rule}."


def slowest(times: Sequence[tuple[str, float]]) -> str:
    """Name queries with the milliseconds that they took."""
    return f"Slowest: {', '.join(f'{query_id} {time:.1f} ms' for query_id, time in times)}."


def min_each(gate: Gate, judged: int, below: Sequence[float]) -> str:
    """Say how many of the judged queries are below a ``min_each``; ``below`` has their scores, lowest first."""
    limit = gate.limit.value
    if not judged:
        return f"A gate over no query: nothing is left for min_each on {subject(gate)}."
    if not below:
        return f"{subject(gate)} is at least {score_text(limit)} for each of {plural(judged, *_QUERY)}."
    return (
        f"{subject(gate)} is below {score_text(limit, below[0])} for {len(below):,} of {plural(judged, *_QUERY)}; "
        f"the lowest is {score_text(below[0], limit)}, and each must reach it."
    )


# Gates against the baseline --------------------------------------------------------------------------------


def without_baseline(gate: Gate) -> str:
    """Say that a gate needs a baseline, and this run has none."""
    other = "check(against=…) or " if gate.word == "min_gain" else ""
    return f"{subject(gate)}: {gate.word} {gate.limit} is not checked without {other}--ir-baseline."


def significance_alone(gate: Gate) -> str:
    """Say that a ``significance`` has no ``max_drop``."""
    return (
        f"{subject(gate)}: significance {gate.limit} has no max_drop to narrow. Give it one, or take it away."
    )


def edited(wrong: Sequence[WrongMean], file: str) -> tuple[str, str]:
    """Say that a stored run was edited, by which means that shows, and how to restore it."""
    first = wrong[0]
    gives = "none" if first.found is None else score_text(first.found, first.stated)
    others = [mean.metric for mean in wrong[1:]]
    also = f" {listed(others)} {'differs' if len(others) == 1 else 'differ'} too." if others else ""
    text = (
        f"{file} was edited after it was stored: its header tells {first.metric} {score_text(first.stated, first.found)}, and "
        f"its rankings and judgments give {gives}.{also} Nothing can be compared with it."
    )
    return text, f"Restore the file: `{shlex.join(['git', 'checkout', '--', file])}`."


def too_few_paired(comparison: Comparison, share: float, against: str, tag: str | None = None) -> str:
    """Say which share of the baseline's queries, or of those with a tag, is still asked in the same words: too small a one.

    The share is by weight. Of the whole set it is said, too, where the others are.
    """
    passages = len(comparison.passages_edited)
    others = (
        f": {len(comparison.removed):,} removed, {len(comparison.reworded):,} reworded, {len(comparison.new):,} new"
        f"{f', {passages:,} with other passages' if passages else ''}"
    )
    tagged, others = ("", others) if tag is None else (f" tagged {tag}", "")
    return (
        f"Only {_per_cent(share)} of {against}'s queries{tagged} (by weight) are still asked in the same words{others}. "
        "That is too few to say that nothing regressed."
    )


def too_many_passages_edited(comparison: Comparison, against: str) -> str:
    """Say that the passages of so many queries were edited that a fall could hide behind it."""
    ids = comparison.passages_edited
    return (
        f"{plural(len(ids), 'query', 'queries')} of {against}, {_per_cent(comparison.passages_edited_share)} by weight, "
        f"{'judges' if len(ids) == 1 else 'judge'} other passages now: {listed(ids)}. "
        f"{against[0].upper()}{against[1:]} was not searched for these, so a fall could hide behind the edit."
    )


def _per_cent(share: float) -> str:
    """Round down: less than a half must not read as one."""
    return f"{math.floor(share * 100 + TOLERANCE)}%"


def pair_again(against: Against) -> str:
    """Say what makes queries pair again."""
    if not against.update_command:
        return "Ids and texts pair the queries: compare with a run of this golden set."
    return "Restore the ids and texts, or store a new baseline."


def too_shallow(gate: Gate, depth: int | None, against: Against) -> tuple[str, str]:
    """Say that the baseline does not reach a metric's cut-off, and what mends that."""
    return (
        f"{subject(gate)} needs {gate.metric.cutoff} results a query, and {against.name} holds {depth}.",
        "Store a deeper one." if against.update_command else "Give a deeper one.",
    )


def left_out(gate: Gate, against: str) -> str:
    """Say that the metric leaves out all queries that it counted in the baseline."""
    return f"A gate over no query: {subject(gate)} leaves out today whatever it counted in {against}."


def nothing_to_compare(gate: Gate, reason: NoQueryError | str) -> str:
    """Say why a gate against the baseline is not checked."""
    return f"{subject(gate)}: {gate.word} is not checked, because {reason}"


def regression(
    outcome: Outcome,
    regression: Regression,
    against: str,
    labels: Sequence[LabelPart] = (),
    p: float | None = None,
    gates: int = 1,
) -> str:
    """Say how far a metric fell from the baseline, in its mean or in queries lost, how far it may, and what that comes to.

    ``labels`` are those that changed, where the regression is one under the stored labels; ``p`` is the p-value, adjusted
    for so many ``gates``.
    """
    gate, change = regression.gate, regression.change
    lead = _under_stored(labels, against)
    if gate.word == "max_lost":
        lost, scored = len(change.lost), len(change.before)
        allowed = f"at most {gate.limit}" if regression.allowed else "none"
        return f"{lead}{lost:,} of {plural(scored, *_QUERY)} fell to 0 by {subject(gate)}; {allowed} may."
    size = score_text(abs(regression.size), abs(regression.allowed))
    if gate.word == "min_gain":
        moved = f"rose by {size} over" if change.delta > 0 else f"fell by {size} from"
        moved = moved if abs(change.delta) > TOLERANCE else "did not move from"
        limit = score_text(gate.limit.value, abs(change.delta))
        return f"{lead}{subject(gate)} {moved} {against}, to {score_text(change.now, change.baseline)}; a rise of at least {limit} is required."
    share = f" ({gate.limit} of {score_text(change.baseline)})" if gate.limit.percent else ""
    rule = f"at most {score_text(regression.allowed, regression.size)}{share} is allowed"
    if outcome.state == "passed":
        moved = f"moved by {signed_text(change.delta)}" if abs(change.delta) > TOLERANCE else "did not move"
        return f"{lead}{subject(gate)} {moved} from {against}; {rule}."
    fell = f"{lead}{subject(gate)} fell by {size} from {against} to {score_text(change.now, change.baseline)}"
    several = f", adjusted for {gates} gates (Holm)" if gates > 1 else ""
    match outcome.why:
        case "noise":
            margin = score_text(regression.margin)
            return (
                f"{fell}, which answers that differ from one time to the next explain: undecided ({rule}, and up to "
                f"{margin} more is run noise)."
            )
        case "chance":
            facts = [] if p is None else [_p_value(p, regression.significance or 0.0, sign=" ") + several]
            enough = drop_for_chance([*change.weighted_differences.values()], regression.margin)
            facts += [f"{enough:g} would fail one harmless change in {HARMLESS_IN}"] if enough else []
            why = f" ({'; '.join(facts)})" if facts else ""
            return f"{fell}, which may be chance: undecided{why}."
        case "noise hides any fall":
            return (
                f"{fell}; {rule}. It cannot be judged: answers differ so much from one time to the next that even 0 would "
                "pass. Ask more often."
            )
        case "unlikely" if p is not None and regression.significance is not None:
            level = regression.significance
            comma = "," if several else ""
            return (
                f"{fell}; {rule}. {_p_value(p, level)}{several}{comma} is below the significance {level:g}."
            )
        case "far":
            return f"{fell}; {rule}, {score_text(gate.exact(change.baseline), regression.size)} where it may be chance."
        case "lost":
            return f"{fell}; {rule}. {len(change.lost)} queries fell to 0, and {len(change.found) or 'none'} rose from it."
    return f"{fell}; {rule}."


def _counts(change: MetricChange) -> str:
    """Count the queries of a change that are worse, better and the same."""
    worse, better = len(change.worse), len(change.better)
    same = change.n - worse - better
    return f"{plural(change.n, *_QUERY)}: {worse:,} worse, {better:,} better, {same:,} same."


def _p_value(p: float, *against: float, sign: str = " = ") -> str:
    """Print a p with its sign, `p = 0.02`, and two or three decimals, or more beside a level that it would else print like."""
    smallest = min((0.001, *against))
    if p < smallest:
        return f"p < {smallest:g}"
    return f"p{sign}{score_text(p, *against, digits=3 if p < 0.01 else 2)}"


def regression_details(
    outcome: Outcome, regression: Regression, comparison: Comparison, labels: Sequence[LabelPart]
) -> Iterator[str]:
    """Say what a regression shows; ``comparison`` is that under today's labels, and ``labels`` of one under the stored ones."""
    gate, change, stored = regression.gate, regression.change, comparison.under_stored_labels
    if stored is not None and (labels or gate.word == "max_drop"):
        if comparison.judged_since.one_sided is not None:
            yield one_sided(comparison.judged_since)
            labels = ()
        elif parts := labels or comparison.changed_labels(gate.tag):
            by_stored, by_today = (_moved(gate, change_of(gate, side)) for side in (stored, comparison))
            if labels or by_stored != by_today:
                yield f"By the stored {joined(parts)} {by_stored}, by today's {by_today}; both are gated."
        if labels:
            yield accept_or_take_back(labels)
    if gate.word == "max_lost" or gate.query_id is not None:
        return
    yield _counts(change)
    if regression.noise is not None:
        yield run_noise(regression.noise, regression.allowed if gate.word == "max_drop" else None)
    if gate.word == "max_drop" and outcome.state == "failed":
        yield from _generality(regression)
    elif (
        gate.word == "min_gain" and not regression.noise and change.interval and change.changed >= MIN_CHANGED
    ):
        yield f"Over other queries drawn like these: 95 % interval {interval_ends_text(change.interval)}."


def _moved(gate: Gate, change: MetricChange) -> str:
    """Return how far a mean moved, or how many queries were lost."""
    if gate.word == "max_lost":
        return f"{len(change.lost):,} fell to 0" if change.lost else "none fell to 0"
    return signed_text(change.delta) if change.n else "nothing to compare"


def run_noise(noise: RunNoise, limit: float | None = None) -> str:
    """Say how much a mean varies from run to run, and beyond which fall it fails with this ``limit``."""
    text = (
        f"With {answers_asked(noise)} the difference varies by {score_text(noise.deviation)} from run to run (standard "
        "deviation)"
    )
    if limit is not None:
        text += f": a fall fails beyond {score_text(limit + noise.margin, limit)}"
    return f"{text}. Least stable: {', '.join(noise.unstable[:3])}." if noise.unstable else f"{text}."


def answers_asked(noise: RunNoise) -> str:
    """Say how many answers a query each side has."""
    now, before = noise.asked
    if now == before:
        return f"{now} answers a query on each side"
    return f"{plural(now, 'answer')} a query today and {before} in the baseline"


def _generality(regression: Regression) -> Iterator[str]:
    """Say whether the mean over other queries likely fell too, or that these are too few to tell.

    Of that nothing where most of the fall is in one slice.
    """
    change, comparison = regression.change, regression.comparison
    if change.p_value is None or change.interval is None:
        return
    least = smallest_p(change.changed)
    if least > _LEVEL:
        if change.changed == 1:
            yield "Only 1 query changed: too few to generalise from, but this one did break."
            return
        how = "all down" if not change.better else f"{len(change.worse)} of them down"
        yield (
            f"Only {change.changed} queries changed, {how}. The smallest p that {change.changed} can give is "
            f"{least:.2f}: too few to generalise from, but these did break."
        )
        return
    exact = "Exact for these two runs on this golden set" if regression.noise is None else ""
    if change.tag is None and main_slice(comparison, change.metric) is not None:
        if exact:
            yield f"{exact}."
        return
    shown = f"({_p_value(change.p_value, _LEVEL)}, 95 % interval {interval_ends_text(change.interval)})"
    if change.p_value < _LEVEL and change.interval[1] < -TOLERANCE:
        yield f"{exact}{'. ' if exact else ''}The mean over other queries drawn like these likely fell too {shown}."
    else:
        lead = f"{exact}; too" if exact else "Too"
        yield f"{lead} few queries to tell whether the mean over others fell too {shown}."


# Falls under the labels that were stored with the baseline -------------------------------------------------


def _under_stored(labels: Sequence[LabelPart], against: str) -> str:
    """Begin a sentence about a fall that shows only under the stored labels, of which ``labels`` changed since; else nothing."""
    if not labels:
        return ""
    were = "was" if tuple(labels) == ("relevance level",) else "were"
    return f"Under the {joined(labels)} that {were} stored with {against}, "


def one_sided(judged: JudgedSince) -> str:
    """Say that one run's documents alone were judged since the baseline was stored, so that today's judgments favour it."""
    one, other = (
        ("today's run", "the baseline") if judged.one_sided == "now" else ("the baseline", "today's run")
    )
    few, many = sorted((judged.now, judged.baseline), key=lambda side: side.judged_since)
    return (
        f"The new judgments are of one side: {many.judged_since:,} of the documents that {one} alone returns were judged since "
        f"the baseline was stored, and {few.judged_since or 'none'} of the {few.returned:,} that {other} alone does. That favours {one}, so today's "
        "judgments do not tell which is better. Judge both."
    )


def accept_or_take_back(labels: Sequence[LabelPart]) -> str:
    """Say what to do where only an edit of the golden set hides a regression."""
    subject = "A new relevance level" if tuple(labels) == ("relevance level",) else f"New {joined(labels)}"
    return f"{subject} alone cannot make it pass: accept today's run, or undo the change of the search."
