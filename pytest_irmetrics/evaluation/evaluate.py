"""Evaluate a retriever, or a stored run, over a golden set; detect that not one returned id occurs in it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.evaluation.evaluation import CustomMetrics, Evaluation, EvaluationError, shallower
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.query import documents_of, known_ids
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.metrics.names import read_metrics
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, retrieve
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from concurrent.futures import Executor  # which most runs do not load

DEFAULT_METRICS = ("mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10")
"""The metrics that are reported unless others are given; a test holds the help of the setting ir_metrics to them."""

DEFAULT_DEPTH = 10
"""How many results a retriever is asked for unless a depth is given; the default of ir_depth and docs/metrics.md repeat it."""

_MAX_COMPARED = 500
"""How many returned ids are compared with how many expected ones."""

RETURN_IDS_BY = "Return the ids as the golden set writes them; {} can turn a result into its id."
"""What to do where no returned id occurs in the golden set; to be filled in is what the caller has for it."""

_NO_CUSTOM: CustomMetrics = MappingProxyType({})


def evaluate(
    golden: GoldenSet,
    source: Any,
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    depth: int | None = None,
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    repeat: int = 1,
    executor: Executor | None = None,
    custom_metrics: CustomMetrics = _NO_CUSTOM,
) -> Evaluation:
    """Score a retriever, which is asked every query of a golden set, or a Run.

    ``metrics`` are names such as ``ndcg@10``. ``depth`` (1 or more) is how many results a retriever is asked for: unless
    given, as many as the deepest cut-off needs, and at least ten; a Run is read as deep as it is, or to ``depth``.
    ``custom_metrics`` are functions by name.

    The other keywords say how a retriever is asked, as the plugin's settings do; a Run is asked nothing. ``duplicates``
    is ``error`` or ``collapse``, ``doc_id`` turns a returned item into its id, ``timeout`` is in seconds a query (above
    0), ``concurrency`` in queries at once (1 or more), each query is asked ``repeat`` times (1 or more), and an
    ``executor`` of ``concurrent.futures`` calls a sync retriever in its threads or processes.

    Raises MetricError for an unknown metric, EvaluationError for a cut-off that the depth does not reach, and ValueError
    for a keyword out of its range; what goes wrong in single queries is in the evaluation's ``errors``. Warns with
    UnknownIdsWarning where not one returned id occurs in the golden set, which scores 0; a test's ``check`` fails there.
    """
    if not hasattr(golden, "queries"):
        text = f"{quote(str(golden))} is no golden set. Give what GoldenSet.load reads, or GoldenSet.from_judgments makes."
        raise EvaluationError(text)
    if isinstance(metrics, str | Metric):
        raise EvaluationError(f"`metrics` is '{metrics}' alone. Give a list: ['{metrics}'].")
    read = read_metrics(metrics, custom_metrics)
    for metric in read:
        if metric.kind == "overlap":
            text = f"{metric.name} compares two runs. Leave it out here, and ask compare(now, baseline)[{metric.name!r}].now."
            raise EvaluationError(text)
    deep_enough = max([DEFAULT_DEPTH, *filter(None, (metric.cutoff for metric in read))])
    options = RetrievalOptions(  # whose values are checked of a Run too
        depth=deep_enough if depth is None else depth,
        duplicates=duplicates,
        doc_id=doc_id,
        timeout=timeout,
        concurrency=concurrency,
        repeat=repeat,
        executor=executor,
        known=golden.document_ids,
    ).checked()
    is_run = isinstance(source, Run)
    if is_run:
        read_to = shallower(source.depth, depth)
        remedy = f"the run is read to {read_to}. Choose a smaller cut-off, or give a deeper run."
    else:
        read_to = options.depth
        remedy = f"the retriever is asked for {read_to}. Give a larger `depth`, or leave it out."
    require_depth(read, read_to, remedy)
    retrieved = Retrieved(source) if is_run else retrieve(golden.queries.values(), source, options)
    evaluation = Evaluation(golden, retrieved, read, read_to, custom_metrics)
    warn_of_unknown_ids(evaluation, RETURN_IDS_BY.format("the parameter doc_id"))
    return evaluation


def require_depth(metrics: Iterable[Metric], depth: int | None, remedy: str = "") -> None:
    """Raise EvaluationError for a cut-off that is deeper than the rankings; None for `depth` is no limit.

    `remedy` says how deep those are and what to change; unless given, it names the settings of a test.
    """
    for metric in metrics:
        if not metric.is_within(depth):
            of_a_test = f"the retriever is asked for {depth}. Set ir_depth = {metric.cutoff}, or depth={metric.cutoff} in ir_golden."
            raise EvaluationError(f"{metric.name} needs {metric.cutoff} results, and {remedy or of_a_test}")


class UnknownIdsWarning(UserWarning):
    """Not one returned id occurs in the golden set, so that every score is 0 whatever the quality."""


class UnknownIds(NamedTuple):
    """The ids of a run of which the golden set knows not one."""

    returned: Sequence[str]
    expected: Sequence[str]
    is_one_answer: bool
    """Whether all queries, three at least, got the same."""

    @property
    def problem(self) -> str:
        """A sentence that says that no returned id occurs in the golden set."""
        why = "most likely this is about ids, not about quality."
        if self.is_one_answer:
            why = "every query got the same. Check whether its text reaches the engine, and for a cache."
        return f"None of the {plural(len(self.returned), 'returned id')} occurs in the golden set; {why}"

    @property
    def examples(self) -> tuple[str, ...]:
        """Sentences with some ids of either side, and one with two ids that look alike, if there are such."""
        said = ["{!r} looks like {!r}.".format(*alike)] if (alike := self.alike) else []
        returned, expected = (listed(i, 3, lambda i: repr(i[:60])) for i in (self.returned, self.expected))
        return f"Returned: {returned}.", f"Expected: {expected}.", *said

    @property
    def alike(self) -> tuple[str, str] | None:
        """A returned id that is an expected one in another case, or has it between signs: ``faq/D1.html`` and ``d1``."""
        by_length = sorted(self.expected[:_MAX_COMPARED], key=len, reverse=True)
        wanted = [(doc_id, doc_id.casefold()) for doc_id in by_length]
        for doc_id in self.returned[:_MAX_COMPARED]:
            text = doc_id.casefold()
            for other, part in wanted:
                if part in text and re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", text):
                    return doc_id[:60], other[:60]
        return None


def find_unknown_ids(evaluation: Evaluation) -> UnknownIds | None:
    """Return the ids of a run and of its golden set if they have none in common; None if they have, or if either has no ids."""
    counted, answers = evaluation.counted, set[tuple[str, ...]]()
    returned: dict[str, None] = {}
    for query in counted:
        for ranking in evaluation.rankings(query.id):
            if not {*known_ids(query)}.isdisjoint(documents_of(query, ranking)):
                return None  # as nearly always, at the first query
            returned |= dict.fromkeys(documents_of(query, ranking))
            answers.add(tuple(ranking))
    known = {doc_id for query in counted for doc_id in known_ids(query)}
    is_one_answer = len(answers) == 1 < len(returned) and len(counted) > 2
    is_other = bool(known and returned) and known.isdisjoint(returned)
    return UnknownIds(list(returned), sorted(known), is_one_answer) if is_other else None


def warn_of_unknown_ids(evaluation: Evaluation, advice: str) -> None:
    """Warn, at the line that called the caller of this, where not one returned id occurs in the golden set."""
    unknown = None if evaluation.errors else find_unknown_ids(evaluation)
    if unknown is not None:
        text = " ".join([unknown.problem, *unknown.examples, advice])
        warnings.warn(text, UnknownIdsWarning, stacklevel=3)
