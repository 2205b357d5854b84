"""What commands share: options of the command line, the types of their arguments, and printing that is safe anywhere."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal, to_stream
from pytest_irmetrics.base.files import relative_path
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.evaluation.evaluate import DEFAULT_METRICS, read_metrics, split_names
from pytest_irmetrics.golden.formats import SUFFIXES
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.reports.blocks import Level
from pytest_irmetrics.reports.text import lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.reports.blocks import Block

OK, FAILED = 0, 1
"""Exit statuses of commands; argparse itself exits with 2 for a wrong command line."""
STANDARD = "-"
"""As a file's name on the command line: standard input where it is read, standard output where it is written."""

GOLDEN_HELP = f"a golden set: {', '.join(SUFFIXES)}, or a BEIR folder; - is standard input"


class CommandError(IRMetricsError):
    """What a command cannot do, as ``file:line: what is wrong. What to do.``; it is printed, and the command exits with 1."""


# Types of arguments -----------------------------------------------------------------------------------------------


def _metrics(text: str) -> tuple[Metric, ...]:
    """Parse an argument that lists metrics that a stored run can be scored with."""
    try:
        metrics = read_metrics(split_names(text))
    except MetricError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not metrics or any(metric.kind == "latency" for metric in metrics):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of metrics that a stored run tells. Write for example ndcg@10,mrr."
        )
    return metrics


def ranking_metric(text: str) -> Metric:
    """Parse an argument that is the name of one metric over rankings."""
    metric, *more = _metrics(text)
    if more or metric.kind != "ranking":
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one metric over rankings. Write for example ndcg@10."
        )
    return metric


# Arguments of commands --------------------------------------------------------------------------------------------


def argument(
    *names: str, alone: bool = False, **settings: Any
) -> tuple[bool, tuple[str, ...], dict[str, Any]]:
    """Declare an argument of a command, as argparse takes it; no two that stand `alone` may be given together."""
    return alone, names, settings


# fmt: off
METRIC = argument("--metric", action="append", default=[], metavar="NAME", help="the name of a metric of your own, so that a threshold on it is no mistake (repeatable)")
METRICS = argument("--metrics", type=_metrics, action="extend", metavar="METRICS", help=f"what to score, such as ndcg@5,P@3 (default: {','.join(DEFAULT_METRICS)})")
TEST = argument("--test", dest="tests", action="append", default=[], metavar="NAME", help="of a JSON report of several tests, the one whose run is meant: its id, or a part that no other has; given once, or once for each run in their order")
BASELINE_DIR = argument("--baseline-dir", default="ir_baselines", metavar="NAME", help="the folder of the baselines beside the tests, as the setting ir_baseline_dir names it (default: ir_baselines)")
# fmt: on


# Printing ---------------------------------------------------------------------------------------------------------


def shown_path(path: Path) -> str:
    """Return a path as messages show it: relative to the current folder, unless that is longer."""
    return min(str(path), relative_path(path), key=len)


def print_escaped(line: str, stream: TextIO | None = None) -> None:
    """Print one line, on standard output unless told otherwise; control characters and workflow commands are escaped."""
    stream = sys.stdout if stream is None else stream
    print(to_stream(escape_terminal(line), stream.encoding), file=stream)


def print_about(written: str, line: str) -> None:
    """Print a line about a file that was written; on standard error where that is standard output."""
    print_escaped(line, sys.stderr if written == STANDARD else sys.stdout)


def print_note(line: str) -> None:
    """Print a note on standard error."""
    print_escaped(f"note: {line}", sys.stderr)


def print_line(line: str) -> None:
    """Print one line that is free of control characters already, such as those of `stdout_screen`."""
    print(line)  # noqa: T201 - a command prints


def harmless_json(text: str) -> str:
    """Write JSON in ASCII without what a terminal or a CI log takes for a command."""
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023").replace("::", ":\\u003a")


def print_json_list(records: Iterable[object]) -> None:
    """Print one JSON list, a record a line, in ASCII and harmless."""
    lines = ",\n".join(map(json.dumps, records))
    print_line(f"[\n{harmless_json(lines)}\n]")


def print_blocks(blocks: Iterable[Block], **how: Any) -> None:
    """Print blocks of a report as pytest prints them with ``-v``; `how` as `text.lines` takes it."""
    for line in lines(blocks, stdout_screen(), Level.VERBOSE, **how):
        print_line(line.text)


def stdout_screen() -> Screen:
    """Return the width and encoding of standard output; 100 columns where it is no terminal."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(max(width, 40), sys.stdout.encoding)
