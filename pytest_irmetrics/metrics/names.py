"""Names of metrics: `parse_metric` reads `ndcg(gain=exp)@10` into a Metric; `FAMILIES` has every built-in metric.

One formula has one canonical name: a family, the parameters that differ from the family's defaults, and a cut-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING

from pytest_irmetrics.metrics import formulas
from pytest_irmetrics.metrics.formulas import MetricError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Literal

    Kind = Literal["ranking", "no_answer", "latency", "custom"]
    Formula = Callable[..., float | None]
    Value = str | int | float

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


@dataclass(frozen=True, repr=False)
class Metric:
    """One metric: a family, its cut-off and the parameters that differ from the family's defaults.

    Make one with `parse_metric`.
    """

    family: str
    cutoff: int | None = None
    parameters: tuple[tuple[str, Value], ...] = ()

    @cached_property
    def name(self) -> str:
        """The canonical name, such as `ndcg(gain=exp)@10`; `parse_metric` reads it back."""
        arguments = ",".join(f"{key}={value}" for key, value in self.parameters)
        name = f"{self.family}({arguments})" if arguments else self.family
        return name if self.cutoff is None else f"{name}@{self.cutoff}"

    @property
    def kind(self) -> Kind:
        """What it is computed from: a `ranking` and its judgments, or what only an evaluation knows."""
        return FAMILIES[self.family].kind if self.family in FAMILIES else "custom"

    @property
    def lower(self) -> float:
        """The lowest possible value; minus infinity for a custom metric."""
        return FAMILIES[self.family].lower if self.family in FAMILIES else -inf

    @property
    def upper(self) -> float:
        """The highest possible value; infinity for latencies and custom metrics."""
        return FAMILIES[self.family].upper if self.family in FAMILIES else inf

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Metric {self.name}>"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric family: one of `choices`, or a number above `above` and below `below`."""

    name: str
    default: Value | None
    """None, of `rel` alone: the golden set's relevance level."""
    choices: tuple[str, ...] = ()
    above: float = 0
    below: float = inf
    whole: bool = False

    @property
    def accepts(self) -> str:
        """The accepted values, in words for an error message."""
        if self.choices:
            return " or ".join(self.choices)
        number = "a whole number" if self.whole else "a number"
        return f"{number} above {self.above:g}" + ("" if self.below == inf else f" and below {self.below:g}")

    def read(self, text: str) -> Value | None:
        """Read a value as it is written in a metric's name; None where it is not accepted."""
        if self.choices:
            return text.casefold() if text.casefold() in self.choices else None
        number = _read_number(text)
        if number is None or not self.above < number < self.below:
            return None
        return None if self.whole and not isinstance(number, int) else number


class Family:
    """A family of metrics, such as `ndcg`: its formula, parameters, range, and its definition in words.

    `formula` is None where a ranking and its judgments do not suffice: `kind` says what it is computed from.
    """

    def __init__(
        self,
        name: str,
        formula: Formula | None,
        *parameters: Parameter,
        kind: Kind = "ranking",
        upper: float = 1.0,
        definition: str = "",
    ) -> None:
        self.name = name
        self.formula = formula
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.kind = kind
        self.lower = 0.0
        self.upper = upper
        self.definition = definition or formula.__doc__ or ""


REL = Parameter("rel", None)

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("mrr", formulas.reciprocal_rank, REL, Parameter("miss", "zero", choices=("zero", "skip"))),
        Family(
            "map", formulas.average_precision, REL, Parameter("norm", "all", choices=("all", "min", "hits"))
        ),
        Family("ndcg", formulas.ndcg, Parameter("gain", "linear", choices=("linear", "exp"))),
        Family("precision", formulas.precision, REL, Parameter("denom", "k", choices=("k", "retrieved"))),
        Family("recall", formulas.recall, REL),
        Family("hit", formulas.hit, REL),
        Family("f1", formulas.f1, REL),
        Family("r_precision", formulas.r_precision, REL),
        Family("judged", formulas.judged),
        # 2^1000 and its sums are still finite doubles.
        Family("err", formulas.err, Parameter("max", 4, below=1001, whole=True)),
        Family("rbp", formulas.rbp, REL, Parameter("p", 0.8, below=1)),
        Family("bpref", formulas.bpref, REL),
        Family(
            "no_answer",
            None,
            kind="no_answer",
            definition="1 when nothing came back for a query that has no answer, else 0; over those queries alone.",
        ),
        Family(
            "latency_p50",
            None,
            kind="latency",
            upper=inf,
            definition="The median of the milliseconds that a query took.",
        ),
        Family(
            "latency_p95",
            None,
            kind="latency",
            upper=inf,
            definition="The 95th percentile of the milliseconds that a query took.",
        ),
    )
}

