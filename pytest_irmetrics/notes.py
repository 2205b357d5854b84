"""What a reader should know besides the verdicts, in sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics import significance
from pytest_irmetrics.change import SLACK
from pytest_irmetrics.evaluation import EvaluationError, evaluate_run, read_metrics
from pytest_irmetrics.gates import SURELY, allowed_drop, would_pass
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.passages import document_of
from pytest_irmetrics.reports.text import plural, score_text, signed_text
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, LabelChange, RunNoise
    from pytest_irmetrics.evaluation import CustomMetrics, Evaluation
    from pytest_irmetrics.gates import Limits, Verdict
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric

_LABELS = 5
"""How many changed judgments a note lists."""
_FEW = 3
_NEWS = 0.01
"""The least fall of a slice that is worth a word: what a mean may fall by unless told otherwise."""
_PLAINLY = 0.05
_MUCH_FURTHER = 2
"""How many times the whole set's fall a slice's must be, for the mean to hide it."""
_PART_OF_ONE = 0.5
"""Below this part of one query, a `max_drop` is less than what one answer costs that slips by a rank."""
_OF_RANKS = ("mrr", "map", "ndcg", "err", "rbp")
_OF_FINDING = ("recall", "hit")
_PARTS = {
    2: "half",
    3: "a third",
    4: "a quarter",
    5: "a fifth",
    6: "a sixth",
    7: "a seventh",
    8: "an eighth",
    9: "a ninth",
    10: "a tenth",
    20: "a twentieth",
}
_MARKEDLY_LESS = 0.05
"""From this fall of the judged share on, a drop may be about labels that nobody gave."""


def on_evaluation(
    evaluation: Evaluation, limits: Limits, corpus: Container[str] | None = None
) -> Iterator[str]:
    """Say what today's run and golden set show by themselves."""
    golden = evaluation.golden
    if golden.left_out:
        yield f"Left out, because without any judgment: {listed(golden.left_out)}."
    for query in _known_bad(evaluation):
        if would_pass(evaluation, query, limits):
            yield f"The query {query.id} is marked xfail ({_why(query)}) and would pass now: take the mark away."
    longest = _longest(evaluation)
    if evaluation.depth is not None and 0 < longest < evaluation.depth:
        yield (
            f"No query got the {evaluation.depth} results that were asked for; the longest answer has {longest}. "
            f"{evaluation.retrieved.depth_advice or 'Check that the retriever passes k on.'}"
        )
    missing = evaluation.retrieved.missing
    if missing:
        yield (
            f"No line of the stored run is about {plural(len(missing), 'query', 'queries')}, which counts as an empty "
            f"answer: {listed(missing)}."
        )
    yield from _unmatched_passages(evaluation)
    if corpus is not None:
        yield from _missing_documents(evaluation, corpus)


def _longest(evaluation: Evaluation) -> int:
    """Return the length of the longest answer; where one is as deep as was asked, that ends the search."""
    longest = 0
    for query in evaluation.counted:
        longest = max(longest, *map(len, evaluation.rankings(query.id)))
        if longest == evaluation.depth:
            break
    return longest


def on_known_bad(evaluation: Evaluation, limits: Limits) -> Iterator[str]:
    """Say which queries are in no mean because they are known to be bad, and still are."""
    for query in _known_bad(evaluation):
        if not would_pass(evaluation, query, limits):
            yield f"The query {query.id} is marked xfail ({_why(query)}) and still fails."


def _known_bad(evaluation: Evaluation) -> list[Query]:
    return [
        query
        for query in evaluation.golden.queries.values()
        if query.xfail is not None and (evaluation.only is None or query.id in evaluation.only)
    ]


def _why(query: Query) -> str:
    return query.xfail or "no reason given"


