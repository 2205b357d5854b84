"""What all commands share: how they print, how they refuse, how they read what several of them take."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal, to_stream
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.reports.terminal import Screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Commands = argparse._SubParsersAction["Parser"]  # noqa: SLF001 - it has no public name

GOLDEN_HELP = "a golden set: .yaml, .yml, .jsonl, .csv, .tsv, TREC .qrels, Quepid's .json, or a BEIR folder"

OK, FAILED = 0, 1  # argparse itself exits with 2 where the command line has no meaning


class RefusedError(IRMetricsError):
    """What a command cannot do; reads ``file:line: what is wrong. What to do.``."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors repeat nothing that a terminal or a CI log would obey."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong with the command line, and exit with 2."""
        super().error(to_stream(escape_terminal(message), sys.stderr.encoding))


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    short: str,
    description: str,
    examples: str,
) -> Parser:
    """Add a command with its help: `description` is one paragraph, `examples` are lines as a shell takes them."""
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    parser = commands.add_parser(
        name,
        help=short,
        description=description,
        epilog=f"examples:\n{lines}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def add_own_metrics(parser: argparse.ArgumentParser) -> None:
    """Add the option that names what `pytest_irmetrics_metrics` would offer, which only pytest can ask."""
    parser.add_argument(
        "--metric",
        action="append",
        type=_own_metric,
        default=[],
        metavar="NAME",
        help="a metric of your own that the golden set's thresholds may name (repeatable)",
    )


def _own_metric(name: str) -> str:
    try:
        own = parse_metric(name, custom=(name,)).kind == "custom"
    except MetricError:  # built in, or no name
        own = False
    if not own:
        raise argparse.ArgumentTypeError(
            f"{name!r} is no name of a metric of your own. Give the name alone, which the built-in ones do not have."
        )
    return name


class _Formatter(argparse.HelpFormatter):
    """Wraps a description, and keeps examples as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:\n"):
            return "\n".join(f"{indent}{line}" for line in text.splitlines())
        return super()._fill_text(text, width, indent)


def tell(line: str, stream: TextIO | None = None) -> None:
    """Print one line on any terminal, whatever a file put into it."""
    stream = sys.stdout if stream is None else stream
    print(to_stream(escape_terminal(line), stream.encoding), file=stream)


def json_line(record: object) -> str:
    """Write JSON in ASCII, in which no terminal and no CI log finds anything to obey."""
    text = json.dumps(record)
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023").replace("::", ":\\u003a")


def show(line: str) -> None:
    """Print one line that `screen()` made safe already."""
    print(line)  # noqa: T201 - a command prints


def screen() -> Screen:
    """Return what standard output can show; where it is no terminal, lines are as wide as they need to be read."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Screen(max(width, 40), sys.stdout.encoding)
