"""docs/reference/json-report.md names every field of a JSON report, and its program reads one."""

from __future__ import annotations

import json
import re

import pytest

from tests.git_repository import needs_git
from tests.pages import DOCS, blocks
from tests.projects import GOLDEN

PAGE = DOCS / "reference" / "json-report.md"
OF_USERS = {"mrr", "map"}
"""Keys that are names of metrics."""


def fields(part: object) -> set[str]:
    """The keys of all objects."""
    if isinstance(part, list):
        return set().union(*map(fields, part))
    if not isinstance(part, dict):
        return set()
    return part.keys() | set().union(*map(fields, part.values()))


@needs_git
@pytest.mark.parametrize("option", ["--ir-baseline", "--ir-since=HEAD", "--ir-selftest"])
def test_the_page_names_every_field(committed, option):
    committed.answers({"refund policy": ["doc-5", "doc-9"], "opening hours": ["doc-1"]})
    if option == "--ir-since=HEAD":
        committed.run("--ir-baseline-update")
        committed.write("golden/faq.yaml", GOLDEN.replace("[doc-12", "[doc-11, doc-12"))
    committed.run(option, "--ir-report=run.json")
    found = fields(json.loads((committed.path / "run.json").read_text(encoding="utf-8")))
    assert len(found) > 50
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert {name for name in found if re.fullmatch(r"[a-z_]+", name) and name not in OF_USERS} <= named


def test_the_page_s_program_reads_a_report(project, monkeypatch, capsys):
    project.run("--ir-report=run.json")
    monkeypatch.chdir(project.path)
    (program,) = (block.text for block in blocks(PAGE) if block.kind == "python")
    capsys.readouterr()
    exec(compile(program, PAGE.name, "exec"), {})
    assert capsys.readouterr().out.startswith("golden/faq.yaml mrr 0.83333333")
