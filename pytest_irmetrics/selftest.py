"""Is the gate any good? Degrades a stored run in realistic ways and tells which of them the limits would catch.

Nothing here is left to chance: a choice is a hash of the degradation's name and the query's id, so that every
machine, every Python and every order of the queries gives the same table.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.change import SLACK
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, EvaluationError, read_metrics
from pytest_irmetrics.gates import Regression, allowed_drop, decide
from pytest_irmetrics.record import Degradation
from pytest_irmetrics.reports.text import plural, score_text
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.gates import Limits, Verdict
    from pytest_irmetrics.golden import Query

    Rankings = Mapping[str, tuple[Sequence[str], ...]]
    """Query id → what it answers instead; of the queries that are degraded alone."""

SMALLEST_SLICE = 3
"""The fewest queries with a tag that are degraded as a slice."""

_SHARES = (1, 3, 10)
"""How many per cent of the queries are broken."""

_TRUNCATED = (5, 3)
_ONE_PLACE_IN = 5


class Selftest(NamedTuple):
    """What became of a stored run's degradations."""

    intact: Evaluation
    """The run as it is stored, over the queries that are still asked in the same words."""
    limits: Limits
    """The limits without those on latency, which a stored run does not have."""
    verdicts: tuple[Verdict, ...]
    """How the intact run does; what fails here catches nothing."""
    comparison: Comparison
    """The run against itself, which tells what pairs."""
    degradations: tuple[Degradation, ...]
    advice: tuple[str, ...]


class _Plan(NamedTuple):
    """A degradation that is still to be judged."""

    name: str
    what: str
    rankings: Rankings
    kind: str = "rankings"
    """``rankings``, ``broken``, ``no_answer``, or ``slice``."""
    tag: str | None = None


class _Judged(NamedTuple):
    plan: _Plan
    degradation: Degradation
    comparison: Comparison


def run_selftest(baseline: Evaluation, limits: Limits, *, against: str, update: str) -> Selftest:
    """Degrade a stored run in every way that applies to it, and decide each time as a gating run would.

    ``baseline`` is the stored run under today's golden set; ``against`` and ``update`` word the verdicts on the
    intact run. A degradation that does this run no harm is left out. Raises EvaluationError where a metric of
    the user's own cannot cope with a degraded ranking.
    """
    limits = {key: words for key, words in limits.items() if baseline.metric(key[0]).kind != "latency"}
    itself = Comparison(baseline, baseline)
    intact = itself.now
    verdicts = decide(intact, limits, regression=Regression(itself, against, update))
    failing = {_key(verdict) for verdict in verdicts if verdict.failed}
    judged = []
    for plan in _plans(intact):
        try:
            result = _judge(plan, intact, limits, failing)
        except EvaluationError as error:
            raise EvaluationError(f"--ir-selftest, {plan.name}: {error}") from error
        if result is not None:
            judged.append(result)
    return Selftest(
        intact,
        limits,
        verdicts,
        itself,
        tuple(result.degradation for result in judged),
        tuple(_advice([result for result in judged if not result.degradation.caught_by], limits)),
    )


def _judge(
    plan: _Plan, intact: Evaluation, limits: Limits, failing: set[tuple[object, ...]]
) -> _Judged | None:
    """Hold a degraded run against the intact one; None where nothing is lost by it."""
    answers = dict(intact.run.answers)
    for query_id, rankings in plan.rankings.items():
        answers[query_id] = replace(answers[query_id], rankings=tuple(map(tuple, rankings)))
    run = Run.of(answers, depth=intact.run.depth)
    degraded = replace(intact, retrieved=replace(intact.retrieved, run=run))
    comparison = Comparison(degraded, intact)
    verdicts = decide(degraded, limits, regression=Regression(comparison, "the baseline", ""))
    caught = [verdict for verdict in verdicts if verdict.failed and _key(verdict) not in failing]
    deltas = _deltas(comparison)
    if not caught and plan.kind != "no_answer":
        fell = any(delta < -SLACK for delta in deltas.values())
        if not fell and all(delta >= -SLACK for delta in _whole_deltas(comparison).values()):
            return None
    degradation = Degradation(
        name=plan.name,
        what=plan.what,
        queries=len(plan.rankings),
        deltas=deltas,
        gated=[name for name, tag in limits if tag is None and name in deltas],
        caught_by=_labels(caught),
        tag=plan.tag,
    )
    return _Judged(plan, degradation, comparison)


