"""Parts of pages that are made from the code: options, settings, marks, keys of golden sets, commands, public names.

They stand between `<!-- made: NAME -->` and `<!-- end -->`. After a change, `make expected` writes them anew.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from functools import cache
from pathlib import Path

import pytest

import pytest_irmetrics
from tests.cli.console import run
from tests.docs.public import attributes, first_paragraph, signature
from tests.expected import RENEWING
from tests.pages import DOCS, made_parts

CODE = Path(pytest_irmetrics.__file__).parent

SETTLED = {
    "GoldenSet": "load from_judgments queries name path relevance_level thresholds tags left_out",
    "Query": "id text judgments forbidden tags weight params thresholds no_answer xfail note",
    "Run": "load save loads dumps depth golden_set relevance_level means",
    "Evaluation": "mean scores score errors golden run metrics depth",
    "Comparison": "change paired new removed reworded now baseline depth",
    "MetricChange": "metric tag now baseline delta worse better same lost p_value interval detectable n",
    "IRMetrics": "check acheck evaluate aevaluate",
    "GoldenSetError": "problems",
}
"""The attributes that do not change, in the order of the page."""

ENDS = (("above", "exclusiveMinimum"), ("from", "minimum"), ("up to", "maximum"))


@cache
def commands():
    return re.findall(r"^    (\w+)(?:  |$)", run("--help").out, re.MULTILINE)


def table(*rows):
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:]))


def joined(text):
    return " ".join(text.split()).replace("|", "\\|")


def options(project):
    shown = project.run("--help").stdout.str()
    group = shown.partition("retrieval quality (pytest-irmetrics):\n")[2].partition("\n\n")[0]
    found = re.findall(r"^  (--[\w-]+(?:=\w+)?)\s+(.*?)(?=^  --|\Z)", group + "\n", re.MULTILINE | re.DOTALL)
    return table(["option", ""], *([f"`{name}`", joined(text)] for name, text in found))


def settings(project):
    shown = project.run("--help").stdout.str()
    found = re.findall(r"^  (ir_\w+) \(\w+\):\s+(.*?)\s+\(([^()]*)\)\.$", shown, re.MULTILINE | re.DOTALL)
    return table(
        ["setting", "", "default"],
        *([f"`{name}`", f"{joined(text)}.", joined(default)] for name, text, default in found),
    )


def mark(name):
    def made(project):
        shown = project.run("--markers").stdout.str()
        found, text = re.search(rf"^@pytest\.mark\.({name}\(.*?\)): (.*)$", shown, re.MULTILINE).groups()
        return f"`{found}`: {text}\n"

    return made


def keys(*path):
    def made(_project):
        schema = json.loads(run("schema").out)
        for part in path:
            schema = schema[part]
        rows = []
        for name, key in schema["properties"].items():
            needed = "(must be there)" if name in schema.get("required", ()) else ""
            default = f"`{key['default']}`" if "default" in key else needed
            ends = [f"{word} {key[end]:g}" for word, end in ENDS if end in key]
            meaning = " ".join([key.get("description", ""), f"({', '.join(ends)})" if ends else ""])
            rows.append([f"`{name}`", default, meaning])
        return table(["key", "default", "meaning"], *rows)

    return made


def help_of(command):
    def made(_project):
        return f"```text\n{run(command, '--help').out}```\n"

    return made


def public_names():
    """The public names that have a part of the page: functions, and classes whose attributes are settled."""
    names = {name: getattr(pytest_irmetrics, name) for name in pytest_irmetrics.__all__}
    return {name: named for name, named in names.items() if name in SETTLED or not inspect.isclass(named)}


def public(name):
    def made(_project):
        documented = public_names()[name]
        if not inspect.isclass(documented):
            return f"{signature(name, documented)}: {first_paragraph(documented.__doc__)}\n"
        lines = attributes(documented)
        return "".join(f"- {lines[attribute]}\n" for attribute in SETTLED[name].split())

    return made


MADE = {
    "reference/options.md": {"options": options, "settings": settings},
    "reference/marks.md": {name: mark(name) for name in ("ir_golden", "ir_threshold")},
    "reference/golden-set.md": {
        "keys of the file": keys(),
        "keys of a query": keys("$defs", "query"),
        "keys of a passage": keys("$defs", "passage"),
    },
    "reference/cli.md": {f"command {name}": help_of(name) for name in commands()},
    "reference/python.md": {name: public(name) for name in public_names()},
}


NAMES = {
    "retrieval/reading.py SOURCE_NAMES": "passages.md",
    "retrieval/passages.py _TEXT_NAMES": "passages.md",
    "retrieval/retriever.py _DEPTH_NAMES": "retriever.md",
    "cli/convert.py _RUN_SUFFIXES": "formats.md",
    "run/run_json.py _HEADER_KEYS": "reference/json-report.md",
    "run/run_json.py _QUERY_KEYS": "reference/json-report.md",
}
"""What a module has as its table of names → the page that lists them."""


def words(text):
    """The text whatever its line breaks, and whichever Python wrote it: since 3.13 `-o PATH, --output PATH` is shorter."""
    return re.sub(r"(-\w) (\S+), (--\w+ \2)", r"\1, \3", " ".join(text.split()))


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, parts in MADE.items() for name in parts])
def test_a_page_has_what_is_made_from_the_code(project, monkeypatch, page, name):
    monkeypatch.setenv("COLUMNS", "82")
    made = MADE[page][name](project)
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = f"a heading, `<!-- made: {name} -->` and `<!-- end -->`"
    assert name in made_parts(text), f"docs/{page} lacks {lines}: write them, then `make expected`"
    shown = made_parts(text)[name]
    if RENEWING and words(shown) != words(made):
        begin = f"<!-- made: {name} -->\n"
        (DOCS / page).write_text(
            text.replace(f"{begin}{shown}<!-- end -->", f"{begin}{made}<!-- end -->"), encoding="utf-8"
        )
    else:
        assert words(shown) == words(made), "differs: run `make expected` and read the difference"
        assert words(made)


def test_every_made_part_is_made_by_something():
    pages = {
        path.relative_to(DOCS).as_posix(): made_parts(path.read_text(encoding="utf-8"))
        for path in DOCS.rglob("*.md")
    }
    made = {page: {*parts} for page, parts in MADE.items()}
    assert {page: {*parts} for page, parts in pages.items() if parts} == made


@pytest.mark.parametrize(("names", "page"), NAMES.items())
def test_a_page_has_each_name_that_the_code_reads(names, page):
    module, name = names.split()
    tree = ast.parse(CODE.joinpath(module).read_text(encoding="utf-8"))
    values = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    shown = re.findall(r"`\.?([\w.]+)(?:\(\))?`", (DOCS / page).read_text(encoding="utf-8"))
    table = values[name]
    read = {key.value for key in table.keys} if isinstance(table, ast.Dict) else {*ast.literal_eval(table)}
    assert not read - {*shown}, f"docs/{page} lacks them"


def test_the_page_on_formats_has_each_that_is_read():
    said = re.search(r"a golden set: (.*?), or", " ".join(run("check", "--help").out.split()))[1]
    rows = re.findall(r"^\| (`\..*?) \|", (DOCS / "formats.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.findall(r"[\w.]+", said)} == {*re.findall(r"[\w.]+", " ".join(rows))}
