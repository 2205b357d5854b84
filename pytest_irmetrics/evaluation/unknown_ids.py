"""Detect a run of which not one id occurs in its golden set: the ids are of another kind, and its quality is unknown."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.evaluation.evaluation import Evaluation


_MAX_COMPARED = 500
"""How many returned ids are compared with how many expected ones."""


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
    """Return a returned id that is an expected one in another case, or has it between signs: ``faq/D1.html`` and ``d1``."""
    wanted = [(doc_id, doc_id.casefold()) for doc_id in expected[:_MAX_COMPARED]]
    for doc_id in returned[:_MAX_COMPARED]:
        text = doc_id.casefold()
        for other, part in wanted:
            if part in text and re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", text):
                return doc_id, other
    return None


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
