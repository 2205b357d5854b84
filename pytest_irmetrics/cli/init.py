"""Write a first golden set, search and test.

Write golden/faq.yaml, conftest.py, test_search.py: a golden set of four
queries, a toy search to replace by your own, and the test that gates it, which
passes as it is. A file that is there is never written to: it is named, the
others are written, and the command exits with 1.

examples:
  pytest-irmetrics init
  pytest-irmetrics init --dir tests/search
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from pytest_irmetrics.cli import shared
from pytest_irmetrics.cli.shared import argument
from pytest_irmetrics.reports.blocks import Commands

ARGUMENTS = (
    argument("--dir", default=".", metavar="DIR", help="where to; made if it is not there (default: the current folder)"),
)  # fmt: skip
_TEMPLATES = Path(__file__).with_name("init_files")
_FILES = {
    "golden/faq.yaml": "faq.yaml",
    "conftest.py": "conftest.py.txt",
    "test_search.py": "test_search.py.txt",
}
"""The files that are written → their templates."""


def run(options: argparse.Namespace) -> int:
    """Write the files that are not there, and say what to type next."""
    status = shared.OK
    for name, template in _FILES.items():
        path = Path(options.dir, name)
        said = "written"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write((_TEMPLATES / template).read_bytes())
        except FileExistsError:
            status, said = shared.FAILED, "exists, and is left as it is"
        shared.print_escaped(f"{shared.shown_path(path)}: {said}")
    command = shlex.join(["pytest", *([] if options.dir == "." else [options.dir])])
    commands = [
        ("Hold the search against the thresholds", command),
        ("Store what it finds today, to be committed", f"{command} --ir-baseline-update"),
        ("Fail where a change finds less", f"{command} --ir-baseline"),
    ]
    shared.print_line("")
    shared.print_blocks([Commands(commands)])
    shared.print_line("\nThen put your search into conftest.py, and your queries into golden/faq.yaml.")
    return status
