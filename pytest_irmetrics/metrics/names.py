"""Names of metrics: `parse_metric` reads `ndcg(gain=exp)@10` into a Metric.

One formula has one canonical name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from math import inf

from pytest_irmetrics.metrics.formulas import FAMILIES, REL, Family, Kind, MetricError, Value, int_or_float

_NAME = re.compile(
    r"\s*(?P<name>[^(@]*?)\s*(?:\((?P<arguments>.*)\)\s*)?(?:@\s*(?P<cut>[^()]*?)\s*)?", re.DOTALL
)
_CUT_BY_SIGN = re.compile(r"(?P<name>.+)[_.](?P<cut>[0-9]+)")
"""As trec_eval writes a cut-off, P_5 or P.5."""
_CUTOFF = re.compile(r"[0-9]{1,9}")
_GAINS = {"log2": "linear", "exp-log2": "exp"}
"""What ir_measures calls the gains of NDCG, as values of `dcg`."""


@dataclass(frozen=True)
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
        return _family(self).kind

    @property
    def lower(self) -> float:
        """The lowest possible value; minus infinity for a custom metric."""
        return _family(self).lower

    @property
    def upper(self) -> float:
        """The highest possible value; infinity for latencies and custom metrics."""
        return _family(self).upper

    @property
    def is_compared(self) -> bool:
        """Whether two runs can be compared by it: not by a latency, which no stored run holds."""
        return self.kind != "latency"

    @property
    def is_stored(self) -> bool:
        """Whether a baseline stores its mean, which its rankings prove: not that of an overlap, which takes two runs."""
        return self.is_compared and self.kind != "overlap"

    @property
    def rates_rankings(self) -> bool:
        """Whether it falls where rankings get worse: not `judged`, `no_answer`, an overlap or a latency."""
        return self.kind in ("ranking", "custom") and self.family != "judged"

    def is_within(self, depth: int | None) -> bool:
        """Tell whether rankings of a depth reach its cut-off; one without a cut-off reads what there is, and None is no limit."""
        return depth is None or self.cutoff is None or self.cutoff <= depth

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Metric {self.name}>"


_CUSTOM = Family("", kind="custom", lower=-inf, upper=inf)
_CUT_ALIASES = {alias: family.name for family in FAMILIES.values() for alias in family.cut_aliases}
_SET_ALIASES = {alias: family.name for family in FAMILIES.values() for alias in family.set_aliases}
_ALIASES = {alias: family.name for family in FAMILIES.values() for alias in family.aliases}
_ALL = {**{name: name for name in FAMILIES}, **_ALIASES, **_CUT_ALIASES, **_SET_ALIASES}
"""Every name, in lower case → its family's."""


def _family(metric: Metric) -> Family:
    return FAMILIES.get(metric.family, _CUSTOM)


def parse_metric(text: str, custom: Collection[str] = ()) -> Metric:
    """Read a metric's name: `name`, `name@k`, `name(parameter=value,...)@k`.

    Case does not matter, and the names of trec_eval and ir_measures are read as the family that they mean, `Success@5` as `hit@5`.
    `custom` holds the names of custom metrics. Raises MetricError, which says what is wrong and what to write.
    """
    if not isinstance(text, str):
        raise MetricError(f"a metric's name is text, not {type(text).__name__}. Write for example 'ndcg@10'.")
    return _parse_text(text, tuple(custom))


@lru_cache(maxsize=1000)
def _parse_text(text: str, custom: tuple[str, ...]) -> Metric:
    """Read a metric's name once: means are asked for by name."""
    parts = _NAME.fullmatch(text)
    if parts is None:
        wrong = ": the parenthesis is not closed." if ")" not in text else " cannot be read."
        raise MetricError(f"{text!r}{wrong} Write name(parameter=value)@k, as in ndcg(gain=exp)@10.")
    name, cut, arguments = parts["name"], parts["cut"], parts["arguments"]
    if not name:
        known = ", ".join(FAMILIES)
        raise MetricError(f"{text!r} names no metric. Write for example ndcg@10. Known are {known}.")
    own, folded = _find_custom(name, custom), name.casefold()
    by_sign = _CUT_BY_SIGN.fullmatch(folded) if own is cut is arguments is None else None
    if by_sign is not None and by_sign["name"] in _CUT_ALIASES:
        folded, cut = by_sign["name"], by_sign["cut"]
    if own is None and folded not in _ALL:
        raise MetricError(_unknown_metric(text, name, custom))
    if own is None and cut is not None and (family := _SET_ALIASES.get(folded)):
        raise MetricError(f"{text!r}: {name} takes no cut-off. Write {family}@{cut}, or {family}.")
    try:
        given = _read_pairs(arguments or "")
        if own is not None:
            return Metric(own, _read_cutoff(cut), _read_custom_parameters(given))
        return _read_known(FAMILIES[_ALL[folded]], cut, given)
    except MetricError as error:
        raise MetricError(f"{text!r}: {error}") from None


def split_names(text: str) -> list[str]:
    """Split a list of metrics at white space and commas, but for those in a metric's parentheses."""
    return re.findall(r"(?:\([^)]*\)?|[^\s,(])+", text)


def read_metrics(metrics: Iterable[str | Metric], custom: Collection[str] = ()) -> tuple[Metric, ...]:
    """Read metric names, leaving out a metric that is named a second time. Raises MetricError."""
    read = (one if isinstance(one, Metric) else parse_metric(one, custom=custom) for one in metrics)
    return tuple(dict.fromkeys(read))


