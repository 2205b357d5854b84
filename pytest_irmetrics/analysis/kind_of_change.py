"""Say what kind of change a failed drop is: by a sign of its cause in the answers, else by what became of relevant documents.

`kind_of_change` puts together the sentences that stand below a failure, each made by a function of its own.

`relevant_counts` and `missing_judgments` are notes of a pass, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from pytest_irmetrics.analysis.signs import MISTAKES, NOT_OF_JUDGMENTS, Sign, find_sign, is_part
from pytest_irmetrics.analysis.stages import lost_at_stages, relevant_word
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import FEW, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.metric_change import MIN_CHANGED
from pytest_irmetrics.comparison.significance import FALSE_ALARM_ONE_IN, drop_for_chance, share_falling_beyond
from pytest_irmetrics.comparison.slices import main_slice
from pytest_irmetrics.gates.verdict import Verdict
from pytest_irmetrics.golden.query import documents_of, known_ids
from pytest_irmetrics.metrics import Metric, mean
from pytest_irmetrics.thresholds import Gates

_MANY_MORE = 0.05
"""From which share of today's results on it is clearly more of them that are unjudged. How often that is right, docs/statistics.md has, by tests/integration/kinds."""

_ALL = 0.995
"""From which share on all of a fall is in a slice."""


def kind_of_change(
    comparison: Comparison,
    gates: Gates,
    verdicts: Sequence[Verdict],
    leading: Metric | None,
    not_in_index: Collection[str],
    shown: Collection[str],
) -> tuple[str | None, list[str], bool]:
    """Return the kind of a sign, the sentences on what a failed fall is about, and whether judgments may decide it.

    None, and no sentence, where no failed gate compares with another run. `leading` is the metric of which slices and missing
    judgments are spoken, `not_in_index` are judged documents that the index lacks, and `shown` the queries below the sentences.
    """
    by_labels = comparison.under_stored_labels
    # What the stored baseline alone lowers is about no answer of today.
    failed = [one for one in verdicts if one.failed and not (one.as_stored and by_labels is None)]
    fell = [verdict for verdict in failed if verdict.holds_to_baseline or verdict.on_fall]
    unknown_ids = [verdict.word for verdict in failed] == ["ids"]  # today's checks give it alone
    if not (fell or unknown_ids):
        return None, [], False
    sign = find_sign(comparison)
    stages, held_by_stage = lost_at_stages(comparison.now_in_full, comparison)
    # Where stages are known, they tell what this sign guesses at.
    kind, text = Sign() if sign.kind == "lost_before_ranking" and stages is not None else sign
    if (kind, failed[0].word) in {("nothing_returned", "empty"), ("same_answer", "ids")}:
        text = ""  # the verdict says so
    # A drop that an edit of the golden set hides shows under the stored labels alone.
    is_hidden = bool(fell) and all(verdict.as_stored for verdict in fell)
    side = by_labels if is_hidden and by_labels is not None else comparison
    lacking, index_explains = _not_in_the_index(side, not_in_index)
    if unknown_ids:
        return kind, [sentence for sentence in (lacking, text, stages) if sentence], False
    # No judgment mends what a stage held (what ranked it lower is at fault) or the index lacks, nor these signs: of documents lost
    # before the ranking what is new took no place, ids in another spelling are not new, an answer to another query is wrong.
    missing = None
    if leading is not None and not (held_by_stage or index_explains or kind in NOT_OF_JUDGMENTS):
        missing = missing_judgments(comparison, leading)
    can_count = side.paired and not side.now.golden.judges_nothing
    mean_fell = any(verdict.on_fall and verdict.tag is None for verdict in fell)
    sentences = [
        lacking,
        _chance_of(comparison, gates, failed[0]) if kind is None and lacking is None else None,
        relevant_counts(side, leading, shown) if kind is None and can_count else text,
        stages,
        _on_main_slice(side, leading) if leading is not None and mean_fell else None,
        missing,
    ]
    may_be_better = kind not in MISTAKES | NOT_OF_JUDGMENTS
    overlap_fell = leading is not None and leading.kind == "overlap"
    judgments_decide = missing is not None or (may_be_better and overlap_fell)
    return kind, [sentence for sentence in sentences if sentence], judgments_decide


def _not_in_the_index(comparison: Comparison, not_in_index: Collection[str]) -> tuple[str | None, bool]:
    """Say how many of the relevant documents that left the results are not in the index (None: all are), and whether most are not."""
    lost: dict[str, None] = {}
    for query in comparison.now.counted if not_in_index else ():
        before, now = ({*documents_of(query, first)} for first in comparison.first_rankings(query.id))
        relevant = {*documents_of(query, comparison.now.golden.relevant(query))}
        lost |= dict.fromkeys(doc_id for doc_id in query.documents if doc_id in relevant & before - now)
    missing = [doc_id for doc_id in lost if doc_id in not_in_index]
    if not missing:
        return None, False
    text = f"{len(missing):,} of the {plural(len(lost), 'lost document')} {'is' if len(missing) == 1 else 'are'} not in the index: {listed(missing, FEW)}."
    return text, 2 * len(missing) > len(lost)


