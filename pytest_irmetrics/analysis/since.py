"""Compare a test's run and baseline with those of another commit: which falls a branch accepts, and what each edit did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_queries import is_answer_to
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.regression import Regression
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import mean
from pytest_irmetrics.reports.since_report import (
    EditSince,
    MeanPart,
    MeanSince,
    QueryMove,
    QuerySince,
    SinceReport,
)
from pytest_irmetrics.thresholds import Gate, holds_less

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import MetricChange
    from pytest_irmetrics.metrics import Grade, Metric
    from pytest_irmetrics.run import Run
    from pytest_irmetrics.thresholds import Gates, Limit, Threshold

_MAX_PAYING = 20
"""How many of the queries that pay a report names."""


@dataclass(frozen=True, slots=True)
class Then:
    """A test's baseline, golden set and gates at another commit."""

    ref: str
    commit: str
    file: str
    """The baseline's path in the repository today."""
    renamed_from: str | None
    run: Run
    golden: GoldenSet
    """The golden set of then, or what the baseline was judged with where that is not known."""
    gates: Gates
    """Those of then, as far as they are known."""
    source_edits: Sequence[EditSince] = ()
    """Edits of marks and settings."""
    max_drop: Limit | None = None
    """The ``max_drop`` of then where one was edited in a mark or setting; None where none was."""
    why: str = ""
    """What of then could not be read."""


def what_is_accepted(
    now: Evaluation,
    stored: Evaluation | None,
    gates: Gates,
    then: Then,
    failed: Collection[tuple[Metric | None, str | None]],
) -> SinceReport:
    """Return which falls of one test a branch accepts, with what it edited.

    `now` is today's run and `stored` today's stored baseline, both under today's golden set; None where today's run is being
    stored. `failed` are the metrics and tags whose fall from today's baseline fails already.
    """
    return _Since(now, stored, gates, then).report(failed)


