"""Find what is doubtful in a valid golden set: ids that look alike, ineffective thresholds, duplicate queries, ids in queries."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.doubtful_texts import find_doubtful_texts
from pytest_irmetrics.metrics import Scorer, mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Limit, Threshold


_MAX_OF_A_KIND = 10
"""How many warnings of one kind are listed; of any others only the number is given."""

_MAX_CANDIDATES = 30
"""How many queries that share half of their text are compared letter by letter; more come from a template."""
_MIN_LENGTH = 10
"""The length from which on two texts that differ in one letter are likely one text and its misspelling."""

_END = ".,;:!?…。？！"
_START = "¿¡"
_IDENTIFIER = re.compile(r"(?=.{4})(?!\d{1,4}\Z)(?=.*[\d_./:#-]).*\w", re.DOTALL)

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
        _near_duplicates(golden),
        _ids_in_queries(golden),
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


def _near_duplicates(golden: GoldenSet) -> Iterator[LintWarning]:
    """Find queries whose texts are equal, or nearly so, in time linear in their number.

    Equal texts may differ in case, Unicode form, white space and punctuation. Texts whose words stand in another order, or
    that differ in one letter, are reported only where the queries share a relevant document. Queries with different params
    are never duplicates; with different tags only if their texts are equal and their judgments differ.
    """
    by_text: dict[Hashable, Query] = {}
    by_sorted_words: dict[Hashable, Query] = {}
    by_half: dict[Hashable, list[tuple[str, Query]]] = {}
    for query in golden.queries.values():
        words = _normalised_words(query.text or "")
        if not words:
            continue
        params = json.dumps(dict(query.params), sort_keys=True, default=str) if query.params else ""
        text = " ".join(words)
        other = by_text.setdefault((text, params), query)
        if other is not query:
            judged_differently = other.judgments != query.judgments
            if judged_differently or other.tags == query.tags:
                yield _duplicate(
                    golden,
                    other,
                    query,
                    "but for case and punctuation",
                    judged_differently=judged_differently,
                )
            continue
        other = by_sorted_words.setdefault((*sorted(words), params), query)
        if other is not query:
            if _share_answer(other, query):
                yield _duplicate(golden, other, query, "in another order")
            continue
        near = _find_misspelt(text, params, query, by_half)
        if near is not None:
            yield _duplicate(golden, near, query, "but for one letter")


def _normalised_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    stripped = (word.rstrip(_END).lstrip(_START) for word in text.casefold().split())
    return [word for word in stripped if word]


def _share_answer(one: Query, other: Query) -> bool:
    """Say whether two queries have the same tags and a relevant document in common."""
    if one.tags != other.tags:
        return False
    return any(grade > 0 and one.judgments.get(doc_id, 0) > 0 for doc_id, grade in other.judgments.items())


def _find_misspelt(
    text: str, params: str, query: Query, by_half: dict[Hashable, list[tuple[str, Query]]]
) -> Query | None:
    """Find an earlier query whose text differs in one letter.

    Two such texts have their first or their second half in common, so only texts that share a half are compared.
    """
    if len(text) < _MIN_LENGTH:
        return None
    keys = set()
    for half, rest in ((len(text) // 2,) * 2, ((len(text) - 1) // 2, (len(text) - 1) // 2 + 1)):
        keys |= {("begins", text[:half], params), ("ends", text[rest:], params)}
    found = None
    for key in keys:
        candidates = by_half.setdefault(key, [])
        if len(candidates) == _MAX_CANDIDATES:
            continue
        for known, other in candidates if found is None else ():
            if _share_answer(other, query) and _differ_in_one_letter(known, text):
                found = other
                break
        candidates.append((text, query))
    return found


def _differ_in_one_letter(one: str, other: str) -> bool:
    """Say whether two texts differ by one letter that was added, removed or replaced; digits and signs do not count."""
    if abs(len(one) - len(other)) > 1:
        return False
    short = min(len(one), len(other))
    begin = next((i for i in range(short) if one[i] != other[i]), short)
    end = next((i for i in range(short - begin) if one[-1 - i] != other[-1 - i]), short - begin)
    rest = one[begin : len(one) - end], other[begin : len(other) - end]
    return max(map(len, rest)) == 1 and all(sign.isalpha() for part in rest for sign in part)


def _duplicate(
    golden: GoldenSet, one: Query, other: Query, how: str, *, judged_differently: bool = False
) -> LintWarning:
    advice = (
        "They are judged otherwise: judge them alike, or keep one."
        if judged_differently
        else "It counts twice in the means. Keep one; or tag one of them, if that is on purpose."
    )
    line = f" on line {one.line}" if one.line is not None else ""
    return LintWarning(
        golden.where(other.id), f"{quote(other.text or '')} is {quote(one.text or '')}{line} {how}. {advice}"
    )


def _ids_in_queries(golden: GoldenSet) -> Iterator[LintWarning]:
    """Find queries whose text contains the id of a relevant document.

    Queries that consist of an id are look-ups on purpose and left out, as are ids that are plain words or short numbers.
    """
    for query in golden.queries.values():
        text = (query.text or "").casefold()
        for doc_id, grade in query.documents.items():
            folded = doc_id.casefold()
            if (
                grade > 0
                and folded in text
                and folded != text.strip()
                and _IDENTIFIER.fullmatch(doc_id)
                and re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text)
            ):
                yield LintWarning(
                    golden.where(query.id),
                    f"{quote(query.text or '')} contains the id of its answer, {quote(doc_id)}, so that it tests no more "
                    "than a look-up. Reword it, unless people do search for ids.",
                )
                break