def _read_known(family: Family, cut: str | None, given: Mapping[str, str]) -> Metric:
    """Read the cut-off and the parameters of a known family. Raises MetricError."""
    if family.kind not in ("ranking", "overlap") and (cut is not None or given):
        raise MetricError(f"{family.name} takes neither cut-off nor parameters. Write {family.name}.")
    values, cutoff = _read_parameters(family, given), _read_cutoff(cut)
    for parameter in family.parameters:
        if cutoff is None and (value := values.get(parameter.name)) in parameter.need_cutoff:
            said = f"{parameter.name}={value}"
            text = f"{said} needs a cut-off, by which it divides where more documents are relevant. Write {family.name}({said})@10."
            raise MetricError(text)
    if cutoff is None and family.name == "precision":
        values.pop("denom", None)  # without a cut-off it is the definition
    return Metric(family.name, cutoff, tuple(sorted(values.items())))


def _read_cutoff(cut: str | None) -> int | None:
    """Read a cut-off, from 1 to 999,999,999; None stays None. Raises MetricError."""
    if cut is not None and (_CUTOFF.fullmatch(cut) is None or int(cut) == 0):
        raise MetricError(f"the cut-off {cut!r} is no whole number from 1 to 999,999,999, as in ndcg@10.")
    return None if cut is None else int(cut)


def _read_pairs(arguments: str) -> dict[str, str]:
    """Split what is in the parentheses into parameters and their values, as they are written."""
    pairs: dict[str, str] = {}
    for argument in arguments.split(",") if arguments.strip() else ():
        key, _, value = (part.strip() for part in argument.partition("="))
        if value[:1] in {"'", '"'} and value[-1:] == value[:1]:
            value = value[1:-1]  # as ir_measures writes text
        if not (key and value):
            raise MetricError(f"{argument.strip()!r} is not parameter=value, as in ndcg(gain=exp)@10.")
        if key.casefold() in map(str.casefold, pairs):
            raise MetricError(f"the parameter {key!r} is given twice. Keep one.")
        pairs[key] = value
    return pairs


def _read_parameters(family: Family, given: Mapping[str, str]) -> dict[str, Value]:
    """Read a known family's parameters; returns those that differ from the defaults."""
    parameters = {parameter.name: parameter for parameter in family.parameters}
    values: dict[str, Value] = {}
    for written, value in given.items():
        key = written.casefold()
        if key == "dcg" and (gain := _GAINS.get(value.casefold())):
            key, value = "gain", gain  # noqa: PLW2901 - ir_measures writes it so
        if key not in parameters:
            raise MetricError(_unknown_parameter(family, written))
        read = parameters[key].read(value)
        if read is None:
            raise MetricError(f"{key}={value} cannot be used. {key} is {parameters[key].accepts}.")
        if read != parameters[key].default:
            values[key] = read
    return values


def _unknown_parameter(family: Family, written: str) -> str:
    """Word the error for a parameter that a family does not have."""
    names = [parameter.name for parameter in family.parameters]
    close = get_close_matches(written.casefold(), names)
    advice = f"It has {' and '.join(names)}." if names else "It has none."
    if close:
        advice = f"Did you mean {close[0]}?"
    elif written.casefold() == "rel":
        binary = ", ".join(known.name for known in FAMILIES.values() if REL in known.parameters)
        advice = f"A relevance level belongs to the binary metrics: {binary}."
    return f"{family.name} has no parameter {written!r}. {advice}"


def _find_custom(name: str, custom: Collection[str]) -> str | None:
    """Find a custom metric by its name, as spelt or, failing that, in any case. Raises MetricError for a built-in name."""
    in_any_case = (known for known in custom if known.casefold() == name.casefold())
    found = name if name in custom else next(in_any_case, None)
    if found is not None and found.casefold() in _ALL:
        raise MetricError(f"{found!r} is the name of a metric that is built in. Give your own another name.")
    return found


def _read_custom_parameters(given: Mapping[str, str]) -> tuple[tuple[str, Value], ...]:
    """Read the keyword arguments of a custom metric: numbers where they look like it, else text."""
    values: dict[str, Value] = {}
    for key, value in given.items():
        if not key.isidentifier() or key in {"query", "ranking", "k"}:
            raise MetricError(f"{key!r} is no parameter. Give keyword arguments, and the cut-off after '@'.")
        number = int_or_float(value)
        values[key] = value if number is None else number
    return tuple(sorted(values.items()))


def _unknown_metric(text: str, name: str, custom: Collection[str]) -> str:
    """Word the error for a name that is no metric's, with the closest one that is."""
    cut = text[text.rindex("@") :] if "@" in text else ""
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    meant = _ALL.get(stem.casefold().rstrip("_-. "))
    if digits and meant:
        return f"unknown metric {text!r}. Did you mean {meant}@{digits}?"
    close = get_close_matches(name.casefold(), [*_ALL, *custom])
    if close:
        return f"unknown metric {text!r}. Did you mean {_ALL.get(close[0], close[0])}{cut}?"
    return f"unknown metric {text!r}. One of your own needs the hook pytest_irmetrics_metrics, in a command --metric, in Python custom_metrics. Known are {', '.join([*FAMILIES, *custom])}."