def _missing_documents(evaluation: Evaluation, corpus: Container[str]) -> Iterator[str]:
    judged = {
        doc_id
        for query in evaluation.golden.queries.values()
        for doc_id, grade in query.documents.items()
        if grade > 0
    }
    try:
        missing = sorted(doc_id for doc_id in judged if doc_id not in corpus)
    except Exception as error:
        raise EvaluationError(
            f"The fixture ir_corpus could not be asked for a document: {type(error).__name__}: {error}. "
            "Give anything that supports `in`, for example a set of ids."
        ) from error
    if missing:
        yield (
            f"The index lacks {plural(len(missing), 'document')} that the golden set judges relevant; no ranking can "
            f"hold them: {listed(missing)}."
        )


def _unmatched_passages(evaluation: Evaluation) -> Iterator[str]:
    """Name the passages that were in no returned chunk, though their document came back for their query."""
    judging = [query for query in evaluation.counted if query.passages]
    if not judging:
        return
    entries = {
        query.id: {e for ranking in evaluation.rankings(query.id) for e in ranking} for query in judging
    }
    found = {
        passage.key for query in judging for passage in query.passages if passage.key in entries[query.id]
    }
    missed: dict[str, str] = {}  # and for which query
    golden = evaluation.golden
    for query in judging:
        keys = {passage.key: passage.doc for passage in query.passages}
        returned = {keys.get(entry) or document_of(entry) for entry in entries[query.id]}
        for passage in query.passages:
            key = passage.key
            if passage.grade >= golden.relevance_level and passage.doc in returned and key not in found:
                missed.setdefault(key, query.id)
    if missed:
        named = [
            f"{golden.where_judged(query_id, key)} {key}" for key, query_id in list(missed.items())[:_LABELS]
        ]
        more = f" and {len(missed) - _LABELS} more" if len(missed) > _LABELS else ""
        yield (
            f"{plural(len(missed), 'passage')} in no returned chunk, though chunks of the document came back: {'; '.join(named)}{more}. "
            "The ranking missed them, or the text is worded otherwise in the corpus, or cut in two where a chunk ends: "
            "a shorter text, or chunks that overlap, mend that."
        )


def on_comparison(comparison: Comparison, against: str, limits: Limits) -> Iterator[str]:
    """Say what does not pair with the baseline, and what an edited golden set did."""
    alone = "With nothing to compare, only `min` and its kind gate"
    renamed = _renamed(comparison)
    for ids, what, so in (
        ([i for i in comparison.new if i not in renamed], f"new since {against}", alone),
        (comparison.reworded, f"reworded (text or params) since {against}", alone),
        (
            [i for i in comparison.removed if i not in renamed.values()],
            f"of {against} not in the golden set any more",
            "",
        ),
    ):
        if ids:
            gated = f" {so} {'it' if len(ids) == 1 else 'them'}." if so else ""
            yield f"{plural(len(ids), 'query', 'queries')} {what}: {listed(ids)}.{gated}"
    if renamed:
        named = listed([f"{old} → {new}" for new, old in renamed.items()])
        yield (
            f"{plural(len(renamed), 'query has', 'queries have')} the words of {against} and another id: {named}. Queries pair by "
            f"id, so nothing compares {'it' if len(renamed) == 1 else 'them'}: give the old id back, or store a new baseline."
        )
    depths = comparison.full.depth, comparison.baseline.run.depth
    if None not in depths and depths[0] != depths[1]:
        yield f"Today's rankings hold {depths[0]} results and those of {against} {depths[1]}; both are cut at {comparison.depth}."
    yield from _on_labels(comparison, against)
    yield from _on_tags(comparison, against, limits)
    yield from _on_excused(comparison, against)
    yield from _on_left_out(comparison, limits)


def _renamed(comparison: Comparison) -> dict[str, str]:
    """Map new ids to removed ones that asked the same: the same text, which no other query has, and params."""
    if not comparison.new or not comparison.removed:
        return {}
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    before: dict[str, list[str]] = {}
    for query_id in comparison.removed:
        text = answers[query_id].text
        if text is not None:
            before.setdefault(text, []).append(query_id)
    found = {}
    for query_id in comparison.new:
        old = before.get(queries[query_id].text or "", [])
        if len(old) == 1 and dict(answers[old[0]].params) == dict(queries[query_id].params):
            found[query_id] = old[0]
            old.clear()
    return found


