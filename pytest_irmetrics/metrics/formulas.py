"""The shared metric core: judgments and a ranking in, a number out.

Without parameters each metric is what trec_eval computes with `-c`, bit for bit for a single query where
trec_eval has the metric; a parameter in parentheses names another formula. `FAMILIES` holds every family with
its parameters and its definition; each definition is also the docstring of the function that computes it.

Conventions, for all of them: ranks count from 1; the ranking's own order counts, and it holds no document
twice; a document without a judgment is not relevant and keeps its rank; a grade of 0 or less gains nothing; a
query without a relevant document scores 0. Sums add one double after the other in rank order, as C does, hence
no `sum()` (compensated since Python 3.12), no `fsum`, and logarithms through `log2`.

A `Scorer` computes many metrics over many queries from one walk of each ranking; `score` computes one metric
of one query, the plain way.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain, compress
from math import fsum, inf, isfinite, log2
from operator import mul

from pytest_irmetrics.base.errors import IRMetricsError

TYPE_CHECKING = False  # typing alone would take longer to import than this module
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Literal, NoReturn

    Kind = Literal["ranking", "no_answer", "latency", "custom"]
    Formula = Callable[..., float | None]
    Row = tuple[float | None, ...]
    Value = str | int | float

__all__ = [
    "FAMILIES",
    "Family",
    "Grade",
    "Hits",
    "Metric",
    "MetricError",
    "Parameter",
    "Profile",
    "Scorer",
    "dcg",
    "mean",
    "parse_metric",
    "score",
]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

Grade = int | float


class MetricError(IRMetricsError, ValueError):
    """A metric's name, a parameter or a grade that cannot be used: what is wrong, and what to write.

    `index` is the position of the query at fault, counted from 0, where `Scorer.columns` found one.
    """

    index: int | None = None


class Metric:
    """One metric: a family, its cut-off and the parameters that differ from the family's defaults.

    Immutable, hashable, and equal to every metric that means the same. Make one with `parse_metric`.
    """

    # By hand: importing dataclasses takes several times as long as all of this module.
    __slots__ = ("cutoff", "family", "parameters")

    family: str
    cutoff: int | None
    parameters: tuple[tuple[str, Value], ...]

    def __init__(
        self,
        family: str,
        cutoff: int | None = None,
        parameters: tuple[tuple[str, Value], ...] = (),
    ) -> None:
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "cutoff", cutoff)
        object.__setattr__(self, "parameters", parameters)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Metric is immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Metric is immutable; cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return (self.family, self.cutoff, self.parameters) == (other.family, other.cutoff, other.parameters)

    def __hash__(self) -> int:
        return hash((self.family, self.cutoff, self.parameters))

    def __reduce__(self) -> tuple[type[Metric], tuple[object, ...]]:
        return Metric, (self.family, self.cutoff, self.parameters)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Metric {self.name}>"

    @property
    def name(self) -> str:
        """The canonical name, such as `ndcg(gain=exp)@10`; `parse_metric` reads it back."""
        parameters = ",".join(f"{key}={value}" for key, value in self.parameters)
        text = f"{self.family}({parameters})" if parameters else self.family
        return text if self.cutoff is None else f"{text}@{self.cutoff}"

    @property
    def kind(self) -> Kind:
        """What it is computed from: only `ranking` metrics are computed in this module."""
        family = FAMILIES.get(self.family)
        return "custom" if family is None else family.kind

    @property
    def lower(self) -> float:
        """The least value that it can take."""
        family = FAMILIES.get(self.family)
        return -inf if family is None else family.lower

    @property
    def upper(self) -> float:
        """The greatest value that it can take."""
        family = FAMILIES.get(self.family)
        return inf if family is None else family.upper


# What a formula sees -------------------------------------------------------------------------------------


class Profile:
    """The grades of one query's judgments, best first, shared by all queries that have the same ones."""

    __slots__ = ("_ideals", "_relevant", "grades", "rows")

    def __init__(self, grades: tuple[Grade, ...]) -> None:
        self.grades = grades
        self.rows: dict[object, Row] = {}  # finished scores, by where the documents were found
        self._relevant: dict[Grade, int] = {}
        self._ideals: dict[tuple[int, str], float] = {}
        try:
            finite = isfinite(sum(grades))
        except OverflowError:
            finite = False
        if not finite:
            raise MetricError("a grade is infinite or not a number. Give finite numbers as grades.")

    def relevant(self, level: Grade) -> int:
        """Count the documents that are relevant at a level."""
        count = self._relevant.get(level)
        if count is None:
            count = self._relevant[level] = len([1 for grade in self.grades if grade >= level])
        return count

    def ideal(self, k: int, gain: str) -> float:
        """Return the DCG of the best ranking there is: every judged document, best first, cut at k."""
        which = (min(k, len(self.grades)), gain)
        ideal = self._ideals.get(which)
        if ideal is None:
            ideal = self._ideals[which] = _dcg(enumerate(self.grades, 1), k, gain)
        return ideal


