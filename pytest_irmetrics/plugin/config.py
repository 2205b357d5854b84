"""The plugin's options and settings, and what a run makes of them.

pytest imports this module in every run, so it imports nothing that reads metrics or thresholds until a test needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Limit, Threshold

OPTIONS: dict[str, dict[str, Any]] = {
    "--ir-baseline": {
        "action": "store_true",
        "default": None,
        "help": "Fail on regression from the stored baseline, and where a test has none.",
    },
    "--no-ir-baseline": {
        "action": "store_false",
        "dest": "ir_baseline",
        "help": "Do not look at the stored baseline, whatever the setting ir_baseline says.",
    },
    "--ir-baseline-update": {
        "action": "store_true",
        "help": "Store this run as the baseline of each test that passes; drops are printed, not gated. With --ir-query: "
        "replace the answers of these queries alone.",
    },
    "--ir-since": {
        "metavar": "REF",
        "help": "Gate on the stored baselines, and say what this branch accepts in them since it left REF: origin/main.",
    },
    "--ir-report": {
        "action": "append",
        "default": [],
        "metavar": "PATH",
        "help": "Write a report: .html, .json or .md, or with a prefix html:, json:, md:. Repeatable.",
    },
    "--ir-query": {
        "action": "append",
        "default": [],
        "metavar": "ID",
        "help": "Ask only this query and show its ranking and judgments in full. Repeatable.",
    },
    "--ir-repeat": {
        "metavar": "N",
        "help": "Ask every query N times, 1 to 10,000, and gate on the averages.",
    },
    "--ir-selftest": {
        "action": "store_true",
        "help": "Ask nothing: degrade the stored baseline in many ways and tell which of them the thresholds would catch.",
    },
}
"""Option → what `addoption` takes of it."""


def _choice(*choices: str) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        text = str(value).strip().lower()
        if text not in choices:
            raise pytest.UsageError(f"{name} is {text!r}; it is `{'` or `'.join(choices)}`.")
        return text

    return read


def _whole_number(highest: int) -> Callable[[str, Any], int]:
    def read(name: str, value: Any) -> int:
        text = str(value).strip()
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and 1 <= int(text) <= highest):
            raise pytest.UsageError(f"{name} is {text[:40]!r}; it is a whole number from 1 to {highest:,}.")
        return int(text)

    return read


def _seconds(name: str, value: Any) -> float | None:
    text = str(value).strip()
    if not text:
        return None
    from pytest_irmetrics.base.numbers import read_number  # noqa: PLC0415 - few runs limit the time of a query

    seconds = read_number(text)
    if seconds is None or seconds <= 0:
        raise pytest.UsageError(f"{name} is {text!r}; it is a number of seconds above 0.")
    return float(seconds)


def _folder(name: str, value: Any) -> str:
    """Read the name of a folder below that of each test file: elsewhere the tests of two folders would share files."""
    text = str(value).strip() or "ir_baselines"
    path = PurePath(text)
    if path.anchor or ".." in path.parts or not path.parts:
        raise pytest.UsageError(
            f"{name} is {text!r}; it is a folder below that of each test file: `ir_baselines`."
        )
    return text


def _text(_name: str, value: Any) -> str:
    return str(value).strip()


def _lines(_name: str, value: Any) -> list[str]:
    lines = value if isinstance(value, list) else str(value).splitlines()
    return [line for line in (str(line).strip() for line in lines) if line and not line.startswith("#")]


_count = _whole_number(10**9)
_repeats = _whole_number(10_000)  # the answers of each time are in memory


SETTINGS: dict[str, tuple[str | None, Callable[[str, Any], Any], str]] = {
    "ir_metrics": (
        None,
        _lines,
        "The metrics to report, besides those that have a threshold (mrr map ndcg@3 ndcg@10 precision@10 recall@10).",
    ),
    "ir_thresholds": (
        None,
        _lines,
        "Thresholds of every test that gates, a line each: `METRIC [MIN] word=value …`, the mark's words (none).",
    ),
    "ir_baseline": (
        "false",
        _choice("true", "false"),
        "Whether every run gates on the stored baselines: `true` or `false`",
    ),
    "ir_baseline_dir": ("ir_baselines", _folder, "The folder of the baselines, below that of each test file"),
    "ir_max_drop": (
        "auto",
        _text,
        "How far a mean may fall from the baseline where no threshold says so: a number, per cent, `auto` or `off`",
    ),
    "ir_since": ("", _text, "The branch, tag or commit of --ir-since where that is not given"),
    "ir_accept": (
        "warn",
        _choice("warn", "fail"),
        "What a fall does that this branch has stored in its baseline: `warn` or `fail`",
    ),
    "ir_depth": ("10", _count, "How many results a retriever is asked for, 1 or more"),
    "ir_duplicates": (
        "error",
        _choice("error", "collapse"),
        "What a repeated id in a ranking does: `error`, or `collapse` to the first",
    ),
    "ir_concurrency": ("1", _count, "How many queries are in flight at once, 1 or more"),
    "ir_timeout": ("", _seconds, "How many seconds a query may take, above 0"),
    "ir_repeat": ("1", _repeats, "How many times every query is asked, 1 to 10,000"),
}
"""Setting → its default, as a user writes it (None: no lines); a function of its name and of what stands in the file, which
returns its value and raises pytest.UsageError; and its help, to which the default is added."""


class RunConfig:
    """The options and settings of a pytest run, read once.

    Numbers, switches and choices are checked when the run begins. Metrics and thresholds are read when a test asks for
    them, so that those alone fail which use them.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Read all that is plain. Raises pytest.UsageError with the name of the option or setting that is wrong."""
        self._config, option = config, config.getoption
        self._read = {name: read(name, _written(config, name)) for name, (_, read, _) in SETTINGS.items()}
        ini = self._read
        self.update: bool = option("ir_baseline_update")
        """Whether the baselines of tests that pass are stored."""
        self.selftest: bool = option("ir_selftest")
        self.only_queries: tuple[str, ...] = tuple(option("ir_query"))
        """The ids of ``--ir-query``."""
        self.reports: list[str] = option("ir_report")
        """The report files to write, as they were given."""
        asked, given = option("ir_baseline"), option("ir_since")
        self._require_consistency(asked=asked, since=given)
        since: str = ini["ir_since"] if given is None else given.strip()
        replaces = self.update or self.selftest
        self.gates: bool = self.selftest or (
            asked if asked is not None else ini["ir_baseline"] == "true" or bool(since and not replaces)
        )
        """Whether tests are compared with their stored baselines, and fail without one."""
        self.is_asked_for = bool(self.gates or self.update or self.only_queries or self.reports)
        """Whether somebody should hear of a run in which no test uses irmetrics."""
        judges_all = (self.gates or self.update) and not (self.selftest or self.only_queries)
        self.since = since if judges_all else ""
        """The branch, tag or commit since which to say what is accepted; empty for none."""
        self.since_is_setting = given is None
        self.accept: str = ini["ir_accept"]
        """What a fall does that today's baseline holds and that of ``since`` does not: `warn` or `fail`."""
        self.baseline_dir: str = ini["ir_baseline_dir"]
        self.depth: int = ini["ir_depth"]
        self.duplicates: str = ini["ir_duplicates"]
        self.concurrency: int = ini["ir_concurrency"]
        self.timeout: float | None = ini["ir_timeout"]
        repeat = option("ir_repeat")
        self.repeat: int = ini["ir_repeat"] if repeat is None else _repeats("--ir-repeat", repeat)

    def _require_consistency(self, *, asked: bool | None, since: str | None) -> None:
        """Refuse options that have no value, or that cannot be given together: each message beside what it is about."""
        given, empty = since is not None, not all(map(str.strip, self.only_queries))
        wrong = {
            "--ir-baseline and --ir-baseline-update were both given, on the command line or in addopts: one gates on "
            "the stored baselines, the other replaces them. Give one. To gate in every run, write `ir_baseline = true` "
            "in place of addopts; --ir-baseline-update goes before that.": asked and self.update,
            "--ir-since is empty, and would compare with nothing. Name the branch that this one left: "
            "--ir-since=origin/main.": since is not None and not since.strip(),
            "--ir-since gates on the stored baselines, and --no-ir-baseline turns that off. Give one of them.": given
            and asked is False,
            "--ir-query is empty. Give the id of a query: --ir-query=refund.": empty,
            "--ir-selftest asks no query and stores nothing; run it without --ir-baseline-update, --ir-query and "
            "--ir-since.": self.selftest and (self.update or self.only_queries or given),
        }
        for text, is_so in wrong.items():
            if is_so:
                raise pytest.UsageError(text)

    @cached_property
    def custom_metrics(self) -> Mapping[str, Callable[..., float]]:
        """The user's own metrics. Raises MetricError."""
        from pytest_irmetrics.metrics import MetricError  # noqa: PLC0415 - see the top

        metrics: dict[str, Callable[..., float]] = {}
        what = "pytest_irmetrics_metrics"
        for offered in self._config.hook.pytest_irmetrics_metrics(config=self._config):
            if not isinstance(offered, Mapping):
                raise MetricError(f"{what} gave {offered!r}; it maps names to functions.")
            for name, function in offered.items():
                if not (isinstance(name, str) and callable(function)):
                    raise MetricError(f"{what} gave {name!r}: {function!r}; it maps names to functions.")
                if name.lower() in metrics or _is_taken(name):
                    raise MetricError(f"{what}: the name {name!r} is already taken.")
                metrics[name.lower()] = function
        return metrics

    def reported_metrics(self, depth: int) -> tuple[Metric, ...]:
        """Return the metrics to report where a retriever is asked for ``depth`` results. Raises MetricError.

        Of the default metrics those with a deeper cut-off are left out.
        """
        from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics, split_names  # noqa: PLC0415 - see the top
        from pytest_irmetrics.metrics import MetricError  # noqa: PLC0415 - see the top

        names = [name for line in self._read["ir_metrics"] for name in split_names(line)]
        try:
            metrics = read_metrics(names or DEFAULT_METRICS, self.custom_metrics)
        except MetricError as error:
            raise MetricError(f"ir_metrics: {error}") from None
        return tuple(metric for metric in metrics if names or (metric.cutoff or 0) <= depth)

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Those of the setting ``ir_thresholds``. Raises ThresholdError."""
        from pytest_irmetrics import thresholds  # noqa: PLC0415 - see the top
        from pytest_irmetrics.metrics import MetricError  # noqa: PLC0415 - see the top

        read = []
        for line in self._read["ir_thresholds"]:
            try:
                custom, origin = self.custom_metrics, "the setting ir_thresholds"
                read.append(thresholds.parse_line(line, origin=origin, custom=custom))
            except (thresholds.ThresholdError, MetricError) as error:
                raise thresholds.ThresholdError(f"ir_thresholds: {line!r}: {error}") from None
        return tuple(read)

    @cached_property
    def max_drop(self) -> Limit | None:
        """How far a mean may fall from the baseline where no threshold says so; None: not gated. Raises ThresholdError."""
        from pytest_irmetrics import thresholds  # noqa: PLC0415 - see the top
        from pytest_irmetrics.metrics import parse_metric  # noqa: PLC0415 - see the top

        written = self._read["ir_max_drop"]
        return thresholds.read_limit(parse_metric("mrr"), "max_drop", written, name="ir_max_drop")


run_config_key = pytest.StashKey[RunConfig]()


def run_config(config: pytest.Config) -> RunConfig:
    """Return the options and settings of a run that has begun."""
    return config.stash[run_config_key]


def requests_irmetrics(item: pytest.Item) -> bool:
    """Whether a test uses the fixture `irmetrics`, itself or through another fixture."""
    return "irmetrics" in getattr(item, "fixturenames", ())


_OPTIONS_WITHOUT_TESTS = ("collectonly", "setuponly", "showfixtures", "show_fixtures_per_test", "cacheshow")
"""Names in ``config.option`` of the options with which pytest calls no test; ``--setup-plan`` sets the second."""


def runs_tests(config: pytest.Config) -> bool:
    """Whether a run calls its tests, and is not one that only collects, sets up or lists."""
    return not any(config.getoption(name, None) for name in _OPTIONS_WITHOUT_TESTS)


def collects_whole_files(config: pytest.Config) -> bool:
    """Whether all tests of a file are collected; ``--lf`` and node ids collect some of them."""
    return not any("::" in argument for argument in config.args) and not config.getoption("lf", None)


def _written(config: pytest.Config, name: str) -> Any:
    """Return a setting that pytest may hand over as text or, from a native TOML table, as a value of its own type."""
    try:
        return config.getini(name)
    except (TypeError, pytest.UsageError):
        # pytest 9.0 and 9.1 accept only a value of the declared type, and none is "a number, quoted or not".
        raw = getattr(config, "_inicfg", {}).get(name)
        value = getattr(raw, "value", raw)
        if isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return [value]
        raise pytest.UsageError(f"{name} has the value {value!r}, which it cannot be.") from None


def _is_taken(name: str) -> bool:
    """Whether a metric of the package has a name."""
    from pytest_irmetrics.metrics import MetricError, parse_metric  # noqa: PLC0415 - see the top

    try:
        return parse_metric(name, custom=()).kind != "custom"
    except MetricError:
        return False