def _on_labels(comparison: Comparison, against: str) -> Iterator[str]:
    """Tell what the change of labels does from what the retriever does."""
    what = comparison.relabelled()
    if not what:
        return
    moved = [
        f"{metric.name} {signed_text(labels + change.delta)} = {signed_text(labels)} labels {signed_text(change.delta)} retriever"
        for metric in comparison.now.metrics
        if metric.kind == "ranking"
        and (labels := comparison.labels_delta(metric)) is not None
        and abs(labels) > SLACK
        and (change := comparison.change(metric))
    ]
    effect = (
        f" By today's {what}: {'; '.join(moved)}. Only the retriever's part is gated."
        if moved
        else " No mean moves through that."
    )
    changes, weights = comparison.label_changes, comparison.weight_changes
    changed, named = [], []
    if changes:
        queries = len({change.query_id for change in changes})
        changed.append(f"{plural(len(changes), 'judgment')} of {plural(queries, 'query', 'queries')}")
        named += _some([_label_change(comparison, change) for change in changes[:_LABELS]], len(changes))
    if comparison.stored_level != comparison.now.golden.relevance_level:
        changed.append("the relevance level")
        named.append(
            f"relevance level {comparison.stored_level:g} → {comparison.now.golden.relevance_level:g}"
        )
    if weights:
        changed.append(
            f"{'the weight' if len(weights) == 1 else 'the weights'} of {plural(len(weights), 'query', 'queries')}"
        )
        named += _some([_weight_change(comparison, i) for i in weights[:_LABELS]], len(weights))
    lead = " and ".join(changed)
    yield (
        f"{lead[0].upper()}{lead[1:]} changed since {against} was stored, so it was scored anew under today's.{effect} "
        f"Changed: {'; '.join(named)}."
    )


def _some(named: list[str], total: int) -> list[str]:
    """Say of the last one named how many more there are."""
    return [*named[:-1], f"{named[-1]} and {total - len(named)} more"] if total > len(named) else named


def _weight_change(comparison: Comparison, query_id: str) -> str:
    golden, before = comparison.now.golden, comparison.baseline.run.answers[query_id].weight
    return f"{golden.where(query_id)} {query_id}: weight {before:g} → {golden.queries[query_id].weight:g}"


def _on_tags(comparison: Comparison, against: str, limits: Limits) -> Iterator[str]:
    """Say where other queries than before make up a slice that is gated against the baseline."""
    answers, queries = comparison.baseline.run.answers, comparison.now.golden.queries
    gated = dict.fromkeys(
        tag
        for (_, tag), words in limits.items()
        if tag is not None and words.keys() & {"max_drop", "max_lost"}
    )
    for tag in gated if comparison.tag_changes else ():
        gone = [i for i in comparison.tag_changes if tag in answers[i].tags and tag not in queries[i].tags]
        came = [i for i in comparison.tag_changes if tag in queries[i].tags and tag not in answers[i].tags]
        moved = [
            f"{listed(ids)} {'is' if len(ids) == 1 else 'are'} {how}"
            for ids, how in ((gone, "not tagged so any more"), (came, "tagged so now"))
            if ids
        ]
        if moved:
            yield (
                f"The slice {tag} has other queries than when {against} was stored: {', and '.join(moved)}. It is gated as it "
                "is, and as it was."
            )


def _on_excused(comparison: Comparison, against: str) -> Iterator[str]:
    """Name the queries that were better in the baseline and are in no gate, because they are marked xfail."""
    metric = next((metric for metric in comparison.now.metrics if metric.kind == "ranking"), None)
    if metric is None:
        return
    queries = comparison.now.golden.queries
    for query_id in comparison.paired:
        if queries[query_id].xfail is None:
            continue
        before, now = comparison.baseline.score(metric, query_id), comparison.now.score(metric, query_id)
        if before is not None and before - (now or 0.0) > SLACK:
            yield (
                f"The query {query_id} is marked xfail ({_why(queries[query_id])}), so no gate sees that its {metric.name} fell from "
                f"{score_text(before, now)} to {score_text(now or 0.0, before)} since {against}."
            )


