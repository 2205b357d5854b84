"""Say how far a fall may come from missing judgments: what new unjudged documents could undo."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.metrics import Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Grade, Metric

_MAIN_CAUSE = 1 / 2
"""From which share of a drop on new unjudged documents are offered as its cause."""

_MANY_MORE = 0.05
"""From which share of today's results on it is clearly more of them that are unjudged."""

_DRAWS = 5
"""Over how many orders of documents it is averaged what a share of relevant ones would do."""

_MANY = 2_000
"""Documents from which on one order is enough."""


@dataclass(frozen=True, slots=True)
class MissingJudgments:
    """The unjudged documents of a comparison, and what they could do to a fall of a metric."""

    results: int
    """How many documents today's run returns for the queries that the metric counts."""
    new: int
    """How many of them are not judged and not in the baseline's answer."""
    left: int
    """How many documents are not judged and in the baseline's answer alone."""
    share_to_undo: float | None
    """Which share of ``new`` must be as good as their query's best to undo the fall, if none of ``left`` is relevant; None
    where not even all would."""
    main_cause: bool
    """Whether at least half of the fall would not be there if nothing unjudged had come in."""

    @property
    def more(self) -> bool:
        """Whether clearly more of today's results are unjudged than of the baseline's."""
        return self.new - self.left >= _MANY_MORE * self.results


def possible_cause(comparison: Comparison, metric: Metric) -> MissingJudgments | None:
    """Return the unjudged documents of a fall, where those that are new may be its cause and could undo it; else None."""
    found = unjudged_of_fall(comparison, metric)
    return found if found is not None and found.main_cause and found.share_to_undo is not None else None


def on_unjudged(metric: Metric, found: MissingJudgments | None) -> Iterator[str]:
    """Say which share of new unjudged documents would undo a fall; nothing of None."""
    if found is None or found.share_to_undo is None:
        return
    many = found.new > 1
    left = f" (and none of the {found.left:,} gone)" if found.left else ""
    yield (
        f"Missing judgments? {found.new:,} of {found.results:,} results {'are' if many else 'is'} new and unjudged. If "
        f"{f'{_per_cent(found.share_to_undo)} of them are' if many else 'it is'} as good as "
        f"{'their' if many else 'its'} query's best{left}, {metric.name} did not fall."
    )


def _per_cent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"


def unjudged_of_fall(comparison: Comparison, metric: Metric) -> MissingJudgments | None:
    """Measure what unjudged documents could do to the fall of a metric; None where it did not fall or none came in.

    Not where passages are judged: most results are then chunks that were looked through and hold none.
    """
    if comparison.now.by_passage or metric.kind != "ranking":
        return None
    change = comparison.change(metric)
    if change.now is None or change.delta >= -TOLERANCE:
        return None
    results = 0
    new: dict[str, list[str]] = {}
    left: dict[str, list[str]] = {}
    for query in comparison.now.queries(metric):
        known = {*query.judgments, *query.forbidden}
        now, before = _returned(comparison.now, query.id), _returned(comparison.baseline, query.id)
        results += len(now)
        new[query.id] = [doc_id for doc_id in now if doc_id not in known and doc_id not in before]
        left[query.id] = [doc_id for doc_id in before if doc_id not in known and doc_id not in now]
    if not any(new.values()):
        return None
    return MissingJudgments(
        results=results,
        new=sum(map(len, new.values())),
        left=sum(map(len, left.values())),
        share_to_undo=_share_to_undo(comparison, metric, new),
        main_cause=_without_new(comparison, metric) - change.now >= _MAIN_CAUSE * -change.delta,
    )


def _returned(side: Evaluation, query_id: str) -> Mapping[str, None]:
    """Return the documents of a query in the order of their ranks, over all answers to it."""
    return dict.fromkeys(doc_id for ranking in side.rankings(query_id) for doc_id in ranking)


