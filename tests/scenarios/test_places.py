"""Where tests, golden sets and baselines can be on a disk: links, packages, and what is no file."""

from __future__ import annotations

import os
import sys

import pytest

from tests.projects import ANSWERS, text_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no links without rights, and no pipes")
FILES = ("conftest.py", "test_search.py", "golden", "ir_baselines", "answers.json")


@pytest.fixture
def worse(project):
    """Give a project whose search fell from its stored baseline."""
    project.store()
    project.answers({**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]})
    return project


def move(project, folder):
    target = project.path / folder
    target.mkdir()
    for name in FILES:
        (project.path / name).rename(target / name)
    return target


def test_a_worse_search_fails_in_a_folder_that_is_linked_to(worse):
    (worse.path / "link").symlink_to(move(worse, "real"))
    for asked in ("link", "link/test_search.py::test_search_quality"):
        assert "mrr fell by 0.2222" in text_of(worse.run("--ir-baseline", asked))


def test_a_worse_search_fails_with_baselines_in_a_folder_that_is_linked_to(worse):
    (worse.path / "ir_baselines").rename(worse.path / "kept")
    (worse.path / "ir_baselines").symlink_to(worse.path / "kept")
    assert "mrr fell by 0.2222" in text_of(worse.run("--ir-baseline"))


def test_a_worse_search_fails_by_the_name_of_its_package(worse, monkeypatch):
    package = move(worse, "shop")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(worse.path)
    for asked in ("shop.test_search", "shop"):
        assert "mrr fell by 0.2222" in text_of(worse.run("--ir-baseline", "--pyargs", asked))


def test_a_golden_set_that_links_to_another_pairs_with_nothing(worse):
    worse.write("other.yaml", "queries: [{query: other, relevant: doc-1}]\n")
    worse.answers({"other": ["doc-1"]})
    (worse.path / "golden/faq.yaml").unlink()
    (worse.path / "golden/faq.yaml").symlink_to(worse.path / "other.yaml")
    worse.run("--ir-baseline").assert_outcomes(failed=1)


def test_a_baseline_is_named_once_by_the_first_of_the_paths_that_lead_to_it(worse):
    (worse.path / "test_search.py").write_text("def test_search_quality(): pass\n")
    real = move(worse, "b")
    for folder in ("a", "c"):
        (worse.path / folder).symlink_to(real)
    said = text_of(worse.run("--ir-baseline", "a", "b", "c"))
    assert said.count("/ir_baselines/") == 1


def test_golden_files_that_are_no_files_fail_by_name_and_the_others_go_on(project):
    golden = project.path / "golden"
    (golden / "a-link.yaml").symlink_to("faq.yaml")
    (golden / "dangling.yaml").symlink_to("nowhere.yaml")
    (golden / "loop.yaml").symlink_to("loop.yaml")
    (golden / "folder.yaml").mkdir()
    os.mkfifo(golden / "pipe.yaml")
    result = project.run()
    result.assert_outcomes(passed=2, failed=3)
    for name in ("dangling", "loop", "pipe"):
        assert f"{name}.yaml:1:1: " in text_of(result)