def _on_left_out(comparison: Comparison, limits: Limits) -> Iterator[str]:
    """Say where a mean that is gated has lost queries, because its metric leaves out what finds nothing."""
    for (name, tag), words in limits.items():
        if "max_drop" not in words or "max_lost" in words:
            continue
        change = comparison.change(name, tag)
        out = [query_id for query_id in change.before if query_id not in change.after]
        if out:
            yield (
                f"{name} leaves out what finds nothing, and {plural(len(out), 'query', 'queries')} that it counted before "
                f"{'is' if len(out) == 1 else 'are'} not in today's mean: {listed(out)}. max_lost gates that."
            )


def _label_change(comparison: Comparison, change: LabelChange) -> str:
    place = comparison.now.golden.where_judged(change.query_id, change.doc_id)
    before = "unjudged" if change.before is None else f"{change.before:g}"
    after = "removed" if change.after is None else f"{change.after:g}"
    return f"{place} {change.query_id}: {change.doc_id} {before} → {after}"


def on_unjudged(comparison: Comparison, metric: Metric) -> Iterator[str]:
    """Say where a fall of ``metric`` may be unjudged documents, and what both sides would score if they were good.

    Not where passages are judged: there most entries are chunks that were looked into and hold none.
    """
    if comparison.now.by_passage or metric.kind != "ranking":
        return
    depth = comparison.depth
    judged = read_metrics(["judged" if depth is None else f"judged@{depth}"])
    if not _may_have_fallen(comparison, judged):
        return
    measured = comparison.by(judged).change(judged[0])
    if measured.now is None or measured.baseline is None or measured.delta > -_MARKEDLY_LESS:
        return
    change, (now, before) = comparison.change(metric), _if_all_relevant(comparison, metric)
    yield (
        f"{judged[0].name} is {score_text(measured.now)}, and was {score_text(measured.baseline)}: more of today's results "
        f"were never judged. {metric.name} is {score_text(change.now)} (was {score_text(change.baseline)}) if no unjudged "
        f"document is relevant, and {score_text(now)} (was {score_text(before)}) if each is as good as its query's best. "
        "Judge them before you decide: `pytest-irmetrics label` lists them."
    )


def _may_have_fallen(comparison: Comparison, judged: Sequence[Metric]) -> bool:
    """Look at the queries that are answered otherwise alone: what is answered as before is judged as before."""
    queries = comparison.now.narrowed(metrics=judged).queries(judged[0])
    reranked = {queries[place].id for place in comparison.baseline.reranked}
    now, baseline = (
        side.narrowed(metrics=judged, only=reranked) for side in (comparison.now, comparison.baseline)
    )
    columns = zip(now.weights(judged[0]), now.column(judged[0]), baseline.column(judged[0]), strict=True)
    moved = math.fsum(weight * ((after or 0.0) - (before or 0.0)) for weight, after, before in columns)
    total = math.fsum(query.weight for query in queries)
    return moved <= (SLACK - _MARKEDLY_LESS) * total


def _if_all_relevant(comparison: Comparison, metric: Metric) -> tuple[float, float]:
    """Return the means of both sides, now first, if all that either returns unjudged had its query's highest grade."""
    golden, sides = comparison.now.golden, (comparison.now, comparison.baseline)
    queries = dict(golden.queries)
    for query in comparison.now.queries(metric):
        best = max(query.judgments.values(), default=1)
        returned = {
            doc_id: best for side in sides for ranking in side.rankings(query.id) for doc_id in ranking
        }
        queries[query.id] = replace(query, judgments={**returned, **query.judgments})
    judged = GoldenSet(queries.values(), name=golden.name, relevance_level=golden.relevance_level)
    now, before = (side.narrowed(golden=judged, metrics=[metric]).mean(metric) for side in sides)
    return now, before


