"""What shows only once every query of a set is known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.nodes import Node, NodeProblems
    from pytest_irmetrics.golden.queries import QueryReader
    from pytest_irmetrics.thresholds import Threshold

__all__ = ["check_gates", "check_level", "check_slices", "check_texts"]


def check_texts(read: QueryReader, problems: NodeProblems) -> None:
    """Report the queries without a text, where others have one."""
    if read.textless and any(query.text is not None for query in read.queries.values()):
        for node in read.textless:
            problems.at(node, "This query has no `query`, and others do. Write the text to search for.")


def check_level(golden: GoldenSet, problems: NodeProblems) -> None:
    """Report the queries in which no document reaches the relevance level."""
    level = golden.relevance_level
    for query in golden.queries.values():
        best = max(query.judgments.values(), default=0)
        if 0 < best < level and query.line is not None and query.column is not None:
            advice = f"Grade one {level} or higher, or lower `relevance_level`."
            message = (
                f"No document reaches the relevance level of {level}; the best grade is {best}. {advice}"
            )
            problems.report(query.line, query.column, message)


def check_slices(slices: Mapping[str, Node], golden: GoldenSet, problems: NodeProblems) -> None:
    """Report slices by a tag that no query carries; each comes with the node of its tag."""
    if not slices:
        return
    tags = {tag for query in golden.queries.values() for tag in query.tags}
    for tag, key in slices.items():
        if tag not in tags:
            close = get_close_matches(tag, tags, n=1) if len(tag) <= 60 and len(tags) <= 200 else []
            advice = f"Did you mean {quote(close[0])}?" if close else "Tag some, or remove the slice."
            problems.at(key, f"No query carries the tag {quote(tag)}. {advice}")


def check_gates(limited: Sequence[tuple[Node, Threshold]], golden: GoldenSet, problems: NodeProblems) -> None:
    """Report thresholds on metrics that are computed for none of their queries; each comes with its metric's key."""
    if not limited or not golden.queries:
        return
    # Tags, by whether a query has no answer; None stands for the whole set.
    with_metric: dict[bool, set[str | None]] = {False: set(), True: set()}
    for query in golden.queries.values():
        with_metric[query.no_answer].add(None)
        with_metric[query.no_answer].update(query.tags)
    for key, threshold in limited:
        metric, tag = threshold.metric, threshold.tag
        wanted = metric.kind == "no_answer"
        if metric.kind == "latency" or tag in with_metric[wanted] or tag not in with_metric[not wanted]:
            continue
        whose = "" if tag is None else f" with the tag {quote(tag)}"
        if wanted:
            message = f"No query{whose} is a `no_answer` one, so this gates nothing. Remove it, or add one."
        else:
            message = f"Every query{whose} is a `no_answer` one, so {metric} gates nothing. Use `no_answer`."
        problems.at(key, message)
