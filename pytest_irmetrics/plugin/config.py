"""The plugin's options and settings, and what a run makes of them.

pytest imports this module in every run, so it imports nothing that reads metrics or thresholds until a test needs them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.golden import GoldenSet

    # What a setting's value is, in words for help and errors, and what reads it, or raises ValueError.
    _Kind = tuple[str, Callable[[str], Any]]

REPORT_ATTRIBUTE = "irmetrics_record"
"""The attribute of a test report that carries the path of its item's file, and the item's ItemReport as one JSON string, or None."""

GOLDEN_KEYWORDS = ("depth", "duplicates")
"""The keywords of the mark `ir_golden`: each takes the place of the setting that is called `ir_` and its name."""

_FLAG = {"action": "store_true"}
_LIST: dict[str, Any] = {"action": "append", "default": []}

OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "--ir-baseline": (_FLAG | {"default": None}, "Fail on regression from the stored baseline, and without one."),
    "--no-ir-baseline": ({"action": "store_false", "dest": "ir_baseline"}, "Do not look at the stored baseline, whatever the setting ir_baseline says."),
    "--ir-baseline-update": (_FLAG, "Store this run as the baseline of each test that passes. With --ir-query: the answers of these queries."),
    "--ir-since": ({"metavar": "REF"}, "Gate, and say what this branch accepts since it left REF: origin/main."),
    "--ir-report": (_LIST | {"metavar": "PATH"}, "Write a report in the format of the suffix (report.html, report.json) or of a prefix (md:PATH). Repeatable."),
    "--ir-query": (_LIST | {"metavar": "ID"}, "Ask only this query and show it in full. Repeatable."),
    "--ir-repeat": ({"metavar": "N"}, "Ask every query N times, 1 to 10,000, and gate on the averages."),
    "--ir-selftest": (_FLAG, "Ask nothing: say which degradations of the stored baseline the gates catch."),
}  # fmt: skip
"""Option → what `addoption` takes of it, and its help.

`GatedItem.command` repeats those that say how a test is asked in the commands that it prints; `_NARROWING_OPTIONS` of
plugin/baselines.py names those that leave out tests, `_notes` of plugin/recorder.py those that are in vain where no test gates.
"""


def _one_of(*choices: str) -> _Kind:
    return f"`{'` or `'.join(choices)}`", lambda text: choices[choices.index(text.lower())]


def _whole_number(highest: int) -> _Kind:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= highest):
            raise ValueError
        return int(text)

    return f"a whole number from 1 to {highest:,}", read


def _seconds(text: str) -> float | None:
    if not text:
        return None
    from pytest_irmetrics.base.numbers import read_number  # noqa: PLC0415 - few runs limit the time of a query

    seconds = read_number(text)
    if seconds is None or seconds <= 0:
        raise ValueError
    return float(seconds)


def _folder(text: str) -> str:
    """Read the name of a folder below that of each test file: elsewhere the tests of two folders would share files."""
    path = PurePath(text)
    if path.anchor or ".." in path.parts or not path.parts:
        raise ValueError
    return path.as_posix()  # as paths in a Git repository have it


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]


_COUNT = _whole_number(10**9)

SETTINGS: dict[str, tuple[str | None, str, _Kind]] = {
    # As DEFAULT_METRICS of evaluation/evaluate.py has them.
    "ir_metrics": (None, "The metrics to report, besides those that have a threshold", ("names (mrr map ndcg@3 ndcg@10 precision@10 recall@10)", _lines)),
    "ir_thresholds": (None, "Thresholds of every test that gates", ("`METRIC [MIN] word=value …` in a line each, with the mark's words (none)", _lines)),
    "ir_baseline": ("false", "Whether every run gates on the stored baselines", _one_of("true", "false")),
    "ir_baseline_dir": ("ir_baselines", "Where the baselines are", ("a folder below that of each test file", _folder)),
    "ir_max_drop": ("auto", "How far a mean may fall from the baseline where no threshold says so", ("a number, per cent, `auto` or `off`", str)),
    "ir_since": ("", "The REF of --ir-since where that is not given", ("a branch, tag or commit", str)),
    "ir_accept": ("warn", "What a fall does that this branch has stored", _one_of("warn", "fail")),
    "ir_depth": ("10", "How many results a retriever is asked for", _COUNT),
    "ir_duplicates": ("error", "What a repeated id in a ranking does (`collapse` keeps the first)", _one_of("error", "collapse")),
    "ir_concurrency": ("1", "How many queries are in flight at once", _COUNT),
    "ir_timeout": ("", "How long a query may take", ("a number of seconds above 0", _seconds)),
    # The answers of each time are in memory.
    "ir_repeat": ("1", "How many times every query is asked", _whole_number(10_000)),
}  # fmt: skip
"""Setting → its default, as a user writes it (empty: none; None: no lines), its help, and what its value is.