def hidden_slices(comparison: Comparison, metric: Metric, gated: Collection[str] = ()) -> Iterator[str]:
    """Name the slices that fell while the whole set did not, or by far less; not those ``gated`` by themselves.

    A slice fell where other queries like these would too (95 %), or where three or more are worse, none is better, and
    the mean is lower by 0.05: that is a fact about this set, also where it is too small to generalise from.
    """
    whole = comparison.change(metric)
    for tag in comparison.now.tags:
        change = comparison.change(metric, tag)
        drop = -change.delta
        if (
            tag in gated
            or change.n == whole.n
            or len(change.worse) < _FEW
            or drop < max(_NEWS, _MUCH_FURTHER * -whole.delta)
        ):
            continue
        surely = change.interval is not None and change.interval[1] < 0
        noise = comparison.run_noise(metric, tag)
        if noise is not None and drop <= SURELY * noise.deviation:
            continue
        if surely or (not change.better and drop >= _PLAINLY):
            yield (
                f"The mean hides that {metric.name} of the queries tagged {tag} fell by {score_text(drop)}: "
                f"{len(change.worse)} of {change.n} are worse."
            )


def on_tolerance(comparison: Comparison, limits: Limits) -> Iterator[str]:
    """Say what a ``max_drop`` means on this many queries, where it is nearly nothing or a great deal."""
    for (name, tag), words in limits.items():
        if "max_drop" not in words or "significance" in words:
            continue
        limit = words["max_drop"][0]
        change = comparison.change(name, tag)
        allowed = allowed_drop(limit, change)
        of_one = allowed * change.n
        if not change.n or not allowed:
            continue
        if of_one < _PART_OF_ONE:
            text = _next_to_nothing(f"max_drop {limit} of {name}", allowed, change.n, change.metric, tag)
            if change.detectable:
                needed = significance.queries_needed(list(change.weighted_differences.values()), allowed)
                text += (
                    f" With changes this noisy, {change.n} queries show drops of {score_text(change.detectable, digits=2)} "
                    f"and more reliably; for {limit} about {needed:,} would be needed."
                )
            yield text
        elif of_one >= 10 and "max_lost" not in words:
            yield (
                f"max_drop {limit} of {name} on {change.n:,} queries lets {math.floor(of_one + SLACK)} be lost altogether; "
                "consider max_lost."
            )


def before_asking(golden: GoldenSet, limits: Limits, custom_metrics: CustomMetrics) -> str | None:
    """Say which ``max_drop`` allows next to nothing, of several the least, when only the number of queries is known.

    A percentage is one of a mean that is not known yet, and taken for one of the best that there is.
    """
    named = dict.fromkeys(name for name, _ in limits)
    unasked = evaluate_run(golden, Run({}), named, custom_metrics=custom_metrics)
    least: tuple[float, str] | None = None
    for (name, tag), words in limits.items():
        if "max_drop" not in words or "significance" in words:
            continue
        limit, metric = words["max_drop"][0], unasked.metric(name)
        allowed = limit.value / 100 * metric.upper if limit.percent else limit.value
        n = len(unasked.queries(metric, tag))
        of_one = allowed * n
        if 0 < of_one < _PART_OF_ONE and (least is None or of_one < least[0] - SLACK):
            text = _next_to_nothing(f"max_drop {limit}", allowed, n, metric, tag, at_most=limit.percent)
            least = of_one, text
    return least[1] if least is not None else None


def _next_to_nothing(
    what: str, allowed: float, n: int, metric: Metric, tag: str | None, *, at_most: bool = False
) -> str:
    """Say what an allowed drop of a mean is in terms of one of its queries."""
    tagged = f" tagged {tag}" if tag is not None else ""
    if metric.family in _OF_RANKS:
        fails = ": one answer that slips from rank 1 to rank 2 fails"
    elif metric.family in _OF_FINDING:
        fails = ": one query that loses its answer fails"
    else:
        fails = ""
    return f"{what} on {plural(n, 'query', 'queries')}{tagged} is {'at most ' * at_most}{_share(allowed * n)} of one query{fails}."


