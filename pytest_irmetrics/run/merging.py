"""Join the runs of a report's tests into one, where they do not contradict each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import Header, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.run.answer import Answer, Answers

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class RunOfTest(NamedTuple):
    """The run of one test."""

    test: str
    answers: Answers
    header: Header


def merge(runs: Sequence[RunOfTest], shown: str) -> tuple[Answers, Header]:
    """Return one run that answers what each of these does; `shown` is how errors call the report's file.

    A query that several have is one query where its text, params and rankings are the same. What they say of it
    besides, and of themselves, is kept where they agree; judgments only where they agree on the relevance level,
    without which nobody can tell what a grade means. Raises RunError where two runs answer a query differently or
    were asked for other depths.
    """

    def refuse(conflict: str) -> NoReturn:
        raise RunError(
            f"{shown}:1: is a report of {len(runs)} runs that cannot be one: {conflict}. Say whose run is wanted: "
            "`Run.load(path, test=request.node.nodeid)` in a fixture of function scope, or a part of a test's id that "
            "only its run has; on the command line `--test`. Or write a report of one test: `pytest NODEID --ir-report=json:PATH`."
        )

    first, *others = runs
    if not others:
        return first.answers, first.header
    answers, source = dict(first.answers), dict.fromkeys(first.answers, first.test)
    for run in others:
        if run.header.depth != first.header.depth:
            refuse(
                f"{quote(first.test, 200)} was asked for {first.header.depth} results a query, and "
                f"{quote(run.test, 200)} for {run.header.depth}"
            )
        for query_id, answer in run.answers.items():
            known = answers.get(query_id)
            if known is None:
                answers[query_id], source[query_id] = answer, run.test
                continue
            difference = _difference(known, answer)
            if difference:
                refuse(
                    f"the query {quote(query_id)} has {difference} in {quote(source[query_id], 200)} than in "
                    f"{quote(run.test, 200)}"
                )
            answers[query_id] = _joined(known, answer)
    headers = [run.header for run in runs]
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
    """Return one answer of two that differ at most in the query's judgments, weight, tags and xfail mark."""
    if one == other:
        return one
    return replace(
        one,
        judgments=one.judgments if one.judgments == other.judgments else None,
        weight=one.weight if one.weight == other.weight else None,
        tags=tuple(tag for tag in one.tags if tag in other.tags),
        xfail=one.xfail and other.xfail,
    )