class Hits:
    """What one ranking holds of a query's judged documents, seen at one relevance level.

    `judged` has the rank, counted from 1, and the grade of each judged document in it, in rank order; `ranks`
    are those of the relevant ones. `relevant` is the number of all relevant documents, found or not: R in the
    formulas. `returned` is the ranking's length.
    """

    __slots__ = ("judged", "level", "profile", "ranks", "relevant", "returned")

    def __init__(
        self, judged: list[tuple[int, Grade]], returned: int, profile: Profile, level: Grade
    ) -> None:
        self.judged = judged
        self.returned = returned
        self.profile = profile
        self.level = level
        self.ranks = [rank for rank, grade in judged if grade >= level]
        self.relevant = profile.relevant(level)


# Logarithms of the ranks that nearly all hits have; log2(1) first, which no rank needs.
_LOGS = [log2(rank + 1) for rank in range(1025)]


def _dcg(judged: Iterable[tuple[int, Grade]], k: int, gain: str) -> float:
    total = 0.0
    for rank, grade in judged:
        if rank > k:
            break
        if grade > 0:
            gained = grade if gain == "linear" else _exponential(grade)
            total += gained / (_LOGS[rank] if rank <= 1024 else log2(rank + 1))
    return total


def _exponential(grade: Grade) -> float:
    try:
        return 2.0**grade - 1.0
    except OverflowError:
        raise MetricError(
            f"grade {grade} is too high for an exponential gain, 2^grade - 1. Use gain=linear, or lower grades."
        ) from None


# The formulas --------------------------------------------------------------------------------------------
# Each takes the hits, the cut-off (ENDLESS where there is none), and the family's own parameter if it has one.

ENDLESS = 1 << 62


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
    total = 0.0
    found = 0
    for rank in hits.ranks:
        if rank > k:
            break
        found += 1
        total += found / rank
    if not found:
        return 0.0
    if norm == "all":
        return total / hits.relevant
    return total / (found if norm == "hits" else min(k, hits.relevant))


def ndcg(hits: Hits, k: int, gain: str) -> float:
    """NDCG, normalized discounted cumulative gain: whether the best documents come first.

    DCG = sum over the first k of gain / log2(rank + 1); NDCG = DCG / (DCG of the best possible ranking of all
    judged documents, cut at k). The gain is the grade, or 2^grade - 1 with `gain=exp`. Every grade above 0
    gains, whatever the relevance level; 0 when nothing gains.

    Source: Jarvelin and Kekalainen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20, 2002; the
    exponential gain: Burges et al., Learning to rank using gradient descent, ICML 2005.
    As trec_eval ndcg and ndcg_cut, ir_measures nDCG; `gain=exp` as its nDCG(dcg='exp-log2').
    """
    gained = _dcg(hits.judged, k, gain)
    return gained / hits.profile.ideal(k, gain) if gained else 0.0