# Names of trec_eval and ir_measures, in lower case → the family that they name. Those of sets take no cut-off.
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
    `custom` holds the names of custom metrics. Raises MetricError, which says what is wrong and what to write.
    """
    if not isinstance(text, str):
        raise MetricError(f"a metric's name is text, not {type(text).__name__}. Write for example 'ndcg@10'.")
    name, arguments, cut = _split_name(text)
    custom_name = _find_custom(name, custom)
    if custom_name is not None:
        return Metric(custom_name, _read_cutoff(cut, text), _read_custom_parameters(arguments, text))

    folded = name.casefold()
    if cut is None and arguments is None:
        stem, separator, digits = _split_off_digits(folded)
        if separator and stem in _CUT_ALIASES:
            folded, cut = stem, digits
    if folded in _SET_ALIASES and cut is not None:
        instead = _SET_ALIASES[folded]
        raise MetricError(f"{text!r}: {name} takes no cut-off. Write {instead}@{cut}, or {instead}.")
    family = FAMILIES.get(_ALIASES.get(folded, _SET_ALIASES.get(folded, folded)))
    if family is None:
        raise MetricError(_unknown_metric(text, name, custom))
    if family.kind != "ranking" and (cut is not None or arguments):
        raise MetricError(
            f"{text!r}: {family.name} takes neither cut-off nor parameters. Write {family.name}."
        )

    values, cut = _read_parameters(family, arguments, cut, text)
    cutoff = _read_cutoff(cut, text)
    if cutoff is None:
        if values.get("norm") == "min":
            raise MetricError(
                f"{text!r}: norm=min divides by min(k, R), and there is no k. Write map(norm=min)@10."
            )
        if family.name == "precision":
            values.pop("denom", None)  # without a cut-off it is the definition
    return Metric(family.name, cutoff, tuple(sorted(values.items())))


def _split_name(text: str) -> tuple[str, str | None, str | None]:
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


def _split_off_digits(name: str) -> tuple[str, str, str]:
    """Split `p_5` and `p.5` into stem, separator and digits; no separator where there is no such number."""
    stem = name.rstrip("0123456789")
    if stem == name or stem[-1:] not in {"_", "."}:
        return name, "", ""
    return stem[:-1], stem[-1], name[len(stem) :]


def _read_cutoff(cut: str | None, text: str) -> int | None:
    """Read a cut-off, from 1 to 999,999,999; None stays None. Raises MetricError that shows the whole `text`."""
    if cut is None:
        return None
    if not (cut.isascii() and cut.isdigit()) or len(cut) > 9 or int(cut) == 0:
        raise MetricError(
            f"{text!r}: the cut-off {cut!r} is not a whole number above 0. Write for example ndcg@10."
        )
    return int(cut)


def _read_number(text: str) -> int | float | None:
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


def _read_pairs(arguments: str | None, text: str) -> list[tuple[str, str]]:
    """Split what is in the parentheses into parameters and their values, as they are written."""
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


def _read_parameters(
    family: Family, arguments: str | None, cut: str | None, text: str
) -> tuple[dict[str, Value], str | None]:
    """Read a known family's parameters; returns those that differ from the defaults, and the cut-off."""
    values: dict[str, Value] = {}
    for written, value in _read_pairs(arguments, text):
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
            raise MetricError(f"{text!r}: {unknown_parameter(family, written)}")
        read = parameter.read(value)
        if read is None:
            raise MetricError(f"{text!r}: {key}={value} cannot be used. {key} is {parameter.accepts}.")
        if read != parameter.default:
            values[key] = read
    return values, cut


def unknown_parameter(family: Family, written: str) -> str:
    """Word the error for a parameter that a family does not have."""
    names = list(family.parameters)
    what = f"{family.name} has no parameter {written!r}. "
    close = _closest(written.casefold(), names)
    if close:
        return what + f"Did you mean {close}?"
    if written.casefold() == "rel":
        binary = ", ".join(known.name for known in FAMILIES.values() if "rel" in known.parameters)
        return what + f"A relevance level belongs to the binary metrics: {binary}."
    return what + (f"It has {' and '.join(names)}." if names else "It has none.")


def _find_custom(name: str, custom: Collection[str]) -> str | None:
    """Find a custom metric by its name, as spelt or, failing that, in any case. Raises MetricError for a built-in name."""
    custom_name = (
        name
        if name in custom
        else next((known for known in custom if known.casefold() == name.casefold()), None)
    )
    if custom_name is not None and custom_name.casefold() in {*FAMILIES, *_ALIASES, *_SET_ALIASES}:
        raise MetricError(
            f"{custom_name!r} is the name of a metric that is built in. Give your own another name."
        )
    return custom_name


def _read_custom_parameters(arguments: str | None, text: str) -> tuple[tuple[str, Value], ...]:
    """Read the keyword arguments of a custom metric: numbers where they look like it, else text."""
    values: dict[str, Value] = {}
    for key, value in _read_pairs(arguments, text):
        if not key.isidentifier() or key in {"query", "ranking", "k"}:
            raise MetricError(
                f"{text!r}: {key!r} cannot be a parameter. Give keyword arguments, and the cut-off after '@'."
            )
        number = _read_number(value)
        values[key] = value if number is None else number
    return tuple(sorted(values.items()))


def _closest(name: str, names: Iterable[str]) -> str | None:
    """Find the name that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and needed for errors alone

    matches = get_close_matches(name[:100], list(names), n=1)
    return matches[0] if matches else None


def _unknown_metric(text: str, name: str, custom: Collection[str]) -> str:
    """Word the error for a name that is no metric's, with the closest one that is."""
    cut = text[text.rindex("@") :] if "@" in text else ""
    stem = name.casefold().rstrip("0123456789")
    digits = name[len(stem) :]
    stem = _ALIASES.get(stem.rstrip("_-. "), stem.rstrip("_-. "))
    if digits and stem in FAMILIES:
        return f"unknown metric {text!r}. Did you mean {stem}@{digits}?"
    close = _closest(name.casefold(), [*FAMILIES, *_ALIASES, *_SET_ALIASES, *custom])
    if close is not None:
        meant = _ALIASES.get(close, _SET_ALIASES.get(close, close))
        return f"unknown metric {text!r}. Did you mean {meant}{cut}?"
    return f"unknown metric {text!r}. Known are {', '.join([*FAMILIES, *custom])}."
