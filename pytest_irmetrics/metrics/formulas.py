"""The metrics: a formula for each ranking metric with its definition and source, and in `FAMILIES` all that is declared of it.

Each formula takes the hits of one ranking, the cut-off k (`NO_CUTOFF` where there is none) and the one parameter that its family
has besides `rel`, or None; it returns the score of that one query. Scores are from 0 to 1.

Conventions, for all of them: ranks count from 1; the ranking's own order counts, and it holds no document
twice; a document without a judgment is not relevant and keeps its rank; a grade of 0 or less gains nothing; a
query without a relevant document scores 0. Sums within a score add one double after the other in rank order, as C
does, hence no `sum()` (compensated since Python 3.12), no `fsum`, and logarithms through `log2`; means over queries are exact.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import fsum, inf, isfinite, log2
from operator import mul
from typing import Literal, NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.numbers import as_whole_number, read_number

Kind = Literal["ranking", "overlap", "no_answer", "latency", "custom"]
"""What a metric is computed from; `Evaluation` scores each in a way of its own, `Metric` says what follows for runs and
rankings (`is_compared`, `is_stored`, `rates_rankings`), and places that treat one on its own ask for `Metric.kind`."""

Value = str | int | float


Grade = int | float

NO_CUTOFF = sys.maxsize
"""The k of a metric without a cut-off: no ranking is that long."""


class MetricError(IRMetricsError, ValueError):
    """A metric's name, a parameter or a grade that cannot be used: what is wrong, and what to write."""


def best_first(grades: Iterable[Grade]) -> Sequence[Grade]:
    """Return the grades of a query's judgments, best first. Raises MetricError for one that is infinite or not a number."""
    ordered = sorted(grades, reverse=True)
    try:
        finite = all(map(isfinite, ordered))
    except OverflowError:  # an integer that no double holds
        finite = False
    if not finite:
        raise MetricError("a grade is infinite or not a number. Give finite numbers as grades.")
    return ordered


class Hits:
    """The judged documents that one ranking holds, seen at one relevance level.

    `judged` has the rank, counted from 1, and the grade of each of them, in rank order; `ranks` are the ranks of
    the relevant ones. `returned` is the ranking's length. `grades` are those of all judged documents, best first, and
    `relevant` is the number of all relevant documents, found or not: R in the formulas.
    """

    __slots__ = ("grades", "judged", "level", "ranks", "relevant", "returned")

    def __init__(
        self, judged: Sequence[tuple[int, Grade]], returned: int, grades: Sequence[Grade], level: Grade
    ) -> None:
        self.judged = judged
        self.returned = returned
        self.grades = grades
        self.level = level
        self.ranks = [rank for rank, grade in judged if grade >= level]
        self.relevant = len([grade for grade in grades if grade >= level])

    def judged_within(self, k: int) -> Sequence[tuple[int, Grade]]:
        """Return rank and grade of the judged documents within the first k."""
        return self.judged[: bisect_right(self.judged, (k, inf))]


def _dcg(judged: Iterable[tuple[int, Grade]], gain: str) -> float:
    """Sum gain / log2(rank + 1) over pairs of rank and grade, in rank order."""
    total = 0.0
    for rank, grade in judged:
        if grade > 0:
            total += (grade if gain == "linear" else 2.0**grade - 1.0) / log2(rank + 1)
    return total


def reciprocal_rank(hits: Hits, k: int, miss: str) -> float | None:
    """Reciprocal rank: how far down the first relevant document is. `mrr`, the mean over queries.

    1 / (rank of the first relevant document), and 0 when there is none within the first k. With `miss=skip`
    such a query has no value and leaves the mean, which then speaks of the queries that were answered.

    Source: Kantor and Voorhees, The TREC-5 Confusion Track, Information Retrieval 2, 2000.
    As trec_eval recip_rank (with a cut-off: its `-M k`) and ir_measures RR.
    """
    ranks = hits.ranks
    if ranks and ranks[0] <= k:
        return 1 / ranks[0]
    return None if miss == "skip" else 0.0