def _share(part: float) -> str:
    """Say a part of one, in a word where one fits: ``a fifth``, ``0.37``."""
    for whole, word in _PARTS.items():
        if abs(part * whole - 1) < 0.03:
            return word
    return "less than a hundredth" if part < 0.01 - SLACK else score_text(part, digits=2)


def on_passed_drops(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Never let a drop beyond its limit pass unsaid: for significance, or for what differs from run to run.

    And say where a tolerance says little, because answers differ from run to run.
    """
    for verdict in verdicts:
        if not _is_set_drop(verdict) or verdict.failed or verdict.metric is None or verdict.limit is None:
            continue
        if verdict.limit < -comparison.change(verdict.metric, verdict.tag).delta - SLACK:
            yield verdict.text
        noise = comparison.run_noise(verdict.metric, verdict.tag)
        surely = SURELY * noise.deviation if noise is not None else 0.0
        if noise is not None and verdict.limit < surely:
            what = verdict.metric if verdict.tag is None else f"{verdict.metric} [{verdict.tag}]"
            yield (
                f"max_drop {score_text(verdict.limit)} of {what} is less than what differs from run to run: a fall "
                f"fails from {score_text(verdict.limit + surely)} on. Ask more often (--ir-repeat), or allow "
                f"{score_text(surely)} or more. Least stable: {', '.join(noise.unstable[:_FEW])}."
            )


def on_run_noise(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Say by how much the compared means differ from run to run."""
    told = [
        f"{verdict.metric} {score_text(noise.deviation)}"
        for verdict in verdicts
        if verdict.tag is None and (noise := _noise_of(comparison, verdict)) is not None
    ]
    if told:
        yield (
            "From run to run the differences vary by (standard deviation): "
            f"{', '.join(told)}. A drop fails where it exceeds max_drop by {SURELY} times that."
        )


def _noise_of(comparison: Comparison, verdict: Verdict) -> RunNoise | None:
    """Give the run noise of a judged ``max_drop``, None where there is none."""
    if not _is_set_drop(verdict) or verdict.metric is None:
        return None
    noise = comparison.run_noise(verdict.metric, verdict.tag)
    return noise if noise is not None and noise.deviation > 0 else None


def _is_set_drop(verdict: Verdict) -> bool:
    """Whether a verdict is of a judged ``max_drop`` of a mean."""
    judged = verdict.metric is not None and verdict.limit is not None
    return verdict.word == "max_drop" and judged and not verdict.single and verdict.state != "not checked"


def on_averages(comparison: Comparison) -> Iterator[str]:
    """Say that the scores shown are averages, where queries were asked several times."""
    now, before = (
        max((len(side.rankings(query.id)) for query in side.counted), default=1)
        for side in (comparison.now, comparison.baseline)
    )
    if now > 1 or before > 1:
        yield (
            f"Today's scores are {_averaged(now)}, the baseline's {_averaged(before)}. Of several answers, the one that scores "
            "like their average is shown."
        )


def _averaged(answers: int) -> str:
    return "of one answer a query" if answers == 1 else f"averages over {answers} answers a query"


def on_selftest(comparison: Comparison, against: str) -> Iterator[str]:
    """Say what the self-test speaks of: a stored run, and of that the queries that still pair."""
    yield f"The retriever was not asked; the scores are those of {against} as it is stored."
    apart = (*comparison.new, *comparison.reworded)
    if apart:
        yield (
            f"{plural(len(apart), 'query', 'queries')} left out, because {against} does not have them in these words: "
            f"{listed(apart)}."
        )


def listed(ids: Sequence[str], most: int = 10) -> str:
    """Name ids, the first few and how many more there are."""
    shown = ", ".join(ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"
