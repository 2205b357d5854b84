"""Run the console script ``pytest-irmetrics``: parse the command line, run the command, print errors without a traceback."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.version import own_version
from pytest_irmetrics.cli import (
    check,
    convert,
    history,
    init,
    label,
    report,
    schema,
    score,
)
from pytest_irmetrics.cli.command_line import FAILED, OK, Parser, print_escaped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

_COMMANDS = (init, check, score, history, label, convert, report, schema)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0; 1 for what it found wrong; 2 for a wrong command line.

    `arguments` are those of the process unless given.
    """
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed standard output
        _discard_output()
        return FAILED
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        print_escaped(f"Standard output cannot be written: {error.strerror or error}.", sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130  # as shells count an interrupt
    return status


def _discard_output() -> None:
    """Let the rest of standard output go nowhere: the interpreter writes it again as it exits, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str]) -> int:
    """Parse the command line, run its command and return the status; print an error that the user can mend."""
    parser = Parser(
        prog="pytest-irmetrics",
        description="Golden query sets, runs, baselines and reports of pytest-irmetrics, outside of a test run.",
        epilog="Each command says more with --help. They exit with 0; with 1 for what they found wrong; with 2 where "
        "the command line is wrong.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=None, parser=parser)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.version:
        print_escaped(f"pytest-irmetrics {own_version()}")
        return OK
    run: Callable[[argparse.Namespace], int] | None = options.run
    if run is None:
        parser.error(f"a command is missing: {', '.join(commands.choices)}")
    try:
        return run(options)
    except IRMetricsError as error:
        sys.stdout.flush()  # so that the error comes after what was printed before it
        for line in str(error).splitlines():
            print_escaped(line, sys.stderr)
        return FAILED
