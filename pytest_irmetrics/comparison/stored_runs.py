"""Stored runs: their queries as they were judged, whether an answer is to a query of today, and the means they tell.

A label that an `Answer` stores has two ways back here: `golden_set_as_stored` and `with_stored_labels`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import FEW, listed, plural
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.evaluation.evaluation import CustomMetrics
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.query import Passage, folded, is_in_the_words_of
from pytest_irmetrics.metrics import Metric, MetricError, parse_metric
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Answer, Header, Run
from pytest_irmetrics.run.answer import EMPTY_ANSWER, Answers, params_key
from pytest_irmetrics.run.baseline import BaselineName

# Queries.


def _text_key(query_id: str, asked: Query | Answer) -> tuple[str, str]:
    """Return the text and the params of a query as a key to find it by under another id; its id in place of a text that it lacks."""
    return folded(asked.text) if asked.text else f"\0{query_id}", params_key(asked.params)


def _exact_key(asked: Query | Answer) -> tuple[str | None, str]:
    """Return the text and the params of a query as a key that differs where a letter does, as that of `_text_key` need not."""
    return asked.text, params_key(asked.params)


def text_keys(queries: Mapping[str, Query] | Answers) -> list[tuple[str, str]]:
    """Return the text and the params of each query, of a golden set or of a stored run, as a key that does not go by its id."""
    return [_text_key(*pair) for pair in queries.items()]


def count_asked(answers: Answers, keys: Collection[tuple[str, str]]) -> int:
    """Count the queries of a stored run that are among others, whose `keys` `text_keys` makes."""
    return sum(key in keys for key in text_keys(answers))


def is_half_asked(answers: Answers, keys: Collection[tuple[str, str]]) -> bool:
    """Say whether half of the queries of a stored run or more are among others, so that it may be of the test which asks those; docs/history.md says so."""
    return 2 * count_asked(answers, keys) >= len(answers) > 0


def renamed_test(path: str, queries: Mapping[str, Query], gone: Mapping[str, Run], git_says: str) -> str:
    """Return the path of the baseline that a renamed test had: of those whose test is `gone`, the one that holds most of its queries.

    The test asks half of the queries stored there or more, or any number of them where module and parameters are the same. Of equals the one whose parameters are most alike, then the one that is the
    same file for Git, by its content; that where there is none.
    """
    name, asked = BaselineName.of(path), {*text_keys(queries)}
    found: dict[str, tuple[int, int, bool]] = {}
    """Path → how many of its queries are asked, how many parts of its parameters are the test's, whether Git says so."""
    for one, run in gone.items():
        other = BaselineName.of(one)
        if is_half_asked(run.answers, asked) or other._replace(function=name.function) == name:
            found[one] = count_asked(run.answers, asked), len(name.parts & other.parts), one == git_says
    return max(found, key=lambda one: (found[one], one), default=git_says)


def unanswered(queries: Mapping[str, Query], answers: Answers) -> dict[str, Query]:
    """Return by id the queries that have no answer under their id, or one to other words than theirs today.

    An answer to a query's words in other letters (`iphone`, of `iPhone`) is its own, unless another answer is to them in its
    letters, or another query has the letters of that answer.
    """
    own = {i: answers[i] for i, q in queries.items() if i in answers and is_in_the_words_of(q, answers[i])}
    respelt = {i for i, answer in own.items() if answer.text not in (None, queries[i].text)}
    if respelt:
        settled = own.keys() - respelt
        stored = {_exact_key(answer) for i, answer in answers.items() if i not in settled}
        asked = {_exact_key(query) for i, query in queries.items() if i not in settled}
        respelt = {i for i in respelt if _exact_key(queries[i]) in stored or _exact_key(answers[i]) in asked}
    return {i: query for i, query in queries.items() if i not in own or i in respelt}


def ids_by_words(wanted: Iterable[Query], answers: Answers, today: Mapping[str, Query]) -> dict[str, str]:
    """Find the answers to `wanted` queries in a stored run by their words: return today's id → the id there.

    An answer that is to the words of the query with its id `today` is taken for no other query.
    """
    by_key: dict[tuple[str, str], list[Query]] = {}
    for query in wanted:
        by_key.setdefault(_text_key(query.id, query), []).append(query)
    free = [(i, a) for i, a in answers.items() if i not in today or not is_in_the_words_of(today[i], a)]
    alike = [(i, a, same) for i, a in free if (same := by_key.get(_text_key(i, a)))] if by_key else []
    found: dict[str, str] = {}
    # Of several of the same words the one in the same letters, else of the same id, else in order.
    for fits in (lambda q, _, a: q.text == a.text, lambda q, i, _: q.id == i, lambda *_: True):
        taken = {*found.values()}
        for old_id, answer, same in alike:
            one = next((q for q in same if fits(q, old_id, answer)), None)
            if one is not None and old_id not in taken:
                found[one.id] = old_id
                same.remove(one)
    return found


def under_todays_ids(run: Run, queries: Mapping[str, Query], shown: str) -> tuple[Run, str]:
    """Return a stored run with its answers under the ids that queries of their words have today, and a note that names these."""
    wanted = unanswered(queries, run.answers)
    found = ids_by_words(wanted.values(), run.answers, {i: queries[i] for i in queries if i not in wanted})
    came = {new_id: old_id for new_id, old_id in found.items() if new_id != old_id}
    if not came:
        return run, ""
    renamed = listed([f"{old} → {new}" for new, old in came.items()], FEW)
    have = plural(len(came), "query has", "queries have")
    answers = with_moved(run.answers, {i: run.answers[old_id] for i, old_id in came.items()}, came.values())
    return Run.of(answers, run.header), f"{have} another id than in {shown}: {renamed}."


