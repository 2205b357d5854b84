"""What a run holds, as plain data: an answer for each query, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade

Passages = Mapping[str, tuple[str, str]]

_NO_PASSAGES: Passages = {}
"""What nearly every answer has, and none may change."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one query, and what it was asked and judged with.

    `rankings` has one ranking, best first and without duplicates, for each time that the query was asked.
    `text`, `judgments` and `weight` are None where the run does not say: a TREC run holds rankings alone.
    `passages` maps those entries of the rankings that are passages to their document and text.
    """

    rankings: tuple[tuple[str, ...], ...]
    text: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    judgments: Mapping[str, Grade] | None = None
    weight: float | None = None
    tags: tuple[str, ...] = ()
    passages: Passages = field(default_factory=lambda: _NO_PASSAGES)


class _Draft:
    """An Answer while its slots can still be set: in a third of the time that the frozen class's constructor takes."""

    __slots__ = Answer.__slots__

    def __init__(
        self,
        rankings: tuple[tuple[str, ...], ...],
        text: str | None,
        params: Mapping[str, Any],
        judgments: Mapping[str, Grade] | None = None,
        weight: float | None = None,
        tags: tuple[str, ...] = (),
        passages: Passages = _NO_PASSAGES,
    ) -> None:
        self.rankings = rankings
        self.text = text
        self.params = params
        self.judgments = judgments
        self.weight = weight
        self.tags = tags
        self.passages = passages
        self.__class__ = Answer  # type: ignore[assignment]  # equal slots, so it is one from here on


make_answer = cast("Callable[..., Answer]", _Draft)
"""Make an Answer faster than its own constructor; all fields, in its order."""
Answers = Mapping[str, Answer]
"""By query id."""


def in_memory_once(ranking: tuple[str, ...], known: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Give a ranking by what is known of its query already: whole where it is the same, else its ids."""
    ids: dict[str, str] = {}
    for other in known:
        if other is ranking or other == ranking:
            return other
        ids.update(zip(other, other, strict=True))
    return tuple(map(ids.get, ranking, ranking)) if ids else ranking


class Header(NamedTuple):
    """What a run says of itself."""

    depth: int | None = None
    golden_set: str | None = None
    relevance_level: Grade | None = None
    means: Mapping[str, float] | None = None
