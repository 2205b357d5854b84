"""Find what is doubtful in a valid golden set: ids that look alike, ineffective thresholds, duplicate queries."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.doubtful_texts import find_doubtful_texts
from pytest_irmetrics.metrics import Scorer, mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Limit, Threshold


_MAX_OF_A_KIND = 10
"""How many warnings of one kind are listed; of any others only the number is given."""

_END = ".,;:!?…。？！"
_START = "¿¡"

_BOUNDED = ("precision", "recall", "f1", "hit", "map", "mrr", "ndcg", "r_precision", "rbp", "err")
"""Metric families whose best possible score follows from the judgments alone."""


@dataclass(frozen=True, slots=True)
class LintWarning:
    """Something doubtful in a valid golden set: its place and a sentence."""

    where: str
    """As ``path:line``, or with the column too."""
    message: str

    def __str__(self) -> str:
        """Write ``path:line: note: what is doubtful. What to do.``."""
        return f"{self.where}: note: {self.message}"


def lint(golden: GoldenSet) -> list[LintWarning]:
    """Return what is doubtful in a golden set, the most serious kind first, at most ten warnings of each kind."""
    warnings = []
    for kind in (
        _doubtful_texts(golden),
        _ineffective_thresholds(golden),
        _equal_queries(golden),
    ):
        found = list(kind)
        warnings += found[:_MAX_OF_A_KIND]
        if len(found) > _MAX_OF_A_KIND:
            rest = len(found) - _MAX_OF_A_KIND
            warnings.append(LintWarning(found[_MAX_OF_A_KIND].where, f"{rest} more of this kind begin here."))
    return warnings


def _doubtful_texts(golden: GoldenSet) -> Iterator[LintWarning]:
    """Find ids and texts that look like others and are not; only as many are located as are listed."""
    for count, (query_id, doc_id, message) in enumerate(find_doubtful_texts(golden)):
        located = None if count > _MAX_OF_A_KIND else doc_id
        where = golden.where(query_id) if located is None else golden.where_judged(query_id, located)
        yield LintWarning(where, message)


# Thresholds -----------------------------------------------------------------------------------------------------


def _ineffective_thresholds(golden: GoldenSet) -> Iterator[LintWarning]:
    """Find limits that no result can fail, and limits that no ranking can meet."""
    for threshold in golden.thresholds:
        queries = [q for q in golden.queries.values() if threshold.tag is None or threshold.tag in q.tags]
        yield from _check_threshold(threshold, queries, golden)
    for query in golden.queries.values():
        for threshold in query.thresholds:
            yield from _check_threshold(threshold, [query], golden)


def _check_threshold(
    threshold: Threshold, queries: Sequence[Query], golden: GoldenSet
) -> Iterator[LintWarning]:
    metric = threshold.metric
    for word, limit in threshold.limits.items():
        if limit is None:
            continue
        if _always_passes(metric, word, limit, len(queries)):
            yield LintWarning(
                threshold.origin,
                f"`{word}: {limit}` of {metric} is a gate that nothing fails. Write a limit, or off.",
            )
        elif word in ("min", "min_each") and metric.family in _BOUNDED:
            best = _best_possible(metric, queries, golden, each=word == "min_each")
            if best is not None and best < limit.value - TOLERANCE:
                yield LintWarning(
                    threshold.origin,
                    f"`{word}: {limit}` of {metric} cannot be met: with these judgments the best ranking there is scores "
                    f"{score_text(best, limit.value)}. Lower it, or choose a metric that allows for how many documents are "
                    "relevant (r_precision, ndcg).",
                )


def _always_passes(metric: Metric, word: str, limit: Limit, queries: int) -> bool:
    """Say whether no result of so many queries can fail a limit."""
    if word in ("min", "min_each"):
        return limit.value <= metric.lower
    if word == "max_drop":
        return limit.value >= (100 if limit.percent else metric.upper - metric.lower)
    return word == "max_lost" and limit.value >= queries


def _best_possible(
    metric: Metric, queries: Sequence[Query], golden: GoldenSet, *, each: bool
) -> float | None:
    """Return the mean, or with `each` the lowest score, of ideal rankings: the judged documents, best grade first."""
    counted = [query for query in queries if query.xfail is None and not query.no_answer]
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    judgments = [query.judgments for query in counted]
    (scores,) = scorer.columns(judgments, (tuple(sorted(j, key=lambda d, j=j: -j[d])) for j in judgments))  # type: ignore[misc]
    values = [
        (score, query.weight) for score, query in zip(scores, counted, strict=True) if score is not None
    ]
    if not values:
        return None
    return min(value for value, _ in values) if each else mean(*map(list, zip(*values, strict=True)))


# Queries --------------------------------------------------------------------------------------------------------


def _equal_queries(golden: GoldenSet) -> Iterator[LintWarning]:
    """Find queries whose texts are equal but for case, Unicode form, white space and punctuation.

    Queries with different params are never the same; with different tags only if their judgments differ.
    """
    found: dict[tuple[str, str], Query] = {}
    for query in golden.queries.values():
        text = " ".join(_normalised_words(query.text or ""))
        params = json.dumps(query.params, sort_keys=True, default=str)
        other = found.setdefault((text, params), query) if text else query
        if other is query:
            continue
        if other.judgments != query.judgments:
            advice = "They are judged otherwise: judge them alike, or keep one."
        elif other.tags == query.tags:
            advice = "It counts twice in the means. Keep one; or tag one of them, if that is on purpose."
        else:
            continue
        line = f" on line {other.line}" if other.line is not None else ""
        yield LintWarning(
            golden.where(query.id),
            f"{quote(query.text or '')} is {quote(other.text or '')}{line} but for case and punctuation. {advice}",
        )


def _normalised_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    stripped = (word.rstrip(_END).lstrip(_START) for word in text.casefold().split())
    return [word for word in stripped if word]
