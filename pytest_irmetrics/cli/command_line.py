"""Build the command line: the parser, the options that several commands share, and safe printing."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal, to_stream
from pytest_irmetrics.base.paths import relative_path
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden.formats import SUFFIXES
from pytest_irmetrics.metrics import MetricError, parse_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from pytest_irmetrics.metrics import Metric

    Commands = argparse._SubParsersAction["Parser"]  # noqa: SLF001 - it has no public name

GOLDEN_HELP = (
    "a golden set: .yaml, .yml, .jsonl, .csv, .tsv, TREC .qrels, or a BEIR folder; - is standard input"
)

OK, FAILED = 0, 1
"""Exit statuses of commands; argparse itself exits with 2 for a wrong command line."""

_MAX_DIGITS = 9
"""Of a count; Python refuses to read thousands of them."""
_METRIC_NAME = re.compile(r"(?:\([^()]*\)|[^\s,])+")
"""One metric in a list between commas or blanks, which its parameters in parentheses may contain, too."""


class CommandError(IRMetricsError):
    """What a command cannot do, as ``file:line: what is wrong. What to do.``; it is printed, and the command exits with 1."""


class Parser(argparse.ArgumentParser):
    """An argument parser that escapes control characters in its error messages."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong with the command line, and exit with 2."""
        super().error(to_stream(escape_terminal(message), sys.stderr.encoding))


class _Formatter(argparse.HelpFormatter):
    """Wraps text between words and not within options, and keeps examples as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:\n"):
            return "\n".join(f"{indent}{line}" for line in text.splitlines())
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Wrap a text between words alone: argparse would part ``--ir-baseline`` at its hyphen."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    short: str,
    description: str,
    examples: str,
) -> Parser:
    """Add a command with its help; `run` takes the parsed options, its parser among them, and returns the exit status.

    `description` is one paragraph, and `examples` are lines as a shell takes them.
    """
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    parser = commands.add_parser(
        name,
        help=short,
        description=description,
        epilog=f"examples:\n{lines}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


# Options that several commands have -----------------------------------------------------------------------------


def add_metric_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``, which names metrics of the user's own; only pytest can ask `pytest_irmetrics_metrics` for them."""
    parser.add_argument(
        "--metric",
        action="append",
        type=_custom_metric,
        default=[],
        metavar="NAME",
        help="the name of a metric of your own, so that a threshold on it is no mistake (repeatable)",
    )


def _custom_metric(name: str) -> str:
    """Parse an argument that is the name of a metric of the user's own."""
    try:
        custom = parse_metric(name, custom=(name,)).kind == "custom"
    except MetricError:  # built in, or no name
        custom = False
    if not custom:
        raise argparse.ArgumentTypeError(
            f"{name!r} is no name of a metric of your own. Give the name alone, which the built-in ones do not have."
        )
    return name


def add_metrics_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--metrics``, which chooses the built-in metrics to score stored runs with."""
    parser.add_argument(
        "--metrics",
        type=_metrics,
        action="extend",
        metavar="METRICS",
        help=f"what to score, such as ndcg@5,P@3 (default: {','.join(DEFAULT_METRICS)})",
    )


def _metrics(text: str) -> tuple[Metric, ...]:
    """Parse an argument that lists metrics that a stored run can be scored with."""
    try:
        metrics = read_metrics(_METRIC_NAME.findall(text))
    except MetricError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    for metric in metrics:
        if metric.kind == "latency":
            raise argparse.ArgumentTypeError(f"{metric} cannot be read off a stored run. Leave it out.")
    if not metrics:
        raise argparse.ArgumentTypeError("there is no metric in it. Write for example ndcg@10,mrr.")
    return metrics


def ranking_metric(text: str) -> Metric:
    """Parse an argument that is the name of one metric over rankings."""
    metrics = _metrics(text)
    if len(metrics) > 1 or metrics[0].kind != "ranking":
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one metric over rankings. Write for example ndcg@10."
        )
    return metrics[0]


def count_from_zero(text: str) -> int:
    """Parse an argument that is a whole number, 0 or more."""
    if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no count. Write a whole number, 0 or more.")
    return int(text)


def add_test_option(parser: argparse._ActionsContainer, more: str = "") -> None:
    """Add ``--test``, which chooses a test of a JSON report; `more` is added to its help."""
    parser.add_argument(
        "--test",
        dest="tests",
        action="append",
        default=[],
        metavar="NAME",
        help=f"of a JSON report of several tests, the one whose run is meant: its id, or a part that no other has{more}",
    )


def add_baseline_dir_option(parser: argparse._ActionsContainer) -> None:
    """Add ``--baseline-dir``, the counterpart of pytest's setting `ir_baseline_dir`."""
    parser.add_argument(
        "--baseline-dir",
        type=_folder_name,
        default="ir_baselines",
        metavar="NAME",
        help="the folder of the baselines beside the tests, as the setting ir_baseline_dir names it (default: ir_baselines)",
    )


def _folder_name(text: str) -> str:
    """Parse an argument that names a folder beside the tests."""
    if not text or "\0" in text or Path(text).is_absolute() or ".." in Path(text).parts or text == ".":
        raise argparse.ArgumentTypeError(
            f"{text!r} is no folder beside the tests. Write its name, such as ir_baselines."
        )
    return text


def add_quiet_option(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--quiet``, for scripts; standard error says what is wrong all the same."""
    parser.add_argument(
        "--quiet", action="store_true", help=f"do not print {what}; what is wrong is printed all the same"
    )


def add_format_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--from``, which says the format of a golden set whose name does not."""
    parser.add_argument(
        "--from",
        dest="form",
        choices=tuple(dict.fromkeys(SUFFIXES.values())),
        help="the format of the golden set, where its suffix does not say it; - is read as yaml unless this says otherwise",
    )


# Printing -------------------------------------------------------------------------------------------------------


def shown_path(path: Path) -> str:
    """Return a path as messages show it: relative to the current folder, unless that is longer."""
    relative = relative_path(path)
    return relative if len(relative) <= len(str(path)) else str(path)


def print_escaped(line: str, stream: TextIO | None = None) -> None:
    """Print one line, on standard output unless told otherwise; control characters and workflow commands are escaped."""
    stream = sys.stdout if stream is None else stream
    print(to_stream(escape_terminal(line), stream.encoding), file=stream)


def print_line(line: str) -> None:
    """Print one line that is free of control characters already, such as those of `stdout_screen`."""
    print(line)  # noqa: T201 - a command prints


def json_line(record: object) -> str:
    """Write JSON in ASCII on one line, without control characters and without what CI logs take for a command."""
    return harmless_json(json.dumps(record))


def harmless_json(text: str) -> str:
    """Write JSON in ASCII without what a terminal or a CI log takes for a command."""
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023").replace("::", ":\\u003a")


def print_json_list(records: Iterable[object]) -> None:
    """Print one JSON list, a record a line."""
    lines = ",\n".join(map(json_line, records))
    print_line(f"[\n{lines}\n]")


def stdout_screen() -> Screen:
    """Return the width and encoding of standard output; 100 columns where it is no terminal."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(max(width, 40), sys.stdout.encoding)