class _Since:
    """The comparison of one test with what it was at another commit."""

    def __init__(self, now: Evaluation, stored: Evaluation | None, gates: Gates, then: Then) -> None:
        self._gates, self._then, self._golden = gates, then, now.golden
        slices = dict.fromkeys((*gates.slices, *then.gates.slices))
        self._slices = [(metric, tag) for metric, tag in slices if metric.kind != "latency"]
        self._metrics = tuple(dict.fromkeys(metric for metric, _ in self._slices))
        self._custom = now.custom
        self._retrieved = replace(now.retrieved, errors={}, latencies={}, stopped="")
        self._depth_then = now.depth if then.run.depth is None else then.run.depth
        self._depth = min((d for d in (now.depth, self._depth_then) if d is not None), default=None)
        self._now = self._scored(now.golden, now.run, now.depth)
        self._sort_queries()
        before = self._scored(now.golden, then.run, self._depth_then)
        self._today = Comparison(self._now, before)
        """Today's run against that of then, under today's judgments."""
        self._as_then = self._compare_as_then()
        """The same under the judgments, weights, tags and exclusions of then; None where they are today's."""
        self._stored: Comparison | None = None
        """Today's baseline against that of then, under today's judgments; None where it has the rankings of today's run."""
        if stored is not None and any(
            stored.run[i] != now.run[i] for i in self._kept if i in stored.run and i in now.run
        ):
            both = [i for i in self._kept if i in stored.run]
            held = self._scored(now.golden, stored.run, stored.depth).narrowed(only=both)
            self._stored = Comparison(held, before)
        self._steps = list(self._score_steps())

    def _scored(self, golden: GoldenSet, run: Run, depth: int | None) -> Evaluation:
        return Evaluation(golden, replace(self._retrieved, run=run), self._metrics, depth, self._custom)

    def _sort_queries(self) -> None:
        """Sort the queries of then and of today by what happened to them."""
        answers, today = self._then.run.answers, self._golden.queries
        then = {
            i: q for i, q in self._then.golden.queries.items() if i in answers and is_answer_to(answers[i], q)
        }
        self._asked_then: Mapping[str, Query] = then
        """The queries of then that its baseline answers."""
        self._dropped = [i for i in then if i not in today]
        self._kept = [i for i in then if i in today and _same_words(then[i], today[i])]
        """The queries that both have in the same words."""
        self._reworded = [i for i in then if i in today and not _same_words(then[i], today[i])]
        self._excluded = [i for i in self._kept if then[i].xfail is None and today[i].xfail is not None]
        self._included = [i for i in self._kept if then[i].xfail is not None and today[i].xfail is None]
        self._added = [i for i in today if i not in then and today[i].xfail is None]

    def _compare_as_then(self) -> Comparison | None:
        then, today = self._asked_then, self._golden.queries
        same_level = self._then.golden.relevance_level == self._golden.relevance_level
        if same_level and all(_same_labels(then[i], today[i]) for i in self._kept):
            return None
        queries = [then[i] for i in self._kept]
        golden = GoldenSet(queries, name=self._golden.name, relevance_level=self._then.golden.relevance_level)
        before = self._scored(golden, self._then.run, self._depth_then)
        return Comparison(self._scored(golden, self._now.run, self._now.depth), before)

    def report(self, failed: Collection[tuple[Metric | None, str | None]]) -> SinceReport:
        """Return what is accepted; `failed` are the metrics and tags whose fall from today's baseline fails already."""
        means = [
            self._mean(metric, tag, already_fails=(metric, tag) in failed) for metric, tag in self._slices
        ]
        edits = [*self._edits(), *self._then.source_edits]
        queries = list(self._queries())
        moved = any(abs(part.delta) > TOLERANCE for one in means for part in one.parts)
        changed = (
            moved or edits or queries or self._then.renamed_from or any(one.worse_count for one in means)
        )
        return SinceReport(
            ref=self._then.ref,
            commit=self._then.commit,
            state="accepted" if any(one.accepted for one in means) else "changed" if changed else "unchanged",
            file=self._then.file,
            renamed_from=self._then.renamed_from,
            why=self._then.why,
            means=means,
            queries=queries,
            edits=edits,
        )

    # Means.

    def _mean(self, metric: Metric, tag: str | None, *, already_fails: bool) -> MeanSince:
        today = self._today.change(metric, tag)
        as_then = None if self._as_then is None else self._as_then.change(metric, tag)
        gate = self._max_drop(metric, tag)
        accepted = _Accepted() if gate is None else self._accepted(gate, already_fails=already_fails)
        # An edit of judgments can hide who pays.
        paying = today if as_then is None or today.worse else as_then
        stored = None if self._stored is None else self._stored.change(metric, tag).now
        return MeanSince(
            metric=metric.name,
            tag=tag,
            then=self._steps[0].evaluation.mean_or_none(metric, tag),
            now=self._now.mean_or_none(metric, tag),
            parts=self._parts(metric, tag),
            n=today.n,
            before=today.baseline,
            after=today.now,
            delta=today.delta,
            allowed=None if gate is None else gate.limit.absolute(today.baseline),
            accepted=accepted.why,
            fell=accepted.fell,
            fell_by=accepted.by,
            as_then=None if as_then is None else _both_means(as_then, today),
            stored=stored,
            worse=[QueryMove(i, paying.before[i], paying.after[i]) for i in paying.worse[:_MAX_PAYING]],
            worse_count=len(paying.worse),
            with_left=self._with_left(metric, tag),
            without_added=self._without(self._added, metric, tag),
        )

    def _max_drop(self, metric: Metric, tag: str | None) -> Gate | None:
        """Return the stricter of the limits on a fall that hold today and held then."""
        found = [gates.of(metric, tag).get("max_drop") for gates in (self._gates, self._then.gates)]
        before = self._today.change(metric, tag).baseline
        known = [gate for gate in found if gate is not None]
        if self._then.max_drop is not None and tag is None and metric.kind in ("ranking", "custom"):
            known.append(Gate(metric, tag, "max_drop", self._then.max_drop))
        return min(known, key=lambda gate: gate.limit.absolute(before), default=None)

    def _accepted(self, gate: Gate, *, already_fails: bool) -> _Accepted:
        """Return the fall that exceeds a limit and passes, and why; an empty one where there is none, or where it fails."""
        shown: list[tuple[str, Comparison | None]] = [("stored", self._stored)]
        if not already_fails:
            shown = [("today", self._today), ("then", self._as_then), *shown]
        for by, comparison in shown:
            if comparison is None:
                continue
            regression = Regression.measure(gate, comparison, None)
            if regression.failed:
                change = regression.change
                why = "limits" if self._is_stored_as_then else "baseline"
                return _Accepted(why, by, (change.baseline or 0.0, change.now or 0.0))
        return _Accepted()

    @cached_property
    def _is_stored_as_then(self) -> bool:
        """Whether the baseline of then has other rankings than today's run, and today's baseline has those of then."""
        if self._stored is None:
            return False
        held, before = self._stored.now.run.answers, self._then.run.answers
        return all(held[i].rankings == before[i].rankings for i in self._stored.paired)

    def _parts(self, metric: Metric, tag: str | None) -> list[MeanPart]:
        """Return how far each edit, and the retriever, moved a mean; nothing where a mean on the way had no query."""
        parts: dict[str, float] = {}
        last = None
        for step in self._steps:
            value = step.evaluation.mean_or_none(metric, tag)
            if value is None:
                return []
            if last is not None:
                parts[step.part] = parts.get(step.part, 0.0) + value - last
            last = value
        return [MeanPart(part, delta) for part, delta in parts.items() if abs(delta) > TOLERANCE]

    def _score_steps(self) -> Iterator[_Step]:
        """Yield the way from the mean of then to today's, one edit after the other; each step is one more edit."""
        then_run, now_run, depth = self._then.run, self._now.run, self._depth
        then, today = self._asked_then, self._golden.queries
        level_then, level = self._then.golden.relevance_level, self._golden.relevance_level
        queries = list(then.values())
        yield _Step("", self._scored(_golden(queries, level_then), then_run, self._depth_then))
        if depth != self._depth_then:
            yield _Step("depth", self._scored(_golden(queries, level_then), then_run, depth))
        for part, ids in (("dropped", self._dropped), ("reworded", self._reworded)):
            if ids:
                queries = [query for query in queries if query.id not in ids]
                yield _Step(part, self._scored(_golden(queries, level_then), then_run, depth))
        for part, edited in _LABELS:
            if any(edited(query, today[query.id]) != query for query in queries):
                queries = [edited(query, today[query.id]) for query in queries]
                yield _Step(part, self._scored(_golden(queries, level_then), then_run, depth))
        if level != level_then:
            yield _Step("relevance level", self._scored(_golden(queries, level), then_run, depth))
        kept = [today[i] for i in self._kept]
        yield _Step("retriever", self._scored(_golden(kept, level), now_run, depth))
        if self._reworded:
            kept += [today[i] for i in self._reworded]
            yield _Step("reworded", self._scored(_golden(kept, level), now_run, depth))
        yield _Step("added", self._scored(self._golden, now_run, depth))
        if depth != self._now.depth:
            yield _Step("depth", self._now)

    def _with_left(self, metric: Metric, tag: str | None) -> float | None:
        """Return today's mean with the queries that left it, at the scores that they had; of excluded ones at today's."""
        then = self._steps[0].evaluation
        former = [i for i in (*self._dropped, *self._reworded) if self._asked_then[i].xfail is None]
        left = [(self._asked_then[i], then.score(metric, i)) for i in former]
        left += [(self._golden.queries[i], self._now.score(metric, i)) for i in self._excluded]
        tagged = [
            (query, score)
            for query, score in left
            if score is not None and (tag is None or tag in query.tags)
        ]
        if not tagged:
            return None
        staying = [pair for pair in self._now.scored(metric, tag) if pair[0].id not in self._reworded]
        return _mean_of([*staying, *tagged])

    def _without(self, ids: Collection[str], metric: Metric, tag: str | None) -> float | None:
        """Return today's mean without some of its queries; None where it has none of them, or no other."""
        scored = self._now.scored(metric, tag)
        others = [(query, score) for query, score in scored if query.id not in ids]
        if not others or len(others) == len(scored):
            return None
        return _mean_of(others)

    # Queries and edits.

    def _queries(self) -> Iterator[QuerySince]:
        """Yield the queries that are in a mean on one side only, with their scores."""
        then = self._steps[0].evaluation
        sorted_by = (
            ("dropped", self._dropped),
            ("excluded", self._excluded),
            ("reworded", self._reworded),
            ("included", self._included),
            ("added", self._added),
        )
        for how, ids in sorted_by:
            for query_id in ids:
                was, is_now = self._asked_then.get(query_id), self._golden.queries.get(query_id)
                yield QuerySince(
                    query_id,
                    (was or is_now or _NO_QUERY).text,
                    how,
                    {} if was is None else {m.name: then.score(m, query_id) for m in self._metrics},
                    {} if is_now is None else {m.name: self._now.score(m, query_id) for m in self._metrics},
                )

    def _edits(self) -> Iterator[EditSince]:
        then, today = self._then, self._golden
        for query_id in self._kept:
            yield from _edits_of(self._asked_then[query_id], today.queries[query_id])
        if then.golden.relevance_level != today.relevance_level:
            yield EditSince(
                "relevance level", "", f"{then.golden.relevance_level:g}", f"{today.relevance_level:g}"
            )
        if self._depth_then != self._now.depth:
            yield EditSince("depth", "", _text(self._depth_then), _text(self._now.depth))
        yield from _threshold_edits(then.golden.thresholds, today.thresholds, "")
        for query_id in self._kept:
            was, is_now = self._asked_then[query_id], today.queries[query_id]
            yield from _threshold_edits(was.thresholds, is_now.thresholds, f"{query_id}: ")


