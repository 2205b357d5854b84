"""Tell ids of another kind from bad quality: a run of which not one id occurs in the golden set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.evaluation.evaluation import Evaluation

_MOST_COMPARED = 1000
"""How many returned ids are compared with the expected ones."""

_LONGEST_COMMON = 200
"""How long what all ids have in common may be."""


class UnknownIdsWarning(UserWarning):
    """Not one returned id occurs in the golden set, so that every score is 0 whatever the quality."""


class UnknownIds(NamedTuple):
    """The ids of a run that has not one of those in the golden set."""

    returned: Sequence[str]
    expected: Sequence[str]

    @property
    def problem(self) -> str:
        """What is wrong, in a sentence."""
        return (
            f"None of the {plural(len(self.returned), 'returned id')} occurs in the golden set; "
            "this is about ids, not about quality."
        )

    @property
    def examples(self) -> tuple[str, ...]:
        """Some ids of both, in a sentence each, and a pair of them that differs by what all ids have or by case alone."""
        alike = _pair_alike(self.returned, self.expected)
        said = [] if alike is None else [f"{alike[0][:60]!r} looks like {alike[1][:60]!r}."]
        return f"Returned: {_some_ids(self.returned)}.", f"Expected: {_some_ids(self.expected)}.", *said


def _some_ids(ids: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(doc_id[:60]) for doc_id in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


def _pair_alike(returned: Sequence[str], expected: Sequence[str]) -> tuple[str, str] | None:
    """Return a returned id and the expected one that it is, but for case and what all returned ids begin and end with."""
    wanted = {doc_id.casefold(): doc_id for doc_id in reversed(expected)}
    folded = {doc_id.casefold(): doc_id for doc_id in returned[:_MOST_COMPARED]}
    start = _common_start(list(folded))
    end = _common_start([doc_id[::-1] for doc_id in folded])
    if len(folded) < 2 or max(len(start), len(end)) > _LONGEST_COMMON:
        start = end = ""
    # What is left of an id ends where a word or a number does: 1 is not the a11 of a11 and a12.
    starts = [at for at in range(len(start) + 1) if at == 0 or _ends_a_word(folded, at)]
    ends = [at for at in range(len(end) + 1) if at == 0 or _ends_a_word(folded, -at)]
    for first in starts:
        for last in ends:
            for doc_id, shown in folded.items():
                rest = doc_id[first : len(doc_id) - last]
                if rest in wanted:
                    return shown, wanted[rest]
    return None


def _common_start(ids: Sequence[str]) -> str:
    lowest, highest = min(ids), max(ids)
    length = 0
    while length < len(lowest) and lowest[length] == highest[length]:
        length += 1
    return lowest[:length]


def _ends_a_word(ids: Iterable[str], at: int) -> bool:
    return not any(
        (one.isalpha() and other.isalpha()) or (one.isdigit() and other.isdigit())
        for doc_id in ids
        for one, other in [(doc_id[at - 1 : at], doc_id[at : at + 1 or None])]
    )


def find_unknown_ids(evaluation: Evaluation) -> UnknownIds | None:
    """Return the ids of a run and of its golden set where the two have none in common; None where they have, or one has none."""
    counted = evaluation.counted
    if any(
        not query.judgments.keys().isdisjoint(ranking)
        for query in counted
        for ranking in evaluation.rankings(query.id)
    ):
        return None  # as nearly always, at the first query
    asked = [(query, evaluation.rankings(query.id)) for query in counted]
    known = {doc_id for query, _ in asked for doc_id in (*query.documents, *query.forbidden)}
    returned = dict.fromkeys(
        document_of(entry) for _, rankings in asked for ranking in rankings for entry in ranking
    )
    if not known or not returned or not known.isdisjoint(returned):
        return None
    return UnknownIds(list(returned), sorted(known))


def warn_of_unknown_ids(evaluation: Evaluation, advice: str, stacklevel: int) -> None:
    """Warn the caller, so many frames up, where not one returned id occurs in the golden set."""
    unknown = None if evaluation.errors else find_unknown_ids(evaluation)
    if unknown is not None:
        text = " ".join([unknown.problem, *unknown.examples, advice])
        warnings.warn(text, UnknownIdsWarning, stacklevel=stacklevel + 1)