def precision(hits: Hits, k: int, denom: str) -> float:
    """Precision: how much of what came back is relevant.

    (relevant documents within the first k) / k, also where fewer than k came back; `denom=retrieved` divides
    by what did: min(k, returned). Without a cut-off: relevant / returned. 0 when nothing came back.

    Source: van Rijsbergen, Information Retrieval, 1979.
    As trec_eval P and, without a cut-off, set_P; ir_measures P and SetP.
    """
    found = bisect_right(hits.ranks, k)
    if not found:
        return 0.0
    return found / (k if denom == "k" and k != ENDLESS else min(k, hits.returned))


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


def f1(hits: Hits, k: int, _: None = None) -> float:
    """F1: precision and recall in one number.

    2 * P * R / (P + R), the harmonic mean of precision@k and recall@k; 0 when nothing relevant came back.

    Source: van Rijsbergen, Information Retrieval, 1979.
    Without a cut-off as trec_eval set_F and ir_measures SetF.
    """
    found = bisect_right(hits.ranks, k)
    if not found:
        return 0.0
    precise = found / (hits.returned if k == ENDLESS else k)
    complete = found / hits.relevant
    return 2.0 * precise * complete / (precise + complete)


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
    return bisect_right(hits.judged, (depth, inf)) / depth if depth else 1.0


def err(hits: Hits, k: int, top: int) -> float:
    """ERR, expected reciprocal rank: how soon a user finds a document to stop at.

    Sum over the first k of (1 / rank) * P(stop at this rank), where P(stop) = p(grade) * product over the
    earlier ranks of (1 - p(grade)), and p(grade) = (2^grade - 1) / 2^max. The parameter `max` is the top of the grading
    scale, 4 unless given; a judgment with a higher grade is an error.

    Source: Chapelle, Metlzer, Zhang and Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
    As gdeval.pl, hence ir_measures ERR, which round to five digits.
    """
    grades = hits.profile.grades
    if grades and grades[0] > top:
        raise MetricError(
            f"a document has grade {grades[0]}, above the top of the scale of err(max={top}). "
            f"Write err(max=N), where N is the highest grade of the scale."
        )
    scale = 2.0**top
    total = 0.0
    going_on = 1.0
    for rank, grade in hits.judged:
        if rank > k:
            break
        if grade > 0:
            stop = (2.0**grade - 1.0) / scale
            total += stop * going_on / rank
            going_on *= 1.0 - stop
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
    for rank in hits.ranks:
        if rank > k:
            break
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
    others = min(len([1 for grade in hits.profile.grades if 0 <= grade < level]), relevant)
    above = 0
    total = 0.0
    for rank, grade in hits.judged:
        if rank > k:
            break
        if grade >= level:
            total += 1.0 - min(above, relevant) / others if above else 1.0
        elif grade >= 0:
            above += 1
    return total / relevant


# The families --------------------------------------------------------------------------------------------


class Parameter:
    """What one parameter may be: one of `choices`, or a number above `above` and, if given, below `below`."""

    __slots__ = ("above", "below", "choices", "default", "name", "whole")

    def __init__(
        self,
        name: str,
        default: Value | None,
        *,
        choices: tuple[str, ...] = (),
        above: float = 0,
        below: float = inf,
        whole: bool = False,
    ) -> None:
        self.name = name
        self.default = default  # None: the golden set's relevance level
        self.choices = choices
        self.above = above
        self.below = below
        self.whole = whole

    @property
    def accepts(self) -> str:
        """Say in words what is accepted."""
        if self.choices:
            return " or ".join(self.choices)
        number = "a whole number" if self.whole else "a number"
        return f"{number} above {self.above:g}" + ("" if self.below == inf else f" and below {self.below:g}")

    def read(self, text: str) -> Value | None:
        """Return the value that a text stands for, None where it is not accepted."""
        if self.choices:
            return text.casefold() if text.casefold() in self.choices else None
        number = _number(text)
        if number is None or not self.above < number < self.below:
            return None
        return None if self.whole and not isinstance(number, int) else number