def without_others(run: Run, queries: Mapping[str, Query]) -> Run:
    """Return a run without its answers to other queries than these, if it does not say of which golden set it is.

    A query of another golden set is none that was dropped from this one. A TREC run has no line for an empty answer, which is the right
    one to a `no_answer` query. A run of none of the queries is returned as it is.
    """
    own = {query_id: run.answers[query_id] for query_id in queries if query_id in run}
    if run.golden_set is not None or not own:
        return run
    empty = [i for i, query in queries.items() if query.no_answer and run.depth is None and i not in run]
    answers = {**own, **dict.fromkeys(empty, EMPTY_ANSWER)}
    return Run.of(answers, Header(run.depth, relevance_level=run.relevance_level))


def with_moved(answers: Answers, moved: Answers, old_ids: Collection[str]) -> Answers:
    """Return answers with the `moved` ones under their new ids, and without those under the `old_ids`.

    One that has a new id already becomes `ID (as it was)`, which no query of today is.
    """
    kept = {i: answer for i, answer in answers.items() if i not in old_ids}
    return {**{f"{i} (as it was)" if i in moved else i: answer for i, answer in kept.items()}, **moved}


def stored_weight(answer: Answer, otherwise: float = 1.0) -> float:
    """Return the weight that was stored with an answer; `otherwise` where none was."""
    return otherwise if answer.weight is None else answer.weight


def golden_set_as_stored(run: Run) -> GoldenSet:
    """Return the golden set that a stored run was judged with, without what a run does not say (thresholds, forbidden)."""
    queries = []
    for query_id, answer in run.answers.items():
        judgments = answer.judgments or {}
        found = [Passage(*one, judgments[key]) for key, one in answer.passages.items() if key in judgments]
        query = Query(
            query_id,
            answer.text,
            judgments,
            weight=stored_weight(answer),
            tags=answer.tags,
            params=answer.params,
            no_answer=not judgments and not answer.unjudged,
            xfail="" if answer.xfail else None,
            passages=tuple(found),
        )
        queries.append(query)
    return GoldenSet(queries, relevance_level=1 if run.relevance_level is None else run.relevance_level)


# Means.


class WrongMean(NamedTuple):
    """A mean that a stored run tells, and that its rankings do not give."""

    metric: Metric
    stated: float
    found: float | None
    """None where it holds no query to average over."""


def wrong_means(run: Run, custom: CustomMetrics, scored: Evaluation | None) -> list[WrongMean]:
    """Return the means of a stored run's header that its own rankings and judgments do not give; empty where it tells none.

    Of a metric of the package the header was edited. A metric of the user's own (`kind` is `custom`, also of a name that is no
    metric today) may have been another function when it was stored. `scored` is an evaluation of its rankings by the labels that are stored with it, if there is one.
    """
    read = ((_read_metric(name, run.depth, custom), mean) for name, mean in run.means.items())
    stated = {metric: mean for metric, mean in read if metric}
    means = _means_of(run, stated, custom, scored)
    return [
        WrongMean(metric, mean, found)
        for metric, mean in stated.items()
        if (found := means.get(metric)) is None or abs(mean - found) > TOLERANCE
    ]


def _read_metric(name: str, depth: int | None, custom: CustomMetrics) -> Metric | None:
    """Return the metric of a stored mean, a custom one of a name that is no metric today; None where the run's rankings do not give its mean."""
    try:
        metric = parse_metric(name, custom=custom)
    except MetricError:
        return Metric(name)
    return metric if metric.is_stored and metric.is_within(depth) else None


def with_answers(run: Run, new: Run, custom: CustomMetrics) -> Run:
    """Return a stored run with the answers of a new one exchanged or added, as `--ir-query` accepts them, and the means of both computed anew."""
    changed = Run.of({**run.answers, **new.answers}, run.header._replace(means={**run.means, **new.means}))
    means = _means_of(changed, [_read_metric(name, run.depth, custom) for name in changed.means], custom)
    return Run.of(changed.answers, run.header._replace(means={one.name: mean for one, mean in means.items()}))


def _means_of(
    run: Run, read: Iterable[Metric | None], custom: CustomMetrics, scored: Evaluation | None = None
) -> dict[Metric, float]:
    """Score a stored run by what it was judged with; without the metrics that have no function or nothing to average over."""
    metrics = tuple([one for one in read if one and (one.kind != "custom" or one.family in custom)])
    if not metrics or any(answer.judgments is None for answer in run.answers.values()):
        return {}
    evaluation = scored or Evaluation(golden_set_as_stored(run), Retrieved(run), metrics, run.depth, custom)
    means = {metric: evaluation.mean_or_none(metric) for metric in metrics}
    return {metric: mean for metric, mean in means.items() if mean is not None}


# Labels.


def is_excluded_otherwise(query: Query, answer: Answer) -> bool:
    """Whether a query is marked ``xfail`` and was not when its answer was stored, or the other way round.

    A run that says nothing of judgments says nothing of this.
    """
    return answer.judgments is not None and answer.xfail != (query.xfail is not None)


def with_stored_labels(query: Query, answer: Answer) -> Query | None:
    """Return a query with the judgments, weight and tags that were stored with its answer; None where these are today's."""
    weight = stored_weight(answer, query.weight)
    if answer.judgments is None:  # a run that says nothing of judgments says nothing of tags
        return None if weight == query.weight else replace(query, weight=weight)
    rejudged = (answer.judgments, answer.unjudged) != (query.judgments, query.is_unjudged)
    if not rejudged and weight == query.weight and {*answer.tags} == {*query.tags}:
        return None
    no_answer = not (answer.judgments or answer.unjudged) if rejudged else query.no_answer
    return replace(query, weight=weight, tags=answer.tags, judgments=answer.judgments, no_answer=no_answer)