class _Accepted(NamedTuple):
    """A fall that exceeds its limit and passes; see ``MeanSince``."""

    why: str = ""
    by: str = ""
    fell: tuple[float, float] | None = None


class _Step(NamedTuple):
    """One more edit on the way from the golden set and run of then to today's."""

    part: str
    evaluation: Evaluation


_NO_QUERY = Query("", None, {})


def _mean_of(scored: Sequence[tuple[Query, float]]) -> float:
    return mean([score for _, score in scored], [query.weight for query, _ in scored])


def _with_exclusions(query: Query, today: Query) -> Query:
    return replace(query, xfail=today.xfail) if query.xfail is None else query


def _with_inclusions(query: Query, today: Query) -> Query:
    return replace(query, xfail=today.xfail)


def _with_judgments(query: Query, today: Query) -> Query:
    return replace(query, judgments=today.judgments, passages=today.passages, no_answer=today.no_answer)


_LABELS: Sequence[tuple[str, Callable[[Query, Query], Query]]] = (
    ("excluded", _with_exclusions),
    ("included", _with_inclusions),
    ("judgments", _with_judgments),
    ("weights", lambda query, today: replace(query, weight=today.weight)),
    ("tags", lambda query, today: replace(query, tags=today.tags)),
)
"""The parts of a golden set that a mean depends on, each with the function that takes it over from today's query."""


