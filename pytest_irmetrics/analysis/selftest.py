"""The self-test (``--ir-selftest``): degrade a stored run in realistic ways, see which fail a gate, advise on the others.

Nothing is random. Where queries or documents are chosen, a hash of the query's id decides, so that every machine, every Python
and every order of the queries gives the same rankings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import NamedTuple

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison import Comparison, compare_with_itself
from pytest_irmetrics.evaluation import Evaluation, EvaluationError
from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.verdict import Against, Case, Verdict, with_each_tag
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.metrics.names import read_metrics
from pytest_irmetrics.reports.item_report import Degradation, Note, mean_name
from pytest_irmetrics.run import Header, Run
from pytest_irmetrics.thresholds import AUTO, Gates

Change = Callable[[Query, Sequence[str]], Sequence[str]]


_SMALLEST_SLICE = 3
"""The fewest queries with a tag that are degraded as a slice."""

_SHARES = (1, 3, 10)
"""How many per cent of the queries are broken."""

_TRUNCATED = 3
"""To how many results rankings are cut."""

_ON_RANKINGS = f'No max_drop sees it ({{name}}): ir_threshold("{{metric}}", max_drop={AUTO.value}) would.'
_ON_BROKEN = (
    'A mean hides a few broken queries: ir_threshold("{metric}", max_lost=0) fails as soon as one falls to 0.'
)
_ON_SLICES = 'A mean hides what a slice loses ({name}): give each a threshold of its own, ir_threshold("{metric}", max_drop="10%", tag={tag}).'
_ON_NO_ANSWER = 'Answers where none is right: ir_threshold("no_answer", min=1.0), or no threshold on it.'


class _Degraded(NamedTuple):
    """A degradation: the rankings that it gives to the queries it touches, and what to do where no gate catches it."""

    name: str
    what: str
    queries: Sequence[Query]
    """Those that are degraded."""
    change: Change
    """What becomes of each of their rankings."""
    advice: str
    """Which gate would catch it, to be formatted with its `name`, its `tag` as a quoted text, and the `metric` that fell most."""
    must_fall: float = 0.0
    """How far a metric must fall for the advice to be true of it."""
    tag: str | None = None

    def evaluation(self, intact: Evaluation) -> Evaluation:
        """Return the evaluation of a run with the degraded rankings."""
        answers = dict(intact.run.answers)
        for query in self.queries:
            rankings = tuple([tuple(self.change(query, one)) for one in intact.rankings(query.id)])
            answers[query.id] = replace(answers[query.id], rankings=rankings)
        run = Run.of(answers, Header(intact.run.depth))
        return replace(intact, retrieved=intact.retrieved._replace(run=run))

    def metric_to_advise(self, deltas: Mapping[Metric, float], gates: Gates) -> Metric | None:
        """Return the metric to name in the advice, the one that fell furthest; None where the advice would be true of none."""
        likely = [one for one in deltas if one.kind not in ("custom", "overlap")]
        by_limit = [one for one in likely if "significance" not in gates.of(one, self.tag)]
        falls = {one: round(deltas[one], 9) for one in by_limit if deltas[one] < -self.must_fall - TOLERANCE}
        return min(falls, key=falls.__getitem__, default=None)


def run_selftest(baseline: Evaluation, gates: Gates, against: Against) -> ItemResult:
    """Degrade a stored run in every way that applies to it, and decide the gates each time.

    ``baseline`` is the stored run, evaluated under today's golden set, and ``against`` how messages on the intact run call
    it. Returns the result of the intact run, over the queries whose id, text and params are as they were stored; without
    the gates on latency, which a stored run does not have, and ``min_gain``, which no run has over itself. A gate that
    fails there catches nothing. Raises EvaluationError where a user's own metric raises on a degraded ranking.
    """
    itself = compare_with_itself(baseline)
    gates = with_each_tag(gates, baseline, itself)
    gates = gates.where(lambda gate: gate.metric.is_compared and gate.word != "min_gain")
    intact = itself.now
    verdicts = decide(Case(intact, gates, itself, against))
    failing = {verdict.key for verdict in verdicts if verdict.failed}
    reported = [metric for metric in intact.metrics if metric.is_compared]
    gated = [metric for metric, tag in gates.slices if tag is None and metric in reported]
    # Recall and NDCG show what is lost, whatever metrics are reported.
    cut = "" if itself.depth is None else f"@{itself.depth}"
    metrics = dict.fromkeys([*gated, *reported, *read_metrics([f"recall{cut}", f"ndcg{cut}"])])
    tried: list[Degradation] = []
    advice: dict[tuple[str, Metric], str] = {}
    """What to advise, once for each kind of degradation and metric."""
    for degraded in _degradations(intact):
        decided, moved = _judge(degraded, intact, gates, against, metrics)
        caught = [verdict for verdict in decided if verdict.failed and verdict.key not in failing]
        if not caught and min(moved.values(), default=0.0) >= -TOLERANCE:
            continue
        fell = [metric for metric in gated if moved.get(metric, 0.0) < -TOLERANCE]
        worst = min(fell or [one for one in moved if one in reported], key=moved.__getitem__, default=None)
        name, delta = (None, 0.0) if worst is None else (worst.name, moved[worst])
        caught_by = [*dict.fromkeys(map(_gate_name, caught))]
        tried.append(Degradation(degraded.name, degraded.what, caught_by, name, delta))
        advised = None if caught else degraded.metric_to_advise(moved, gates)
        if advised is not None:
            quoted = json.dumps(degraded.tag, ensure_ascii=False)
            text = degraded.advice.format(name=degraded.name, metric=advised, tag=quoted)
            advice.setdefault((degraded.advice, advised), text)
    notes = [Note("normal", text) for text in [*_notes(itself, against, failing), *advice.values()]]
    return ItemResult(intact, gates, verdicts, against=against, notes=notes, degradations=tried)


def _judge(
    degraded: _Degraded, intact: Evaluation, gates: Gates, against: Against, metrics: Iterable[Metric]
) -> tuple[Sequence[Verdict], dict[Metric, float]]:
    """Judge a degraded run against the intact one; return the verdicts, and how far the mean of each metric moved that has one."""
    try:
        comparison = Comparison(degraded.evaluation(intact), intact)
        # Without a file: whether that was edited is said of the intact run.
        verdicts = decide(Case(comparison.now_in_full, gates, comparison, against._replace(file="")))
        changes = map(comparison.change, metrics)
        return verdicts, {change.metric: change.delta for change in changes if change.n}
    except EvaluationError as error:
        raise EvaluationError(f"--ir-selftest, {degraded.name}: {error}") from error


def _notes(itself: Comparison, against: Against, failing: Collection[object]) -> Iterator[str]:
    """Say what the table does not show: which gates the stored run itself fails, that nothing was asked, and which queries are left out."""
    name = against.name
    if failing:
        yield f"{name[0].upper()}{name[1:]}, intact, fails its own gates; what fails here is not counted as catching anything."
    yield f"The retriever was not asked; the scores are those of {name} as it is stored."
    if unpaired := (*itself.new, *itself.reworded, *itself.passages_edited):
        left_out, lacks = plural(len(unpaired), "query"), f"because {name} does not have them in these words"
        yield f"{left_out} left out, {lacks}: {listed(unpaired)}."


def _gate_name(verdict: Verdict) -> str:
    """Name a gate as ``metric word [tag]``."""
    named = verdict.metric is not None and verdict.metric.name != verdict.word
    label = f"{verdict.metric} {verdict.word}" if named else verdict.word
    return f"{label} of single queries" if verdict.single else mean_name(label, verdict.tag)


def _degradations(intact: Evaluation) -> Iterator[_Degraded]:
    """Yield every degradation that applies to a run, those of all queries first."""
    answerable = [query for query in intact.counted if not query.no_answer]
    documents = dict.fromkeys(d for query in intact.counted for r in intact.rankings(query.id) for d in r)

    def without_best(query: Query, ranking: Sequence[str]) -> Sequence[str]:
        relevant = intact.golden.relevant(query)
        best = next((doc_id for doc_id in ranking if doc_id in relevant), None)
        return [doc_id for doc_id in ranking if doc_id != best]

    def with_unjudged(query: Query, ranking: Sequence[str]) -> Sequence[str]:
        return (_unjudged(documents, query, ranking), *ranking)[: intact.depth]

    of_all = partial(_Degraded, queries=answerable, advice=_ON_RANKINGS, must_fall=AUTO.value)
    what = "The first relevant document of every ranking is no longer returned."
    yield of_all("best hit of every query lost", what, change=without_best)
    what = "1 unjudged document of other queries is pushed in at the top of every ranking."
    yield of_all("rankings shifted by one", what, change=with_unjudged)
    what = f"Only the first {_TRUNCATED} results of every query come back."
    yield of_all(f"rankings truncated to {_TRUNCATED}", what, change=lambda _, ranking: ranking[:_TRUNCATED])
    found = {query.id: {*chain.from_iterable(intact.rankings(query.id))} for query in answerable}
    working = [query for query in answerable if not found[query.id].isdisjoint(intact.golden.relevant(query))]
    # Always in one order: the first few are part of the first many.
    working.sort(key=lambda query: hashlib.sha256(json.dumps(["broken", query.id]).encode()).digest())
    total = len(answerable)
    for size in dict.fromkeys(max(1, (total * share + 50) // 100) for share in _SHARES):
        if size <= len(working):
            name = f"broke {size} of {plural(total, 'query')}"
            what = f"{plural(size, 'query')} that worked, anywhere, {'comes' if size == 1 else 'come'} back empty."
            yield _Degraded(name, what, working[:size], _emptied, _ON_BROKEN)
    empty = [q for q in intact.counted if q.no_answer and not intact.has_results(q.id)]
    if empty:
        what = "Every query marked no_answer gets an unjudged document of another query."
        name = f"no_answer queries answered ({len(empty)})"
        yield _Degraded(name, what, empty, with_unjudged, _ON_NO_ANSWER)
    for tag in intact.tags:
        tagged = [query for query in answerable if tag in query.tags]
        if len(tagged) >= _SMALLEST_SLICE:
            what = f"Each of the {len(tagged)} queries tagged {tag} comes back empty."
            yield _Degraded(f"slice {tag} lost ({len(tagged)})", what, tagged, _emptied, _ON_SLICES, tag=tag)


def _emptied(_: Query, ranking: Sequence[str]) -> Sequence[str]:
    return ranking[:0]


def _unjudged(documents: Iterable[str], query: Query, ranking: Sequence[str]) -> str:
    """Return a document that a query neither returns nor judges nor forbids; a made-up id where there is none."""
    taken = {*query.judgments, *query.forbidden, *ranking}
    made_up = (f"unjudged-{number}" for number in count(1))
    return next(doc_id for doc_id in chain(documents, made_up) if doc_id not in taken)