def average_precision(hits: Hits, k: int, norm: str) -> float:
    """Average precision: precision at each relevant document, averaged. `map`, the mean over queries.

    (1 / R) * sum over the relevant documents within the first k of (relevant ones so far / rank), where R is
    the number of all relevant documents. `norm=min` divides by min(k, R) instead, so that a full page of
    relevant documents scores 1; `norm=hits` by the relevant documents found.

    Source: Buckley and Voorhees, Retrieval System Evaluation, in TREC: Experiment and Evaluation in
    Information Retrieval, 2005. As trec_eval map and map_cut, ir_measures AP.
    """
    found = bisect_right(hits.ranks, k)
    if not found:
        return 0.0
    total = 0.0
    for so_far, rank in enumerate(hits.ranks[:found], 1):
        total += so_far / rank
    if norm == "all":
        return total / hits.relevant
    return total / (found if norm == "hits" else min(k, hits.relevant))


def ndcg(hits: Hits, k: int, gain: str) -> float:
    """NDCG, normalized discounted cumulative gain: whether the best documents come first.

    DCG = sum over the first k of gain / log2(rank + 1); NDCG = DCG / (DCG of the best possible ranking of all
    judged documents, cut at k). The gain is the grade, or 2^grade - 1 with `gain=exp`. Every grade above 0
    gains, whatever the relevance level; 0 when nothing gains.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20, 2002; the
    exponential gain: Burges et al., Learning to rank using gradient descent, ICML 2005.
    As trec_eval ndcg and ndcg_cut, ir_measures nDCG; `gain=exp` as its nDCG(dcg='exp-log2').
    """
    gained = _dcg(hits.judged_within(k), gain)
    return gained / _dcg(enumerate(hits.grades[:k], 1), gain) if gained else 0.0


def precision(hits: Hits, k: int, denom: str) -> float:
    """Precision: how much of what came back is relevant.

    (relevant documents within the first k) / k, also where fewer than k came back; `denom=retrieved` divides
    by the results that did: min(k, returned). Without a cut-off: relevant / returned. 0 when nothing came back.

    Source: van Rijsbergen, Information Retrieval, 1979.
    As trec_eval P and, without a cut-off, set_P; ir_measures P and SetP.
    """
    found = bisect_right(hits.ranks, k)
    if not found:
        return 0.0
    return found / (k if denom == "k" and k != NO_CUTOFF else min(k, hits.returned))


def recall(hits: Hits, k: int, _: None = None) -> float:
    """Recall: how much of what is relevant came back.

    (relevant documents within the first k) / R, where R is the number of all relevant documents.

    Source: van Rijsbergen, Information Retrieval, 1979.
    As trec_eval recall and, without a cut-off, set_recall; ir_measures R and SetR.
    """
    return bisect_right(hits.ranks, k) / hits.relevant if hits.relevant else 0.0


def hit(hits: Hits, k: int, _: None = None) -> float:
    """Hit, also called success or hit rate: whether anything relevant came back.

    1 if a relevant document is within the first k, else 0.

    Source: trec_eval success; ir_measures Success.
    """
    return 1.0 if hits.ranks and hits.ranks[0] <= k else 0.0


def everything(hits: Hits, k: int, _: None = None) -> float:
    """Whether everything relevant came back, as a task needs that cannot be done with a part of it. `all`.

    1 if every relevant document is within the first k, else 0.

    Source: recall of 1, as a yes or no.
    """
    return 1.0 if hits.relevant and bisect_right(hits.ranks, k) == hits.relevant else 0.0


def f1(hits: Hits, k: int, _: None = None) -> float:
    """F1: precision and recall in one number.

    2 * P * R / (P + R), the harmonic mean of precision@k and recall@k; 0 when nothing relevant came back.

    Source: van Rijsbergen, Information Retrieval, 1979.
    Without a cut-off as trec_eval set_F and ir_measures SetF.
    """
    p, r = precision(hits, k, "k"), recall(hits, k)
    return 2.0 * p * r / (p + r) if p else 0.0


def r_precision(hits: Hits, k: int, _: None = None) -> float:
    """R-precision: precision at the number of relevant documents.

    (relevant documents within the first R) / R, where R is the number of all relevant documents. A cut-off
    cuts the ranking first: what lies beyond k is not found.

    Source: Buckley and Voorhees, Retrieval System Evaluation, 2005.
    As trec_eval Rprec and ir_measures Rprec.
    """
    relevant = hits.relevant
    return bisect_right(hits.ranks, min(k, relevant)) / relevant if relevant else 0.0


