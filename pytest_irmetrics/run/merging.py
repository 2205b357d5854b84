"""Several runs as one, where they answer no query differently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import Header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.run.answer import Answer, Answers


class Part(NamedTuple):
    """The run of one test."""

    test: str
    answers: Answers
    header: Header


class ConflictError(IRMetricsError):
    """Runs that cannot be one; says which two tests differ in what."""


def merge(parts: Sequence[Part]) -> tuple[Answers, Header]:
    """Return one run that answers what each of these does. Raises ConflictError.

    A query that several have is one query where its text, params and rankings are the same. What they say of it
    besides, and of themselves, is kept where they agree; judgments only where they agree on the relevance level,
    without which nobody can tell what a grade means.
    """
    first, *others = parts
    if not others:
        return first.answers, first.header
    answers, source = dict(first.answers), dict.fromkeys(first.answers, first.test)
    for part in others:
        if part.header.depth != first.header.depth:
            raise ConflictError(
                f"{quote(first.test, 200)} was asked for {first.header.depth} results a query, and "
                f"{quote(part.test, 200)} for {part.header.depth}"
            )
        for query_id, answer in part.answers.items():
            known = answers.get(query_id)
            if known is None:
                answers[query_id], source[query_id] = answer, part.test
                continue
            difference = _difference(known, answer)
            if difference:
                raise ConflictError(
                    f"the query {quote(query_id)} has {difference} in {quote(source[query_id], 200)} than in "
                    f"{quote(part.test, 200)}"
                )
            answers[query_id] = _joined(known, answer)
    headers = [part.header for part in parts]
    levels = {header.relevance_level for header in headers}
    if len(levels) > 1:
        answers = {query_id: replace(answer, judgments=None) for query_id, answer in answers.items()}
    golden_sets = {header.golden_set for header in headers}
    return answers, Header(
        depth=first.header.depth,
        golden_set=golden_sets.pop() if len(golden_sets) == 1 else None,
        relevance_level=levels.pop() if len(levels) == 1 else None,
    )


def _difference(one: Answer, other: Answer) -> str | None:
    for what in ("text", "params", "rankings"):
        if getattr(one, what) != getattr(other, what):
            return f"another {what}" if what == "text" else f"other {what}"
    return None if one.passages == other.passages else "other passages"


def _joined(one: Answer, other: Answer) -> Answer:
    """Return the answer to one question that was judged at two places."""
    if one == other:
        return one
    return replace(
        one,
        judgments=one.judgments if one.judgments == other.judgments else None,
        weight=one.weight if one.weight == other.weight else None,
        tags=tuple(tag for tag in one.tags if tag in other.tags),
    )
