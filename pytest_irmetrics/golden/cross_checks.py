"""Check what can only be checked once all queries of a golden set have been read."""

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


def check_texts(reader: QueryReader, problems: NodeProblems) -> None:
    """Report queries without a text, unless no query has one."""
    if reader.textless and any(query.text is not None for query in reader.queries.values()):
        for node in reader.textless:
            problems.at(node, "This query has no `query`, and others do. Write the text to search for.")


def check_level(golden: GoldenSet, problems: NodeProblems) -> None:
    """Report queries whose relevant documents are all graded below the relevance level."""
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
    """Report slices by a tag that no query carries; `slices` maps each tag to its node."""
    if not slices:
        return
    tags = {tag for query in golden.queries.values() for tag in query.tags}
    for tag, key in slices.items():
        if tag not in tags:
            close = get_close_matches(tag, tags, n=1) if len(tag) <= 60 and len(tags) <= 200 else []
            advice = f"Did you mean {quote(close[0])}?" if close else "Tag some, or remove the slice."
            problems.at(key, f"No query carries the tag {quote(tag)}. {advice}")


def check_thresholds(
    thresholds: Sequence[tuple[Node, Threshold]], golden: GoldenSet, problems: NodeProblems
) -> None:
    """Report thresholds on metrics that are computed for none of their queries.

    Each threshold comes with the node of its metric. `no_answer` is computed for `no_answer` queries alone, the
    latency for all, and any other metric for the queries that have an answer.
    """
    if not thresholds or not golden.queries:
        return
    # By whether queries are `no_answer` ones: the tags they carry, and None for the whole set.
    tags_of: dict[bool, set[str | None]] = {False: set(), True: set()}
    for query in golden.queries.values():
        tags_of[query.no_answer].add(None)
        tags_of[query.no_answer].update(query.tags)
    for key, threshold in thresholds:
        metric, tag = threshold.metric, threshold.tag
        for_no_answer = metric.kind == "no_answer"
        if metric.kind == "latency" or tag in tags_of[for_no_answer] or tag not in tags_of[not for_no_answer]:
            continue
        whose = "" if tag is None else f" with the tag {quote(tag)}"
        if for_no_answer:
            message = f"No query{whose} is a `no_answer` one, so this gates nothing. Remove it, or add one."
        else:
            message = f"Every query{whose} is a `no_answer` one, so {metric} gates nothing. Use `no_answer`."
        problems.at(key, message)
