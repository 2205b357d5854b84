"""The tables of ``check --tolerance``: how often harmless changes would fail each ``max_drop``, and which limit is enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_irmetrics.analysis.tolerance import ENOUGH_CHANGED, ONCE_IN, Forecast, count_costly
from pytest_irmetrics.base.layout import table
from pytest_irmetrics.cli.command_line import CommandError, stdout_screen
from pytest_irmetrics.cli.inputs import (
    USUAL_METRICS,
    load_runs,
    metrics_beyond,
    no_run_message,
    runs_of_golden_set,
    scorable_metrics,
)
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Limit, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Metric

_DEFAULT = Limit(0.01)
"""The default of the setting `ir_max_drop`: what a mark or a setting says no golden set knows."""


class _Tolerance(NamedTuple):
    """A limit to measure: on a metric over all queries, or over those with a tag."""

    metric: Metric
    tag: str | None
    limit: Limit
    own: bool
    """Whether the golden set sets it."""

    @property
    def name(self) -> str:
        return self.metric.name if self.tag is None else f"{self.metric.name} [{self.tag}]"

    @property
    def shown(self) -> str:
        return f"{self.limit}{'' if self.own else '*'}"


class _Measured(NamedTuple):
    """A limit, held against the harmless changes of a change's size."""

    tolerance: _Tolerance
    queries: int
    changed: int
    max_drop: float
    forecast: Forecast

    def as_json(self) -> dict[str, object]:
        return {
            "metric": self.tolerance.metric.name,
            "tag": self.tolerance.tag,
            "queries": self.queries,
            "changed": self.changed,
            "max_drop": self.max_drop,
            "from_golden_set": self.tolerance.own,
            "share_failing": self.forecast.share,
            "once_in_20": self.forecast.enough,
            "queries_needed": self.forecast.needed,
        }

    def as_cells(self) -> list[str]:
        share, needed = self.forecast.share, self.forecast.needed
        few = "too few changed" if self.changed else ""
        return [
            self.tolerance.name,
            str(self.queries),
            str(self.changed),
            self.tolerance.shown,
            ("under 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %") if self.changed else "-",
            f"{self.forecast.enough:g}" if self.changed else "-",
            few if needed is None else f"{needed[0]:,} to {needed[1]:,}",
        ]


class _Costs(NamedTuple):
    """A limit, held against what can befall one query alone."""

    tolerance: _Tolerance
    queries: int
    max_drop: float
    wrong_first: int
    lost: int

    def as_json(self) -> dict[str, object]:
        return {
            "metric": self.tolerance.metric.name,
            "tag": self.tolerance.tag,
            "queries": self.queries,
            "max_drop": self.max_drop,
            "from_golden_set": self.tolerance.own,
            "failing_by_one_wrong_first": self.wrong_first,
            "failing_by_one_lost": self.lost,
        }

    def as_cells(self) -> list[str]:
        numbers = str(self.queries), self.tolerance.shown, str(self.wrong_first), str(self.lost)
        return [self.tolerance.name, *numbers]


class _Change(NamedTuple):
    """Two runs of a golden set, with their names for messages."""

    before: tuple[str, Run]
    now: tuple[str, Run]


_Table: TypeAlias = "tuple[_Change, list[_Measured]] | tuple[None, list[_Costs]]"
"""A change with its rows; or the rows that need none."""


def tolerance_records(
    file: str, golden: GoldenSet, options: argparse.Namespace
) -> Iterator[dict[str, object]]:
    """Yield the rows of the tables of one golden set, for ``--json``."""
    for change, rows in _tables(file, golden, options):
        names = {} if change is None else {"before": change.before[0], "now": change.now[0]}
        yield from ({"file": file} | names | row.as_json() for row in rows)


def tolerance_lines(file: str, golden: GoldenSet, options: argparse.Namespace) -> list[str]:
    """Return the lines of the tables of one golden set."""
    screen = stdout_screen()
    return [
        line
        for change, rows in _tables(file, golden, options)
        for line in (
            _lines_without_change(file, rows, screen)
            if change is None
            else _lines_of_change(file, change, rows, screen)
        )
    ]


def _tables(file: str, golden: GoldenSet, options: argparse.Namespace) -> Iterator[_Table]:
    """Yield a table for each change that there is to measure; without any, the one that needs none."""
    changes = list(_changes(file, options))
    for change in changes:
        yield change, _measured(golden, change)
    if not changes:
        yield None, list(_costs(golden))


def _changes(file: str, options: argparse.Namespace) -> Iterator[_Change]:
    """Yield the changes to measure: between two runs, from each baseline to a run, or from baseline to baseline."""
    given = list(load_runs(options.stored, options.tests)) if options.stored else []
    if len(given) > 1:
        yield from (_Change(given[0], other) for other in given[1:])
        return
    stored = [] if file == "-" else list(runs_of_golden_set(Path(file), [], [], options.baseline_dir))
    if given:
        if not stored:
            raise CommandError(
                f"There is nothing to compare {given[0][0]} with. {no_run_message(options.baseline_dir)}"
            )
        yield from (_Change(baseline, given[0]) for baseline in stored)
    else:
        yield from (_Change(stored[0], other) for other in stored[1:])