def _chance_of(comparison: Comparison, gates: Gates, verdict: Verdict) -> str | None:
    """Say that a failed ``max_drop`` of a mean may be chance; None where it is none, or too few queries changed to tell.

    A harmless change is taken to be one that moves as many queries as far as the change at hand, each as likely up as
    down: the two runs, swapped at random query by query.
    """
    if verdict.metric is None or verdict.word != "max_drop" or verdict.single or verdict.as_stored:
        return None
    change = comparison.change(verdict.metric, verdict.tag)
    gate = gates.of(verdict.metric, verdict.tag)["max_drop"]
    # Of `auto` chance decides anyhow.
    if gate.limit.auto or change.changed < MIN_CHANGED or (change.p_value or 0.0) < 1 / FALSE_ALARM_ONE_IN:
        return None
    margin = comparison.noise_margin(gate.metric, gate.tag)
    differences = list(change.weighted_differences.values())
    share = share_falling_beyond(differences, gate.allowed(change.baseline) + margin)
    of = 10 if share >= 0.15 else 100
    tagged = f" tagged {gate.tag}" if gate.tag is not None else ""
    varies = "" if comparison.is_repeated else " Nothing changed? --ir-repeat=5."
    return f"This may be chance: with {plural(change.n, 'query')}{tagged} about {round(share * of)} in {of} harmless changes of this size fail max_drop {gate.limit}, and 1 in {FALSE_ALARM_ONE_IN} fails {drop_for_chance(differences, margin):g}.{varies}"


def _on_main_slice(comparison: Comparison, metric: Metric) -> str | None:
    """Say how much of the fall of a mean is in one slice, where most of it is, beyond what chance gives any slice."""
    fall = main_slice(comparison, metric)
    if fall is None:
        return None
    part, share = ("Most", f" ({fall.share * 100:.0f} %)") if fall.share < _ALL else ("All", "")
    return f"{part} of the fall of {metric.name}{share} is in `{fall.change.tag}`, {fall.change.n:,} of {plural(comparison.change(metric).n, 'query')}."


def relevant_counts(comparison: Comparison, metric: Metric | None, shown: Collection[str] = ()) -> str:
    """Count what became of relevant documents, by a metric's `rel` if it has one: how hit, recall and MRR moved, read together.

    Of queries that were asked several times the counts are averages, over all pairs of an answer before and one now. Queries
    that lost a document are named unless one of them is `shown`.
    """
    judged, counts, losing = 0, [0.0] * 6, list[str]()
    level = dict(metric.parameters).get("rel") if metric is not None else None
    for query in comparison.now.counted:
        relevant = comparison.now.golden.relevant(query, level)  # type: ignore[arg-type]  # `rel` is a grade
        if not relevant:
            continue
        judged += 1
        pairs = product(*comparison.rankings(query.id))
        moved = [_moves_of(relevant, before, now) for before, now in pairs]
        averages = [*map(mean, zip(*moved, strict=True))]
        losing += [query.id] if round(averages[0]) else []
        counts = [count + average for count, average in zip(counts, averages, strict=True)]
    left, came, before, now, lower, higher = map(round, counts)
    results = "the results" if comparison.depth is None else f"the first {comparison.depth}"
    of = f" (of {listed(losing, FEW)})" if losing and {*losing}.isdisjoint(shown) else ""
    return f"{plural(left, relevant_word(comparison.now))} left {results}{of}, {came:,} came in; something relevant is found for {now:,} of {plural(judged, 'query')} (was {before:,}), first at a lower rank for {lower:,}, higher for {higher:,}."


def _moves_of(relevant: set[str], before: Sequence[str], now: Sequence[str]) -> tuple[float, ...]:
    """Return how many relevant documents left and came in, and as 0 or 1 whether any is found, and first lower or higher."""
    # Few are sought in the text: all ids would take ten times as long.
    was, is_now = ({doc for doc in relevant if doc in ranking} for ranking in (before, now))
    lower = min(map(now.index, is_now)) - min(map(before.index, was)) if was and is_now else 0
    return len(was - is_now), len(is_now - was), bool(was), bool(is_now), lower > 0, lower < 0


def missing_judgments(comparison: Comparison, metric: Metric) -> str | None:
    """Say how many results are new and unjudged, where a metric fell and they are many more than those that left.

    They are counted among the first k of the metric, over the queries that both runs have, but for answers that keep nothing
    of the baseline's, as those of another page or query: no judgment mends them. What only moved up, as others are gone, is not
    new. None where passages are judged: most results are then chunks that were looked through and hold none.
    """
    searched = any(query.passages for query in comparison.now.counted)
    if searched or metric.kind != "ranking" or comparison.change(metric).delta >= -TOLERANCE:
        return None
    results = new = left = others = 0
    for query in comparison.now.queries(metric):
        before, now = comparison.first_rankings(query.id)
        if before is now:  # as in most
            results += min(len(now), metric.cutoff or len(now))
            continue
        if before and now and {*before}.isdisjoint(now):
            others += 1
            continue
        if comparison.depth is None:  # of a TREC run: which may hold fewer results than the other
            before, now = before[: len(now)], now[: len(before)]
        results += len(now[: metric.cutoff])
        if not is_part(now, before):
            judged = {*known_ids(query)}
            # A further chunk of a document is none that is new.
            was, is_now = ({*documents_of(query, one[: metric.cutoff])} for one in (before, now))
            new += len(is_now - was - judged)
            left += len(was - is_now - judged)
    if not new or new - left < _MANY_MORE * results:
        return None
    of = f"{plural(results, 'result')}{' of answers that keep some' if others else ''} {'is' if new == 1 else 'are'} new"
    there = "" if metric.cutoff in (None, comparison.depth) else f" in the first {metric.cutoff}"
    grades = (grade for query in comparison.now.counted for grade in query.judgments.values())
    irrelevant = any(grade < comparison.now.golden.relevance_level for grade in grades)
    alike = "" if irrelevant else " As no document is judged not relevant here, a true fall looks the same."
    return f"Missing judgments? {new:,} of {of}{there} and unjudged, and {left or 'no'} unjudged {'one' if left == 1 else 'ones'} made way for them. Judge both runs before you decide.{alike}"
