"""``init``: a first golden set, a search to replace, and a test that passes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.cli.inputs import shown
from pytest_irmetrics.cli.screen import FAILED, OK, RefusedError, add_command, show, tell

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.screen import Commands

_GOLDEN = """\
# What people search for, and which documents should come back. Replace these queries by
# real ones, from your logs: twenty show something, a hundred show small changes.
# `pytest-irmetrics check golden/*.yaml` checks the file.
queries:
  - id: reset
    query: how do I reset my password
    relevant: [doc-12, doc-40]
    tags: [account]
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1}     # graded: 3 is exactly it, 1 helps; 0 was judged, and does not
  - query: opening hours               # without an id, the text is the id
    relevant: doc-1
  - query: asdf qwerty
    no_answer: true                    # the right answer is an empty one
"""

_RETRIEVER = """\
@pytest.fixture(scope="session")
def retriever():
    return lambda query, k: my_search(query, size=k)  # ids, best first
"""

_CONFTEST = (
    r'''import re

import pytest

# Replace this by your own search engine, index or RAG pipeline: all that counts is what
# `retriever` returns.
DOCUMENTS = {
    "doc-1": "Opening hours of our shops",
    "doc-4": "What our refund policy does not cover",
    "doc-9": "Refund policy: how do I get my money back",
    "doc-12": "How do I reset my password",
    "doc-13": "How do I close my account",
    "doc-14": "How do I change my address",
    "doc-15": "How do I cancel my order",
    "doc-16": "How do I track my order",
    "doc-17": "How do I pay by invoice",
    "doc-18": "How do I contact you",
    "doc-19": "How do I redeem a voucher",
    "doc-40": "How do I change my password",
}


def my_search(query, size):
    """The documents that share the most words with the query."""
    scores = {doc: len(words(query) & words(text)) for doc, text in DOCUMENTS.items()}
    found = [doc for doc in DOCUMENTS if scores[doc] > 0]
    return sorted(found, key=scores.get, reverse=True)[:size]


def words(text):
    return set(re.findall(r"\w+", text.lower()))


'''
    + _RETRIEVER
)

_TEST = """\
import pytest


@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("mrr", 0.80)
@pytest.mark.ir_threshold("ndcg@10", min=0.70, max_drop=0.01)
def test_search_quality(irmetrics):
    irmetrics.check()
"""

_FILES = {"golden/faq.yaml": _GOLDEN, "conftest.py": _CONFTEST, "test_search.py": _TEST}


def add(commands: Commands) -> None:
    """Add the command."""
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
    kept = []
    for name, text in _FILES.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            written = _write_new(path, text)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RefusedError(
                f"{printable(str(path))}: cannot be written: {reason}. Name another folder: --dir DIR."
            ) from None
        if not written:
            kept.append(name)
        tell(f"{shown(path)}: {'written' if written else 'exists, and is left as it is'}")
    if "conftest.py" in kept and not _mentions_retriever(folder / "conftest.py"):
        show("\nconftest.py needs a fixture that hands over your search:\n")
        show("\n".join(f"    {line}" for line in ["import pytest", "", *_RETRIEVER.splitlines()]))
    where = "" if folder == Path() else f" {shlex.quote(options.dir)}"
    show("\nNext:")
    commands = (
        (f"pytest{where}", "hold the search against the thresholds"),
        (f"pytest{where} --ir-baseline-update", "store what it finds today, to be committed"),
        (f"pytest{where} --ir-baseline", "fail where a change finds less"),
    )
    width = max(len(command) for command, _ in commands)
    for command, what in commands:
        tell(f"  {command:<{width}}  # {what}")
    show("\nThen put your search into conftest.py, and your queries into golden/faq.yaml.")
    return FAILED if kept else OK


def _write_new(path: Path, text: str) -> bool:
    """Write a file unless there is one, and say whether there was none."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _mentions_retriever(path: Path) -> bool:
    try:
        return b"retriever" in path.read_bytes()
    except OSError:
        return False