def judged(hits: Hits, k: int, _: None = None) -> float:
    """Judged: how far the other numbers can be trusted.

    The share of the first min(k, returned) results that have any judgment, whatever the grade; 1 when nothing
    came back, as nothing is then unjudged.

    Source: ir_measures Judged, which likewise divides by what came back where that is less than k (it has no
    value for an empty answer).
    """
    depth = min(k, hits.returned)
    return len(hits.judged_within(depth)) / depth if depth else 1.0


def err(hits: Hits, k: int, max_grade: int) -> float:
    """ERR, expected reciprocal rank: how soon a user finds a document to stop at.

    Sum over the first k of (1 / rank) * P(stop at this rank), where P(stop) = p(grade) * product over the
    earlier ranks of (1 - p(grade)), and p(grade) = (2^grade - 1) / 2^max. The parameter `max` is the top of the grading
    scale, 4 unless given; a judgment with a higher grade is an error.

    Source: Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
    As gdeval.pl, hence ir_measures ERR, which round to five digits.
    """
    if hits.grades and hits.grades[0] > max_grade:
        text = f"a document has grade {hits.grades[0]}, above the top of the scale of err(max={max_grade}). Write err(max=N), where N is the highest grade of the scale."
        raise MetricError(text)
    scale = 2.0**max_grade
    total = 0.0
    p_reached = 1.0
    for rank, grade in hits.judged_within(k):
        if grade > 0:
            p_stop = (2.0**grade - 1.0) / scale
            total += p_stop * p_reached / rank
            p_reached *= 1.0 - p_stop
    return total


def rbp(hits: Hits, k: int, p: float) -> float:
    """Rank-biased precision: the relevant share of what a user who goes on with probability p reads.

    (1 - p) * sum over the relevant documents within the first k of p^(rank - 1); p is 0.8 unless given. Gains
    are binary at the relevance level, and what was not ranked counts as not relevant (the residual is not
    reported).

    Source: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27, 2008.
    As ir_measures RBP(rel=1), which is C/W/L's.
    """
    total = 0.0
    for rank in hits.ranks[: bisect_right(hits.ranks, k)]:
        total += p ** (rank - 1)
    return (1.0 - p) * total


def bpref(hits: Hits, k: int, _: None = None) -> float:
    """Binary preference: whether relevant documents rank above those judged not relevant.

    (1 / R) * sum over the relevant documents that came back of 1 - min(n, R) / min(N, R), where n is the number
    of documents judged not relevant that are ranked above, N of all such documents and R of all relevant ones.
    Unjudged documents do not count, nor do those with a negative grade. A cut-off cuts the ranking first.

    Source: Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.
    As trec_eval bpref and ir_measures Bpref.
    """
    relevant = hits.relevant
    if not relevant:
        return 0.0
    level = hits.level
    not_relevant = min(len([grade for grade in hits.grades if 0 <= grade < level]), relevant)
    above = 0  # documents judged not relevant that are ranked above
    total = 0.0
    for _rank, grade in hits.judged_within(k):
        if grade >= level:
            total += 1.0 - min(above, relevant) / not_relevant if above else 1.0
        elif grade >= 0:
            above += 1
    return total / relevant


# What is declared of each


class Parameter(NamedTuple):
    """A parameter of a metric family: one of `choices`, or a number above 0 and below `below`."""

    name: str
    default: Value | None
    """None, of `rel` alone: the golden set's relevance level."""
    choices: tuple[str, ...] = ()
    below: float = inf
    whole: bool = False
    need_cutoff: tuple[str, ...] = ()
    """Those of the choices by which a formula divides by k, which are refused without one."""

    @property
    def accepts(self) -> str:
        """The accepted values, in words for an error message."""
        if self.choices:
            return " or ".join(self.choices)
        number = "a whole number" if self.whole else "a number"
        return f"{number} above 0" + ("" if self.below == inf else f" and below {self.below:g}")

    def read(self, text: str) -> Value | None:
        """Read a value as it is written in a metric's name; None where it is not accepted."""
        if self.choices:
            return text.casefold() if text.casefold() in self.choices else None
        number = int_or_float(text)
        is_in_range = number is not None and 0 < number < self.below
        return number if is_in_range and (isinstance(number, int) or not self.whole) else None