def _share_to_undo(comparison: Comparison, metric: Metric, new: Mapping[str, Sequence[str]]) -> float | None:
    """Return the least share of new documents that undoes the fall if so many are relevant; None where all would not.

    Which of them are relevant is not known, so it is averaged over a few orders in which they become so; by a hash, so that
    each run has the same orders.
    """
    size = sum(map(len, new.values()))
    draws = _DRAWS if size <= _MANY else 1
    curves = [_rising(comparison, metric, new, str(draw).encode()) for draw in range(draws)]
    undone = (count for count, deltas in enumerate(zip(*curves, strict=True)) if sum(deltas) >= -TOLERANCE)
    count = next(undone, None)
    return None if count is None else count / size


def _rising(
    comparison: Comparison, metric: Metric, new: Mapping[str, Sequence[str]], salt: bytes
) -> list[float]:
    """Return now − baseline, times the weight of all queries, with none, one, two … of the new documents relevant."""
    queries = {query.id: query for query in comparison.now.queries(metric)}
    scorer = Scorer([metric], relevance_level=comparison.now.golden.relevance_level)
    order: list[tuple[bytes, str]] = []
    judgments: list[Mapping[str, Grade]] = []
    rankings: list[Sequence[str]] = []
    shares: list[float] = []
    for query_id, query in queries.items():
        keyed = sorted((_key(salt, query_id, doc_id), doc_id) for doc_id in new[query_id])
        best = max(query.judgments.values(), default=1)
        order += [(key, query_id) for key, _ in keyed]
        for count in range(len(keyed) + 1):
            labels = {**query.judgments, **{doc_id: best for _, doc_id in keyed[:count]}}
            for side, sign in ((comparison.now, 1), (comparison.baseline, -1)):
                answers = side.rankings(query_id)
                judgments += [labels] * len(answers)
                rankings += answers
                shares += [sign * query.weight / len(answers)] * len(answers)
    (column,) = scorer.columns(judgments, rankings)
    # By query the difference with none, one, two … of its documents relevant, in the order of the queries.
    scores = iter([share * (score or 0.0) for share, score in zip(shares, column, strict=True)])
    deltas = {}
    for query_id in queries:
        asked = len(comparison.now.rankings(query_id)) + len(comparison.baseline.rankings(query_id))
        deltas[query_id] = [math.fsum(islice(scores, asked)) for _ in range(len(new[query_id]) + 1)]
    total = math.fsum(of_query[0] for of_query in deltas.values())
    curve, relevant = [total], dict.fromkeys(queries, 0)
    for _, query_id in sorted(order):
        count = relevant[query_id]
        total += deltas[query_id][count + 1] - deltas[query_id][count]
        relevant[query_id] = count + 1
        curve.append(total)
    return curve


def _key(salt: bytes, query_id: str, doc_id: str) -> bytes:
    return hashlib.blake2b(f"{query_id}\0{doc_id}".encode("utf-8", "surrogatepass"), salt=salt).digest()


def _without_new(comparison: Comparison, metric: Metric) -> float:
    """Return today's mean if no document had come in that is not judged.

    What is left of a ranking moves up, in its order, and below it comes back what left it. So a document that fell below
    others which were there before, or left a place that nothing new took, does not get its rank back. Nor does a query whose
    results were all exchanged: that says more of the search than of the judgments.
    """
    answers = {}
    for query in comparison.now.queries(metric):
        known = {*query.judgments, *query.forbidden}
        before, now = comparison.baseline.rankings(query.id), comparison.now.rankings(query.id)
        rankings = []
        for turn, ranking in enumerate(now):
            then = before[turn % len(before)]
            kept = [doc_id for doc_id in ranking if doc_id in known or doc_id in then]
            gone = [doc_id for doc_id in then if doc_id not in ranking]
            rankings.append(tuple([*kept, *gone][: comparison.depth] if kept else ranking))
        answers[query.id] = replace(comparison.now.run.answers[query.id], rankings=tuple(rankings))
    return comparison.now.with_answers(answers).narrowed(metrics=[metric]).mean(metric)
