"""Read and check all settings and options of a pytest run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics import thresholds
from pytest_irmetrics.base.numbers import read_number
from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics, require_depth
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.plugin.options import SettingsError, gating_setting, read_folder, read_ini, since_ref

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Limit, Threshold

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class Settings(NamedTuple):
    """The plugin's settings and options, checked and converted."""

    metrics: tuple[Metric, ...]
    metrics_named: bool
    """Whether the setting ir_metrics names them, so that they are reported at any depth."""
    thresholds: tuple[Threshold, ...]
    max_drop: Limit | None
    """How far a mean may fall from the baseline where no threshold says so; None: that gate is off."""
    baseline: bool
    update: bool
    baseline_dir: str
    depth: int
    duplicates: str
    concurrency: int
    timeout: float | None
    repeat: int
    only_queries: tuple[str, ...]
    selftest: bool
    since: str
    """The branch, tag or commit since which to say what is accepted; empty for none."""
    accept: str
    """What a fall does that today's baseline holds and that of ``since`` does not: `warn` or `fail`."""
    custom_metrics: Mapping[str, Callable[..., float]]

    @classmethod
    def read(cls, config: pytest.Config) -> Settings:
        """Read all settings. Raises SettingsError with the name of the one that is wrong."""
        custom = _custom_metrics(config)
        update = bool(config.getoption("ir_baseline_update"))
        selftest = bool(config.getoption("ir_selftest"))
        for option, name in (
            ("--ir-baseline-update", "ir_baseline_update"),
            ("--ir-query", "ir_query"),
            ("--ir-since", "ir_since"),
        ):
            if selftest and config.getoption(name):
                raise SettingsError(
                    f"--ir-selftest asks no query and stores nothing; run {option} by itself."
                )
        baseline = config.getoption("ir_baseline")
        repeat = config.getoption("ir_repeat")
        depth = _integer("ir_depth", read_ini(config, "ir_depth"))
        duplicates = str(read_ini(config, "ir_duplicates")).strip().lower()
        if duplicates not in ("error", "collapse"):
            raise SettingsError(f"ir_duplicates is {duplicates!r}; it is `error` or `collapse`.")
        accept = str(read_ini(config, "ir_accept")).strip().lower()
        if accept not in ("warn", "fail"):
            raise SettingsError(f"ir_accept is {accept!r}; it is `warn` or `fail`.")
        metrics = _metrics(config, custom)
        named = bool(read_ini(config, "ir_metrics"))
        if named:
            require_depth(metrics, depth)
        gates = gating_setting(config) is not None if baseline is None else bool(baseline)
        return cls(
            metrics=metrics,
            metrics_named=named,
            thresholds=_thresholds(config, custom),
            max_drop=_max_drop(read_ini(config, "ir_max_drop")),
            baseline=selftest or gates,
            update=update,
            baseline_dir=read_folder(config, "ir_baseline_dir"),
            depth=depth,
            duplicates=duplicates,
            concurrency=_integer("ir_concurrency", read_ini(config, "ir_concurrency")),
            timeout=_seconds("ir_timeout", read_ini(config, "ir_timeout")),
            repeat=_integer("ir_repeat", read_ini(config, "ir_repeat"), _MAX_REPEAT)
            if repeat is None
            else _integer("--ir-repeat", repeat, _MAX_REPEAT),
            only_queries=tuple(config.getoption("ir_query") or ()),
            selftest=selftest,
            since=since_ref(config) if (gates or update) and not selftest else "",
            accept=accept,
            custom_metrics=custom,
        )

    def reported(self, depth: int) -> tuple[Metric, ...]:
        """Return the metrics to report where a retriever is asked for ``depth`` results.

        Of the default metrics those with a deeper cut-off are left out; one that ir_metrics names is an error there.
        """
        if self.metrics_named:
            return self.metrics
        return tuple(metric for metric in self.metrics if (metric.cutoff or 0) <= depth)


_MAX_INTEGER = 10**18  # what slices and iterators take
_MAX_REPEAT = 10_000  # the answers of each time are in memory


def _integer(name: str, value: object, highest: int = _MAX_INTEGER) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or int(text[:18]) < 1:
        raise SettingsError(f"{name} is {cut(text)!r}; it is a whole number, 1 or more.")
    number = int(text[:20])
    if number > highest:
        raise SettingsError(f"{name} is {cut(text)!r}; it is a whole number of at most {highest:,}.")
    return number


def _seconds(name: str, value: object) -> float | None:
    text = str(value).strip()
    if not text:
        return None
    seconds = read_number(text)
    if isinstance(value, bool) or seconds is None or seconds <= 0:
        raise SettingsError(f"{name} is {text!r}; it is a number of seconds above 0.")
    return float(seconds)


def _max_drop(value: object) -> Limit | None:
    try:
        return thresholds.read_limit(parse_metric("mrr"), "max_drop", value, name="ir_max_drop")
    except thresholds.ThresholdError as error:
        raise SettingsError(str(error)) from None


def _lines(value: object) -> list[str]:
    lines = value if isinstance(value, list) else str(value).splitlines()
    return [line for line in (str(line).strip() for line in lines) if line and not line.startswith("#")]


def _metrics(config: pytest.Config, custom: Mapping[str, Callable[..., float]]) -> tuple[Metric, ...]:
    lines = _lines(read_ini(config, "ir_metrics"))
    names = [name for line in lines for name in _split_names(line)]
    try:
        return read_metrics(names or DEFAULT_METRICS, custom)
    except MetricError as error:
        raise SettingsError(f"ir_metrics: {error}") from None


def _split_names(line: str) -> list[str]:
    """Split on white space and commas, but not on a comma between a metric's parentheses."""
    names, name, inside = [], "", 0
    for sign in line + " ":
        inside += (sign == "(") - (sign == ")")
        if (sign.isspace() or sign == ",") and inside <= 0:
            names.append(name)
            name = ""
        else:
            name += sign
    return [*filter(None, names), *([name] if name.strip() else [])]


def _thresholds(config: pytest.Config, custom: Mapping[str, Callable[..., float]]) -> tuple[Threshold, ...]:
    read = []
    for line in _lines(read_ini(config, "ir_thresholds")):
        try:
            read.append(thresholds.parse_line(line, origin="the setting ir_thresholds", custom=custom))
        except (thresholds.ThresholdError, MetricError) as error:
            raise SettingsError(f"ir_thresholds: {line!r}: {error}") from None
    return tuple(read)


def _custom_metrics(config: pytest.Config) -> dict[str, Callable[..., float]]:
    metrics: dict[str, Callable[..., float]] = {}
    for offered in config.hook.pytest_irmetrics_metrics(config=config):
        if not isinstance(offered, Mapping):
            raise SettingsError(f"pytest_irmetrics_metrics gave {offered!r}; it maps names to functions.")
        for name, function in offered.items():
            if not isinstance(name, str) or not callable(function):
                raise SettingsError(
                    f"pytest_irmetrics_metrics gave {name!r}: {function!r}; it maps names to functions."
                )
            taken = name in metrics
            if not taken:
                try:
                    taken = parse_metric(name, custom=()).kind != "custom"
                except MetricError:
                    taken = False
            if taken:
                raise SettingsError(f"pytest_irmetrics_metrics: the name {name!r} is already taken.")
            metrics[name.lower()] = function
    return metrics