def _key(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.word,
        verdict.metric,
        verdict.tag,
        verdict.single,
        verdict.queries if verdict.single else (),
    )


def _deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far each mean over the whole set moved."""
    metrics = [metric for metric in comparison.now.metrics if metric.kind != "latency"]
    changes = {metric.name: comparison.change(metric) for metric in metrics}
    return {name: change.delta for name, change in changes.items() if change.n}


def _whole_deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far the whole rankings moved, whatever the cut-offs of the metrics that are reported."""
    depth = comparison.depth
    metrics = read_metrics([name if depth is None else f"{name}@{depth}" for name in ("recall", "ndcg")])
    now, baseline = comparison.now.narrowed(metrics=metrics), comparison.baseline.narrowed(metrics=metrics)
    measured = Comparison(now, baseline)
    return {metric.name: measured.change(metric).delta for metric in metrics}


def _labels(verdicts: Sequence[Verdict]) -> list[str]:
    """Name gates as ``metric word [tag]``; queries' own thresholds are counted."""
    labels: dict[str, None] = {}
    own: dict[str, int] = {}
    for verdict in verdicts:
        label = verdict.word
        if verdict.metric not in (None, verdict.word):
            label = f"{verdict.metric} {verdict.word}"
        if verdict.single:
            own[label] = own.get(label, 0) + 1
        else:
            labels[label if verdict.tag is None else f"{label} [{verdict.tag}]"] = None
    counted = [
        f"{label} of {plural(count, 'single query', 'single queries')}" for label, count in own.items()
    ]
    return [*labels, *counted]


def _plans(intact: Evaluation) -> Iterator[_Plan]:
    answerable = [query for query in intact.counted if not query.no_answer]
    corpus = _Corpus(intact)
    level = intact.golden.relevance_level

    def every(change: Callable[[Query, Sequence[str]], Sequence[str]]) -> Rankings:
        changed = {
            query.id: tuple(change(query, ranking) for ranking in intact.rankings(query.id))
            for query in answerable
        }
        return {query_id: now for query_id, now in changed.items() if now != intact.rankings(query_id)}

    yield _Plan(
        "best hit of every query lost",
        "The first relevant document of every ranking is no longer returned.",
        every(lambda query, ranking: _without_best(query, ranking, level)),
    )
    for count, word in ((1, "one"), (3, "three")):
        pushed = plural(count, "unjudged document")
        yield _Plan(
            f"rankings shifted by {word}",
            f"{pushed} of other queries {'is' if count == 1 else 'are'} pushed in at the top of every ranking.",
            every(partial(_shifted, corpus=corpus, count=count)),
        )
    for kept in _TRUNCATED:
        yield _Plan(
            f"rankings truncated to {kept}",
            f"Only the first {kept} results of every query come back.",
            every(partial(_truncated, size=kept)),
        )
    yield _Plan(
        "unjudged documents swapped in",
        "In every ranking one place in five, anywhere, holds an unjudged document of another query instead.",
        every(partial(_swapped_in, corpus=corpus)),
    )
    yield _Plan(
        "neighbours swapped", "Half of all neighbouring results, anywhere, change places.", every(_swapped)
    )
    yield from _broken(intact, answerable)
    yield from _answered(intact, corpus)
    for tag in intact.tags:
        of_slice = [query for query in answerable if tag in query.tags]
        if len(of_slice) >= SMALLEST_SLICE:
            yield _Plan(
                f"slice {tag} lost ({len(of_slice)})",
                f"Each of the {len(of_slice)} queries tagged {tag} comes back empty.",
                _emptied(intact, of_slice),
                "slice",
                tag,
            )


