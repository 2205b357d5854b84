"""Tell ids of another kind from bad quality: a run of which not one id occurs in the golden set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.evaluation.evaluation import Evaluation


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
    def examples(self) -> tuple[str, str]:
        """Some ids of both, in a sentence each."""
        return f"Returned: {_some_ids(self.returned)}.", f"Expected: {_some_ids(self.expected)}."


def _some_ids(ids: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(doc_id[:60]) for doc_id in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


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
