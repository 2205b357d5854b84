"""A stored run as text in which a line is one fact, so that a line diff of two of them reads well."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run import Answer, Run

_INDENT = " " * 4


def run_lines(run: Run, scores: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the lines of a run: its header, then each query with a result a line; `scores` maps metric → query id → score.

    Results have no rank in their line: one that comes in at the top would change all lines below it. The ranks of the
    judged ones are on a line of their own.
    """
    if run.golden_set is not None:
        yield f"golden set {run.golden_set}"
    if run.depth is not None:
        yield f"depth {run.depth}"
    if run.relevance_level is not None:
        yield f"relevance level {run.relevance_level:g}"
    for name, mean in run.means.items():
        yield f"mean {name} {score_text(mean)}"
    for query_id, answer in run.answers.items():
        yield ""
        of_query = {name: by_query[query_id] for name, by_query in scores.items() if query_id in by_query}
        yield from _query_lines(query_id, answer, of_query)


def _query_lines(query_id: str, answer: Answer, scores: Mapping[str, float]) -> Iterator[str]:
    yield f"query {query_id}"
    judgments = answer.judgments or {}
    facts = {
        "text": answer.text if answer.text != query_id else None,
        "params": json.dumps(dict(answer.params), ensure_ascii=False, sort_keys=True)
        if answer.params
        else None,
        "tags": ", ".join(answer.tags),
        "weight": f"{answer.weight:g}" if answer.weight not in (None, 1.0) else None,
        "xfail": "yes" if answer.xfail else None,
        "judged": ", ".join(_with_grade(doc_id, judgments) for doc_id in judgments),
        "scores": ", ".join(f"{name} {score_text(score)}" for name, score in scores.items()),
    }
    for name, value in facts.items():
        if value:
            yield f"  {name} {value}"
    for number, ranking in enumerate(answer.rankings, 1):
        which = f" of answer {number}" if len(answer.rankings) > 1 else ""
        ranks = [
            f"{_with_grade(doc_id, judgments)} at {rank}"
            for rank, doc_id in enumerate(ranking, 1)
            if doc_id in judgments
        ]
        yield f"  judged results{which}: {', '.join(ranks) or 'none'}"
        yield f"  results{which}:{'' if ranking else ' none'}"
        for doc_id in ranking:
            yield _INDENT + _with_grade(doc_id, judgments)


def _with_grade(doc_id: str, judgments: Mapping[str, Grade]) -> str:
    return f"{doc_id} ({judgments[doc_id]:g})" if doc_id in judgments else doc_id