class Family:
    """One family of metrics: its formula, parameters, range, and `about`, its definition and source."""

    __slots__ = ("about", "formula", "kind", "lower", "name", "parameters", "upper")

    def __init__(
        self,
        name: str,
        formula: Formula | None,
        *parameters: Parameter,
        kind: Kind = "ranking",
        upper: float = 1.0,
        about: str | None = None,
    ) -> None:
        self.name = name
        self.formula = formula
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.kind = kind
        self.lower = 0.0
        self.upper = upper
        self.about = (about or formula.__doc__ or "") if formula else (about or "")


_REL = Parameter("rel", None)

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("mrr", reciprocal_rank, _REL, Parameter("miss", "zero", choices=("zero", "skip"))),
        Family("map", average_precision, _REL, Parameter("norm", "all", choices=("all", "min", "hits"))),
        Family("ndcg", ndcg, Parameter("gain", "linear", choices=("linear", "exp"))),
        Family("precision", precision, _REL, Parameter("denom", "k", choices=("k", "retrieved"))),
        Family("recall", recall, _REL),
        Family("hit", hit, _REL),
        Family("f1", f1, _REL),
        Family("r_precision", r_precision, _REL),
        Family("judged", judged),
        # 2^1000 and its sums are still finite doubles.
        Family("err", err, Parameter("max", 4, below=1001, whole=True)),
        Family("rbp", rbp, _REL, Parameter("p", 0.8, below=1)),
        Family("bpref", bpref, _REL),
        Family(
            "no_answer",
            None,
            kind="no_answer",
            about="1 when nothing came back for a query that has no answer, else 0; over those queries alone.",
        ),
        Family(
            "latency_p50",
            None,
            kind="latency",
            upper=inf,
            about="The median of the milliseconds that a query took.",
        ),
        Family(
            "latency_p95",
            None,
            kind="latency",
            upper=inf,
            about="The 95th percentile of the milliseconds that a query took.",
        ),
    )
}

# Names of trec_eval and ir_measures, in lower case, and what they name. Those of sets take no cut-off.
_ALIASES = {
    "rr": "mrr",
    "recip_rank": "mrr",
    "ap": "map",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
    "p": "precision",
    "r": "recall",
    "success": "hit",
    "hit_rate": "hit",
    "rprec": "r_precision",
    "r-precision": "r_precision",
}
_SET_ALIASES = {
    "set_p": "precision",
    "setp": "precision",
    "set_recall": "recall",
    "setr": "recall",
    "set_f": "f1",
    "setf": "f1",
}
# trec_eval writes the cut-off after an underscore or a full stop.
_CUT_ALIASES = {"p": "precision", "recall": "recall", "success": "hit", "map_cut": "map", "ndcg_cut": "ndcg"}


def parse_metric(text: str, *, custom: Collection[str] = ()) -> Metric:
    """Read a metric's name: `name`, `name@k`, `name(parameter=value,...)@k`.

    Case does not matter, and the names of trec_eval and ir_measures are read as the metric that they name.
    `custom` holds the names of one's own metrics. A MetricError says what is wrong and what to write.
    """
    if not isinstance(text, str):
        raise MetricError(f"a metric's name is text, not {type(text).__name__}. Write for example 'ndcg@10'.")
    name, arguments, cut = _split(text)
    own = _own(name, custom)
    if own is not None:
        return Metric(own, _cutoff(cut, text), _own_parameters(arguments, text))

    folded = name.casefold()
    if cut is None and arguments is None:
        stem, separator, digits = _trailing_number(folded)
        if separator and stem in _CUT_ALIASES:
            folded, cut = stem, digits
    if folded in _SET_ALIASES and cut is not None:
        instead = _SET_ALIASES[folded]
        raise MetricError(f"{text!r}: {name} takes no cut-off. Write {instead}@{cut}, or {instead}.")
    family = FAMILIES.get(_ALIASES.get(folded, _SET_ALIASES.get(folded, folded)))
    if family is None:
        raise MetricError(_unknown(text, name, custom))
    if family.kind != "ranking" and (cut is not None or arguments):
        raise MetricError(
            f"{text!r}: {family.name} takes neither cut-off nor parameters. Write {family.name}."
        )

    values, cut = _parameters(family, arguments, cut, text)
    cutoff = _cutoff(cut, text)
    if cutoff is None:
        if values.get("norm") == "min":
            raise MetricError(
                f"{text!r}: norm=min divides by min(k, R), and there is no k. Write map(norm=min)@10."
            )
        if family.name == "precision":
            values.pop("denom", None)  # without a cut-off it is the definition
    return Metric(family.name, cutoff, tuple(sorted(values.items())))


