"""docs/history.md and the merge of docs/baseline.md: their commands, run in the repository of `tests/repository_with_history.py`, print what it shows."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import sys

import pytest

from tests.git_repository import needs_git
from tests.pages import DOCS, Project, blocks, commands
from tests.repository_with_history import build

PAGE = DOCS / "history.md"

pytestmark = [
    needs_git,
    pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a POSIX shell"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two years")
    return folder, {request.subject: request.commit for request in build(folder)}


@pytest.fixture
def repository(built, tmp_path):
    project = Project(tmp_path)
    shutil.copytree(built[0], project.folder, dirs_exist_ok=True)
    return project


def block(kind, beginning, page=PAGE):
    (found,) = (b for b in blocks(page) if b.kind == kind and b.text.startswith(beginning))
    return found


def without_commits(text):
    return re.sub(r"\b[0-9a-f]{10}\b", "1c9e2ab471", text)


def test_the_trend_is_what_the_page_shows(repository):
    ((command, shown),) = commands(block("console", "$ pytest-irmetrics history").text)
    printed = without_commits(repository.run(command, must_pass=True))
    assert doctest.OutputChecker().check_output(without_commits(shown), printed, doctest.ELLIPSIS), printed


def make_worse(project, query_id):
    """Rank a query's first result last, and store and commit that."""
    path = project.folder / "search.json"
    rankings = json.loads(path.read_text(encoding="utf-8"))
    rankings[f"question {query_id}"].append(rankings[f"question {query_id}"].pop(0))
    path.write_text(json.dumps(rankings, indent=0) + "\n", encoding="utf-8")
    project.run("pytest -q --ir-baseline-update", must_pass=True)
    project.run("git commit -qam change", must_pass=True)


def test_the_baseline_of_a_merged_search_is_compared_with_main_s_and_stored_anew(repository):
    for line in block("sh", "echo ", DOCS / "baseline.md").text.splitlines():
        repository.run(line, must_pass=True)
    repository.run("git add . && git commit -qm attributes && git checkout -qb topic", must_pass=True)
    make_worse(repository, "q000")
    repository.run("git checkout -q main", must_pass=True)
    make_worse(repository, "r024")
    repository.run("git checkout -q topic", must_pass=True)
    repository.run("! git merge main", must_pass=True)
    take, compare, store, add = block("sh", "git checkout", DOCS / "baseline.md").text.splitlines()
    repository.run(take, must_pass=True)
    assert repository.run("git diff main -- ir_baselines") == ""
    assert "mrr 0.6550 (−0.0075)" in repository.run(compare, must_pass=True)
    repository.run(store, must_pass=True)
    repository.run(add, must_pass=True)
    assert "mrr 0.6550\n" in repository.run(compare, must_pass=True)
