"""Read the thresholds that a golden set's file has for the set, a slice or a query, from the nodes of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import format_place
from pytest_irmetrics.golden.nodes import (
    MappingStartEvent,
    ScalarEvent,
    is_mapping,
    kind_of,
    place_of,
    shown_node,
)
from pytest_irmetrics.golden.values import pairs_of
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.thresholds import (
    Limit,
    Threshold,
    ThresholdError,
    check_word,
    read_limit,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pytest_irmetrics.golden.nodes import Node, NodeProblems
    from pytest_irmetrics.metrics import Metric


class ThresholdReader:
    """Reads thresholds; `custom_metrics` are the names of the user's own metrics that they may use."""

    def __init__(self, problems: NodeProblems, custom_metrics: Collection[str]) -> None:
        self._problems = problems
        self._custom = custom_metrics
        self._metrics: dict[str, Metric] = {}

    def read_own(self, node: Node, *, no_answer: bool) -> tuple[Threshold, ...]:
        """Read the thresholds of one query; `no_answer` says whether the query is one without an answer."""
        thresholds = self.read(node, "thresholds", for_query=True)
        for key, threshold in thresholds:
            if no_answer and threshold.metric.kind != "no_answer":
                self._problems.at(
                    key, f"{threshold.metric} is not computed for a `no_answer` query. Use `no_answer`."
                )
            elif not no_answer and threshold.metric.kind == "no_answer":
                self._problems.at(
                    key, "This query has answers, and `no_answer` is about those that have none. Remove it."
                )
        return tuple(threshold for _, threshold in thresholds)

    def read(
        self, node: Node, where: str, *, tag: str | None = None, for_query: bool = False
    ) -> list[tuple[Node, Threshold]]:
        """Read a mapping of metrics to limits under the key `where`; each threshold comes with the node of its metric.

        `tag` is that of the slice that they apply to, None for the whole set.
        """
        if not is_mapping(node):
            self._problems.at(
                node,
                f"`{where}` is {shown_node(node)}. Write metrics and limits, such as {{ndcg@10: 0.7}}.",
            )
            return []
        thresholds: list[tuple[Node, Threshold]] = []
        first: dict[str, Node] = {}
        for key, value in pairs_of(node, self._problems):
            if key.value.startswith("x-"):
                continue
            metric = self._read_metric(key)
            if metric is None:
                continue
            if metric.name in first:
                line, _ = place_of(first[metric.name])
                written = quote(first[metric.name].value)
                self._problems.at(key, f"{metric} is already on line {line}, as {written}. Keep one.")
                continue
            first[metric.name] = key
            limits = self._read_limits(metric, value, for_query=for_query)
            if limits:
                line, column = place_of(key)
                thresholds.append(
                    (key, Threshold(metric, limits, tag, format_place(self._problems.shown, line, column)))
                )
        return thresholds

    def _read_metric(self, key: Node) -> Metric | None:
        """Read the name of a metric; one that is unknown is reported, and None returned."""
        text = key.value
        metric = self._metrics.get(text)
        if metric is not None:
            return metric
        if len(text) > 200:
            self._problems.at(key, f"{quote(text)} names no metric. Write for example ndcg@10.")
            return None
        try:
            metric = self._metrics[text] = parse_metric(text, custom=self._custom)
        except MetricError as error:
            message = str(error)
            self._problems.at(key, message[:1].upper() + message[1:])
        return metric

    def _read_limits(self, metric: Metric, node: Node, *, for_query: bool) -> dict[str, Limit | None]:
        """Read the limits on one metric by word; a number alone is a `min`."""
        words: Iterable[tuple[Node, str, Node]]
        if node.__class__ is ScalarEvent:
            words = [(node, "min", node)]
        elif node[0].__class__ is MappingStartEvent:
            words = [
                (key, key.value, value)
                for key, value in pairs_of(node, self._problems)
                if not key.value.startswith("x-")
            ]
            if len(node) == 1:  # the start of a mapping that is empty
                self._problems.at(
                    node, f"The threshold on {metric} has no limit. Write one, such as {{min: 0.7}}."
                )
        else:
            self._problems.at(
                node, f"The threshold on {metric} is a list. Write a number, or {{min: 0.7, max_drop: 0.01}}."
            )
            return {}
        limits: dict[str, Limit | None] = {}
        for key, word, value in words:
            try:
                check_word(word, for_query=for_query)
            except ThresholdError as error:
                hint = " For the queries with a tag, use `slices`." if word == "tag" else ""
                self._problems.at(key, f"{error}{hint}")
                continue
            if value.__class__ is not ScalarEvent:
                self._problems.at(value, f"`{word}` of {metric} is {kind_of(value)}. Write a number, or off.")
                continue
            try:
                limits[word] = read_limit(metric, word, value.value)
            except ThresholdError as error:
                self._problems.at(value, str(error))
        return limits
