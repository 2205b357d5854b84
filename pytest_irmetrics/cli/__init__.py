"""The console script ``pytest-irmetrics``: each module of this folder that has a function `run` is a command of its name.

The first line of its docstring says what it does, the rest is what ``--help`` prints; `ARGUMENTS` are those
that it takes, and `run` gets them parsed and returns the exit status.
"""

from __future__ import annotations

import argparse
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.cli.shared import FAILED, print_error, print_escaped

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0; 1 for what it found wrong; 2 for a wrong command line.

    `arguments` are those of the process unless given.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as `>&-` does
            setattr(sys, name, Path(os.devnull).open("r+", encoding="utf-8"))  # noqa: SIM115 - for the process
    try:
        options = _parser().parse_args(arguments)
        for name, value in vars(options).items():
            if value == "" or (isinstance(value, list) and "" in value):
                options.parser.error(f"{name} is empty. Was it to come from a variable that is not set here?")
        try:
            status: int = options.run(options)
        except IRMetricsError as error:
            status = FAILED
            print_error(error)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed standard output
        _discard_output()
        return FAILED
    except OSError as error:
        where = f"{error.filename}: cannot be used"
        if error.filename is None:
            _discard_output()
            where = "Standard output cannot be written"
        print_escaped(f"{where}: {error.strerror or error}. Check the path and the disk.", sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return 130  # as shells count an interrupt
    return status


def _discard_output() -> None:
    """Let the rest of standard output go nowhere: the interpreter writes it again as it exits, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="pytest-irmetrics",
        description="Golden query sets, runs, baselines and reports of pytest-irmetrics, outside of a test run.",
        epilog="Each command says more with --help. They exit with 0; with 1 for what they found wrong; with 2 where the command line is wrong.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"pytest-irmetrics {version('pytest-irmetrics')}"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for found in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        if not hasattr(module, "run"):
            continue
        short, _, text = str(module.__doc__).partition("\n\n")
        description, _, examples = text.partition("examples:\n")
        command = commands.add_parser(
            found.name,
            help=short[:1].lower() + short[1:].rstrip("."),
            description=description,
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        groups: dict[bool, argparse._ActionsContainer] = {False: command}
        for exclusive, names, settings in module.ARGUMENTS:
            if exclusive not in groups:
                groups[exclusive] = command.add_mutually_exclusive_group()
            groups[exclusive].add_argument(*names, **settings)
        command.set_defaults(run=module.run, parser=command)
    return parser