def _split(text: str) -> tuple[str, str | None, str | None]:
    """Split into the name, what is in the parentheses, and what follows `@`."""
    head, opened, rest = text.partition("(")
    if not opened:
        name, at, cut = text.partition("@")
        arguments = None
    else:
        name = head
        arguments, closed, tail = rest.rpartition(")")
        if not closed:
            raise MetricError(
                f"{text!r}: the parenthesis is not closed. Write for example ndcg(gain=exp)@10."
            )
        before, at, cut = tail.partition("@")
        if before.strip() or "@" in name:
            raise MetricError(
                f"{text!r} cannot be read. Write name(parameter=value)@k, as in ndcg(gain=exp)@10."
            )
    name = name.strip()
    if not name:
        raise MetricError(
            f"{text!r} names no metric. Write for example ndcg@10. Known are {', '.join(FAMILIES)}."
        )
    return name, arguments, cut.strip() if at else None


def _trailing_number(name: str) -> tuple[str, str, str]:
    """Split `p_5` and `p.5` into stem, separator and digits; no separator where there is no such number."""
    stem = name.rstrip("0123456789")
    if stem == name or stem[-1:] not in {"_", "."}:
        return name, "", ""
    return stem[:-1], stem[-1], name[len(stem) :]


def _cutoff(cut: str | None, text: str) -> int | None:
    if cut is None:
        return None
    if not (cut.isascii() and cut.isdigit()) or len(cut) > 9 or int(cut) == 0:
        raise MetricError(
            f"{text!r}: the cut-off {cut!r} is not a whole number above 0. Write for example ndcg@10."
        )
    return int(cut)