Fields of `RetrievalOptions`, and arguments of `ir_golden`, are found here by their names.
"""


def read_setting(name: str, written: Any, called: str = "") -> Any:
    """Read a value of a setting as text or, from a native TOML table or a mark, of its own type.

    Raises pytest.UsageError, which calls it by its name unless it is `called` otherwise.
    """
    words, read = SETTINGS[name][2]
    text = "\n".join(map(str, written)) if isinstance(written, list) else str(written).strip()
    try:
        return read(text)
    except ValueError:
        raise pytest.UsageError(f"{called or name} is {text!r}; it is {words}.") from None


class RunConfig:
    """The options and settings of a pytest run, and the golden sets that its tests use, each read once.

    Numbers, switches and choices are checked when the run begins. Metrics and thresholds are read when a test asks for
    them, so that those alone fail which use them.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Read all that is plain. Raises pytest.UsageError with the name of the option or setting that is wrong."""
        self._config, option = config, config.getoption
        self.values: dict[str, Any] = {
            name.removeprefix("ir_"): read_setting(name, _written(config, name)) for name in SETTINGS
        }
        """Each setting's value, by its name without ``ir_``; an option that says otherwise takes its place."""
        self.update: bool = option("ir_baseline_update")
        """Whether the baselines of tests that pass are stored."""
        self.selftest: bool = option("ir_selftest")
        self.only_queries: tuple[str, ...] = tuple(option("ir_query"))
        """The ids of ``--ir-query``."""
        self.reports: list[str] = option("ir_report")
        """The report files to write, as they were given."""
        self.added = (*config.getini("addopts"), *os.environ.get("PYTEST_ADDOPTS", "").split())
        """The words that pytest adds to the command line."""
        self._require_consistency()
        asked, given = option("ir_baseline"), option("ir_since")
        since: str = self.values["since"] if given is None else given
        by_default = self.values["baseline"] == "true" or bool(since and not self.update)
        self.gates: bool = self.selftest or (by_default if asked is None else asked)
        """Whether tests are compared with their stored baselines, and fail without one."""
        self.reads_baselines = self.gates or self.update
        shows = bool(self.only_queries) and (self.update or given is None)
        self.since = since if self.reads_baselines and not (self.selftest or shows) else ""
        """The branch, tag or commit since which to say what is accepted; empty for none."""
        # With the setting ir_since an update stores; beside --ir-since it is held to that, too.
        self.refuses: bool = self.values["accept"] == "fail" and not (self.update and given is None)
        """Whether what a branch accepts since `since` fails."""
        self.baseline_dir: str = self.values["baseline_dir"]
        if (repeat := option("ir_repeat")) is not None:
            self.values["repeat"] = read_setting("ir_repeat", repeat, "--ir-repeat")

        self.golden_set = cache(self._read_golden_set)
        """Reads a golden set, once. Raises GoldenSetError."""
        self.marked_golden_sets: Collection[Path] = ()
        """The files that ``ir_golden`` gives to the tests of this run."""

    def _require_consistency(self) -> None:
        """Refuse options that have no value, or that cannot be given together: each message beside what it is about."""
        asked, since = self._config.getoption("ir_baseline"), self._config.getoption("ir_since")
        gates_and_stores, is_empty = asked and self.update, since is not None and not since.strip()
        is_off = since is not None and asked is False and not self.update
        asks_after_all = self.selftest and (self.update or self.only_queries or since is not None)
        wrong = {
            "--ir-baseline and --ir-baseline-update were both given, on the command line or in addopts: one gates on the stored baselines, the other replaces them. Give one. To gate in every run, write `ir_baseline = true` in place of addopts, which --ir-baseline-update overrides.": gates_and_stores,
            "--ir-since is empty, and would compare with nothing. Name the branch that this one left: --ir-since=origin/main.": is_empty,
            "--ir-since gates on the stored baselines, and --no-ir-baseline turns that off. Give one of them.": is_off,
            "--ir-selftest asks no query and stores nothing; run it without --ir-baseline-update, --ir-query and --ir-since.": asks_after_all,
        }
        for one, what in (("--ir-selftest", "ask the search anything"), ("--ir-query", "judge a mean")):
            text = f"{one} is among the addopts, so that no run would {what}. Type it where it is wanted."
            wrong[text] = any(word.startswith(one) for word in self.added)
        if text := next((text for text, is_so in wrong.items() if is_so), ""):
            raise pytest.UsageError(text)

    @cached_property
    def screen(self) -> Screen:
        """The width and the encoding of the terminal reporter's stream."""
        from pytest_irmetrics.base.screen import Screen  # noqa: PLC0415 - see the top

        # -p no:terminal, also in a worker of pytest-xdist, which does not know who reads its failures
        if not self._config.pluginmanager.has_plugin("terminalreporter"):
            return Screen(80, "utf-8")
        writer = self._config.get_terminal_writer()
        encoding = getattr(writer._file, "encoding", None)  # noqa: SLF001 - pytest has no public way to it
        return Screen(writer.fullwidth, encoding)

    def _read_golden_set(self, path: Path) -> GoldenSet:
        """Read a golden set, with the names of the user's own metrics known. Raises GoldenSetError."""
        from pytest_irmetrics.golden import GoldenSet  # noqa: PLC0415 - see the top

        return GoldenSet.load(path, custom_metrics=self.custom_metrics, shown=self.shown(path))

    def shown(self, path: Path) -> str:
        """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
        from pytest_irmetrics.base.files import path_below  # noqa: PLC0415 - see the top

        return path_below(os.path.normpath(path.absolute()), self._config.invocation_params.dir)

    @cached_property
    def custom_metrics(self) -> Mapping[str, Callable[..., float]]:
        """The user's own metrics. Raises MetricError."""
        from pytest_irmetrics.metrics import MetricError, parse_metric  # noqa: PLC0415 - see the top

        metrics: dict[str, Callable[..., float]] = {}
        what = "pytest_irmetrics_metrics"
        for offered in self._config.hook.pytest_irmetrics_metrics(config=self._config):
            if not isinstance(offered, Mapping):
                raise MetricError(f"{what} gave {offered!r}; it maps names to functions.")
            for name, function in offered.items():
                if not (isinstance(name, str) and callable(function)):
                    raise MetricError(f"{what} gave {name!r}: {function!r}; it maps names to functions.")
                # Services may each offer one that they share: what a conftest.py offers holds for all tests of a run.
                taken = metrics.get(name.lower(), function) is not function
                with suppress(MetricError):  # a name that no metric of the package has
                    taken = taken or bool(parse_metric(name))
                if taken:
                    raise MetricError(f"{what}: the name {name!r} is already taken. Choose another.")
                metrics[name.lower()] = function
        return metrics


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


def _written(config: pytest.Config, name: str) -> Any:
    """Return a setting that pytest may hand over as text or, from a native TOML table, as a value of its own type."""
    with suppress(TypeError, pytest.UsageError):
        return config.getini(name)
    # Since 9.0 pytest accepts only a value of the declared type; before 9.2, whose types may be a union, none is "a number,
    # quoted or not", and a list of lines is no union yet.
    raw = getattr(config, "_inicfg", {}).get(name)
    return getattr(raw, "value", raw)
