"""Detect a run of which not one id occurs in its golden set: the ids are of another kind, and its quality is unknown."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        """A sentence that says that no returned id occurs in the golden set."""
        return (
            f"None of the {plural(len(self.returned), 'returned id')} occurs in the golden set; "
            "this is about ids, not about quality."
        )

    @property
    def examples(self) -> tuple[str, ...]:
        """Sentences with some ids of either side, and one with two ids that look alike, if there are such."""
        alike = _pair_alike(self.returned, self.expected)
        said = [] if alike is None else [f"{alike[0][:60]!r} looks like {alike[1][:60]!r}."]
        return f"Returned: {_some_ids(self.returned)}.", f"Expected: {_some_ids(self.expected)}.", *said


def _some_ids(ids: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(doc_id[:60]) for doc_id in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


def _pair_alike(returned: Sequence[str], expected: Sequence[str]) -> tuple[str, str] | None:
    """Return a returned and an expected id that differ in case alone, or in what all returned ids begin or end with."""
    wanted = {doc_id.casefold(): doc_id for doc_id in reversed(expected)}
    folded = {doc_id.casefold(): doc_id for doc_id in returned[:_MOST_COMPARED]}
    start = _common_start(list(folded))
    end = _common_start([doc_id[::-1] for doc_id in folded])
    if len(folded) < 2 or max(len(start), len(end)) > _LONGEST_COMMON:
        start = end = ""
    # What is left of an id ends where a word or a number does: 1 is not the a11 of a11 and a12.
    starts = [n for n in range(len(start) + 1) if all(_is_word_boundary(i, n) for i in folded)]
    ends = [n for n in range(len(end) + 1) if all(_is_word_boundary(i, len(i) - n) for i in folded)]
    for before in starts:
        for after in ends:
            for doc_id, shown in folded.items():
                rest = doc_id[before : len(doc_id) - after]
                if rest in wanted:
                    return shown, wanted[rest]
    return None


def _common_start(texts: Sequence[str]) -> str:
    """Return what all of these texts begin with."""
    lowest, highest = min(texts), max(texts)
    length = 0
    while length < len(lowest) and lowest[length] == highest[length]:
        length += 1
    return lowest[:length]


def _is_word_boundary(text: str, offset: int) -> bool:
    """Say whether no word and no number goes on across an offset: in ``ab12`` that is so at 0, 2 and 4."""
    before, after = text[offset - 1 : offset], text[offset : offset + 1]
    in_word, in_number = before.isalpha() and after.isalpha(), before.isdigit() and after.isdigit()
    return not in_word and not in_number


def find_unknown_ids(evaluation: Evaluation) -> UnknownIds | None:
    """Return the ids of a run and of its golden set if they have none in common; None if they have, or if either has no ids."""
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
    """Warn where not one returned id occurs in the golden set; `stacklevel` as in `warnings.warn`, from the caller on."""
    unknown = None if evaluation.errors else find_unknown_ids(evaluation)
    if unknown is not None:
        text = " ".join([unknown.problem, *unknown.examples, advice])
        warnings.warn(text, UnknownIdsWarning, stacklevel=stacklevel + 1)
