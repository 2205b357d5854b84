"""Print the JSON Schema of golden sets.

Print a JSON Schema (draft 2020-12) of the golden set's YAML, with which an
editor completes, explains and checks its keys. Store it beside a golden set, and
name it in the set's first line, as below; editors that have the YAML language
server (VS Code, Neovim, Emacs and others) and those of JetBrains read it. It
does not know everything: pytest-irmetrics check has the last word.

examples:
  pytest-irmetrics schema > golden/golden.schema.json
  head -1 golden/faq.yaml
  # yaml-language-server: $schema=golden.schema.json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.cli import shared

if TYPE_CHECKING:
    import argparse

PARENTS = ()
SCHEMA = Path(__file__).with_name("golden.schema.json")
"""The schema of golden sets; one that it accepts, ``check`` may still refuse."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command: none."""


def run(_options: argparse.Namespace) -> int:
    """Print the schema."""
    shared.print_line(SCHEMA.read_text(encoding="utf-8").rstrip("\n"))
    return shared.OK