def _tolerances(golden: GoldenSet, beyond: int | None) -> list[_Tolerance]:
    """Return the limits to measure: those of the golden set, and the default for every other reported metric."""
    gates = list(resolve([golden.thresholds]).with_word("max_drop"))
    reported = [metric for metric in USUAL_METRICS if metric.kind == "ranking"]
    metrics = scorable_metrics([*reported, *(gate.metric for gate in gates)], golden)
    known = [metric for metric in metrics if metric not in metrics_beyond(metrics, beyond)]
    own = {(gate.metric, gate.tag): gate.limit for gate in gates if gate.metric in known}
    whole = [
        _Tolerance(metric, None, own.get((metric, None), _DEFAULT), (metric, None) in own) for metric in known
    ]
    return [
        *whole,
        *(_Tolerance(metric, tag, limit, own=True) for (metric, tag), limit in own.items() if tag),
    ]


def _measured(golden: GoldenSet, change: _Change) -> list[_Measured]:
    """Return for each limit how often harmless changes of a change's size would exceed it."""
    (_, before), (_, now) = change
    depth = min((run.depth for run in (before, now) if run.depth is not None), default=None)
    tolerances = _tolerances(golden, depth)
    metrics = dict.fromkeys(tolerance.metric for tolerance in tolerances)
    comparison = compare(*(evaluate_run(golden, run, metrics, depth=run.depth) for run in (now, before)))
    rows = []
    for tolerance in tolerances:
        moved = comparison.change(tolerance.metric, tolerance.tag)
        allowed = tolerance.limit.absolute(moved.baseline)
        forecast = Forecast(moved, allowed, comparison.run_noise(tolerance.metric, tolerance.tag))
        rows.append(_Measured(tolerance, moved.n, moved.changed, allowed, forecast))
    return rows


def _lines_of_change(
    file: str, change: _Change, rows: Sequence[_Measured | _Costs], screen: Screen
) -> Iterator[str]:
    """Yield the table of a change, and what its columns say."""
    yield screen.cut(f"golden  {file}")
    yield screen.cut(f"change  {change.before[0]} → {change.now[0]}")
    yield ""
    header = ["metric", "n", "changed", "max_drop", "fails", f"once in {ONCE_IN}", "queries needed"]
    yield from _table_lines([header, *(row.as_cells() for row in rows)], screen)
    yield from screen.wrapped(
        "A harmless change moves as many queries as far as this one, each as likely up as down. fails: how many of them fall by "
        f"more than max_drop. once in {ONCE_IN}: the least max_drop that no more of them exceed. queries needed: with how many the max_drop "
        f"shown fails so often; it takes {ENOUGH_CHANGED} changed queries to say."
    )
    yield from _default_note(file, [row.tolerance for row in rows], screen)


def _table_lines(rows: Sequence[Sequence[str]], screen: Screen) -> Iterator[str]:
    cells = [[screen.line(cell) for cell in row] for row in rows]
    yield from table(
        cells, "<" + ">" * (len(rows[0]) - 1), screen.width, ascii_only=screen.ascii_only, whole=(0,)
    )
    yield ""


def _default_note(file: str, tolerances: Sequence[_Tolerance], screen: Screen) -> Iterator[str]:
    """Yield what the star at a limit says, where there is one."""
    if not all(tolerance.own for tolerance in tolerances):
        yield from screen.wrapped(
            f"* {file} sets none: the default of ir_max_drop. What marks and settings say is not known here."
        )


def _costs(golden: GoldenSet) -> Iterator[_Costs]:
    """Yield for each limit in how many queries one thing alone exceeds it."""
    tolerances = _tolerances(golden, None)
    unasked = evaluate_run(golden, Run({}), dict.fromkeys(tolerance.metric for tolerance in tolerances))
    for tolerance in tolerances:
        queries = unasked.queries(tolerance.metric, tolerance.tag)
        allowed = tolerance.limit.absolute(tolerance.metric.upper)
        costs = count_costly(golden, queries, tolerance.metric, allowed)
        yield _Costs(tolerance, len(queries), allowed, *costs)


def _lines_without_change(file: str, rows: Sequence[_Measured | _Costs], screen: Screen) -> Iterator[str]:
    """Yield the table that needs no change, what its columns say, and how to get a change to measure."""
    yield screen.cut(f"golden  {file}")
    yield ""
    header = ["metric", "n", "max_drop", "one wrong first", "one lost"]
    yield from _table_lines([header, *(row.as_cells() for row in rows)], screen)
    yield from screen.wrapped(
        "In how many of the queries one thing alone falls by more than max_drop: a wrong document above the perfect answer; the "
        "loss of all relevant documents."
    )
    yield from _default_note(file, [row.tolerance for row in rows], screen)
    yield from screen.wrapped(
        "How often a harmless change fails takes a change to measure: store a baseline, change what should make nothing worse, "
        "and name the run of that:"
    )
    yield "  pytest --ir-report=json:run.json"
    yield screen.line(f"  pytest-irmetrics check --tolerance {file} --run run.json")