def _number(text: str) -> int | float | None:
    """Read a finite number written in ASCII; whole ones as int, so that 2 and 2.0 are one parameter."""
    if not text or text.strip("+-.0123456789eE"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _pairs(arguments: str | None, text: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    if arguments is None or not arguments.strip():
        return pairs
    for argument in arguments.split(","):
        key, equals, value = (part.strip() for part in argument.partition("="))
        if value[:1] in {"'", '"'} and value[-1:] == value[:1]:
            value = value[1:-1]  # as ir_measures writes text
        if not (key and equals and value):
            raise MetricError(
                f"{text!r}: {argument.strip()!r} is not parameter=value. Write for example ndcg(gain=exp)@10."
            )
        if key in [known for known, _ in pairs]:
            raise MetricError(f"{text!r}: the parameter {key!r} is given twice. Keep one.")
        pairs.append((key, value))
    return pairs


def _parameters(
    family: Family, arguments: str | None, cut: str | None, text: str
) -> tuple[dict[str, Value], str | None]:
    """Read a known family's parameters; returns those that differ from the defaults, and the cut-off."""
    values: dict[str, Value] = {}
    for written, value in _pairs(arguments, text):
        key = written.casefold()
        if key in {"k", "cutoff"}:  # ir_measures also writes nDCG(cutoff=10)
            if cut is not None:
                raise MetricError(f"{text!r}: the cut-off is given twice. Write it once, after '@'.")
            cut = value
            continue
        if family.name == "ndcg" and key == "dcg" and value.casefold() in {"log2", "exp-log2"}:
            values.update({"gain": "exp"} if value.casefold() == "exp-log2" else {})
            continue
        parameter = family.parameters.get(key)
        if parameter is None:
            raise MetricError(f"{text!r}: {_unknown_parameter(family, written)}")
        read = parameter.read(value)
        if read is None:
            raise MetricError(f"{text!r}: {key}={value} cannot be used. {key} is {parameter.accepts}.")
        if read != parameter.default:
            values[key] = read
    return values, cut


def _unknown_parameter(family: Family, written: str) -> str:
    names = list(family.parameters)
    what = f"{family.name} has no parameter {written!r}. "
    close = _close(written.casefold(), names)
    if close:
        return what + f"Did you mean {close}?"
    if written.casefold() == "rel":
        binary = ", ".join(known.name for known in FAMILIES.values() if "rel" in known.parameters)
        return what + f"A relevance level belongs to the binary metrics: {binary}."
    return what + (f"It has {' and '.join(names)}." if names else "It has none.")


def _own(name: str, custom: Collection[str]) -> str | None:
    """Find a metric of one's own by its name, as spelt or, failing that, in any case."""
    own = (
        name
        if name in custom
        else next((known for known in custom if known.casefold() == name.casefold()), None)
    )
    if own is not None and own.casefold() in {*FAMILIES, *_ALIASES, *_SET_ALIASES}:
        raise MetricError(f"{own!r} is the name of a metric that is built in. Give your own another name.")
    return own


def _own_parameters(arguments: str | None, text: str) -> tuple[tuple[str, Value], ...]:
    """Read the keyword arguments of one's own metric: numbers where they look like it, else text."""
    values: dict[str, Value] = {}
    for key, value in _pairs(arguments, text):
        if not key.isidentifier() or key in {"query", "ranking", "k"}:
            raise MetricError(
                f"{text!r}: {key!r} cannot be a parameter. Give keyword arguments, and the cut-off after '@'."
            )
        number = _number(value)
        values[key] = value if number is None else number
    return tuple(sorted(values.items()))


def _close(name: str, names: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and needed for errors alone

    matches = get_close_matches(name[:100], list(names), n=1)
    return matches[0] if matches else None


def _unknown(text: str, name: str, custom: Collection[str]) -> str:
    cut = text[text.rindex("@") :] if "@" in text else ""
    stem = name.casefold().rstrip("0123456789")
    digits = name[len(stem) :]
    stem = _ALIASES.get(stem.rstrip("_-. "), stem.rstrip("_-. "))
    if digits and stem in FAMILIES:
        return f"unknown metric {text!r}. Did you mean {stem}@{digits}?"
    close = _close(name.casefold(), [*FAMILIES, *_ALIASES, *_SET_ALIASES, *custom])
    if close is not None:
        meant = _ALIASES.get(close, _SET_ALIASES.get(close, close))
        return f"unknown metric {text!r}. Did you mean {meant}{cut}?"
    return f"unknown metric {text!r}. Known are {', '.join([*FAMILIES, *custom])}."


# Scoring -------------------------------------------------------------------------------------------------


def _bind(metric: Metric, relevance_level: Grade) -> tuple[Grade, Formula, int, object]:
    """Return a metric's relevance level, its formula, and the cut-off and parameter that the formula takes."""
    family = FAMILIES.get(metric.family)
    if family is None or family.formula is None:
        raise MetricError(f"{metric.name} is not computed from a ranking and its judgments alone.")
    given = dict(metric.parameters)
    for key in given:
        if key not in family.parameters:
            raise MetricError(f"{metric.name}: {_unknown_parameter(family, key)}")
    level = _level(given.pop("rel", relevance_level))
    own = next((one for one in family.parameters.values() if one is not _REL), None)
    k = ENDLESS if metric.cutoff is None else metric.cutoff
    return level, family.formula, k, own and given.get(own.name, own.default)


def _level(relevance_level: object) -> Grade:
    if not isinstance(relevance_level, (int, float)) or not 0 < relevance_level < inf:
        raise MetricError(
            f"the relevance level {relevance_level!r} is not a number above 0. The usual one is 1."
        )
    return relevance_level


def score(
    metric: Metric | str,
    judgments: Mapping[str, Grade],
    ranking: Sequence[str],
    *,
    relevance_level: Grade = 1,
) -> float | None:
    """Score one ranking with one metric; None only for a miss under `miss=skip`.

    `judgments` maps document ids to grades, `ranking` holds document ids, best first, none of them twice.
    """
    if isinstance(metric, str):
        metric = parse_metric(metric)
    level, formula, k, parameter = _bind(metric, relevance_level)
    found = [(rank, judgments[document]) for rank, document in enumerate(ranking, 1) if document in judgments]
    return formula(Hits(found, len(ranking), _profile(judgments), level), k, parameter)


def dcg(
    judgments: Mapping[str, Grade],
    ranking: Sequence[str],
    k: int | None = None,
    *,
    gain: str = "linear",
) -> float:
    """Discounted cumulative gain, not normalized: sum over the first k of gain / log2(rank + 1).

    `gain` is `linear` (the grade) or `exp` (2^grade - 1).
    """
    if gain not in {"linear", "exp"}:
        raise MetricError(f"unknown gain {gain!r}. Write linear or exp.")
    grades = [judgments.get(document, 0) for document in ranking]
    return _dcg(enumerate(grades, 1), ENDLESS if k is None else k, gain)


def mean(values: Iterable[float], weights: Iterable[float] | None = None) -> float:
    """Average, whatever the order of the values; of no values it is a MetricError.

    Weights are above 0; with equal ones it is the plain mean.
    """
    if weights is None:
        values = list(values)
        total, weight = fsum(values), float(len(values))
    else:
        values, weights = list(values), list(weights)
        if len(values) != len(weights):
            raise ValueError(f"{len(values)} values and {len(weights)} weights do not go together.")
        if weights.count(1.0) == len(weights):
            total, weight = fsum(values), float(len(weights))
        else:
            total, weight = fsum(map(mul, values, weights)), fsum(weights)
    if not weight:
        raise MetricError("there is no value to average.")
    return total / weight


class Scorer:
    """Several metrics over many queries, from one walk of each ranking.

    Bit-equal to `score`. `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary
    metrics that have no `rel` of their own.
    """

    # How it is fast. The few judged documents are located in the ranking by C code, rather than each retrieved
    # id looked up; and queries whose judgments have the same grades, found at the same ranks, share one row of
    # scores, of which large sets have surprisingly few. Queries with more judgments than _FEW rarely repeat
    # and are scored directly; what is remembered is bounded.

    def __init__(self, metrics: Sequence[Metric | str], *, relevance_level: Grade = 1) -> None:
        self.metrics = tuple(
            parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics
        )
        bound = [_bind(metric, relevance_level) for metric in self.metrics]
        # Metrics of one relevance level share a view of the hits, and stand side by side in a row.
        self._groups: dict[Grade, list[tuple[Formula, int, object]]] = {}
        for level, formula, k, own in bound:
            self._groups.setdefault(level, []).append((formula, k, own))
        order = [at for level in self._groups for at, one in enumerate(bound) if one[0] == level]
        self._columns = [order.index(at) for at in range(len(bound))]
        self._by_length = any(map(_needs_length, self.metrics))
        self._profiles: dict[object, Profile] = {}
        self._rows: dict[object, dict[object, Row]] = {}
        self._remembered = 0

    def row(self, judgments: Mapping[str, Grade], ranking: Sequence[str]) -> list[float | None]:
        """Score one ranking: a value for each metric, in their order."""
        return [column[0] for column in self.columns((judgments,), (ranking,))]

    def columns(
        self,
        judgments: Iterable[Mapping[str, Grade]],
        rankings: Iterable[Sequence[str]],
    ) -> list[list[float | None]]:
        """Score many rankings: a column for each metric, in their order, with a value for each query."""
        rows: list[Row] = []
        try:
            self._collect(rows, judgments, rankings)
        except MetricError as error:
            error.index = len(rows)
            raise
        # Not zip(*rows): a hundred thousand iterators in step are ten times as slow.
        values = list(chain.from_iterable(rows))
        return [values[column :: len(self.metrics)] for column in self._columns]

    def _collect(
        self,
        rows: list[Row],
        judgments: Iterable[Mapping[str, Grade]],
        rankings: Iterable[Sequence[str]],
    ) -> None:
        append = rows.append
        rows_of = self._rows
        none: dict[object, Row] = {}
        few, short, by_length = _FEW, _SHORT, self._by_length
        # What tells one row from another: the grades that were judged, and where which of them were found.
        # Both take the cheapest form that is unambiguous; _remember knows them.
        grades: Any
        where: Any
        for graded, ranking in zip(judgments, rankings, strict=True):
            size = len(graded)
            if size == 1:
                ((document, grades),) = graded.items()
                try:
                    where = ranking.index(document)
                except ValueError:
                    where = -1
            elif size > few:
                append(self._row(_walk(graded, ranking), len(ranking), _profile(graded)))
                continue
            else:
                grades = tuple(graded.values())
                where = tuple(map(graded.get, ranking) if len(ranking) <= short else _search(graded, ranking))
            if by_length:
                where = (where, len(ranking))
            row = rows_of.get(grades, none).get(where)
            append(self._remember(grades, where, graded, ranking) if row is None else row)

    def _remember(self, grades: Any, where: Any, graded: Mapping[str, Grade], ranking: Sequence[str]) -> Row:
        """Compute a row that has not been met before, and keep it for the next query that is alike."""
        if self._remembered >= _REMEMBERED:
            self._rows.clear()
            self._profiles.clear()
            self._remembered = 0
        self._remembered += 1
        profile = self._profiles.get(grades)
        if profile is None:
            # One for all orders of the same grades.
            profile = _profile(graded)
            profile = self._profiles[grades] = self._profiles.setdefault(profile.grades, profile)
        self._rows[grades] = profile.rows
        row = profile.rows.get(where)
        if row is None:
            at = where[0] if self._by_length else where
            if isinstance(at, int):
                found = [(at + 1, grades)] if at >= 0 else []
            else:
                found = _walk(graded, ranking) if len(ranking) <= _SHORT else list(at)
            row = profile.rows[where] = self._row(found, len(ranking), profile)
        return row

    def _row(self, found: list[tuple[int, Grade]], returned: int, profile: Profile) -> Row:
        row: list[float | None] = []
        for level, formulas in self._groups.items():
            hits = Hits(found, returned, profile, level)
            row += [formula(hits, k, own) for formula, k, own in formulas]
        return tuple(row)


# Up to this many judgments there may be another query like it; more are not worth remembering.
_FEW = 12
# Up to this length, a ranking's grades say as well where the documents are.
_SHORT = 16
# Searches for a document each read the ranking less often than this, or else it is walked.
_SEARCHES = 3
# About 3 MB of rows of eight metrics.
_REMEMBERED = 4096
_RANKS = list(range(1, 1025))


def _profile(graded: Mapping[str, Grade]) -> Profile:
    return Profile(tuple(sorted(graded.values(), reverse=True)))


def _walk(graded: Mapping[str, Grade], ranking: Sequence[str]) -> list[tuple[int, Grade]]:
    """Return rank and grade of the judged documents, by looking up each one that was returned."""
    every = _RANKS if len(ranking) <= len(_RANKS) else range(1, len(ranking) + 1)
    ranks = compress(every, map(graded.__contains__, ranking))
    return [(rank, graded[ranking[rank - 1]]) for rank in ranks]


def _search(graded: Mapping[str, Grade], ranking: Sequence[str]) -> list[tuple[int, Grade]]:
    """Return the same by searching for each judged document, as long as that is the shorter way."""
    left = _SEARCHES * len(ranking)
    index = ranking.index
    found = []
    for document, grade in graded.items():
        try:
            rank = index(document) + 1
        except ValueError:
            left -= len(ranking)
        else:
            left -= rank
            found.append((rank, grade))
        if left < 0:
            return _walk(graded, ranking)
    found.sort()
    return found


def _needs_length(metric: Metric) -> bool:
    """Tell whether a metric depends on how many results came back, beyond where the judged ones are."""
    whole = metric.cutoff is None and metric.family in {"precision", "f1"}
    return whole or metric.family == "judged" or ("denom", "retrieved") in metric.parameters
