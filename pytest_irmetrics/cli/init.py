"""The command ``init``: write a first golden set, a search to be replaced, and a test that passes."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.cli.command_line import (
    FAILED,
    OK,
    CommandError,
    add_command,
    print_escaped,
    print_line,
    shown_path,
)

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.command_line import Commands

_TEMPLATES = Path(__file__).with_name("init_files")
_FILES = {
    "golden/faq.yaml": "faq.yaml",
    "conftest.py": "conftest.py.txt",
    "test_search.py": "test_search.py.txt",
}
"""The files that are written → their templates."""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "init",
        _init,
        short="write a first golden set, search and test",
        description=(
            f"Write {', '.join(_FILES)}: a golden set of four queries, a toy search to replace by your own, and the "
            "test that gates it, which passes as it is. A file that is there is never written to: it is named, the "
            "others are written, and the command exits with 1."
        ),
        examples="""
pytest-irmetrics init
pytest-irmetrics init --dir tests/search
""",
    )
    parser.add_argument(
        "--dir",
        default=".",
        metavar="DIR",
        help="where to; made if it is not there (default: the current folder)",
    )


def _init(options: argparse.Namespace) -> int:
    folder = Path(options.dir)
    existing = []
    for name, template in _FILES.items():
        path = folder / name
        text = _read_template(template)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            written = _write_new(path, text)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CommandError(
                f"{printable(str(path))}: cannot be written: {reason}. Name another folder: --dir DIR."
            ) from None
        if not written:
            existing.append(name)
        print_escaped(f"{shown_path(path)}: {'written' if written else 'exists, and is left as it is'}")
    if "conftest.py" in existing and not _mentions_retriever(folder / "conftest.py"):
        print_line("\nconftest.py needs a fixture that hands over your search:\n")
        print_line(textwrap.indent(f"import pytest\n\n{_retriever_fixture().rstrip()}", " " * 4))
    where = "" if folder == Path() else f" {shlex.quote(options.dir)}"
    print_line("\nNext:")
    commands = (
        (f"pytest{where}", "hold the search against the thresholds"),
        (f"pytest{where} --ir-baseline-update", "store what it finds today, to be committed"),
        (f"pytest{where} --ir-baseline", "fail where a change finds less"),
    )
    width = max(len(command) for command, _ in commands)
    for command, purpose in commands:
        print_escaped(f"  {command:<{width}}  # {purpose}")
    print_line("\nThen put your search into conftest.py, and your queries into golden/faq.yaml.")
    return FAILED if existing else OK


def _read_template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _retriever_fixture() -> str:
    """Return the fixture at the end of the conftest.py that is written."""
    conftest = _read_template(_FILES["conftest.py"])
    return conftest[conftest.index("@pytest.fixture") :]


def _write_new(path: Path, text: str) -> bool:
    """Write a file unless it exists already, and return whether it was written."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _mentions_retriever(path: Path) -> bool:
    """Say whether a conftest.py has the word; False if it cannot be read."""
    try:
        return b"retriever" in path.read_bytes()
    except OSError:
        return False
