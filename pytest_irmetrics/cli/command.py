"""The command line as a whole: finds the command, and tells what went wrong without a traceback."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from typing import TYPE_CHECKING

from pytest_irmetrics.cli import baselines, check, convert, diff, init, label, report, schema, show
from pytest_irmetrics.cli.screen import FAILED, OK, Parser, RefusedError, tell
from pytest_irmetrics.evaluation import EvaluationError
from pytest_irmetrics.golden import GoldenSetError
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.run import RunError
from pytest_irmetrics.run.baseline import BaselineError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

_COMMANDS = (init, check, show, diff, label, convert, report, baselines, schema)

_TOLD = (BaselineError, EvaluationError, GoldenSetError, MetricError, RefusedError, RunError)
"""What a user can mend; the message says where it is and how."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 0; 1 for what it found wrong; 2 for a wrong command line."""
    parser = Parser(
        prog="pytest-irmetrics",
        description="Golden query sets, runs, baselines and reports of pytest-irmetrics, outside of a test run.",
        epilog="Each command says more with --help. They exit with 0; with 1 for what they found wrong; with 2 where "
        "the command line is wrong.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    options = parser.parse_args(label.marked(sys.argv[1:] if arguments is None else arguments))
    if options.version:
        tell(f"pytest-irmetrics {metadata.version('pytest-irmetrics')}")
        return OK
    run: Callable[[argparse.Namespace], int] | None = getattr(options, "run", None)
    if run is None:
        parser.error(f"a command is missing: {', '.join(commands.choices)}")
    try:
        status = _run(run, options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or the interpreter complains as it exits
        return FAILED
    except KeyboardInterrupt:
        return 130  # as shells count an interrupt
    return status


def _run(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    try:
        return run(options)
    except _TOLD as error:
        sys.stdout.flush()  # so that the error comes after what was printed before it
        for line in str(error).splitlines():
            tell(line, sys.stderr)
        return FAILED
