# This docstring is the --help: `make expected` renews the pages.
"""Write a first golden set, search and test.

Write golden/faq.yaml, conftest.py, test_search.py: a golden set of four
queries, a toy search to replace by your own, and the test that gates it, which
passes as it is. With --queries, a list of queries that nobody has judged, one a
line, the golden set has each once, and the test holds their results against
those of the baseline. A file that is there is never written to: it is named, the
others are written, and the command exits with 1.

examples:
  pytest-irmetrics init
  pytest-irmetrics init --dir tests/search
  pytest-irmetrics init --queries queries.txt
"""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli import shared
from pytest_irmetrics.golden.format_txt import read_each_once
from pytest_irmetrics.golden.format_yaml import render
from pytest_irmetrics.golden.source import Source
from pytest_irmetrics.reports.blocks import Commands

ARGUMENTS = (
    shared.argument("--dir", default=".", metavar="DIR", help="where to; made if it is not there (default: the current folder)"),
    shared.argument("--queries", metavar="FILE.txt", help="begin with these queries, one a line, without judgments; - is standard input"),
)  # fmt: skip
_TEMPLATES = Path(__file__).with_name("init_files")
_FILES = {
    "golden/faq.yaml": "faq.yaml",
    "conftest.py": "conftest.py.txt",
    "test_search.py": "test_search.py.txt",
}
"""The files that are written → their templates. docs/index.md and golden-sets.md name what they hold."""
_UNJUDGED = "# Nobody has judged these queries yet (`relevant: []`). They are compared with the baseline, by overlap@10.\n"


def run(options: argparse.Namespace) -> int:
    """Write the files that are not there, and say what to type next."""
    status, needs_fixture = shared.OK, options.queries is not None
    files = {name: (_TEMPLATES / template).read_bytes() for name, template in _FILES.items()}
    if options.queries is not None:
        with shared.readable_file(options.queries) as path:
            source = Source(path, options.queries)
            golden, repeated = source.require(read_each_once, source)
        if repeated:
            left_out = plural(len(repeated), "repeated line is", "repeated lines are")
            shared.print_note(f"{options.queries}: each query is written once; {left_out} left out.")
        (queries,) = render(golden, "", "yaml").values()
        files["golden/faq.yaml"] = (_UNJUDGED + queries).encode()
        files["test_search.py"] = (_TEMPLATES / "test_queries.py.txt").read_bytes()
    for name, data in files.items():
        path = Path(options.dir, name)
        said = "written"
        if os.path.lexists(path):
            status, said = shared.FAILED, "exists, and is left as it is"
            needs_fixture |= name == "conftest.py"
        else:
            write_whole(path, data, again="run it again")
        shared.print_escaped(f"{path.as_posix()}: {said}")
    command = shlex.join(["pytest", *([] if options.dir == "." else [options.dir])])
    finds = "less" if options.queries is None else "other documents"
    commands = [
        ("Store what it finds today, to be committed", f"{command} --ir-baseline-update"),
        (f"Fail where a change finds {finds}", f"{command} --ir-baseline"),
    ]
    shared.print_line("")
    yours = "" if options.queries else ", and your queries into golden/faq.yaml"
    if needs_fixture:
        shared.print_line(f"First put your search into conftest.py, as the fixture `retriever`{yours}.\n")
    else:
        shared.print_blocks([Commands([("Hold the toy search against the thresholds", command)])])
        shared.print_line(f"\nThen put your search into conftest.py{yours}.\n")
    shared.print_blocks([Commands(commands)])
    return status
