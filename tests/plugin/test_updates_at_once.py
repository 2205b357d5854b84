"""Updates of one baseline by several processes at once: what is said to be stored is stored, all else is refused."""

from __future__ import annotations

import json

import pytest

from tests.projects import ANSWERS, text_of
from tests.warm_python import python_words

SWAPPED = {query: found[::-1] for query, found in ANSWERS.items()}
OTHER = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_irmetrics.plugin"]
UPDATE = ["--ir-baseline-update", "--ir-query=refund"]


def rankings(project):
    stored = json.loads(project.baseline.read_text(encoding="utf-8"))
    return {query["id"]: query["rankings"][0] for query in stored["queries"]}


@pytest.mark.parametrize(
    ("other", "told", "stored"),
    [
        ([*OTHER, "--ir-baseline-update", "--ir-query=hours"], "was changed meanwhile", {"hours"}),
        ([*OTHER, *UPDATE], "unchanged", {"refund"}),
        ([*OTHER, "--ir-baseline"], "stored", {"refund"}),
    ],
)
def test_what_another_run_stored_meanwhile_is_not_written_over(project, monkeypatch, other, told, stored):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'])
    project.store()
    before = rankings(project)
    project.answers(SWAPPED)
    # The fixture `retriever` is made before the baseline is read: the other run starts with the first query.
    project.edit("conftest.py", "import json,", "import os, subprocess, json,")
    project.retrieve(
        f"(os.environ.pop('FIRST', None) and subprocess.run({[*python_words(), *other]!r}, check=False), answers.get(query, [])[:k])[1]"
    )
    monkeypatch.setenv("FIRST", "1")
    result = project.run_apart(*UPDATE)
    said = text_of(result)
    assert told in said
    assert result.ret == (1 if told == "was changed meanwhile" else 0)
    assert ("nothing was written. Run it again" in said) == (told == "was changed meanwhile")
    assert {query_id for query_id, found in rankings(project).items() if found != before[query_id]} == stored