def int_or_float(text: str) -> int | float | None:
    """Read a number; a whole one as int, so that 2 and 2.0 are one parameter. None for any other text."""
    number = read_number(text)
    return None if number is None else as_whole_number(number)


REL = Parameter("rel", None)


class Family(NamedTuple):
    """A family of metrics, such as `ndcg`: all that is declared of it."""

    name: str
    formula: Callable[..., float | None] | None = None
    """None where a ranking and its judgments do not suffice: `kind` says what it is computed from."""
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    """Names of trec_eval and ir_measures, in lower case; docs/metrics.md lists them, as the two below."""
    cut_aliases: tuple[str, ...] = ()
    """Names to which trec_eval appends the cut-off: P_5, P.5."""
    set_aliases: tuple[str, ...] = ()
    """Names that take no cut-off."""
    kind: Kind = "ranking"
    lower: float = 0.0
    upper: float = 1.0
    about: str = ""
    """The definition, where there is no formula with a docstring."""

    @property
    def definition(self) -> str:
        """What it is, in words; the first line describes it in the JSON Schema of golden sets."""
        return self.about or str(self.formula.__doc__)


# In the order in which messages list them, those of a ranking first.
FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("mrr", reciprocal_rank, (REL, Parameter("miss", "zero", ("zero", "skip"))), aliases=("rr", "recip_rank")),
        Family("map", average_precision, (REL, Parameter("norm", "all", ("all", "min", "hits"), need_cutoff=("min",))), aliases=("ap",), cut_aliases=("map_cut",)),
        Family("ndcg", ndcg, (Parameter("gain", "linear", ("linear", "exp")),), cut_aliases=("ndcg_cut",)),
        Family("precision", precision, (REL, Parameter("denom", "k", ("k", "retrieved"))), cut_aliases=("p",), set_aliases=("set_p", "setp")),
        Family("recall", recall, (REL,), aliases=("r",), cut_aliases=("recall",), set_aliases=("set_recall", "setr")),
        Family("hit", hit, (REL,), aliases=("hit_rate",), cut_aliases=("success",)),
        Family("all", everything, (REL,)),
        Family("f1", f1, (REL,), set_aliases=("set_f", "setf")),
        Family("r_precision", r_precision, (REL,), aliases=("rprec", "r-precision")),
        Family("judged", judged),
        Family("err", err, (Parameter("max", 4, below=1001, whole=True),)),  # 2^1000 and its sums are still finite doubles
        Family("rbp", rbp, (REL, Parameter("p", 0.8, below=1))),
        Family("bpref", bpref, (REL,)),
        Family("overlap", kind="overlap", about="The share of the baseline's results that are among today's, both cut at k, in whatever order; 1 where both are empty. Over all queries, unjudged ones too, and only where two runs are compared."),
        Family("no_answer", kind="no_answer", about="1 when nothing came back for a query that has no answer, else 0; over those queries alone."),
        Family("latency_p50", kind="latency", upper=inf, about="The median of the milliseconds that a query took."),
        Family("latency_p95", kind="latency", upper=inf, about="The 95th percentile of the milliseconds that a query took."),
    )
}  # fmt: skip


# Means


def mean(values: Collection[float], weights: Collection[float] | None = None) -> float:
    """Return the weighted mean: sum of weight * value / sum of weight, exact whatever the order of the values.

    There is at least one value. Weights are above 0, one for each; with equal ones, or none given, it is the plain mean.
    """
    if weights is None:
        return fsum(values) / len(values)
    return fsum(map(mul, values, weights)) / fsum(weights)


def mean_of_scored(scores: Sequence[float | None], weights: Sequence[float] | None = None) -> float | None:
    """Return the weighted mean of the scores that are not None; None where there is none.

    None is the score of a query that a metric leaves out, as `mrr(miss=skip)` does. Weights are as in `mean`.
    """
    try:  # as nearly always
        return mean(scores, weights) if scores else None  # type: ignore[arg-type]
    except TypeError:
        kept = [n for n, score in enumerate(scores) if score is not None]
        return mean([scores[n] for n in kept], weights and [weights[n] for n in kept]) if kept else None  # type: ignore[misc]