def _broken(intact: Evaluation, answerable: Sequence[Query]) -> Iterator[_Plan]:
    """Break a share of the queries; of those that work, since the others have nothing to lose."""
    level = intact.golden.relevance_level
    working = [
        query
        for query in answerable
        if any(_is_relevant(query, doc, level) for ranking in intact.rankings(query.id) for doc in ranking)
    ]
    # One order for all shares: whoever catches 3 % is not told otherwise by another choice of 10 %.
    working.sort(key=lambda query: (_number("broken", query.id), query.id))
    total = len(answerable)
    done = set()
    for share in _SHARES:
        count = max(1, (total * share + 50) // 100)
        if count in done or count > len(working):
            continue
        done.add(count)
        few = total * share < 75  # one query is far more than this share
        name = f"broke one query of {total}" if few else f"broke {share} % of queries ({count}/{total})"
        what = f"{plural(count, 'query', 'queries')} that worked, anywhere, {'comes' if count == 1 else 'come'} back empty."
        yield _Plan(name, what, _emptied(intact, working[:count]), "broken")


def _answered(intact: Evaluation, corpus: _Corpus) -> Iterator[_Plan]:
    """Answer the ``no_answer`` queries that rightly came back empty."""
    empty = [
        query for query in intact.counted if query.no_answer and not any(map(len, intact.rankings(query.id)))
    ]
    if not empty:
        return
    yield _Plan(
        f"no_answer queries answered ({len(empty)})",
        "Every query marked no_answer gets an unjudged document of another query.",
        {
            query.id: tuple(corpus.unjudged(query, ranking, 1) for ranking in intact.rankings(query.id))
            for query in empty
        },
        "no_answer",
    )


def _emptied(intact: Evaluation, queries: Sequence[Query]) -> Rankings:
    return {query.id: tuple(() for _ in intact.rankings(query.id)) for query in queries}


def _is_relevant(query: Query, doc_id: str, level: float) -> bool:
    return query.judgments.get(doc_id, 0) >= level


def _without_best(query: Query, ranking: Sequence[str], level: float) -> Sequence[str]:
    best = next((doc_id for doc_id in ranking if _is_relevant(query, doc_id, level)), None)
    return ranking if best is None else tuple(doc_id for doc_id in ranking if doc_id != best)


def _shifted(query: Query, ranking: Sequence[str], *, corpus: _Corpus, count: int) -> Sequence[str]:
    return (*corpus.unjudged(query, ranking, count), *ranking)


def _truncated(_query: Query, ranking: Sequence[str], *, size: int) -> Sequence[str]:
    return ranking[:size]


def _swapped_in(query: Query, ranking: Sequence[str], *, corpus: _Corpus) -> Sequence[str]:
    count = -(-len(ranking) // _ONE_PLACE_IN)
    places = sorted(range(len(ranking)), key=lambda place: (_number("swapped in", query.id, place), place))
    now = list(ranking)
    for place, doc_id in zip(places[:count], corpus.unjudged(query, ranking, count), strict=True):
        now[place] = doc_id
    return tuple(now)


def _swapped(query: Query, ranking: Sequence[str]) -> Sequence[str]:
    now = list(ranking)
    for place in range(_number("neighbours", query.id) % 2, len(now) - 1, 2):
        if _number("neighbours", query.id, place) % 2:
            now[place], now[place + 1] = now[place + 1], now[place]
    return tuple(now)


class _Corpus:
    """The documents that the stored run returns anywhere: what a bad release would push in is among them."""

    def __init__(self, intact: Evaluation) -> None:
        returned = {
            doc_id for query in intact.counted for ranking in intact.rankings(query.id) for doc_id in ranking
        }
        self._documents = sorted(returned)

    def unjudged(self, query: Query, ranking: Sequence[str], count: int) -> list[str]:
        """Return documents that a query neither returns nor judges nor forbids; made-up ids where there are too few."""
        taken = {*query.judgments, *query.forbidden, *ranking}
        return list(islice((doc_id for doc_id in self._walk(query) if doc_id not in taken), count))

    def _walk(self, query: Query) -> Iterator[str]:
        size = len(self._documents)
        start = _number("unjudged", query.id)
        for step in range(size):
            yield self._documents[(start + step) % size]
        number = 0
        while True:
            number += 1
            yield f"unjudged-{number}"


def _number(*parts: str | int) -> int:
    """Return a number that depends on its arguments alone, on every machine."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode("ascii")).digest()[:8], "big")


def _advice(missed: Sequence[_Judged], limits: Limits) -> Iterator[str]:
    """Say what would catch the missed ones, where that is clear."""
    yield from _on_broken([result for result in missed if result.plan.kind == "broken"], limits)
    yield from _on_slices([result for result in missed if result.plan.kind == "slice"], limits)
    yield from _on_rankings([result for result in missed if result.plan.kind == "rankings"], limits)
    if any(result.plan.kind == "no_answer" for result in missed):
        yield 'Answers where none is right: ir_threshold("no_answer", min=1.0), or no threshold on it at all.'


def _mark(metric: str, words: str) -> str:
    return f'ir_threshold("{metric}", {words})'


def _on_broken(missed: Sequence[_Judged], limits: Limits) -> Iterator[str]:
    """Advise max_lost: of all gates the one that counts queries."""
    if not missed:
        return
    fewest = missed[0]
    lost = {
        name: len(fewest.comparison.change(name).lost)
        for name in _gated_first(fewest, limits)
        if fewest.comparison.now.metric(name).kind == "ranking"
    }
    metric = max(lost, key=lambda name: lost[name], default=None)
    if metric is None or not lost[metric]:
        return
    allowed = lost[metric] - 1
    when = (
        "as soon as one query finds nothing any more"
        if not allowed
        else f"when more than {plural(allowed, 'query finds', 'queries find')} nothing any more"
    )
    yield f"A mean hides a few broken queries: {_mark(metric, f'max_lost={allowed}')} fails {when}."


def _on_slices(missed: Sequence[_Judged], limits: Limits) -> Iterator[str]:
    found = []
    for result in missed:
        tag = result.plan.tag
        for name in _gated_first(result, limits):
            change = result.comparison.change(name, tag)
            if tag is not None and change.n and -change.delta > abs(change.baseline or 0.0) / 10 + SLACK:
                words = f'max_drop="10%", tag={json.dumps(tag, ensure_ascii=False)}'
                found.append((tag, _mark(name, words)))
                break
    if not found:
        return
    mark = found[0][1]
    if len(found) == 1:
        yield f"A mean hides a lost slice: give {found[0][0]} a threshold of its own, {mark}."
        return
    named = ", ".join(tag for tag, _ in found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    yield f"A mean hides a lost slice: give {named} thresholds of their own, such as {mark}."


def _on_rankings(missed: Sequence[_Judged], limits: Limits) -> Iterator[str]:
    """Advise a metric that sees what the gated ones do not, or say which limit is too wide for what."""
    unseen: dict[str, dict[str, float]] = {}
    within: dict[str, list[str]] = {}
    insignificant: dict[str, list[str]] = {}
    for result in missed:
        name = result.plan.name
        deltas = {**_whole_deltas(result.comparison), **result.degradation.deltas}
        gated = [metric for metric in deltas if "max_drop" in limits.get((metric, None), {})]
        fell = [metric for metric in gated if deltas[metric] < -SLACK]
        if fell:
            metric = min(fell, key=lambda metric: deltas[metric])
            change = result.comparison.change(metric)
            allowed = allowed_drop(limits[metric, None]["max_drop"][0], change)
            reason = within if -change.delta <= allowed + SLACK else insignificant
            reason.setdefault(metric, []).append(f"{name} ({score_text(-change.delta, allowed)})")
            continue
        unseen[name] = {metric: -delta for metric, delta in deltas.items() if delta < -0.01 - SLACK}
    for metric, names in _fewest_metrics(unseen).items():
        yield f"No max_drop sees it ({', '.join(names)}): {_mark(metric, 'max_drop=0.01')} would."
    for metric, names in within.items():
        yield f"The max_drop of {metric} allows {', '.join(names)}; only a smaller one would catch it."
    for metric, names in insignificant.items():
        yield f"The significance of {metric} lets pass what is beyond its max_drop: {', '.join(names)}."


def _fewest_metrics(unseen: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Choose metrics that see what no other does, each time the one that sees most of what is left."""
    left = {name: drops for name, drops in unseen.items() if drops}
    chosen: dict[str, list[str]] = {}
    while left:
        metrics = dict.fromkeys(metric for drops in left.values() for metric in drops)
        seen = {metric: [name for name, drops in left.items() if metric in drops] for metric in metrics}
        total = {metric: math.fsum(drops.get(metric, 0.0) for drops in left.values()) for metric in metrics}
        best = max(metrics, key=lambda metric: (len(seen[metric]), total[metric]))
        chosen[best] = seen[best]
        left = {name: drops for name, drops in left.items() if best not in drops}
    return chosen


def _gated_first(result: _Judged, limits: Limits) -> list[str]:
    """Return the metrics that have a mean over the whole set: those with a max_drop, other gated ones, the rest."""
    names = dict.fromkeys([*result.degradation.gated, *result.degradation.deltas])
    return sorted(names, key=lambda name: "max_drop" not in limits.get((name, None), {}))
