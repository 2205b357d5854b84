"""The command ``schema``: print the JSON Schema of golden sets in YAML, for editors, or of the JSON report, for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.cli.command_line import OK, add_command, print_line

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.command_line import Commands

SCHEMA = Path(__file__).with_name("golden.schema.json")
"""The schema of golden sets; one that it accepts, ``check`` may still refuse."""

REPORT_SCHEMA = Path(__file__).with_name("report.schema.json")
"""The schema of what ``--ir-report=json:PATH`` writes."""

_SCHEMAS = {"golden": SCHEMA, "report": REPORT_SCHEMA}


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "schema",
        _schema,
        short="print the JSON Schema of golden sets or of JSON reports",
        description=(
            "Print a JSON Schema (draft 2020-12) of the golden set's YAML, with which an editor completes, explains "
            "and checks its keys. Store it beside a golden set, and name it in "
            "the set's first line, as below; editors that have the YAML "
            "language server (VS Code, Neovim, Emacs and others) and those of JetBrains read it. It does not know "
            "everything: pytest-irmetrics check has the last word. `schema report` prints that of the JSON report (--ir-report=json:PATH) "
            "that this version writes, with what each field means."
        ),
        examples="""
pytest-irmetrics schema > golden/golden.schema.json
head -1 golden/faq.yaml
# yaml-language-server: $schema=golden.schema.json
pytest-irmetrics schema report > report.schema.json
""",
    )
    parser.add_argument(
        "of",
        nargs="?",
        choices=list(_SCHEMAS),
        default="golden",
        metavar="KIND",
        help="golden: of golden sets (the default); report: of the JSON report",
    )


def _schema(options: argparse.Namespace) -> int:
    print_line(_SCHEMAS[options.of].read_text(encoding="utf-8").rstrip("\n"))
    return OK