def _golden(queries: Iterable[Query], level: Grade) -> GoldenSet:
    return GoldenSet(queries, relevance_level=level)


def _differ(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or abs(one - other) > TOLERANCE)


def _both_means(as_then: MetricChange, today: MetricChange) -> tuple[float, float] | None:
    """Return the two means under the labels of then, where they are not those under today's."""
    before, now = as_then.baseline, as_then.now
    if before is None or now is None or not (_differ(before, today.baseline) or _differ(now, today.now)):
        return None
    return before, now


def _same_words(then: Query, today: Query) -> bool:
    same_passages = {passage.key for passage in then.passages} == {passage.key for passage in today.passages}
    return then.text == today.text and dict(then.params) == dict(today.params) and same_passages


def _same_labels(then: Query, today: Query) -> bool:
    return (
        then.judgments == today.judgments
        and then.weight == today.weight
        and {*then.tags} == {*today.tags}
        and (then.xfail is None) == (today.xfail is None)
        and then.no_answer == today.no_answer
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _grade(grade: Grade | None) -> str | None:
    return None if grade is None else f"{grade:g}"


def _edits_of(then: Query, today: Query) -> Iterator[EditSince]:
    """Yield the edits of one query that is asked in the same words."""
    if then.judgments != today.judgments:
        for doc_id in sorted({*then.judgments, *today.judgments}):
            before, now = then.judgments.get(doc_id), today.judgments.get(doc_id)
            if before != now:
                yield EditSince("judgment", f"{then.id}: {doc_id}", _grade(before), _grade(now))
    if then.no_answer != today.no_answer:
        yield EditSince("no_answer", then.id, str(then.no_answer).lower(), str(today.no_answer).lower())
    if then.weight != today.weight:
        yield EditSince("weight", then.id, f"{then.weight:g}", f"{today.weight:g}")
    if {*then.tags} != {*today.tags}:
        yield EditSince("tags", then.id, ", ".join(then.tags) or None, ", ".join(today.tags) or None)
    for doc_id in then.forbidden:
        if doc_id not in today.forbidden:
            yield EditSince("forbidden", f"{then.id}: {doc_id}", "forbidden", None, weaker=True)
    for doc_id in today.forbidden:
        if doc_id not in then.forbidden:
            yield EditSince("forbidden", f"{then.id}: {doc_id}", None, "forbidden")


def _threshold_edits(
    then: Iterable[Threshold], today: Iterable[Threshold], whose: str
) -> Iterator[EditSince]:
    """Yield the limits that were set, removed or moved."""
    before, now = _limits(then), _limits(today)
    for key in dict.fromkeys((*before, *now)):
        was, is_now = before.get(key), now.get(key)
        if was != is_now:
            weaker = was is not None and (is_now is None or holds_less(key[2], was, is_now))
            slice_of = "" if key[1] is None else f" [{key[1]}]"
            yield EditSince(
                "threshold", f"{whose}{key[0]}{slice_of} {key[2]}", _text(was), _text(is_now), weaker
            )


def _limits(thresholds: Iterable[Threshold]) -> dict[tuple[str, str | None, str], Limit]:
    return {
        (one.metric.name, one.tag, word): limit
        for one in thresholds
        for word, limit in one.limits.items()
        if limit is not None
    }
