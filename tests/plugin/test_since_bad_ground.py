"""`--ir-since` where Git has less than one expects: each is read right, or is an error that says what to type."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from tests.git_repository import commit, git, needs_git, new_repository
from tests.plugin.conftest import ANSWERS, edit_golden_set, make_ranking_worse, printed, store

pytestmark = needs_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts, and paths that Windows has not")


@pytest.fixture
def branch(branch):
    """Give a project whose baseline is committed on `main`, with the branch `feature` checked out and a fall stored."""
    make_ranking_worse(branch)
    store(branch)
    commit(branch.path, "a fall")
    return branch


def accepted(result):
    assert result.ret == 0
    return "ACCEPTED: golden/faq.yaml: mrr fell" in printed(result)


def refused(result):
    """Return the message of a run that an error ended: it never passes."""
    result.assert_outcomes(failed=1)
    return printed(result)


def clone(project, name, *options):
    """Clone the project beside it, and return a function that runs pytest there."""
    folder = project.path.with_name(name)
    git(project.path, "clone", "-q", *options, project.path.as_uri(), str(folder))
    return lambda *more: project.run(
        "--rootdir", str(folder), "-c", str(folder / "pytest.ini"), str(folder), *more
    )


class TestErrorsThatSayWhatToType:
    def test_no_git(self, branch, monkeypatch):
        monkeypatch.setenv("PATH", str(branch.path))
        assert "--ir-since=main: There is no program git on PATH. Install Git" in refused(
            branch.run("--ir-since=main")
        )

    def test_no_repository(self, branch, monkeypatch):
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(branch.path.parent))
        (branch.path / ".git").rename(branch.path / "git")
        assert "is in no Git repository." in refused(branch.run("--ir-since=main"))

    def test_a_shallow_clone(self, branch):
        run = clone(branch, "shallow", "--depth=1", "--no-single-branch")
        text = refused(run("--ir-since=origin/main"))
        assert (
            "is a shallow clone, which lacks the commits back to where this branch left origin/main" in text
        )
        assert "`fetch-depth: 0` for actions/checkout in GitHub Actions, `GIT_DEPTH: 0` in GitLab CI" in text

    def test_a_branch_that_was_not_fetched(self, branch):
        run = clone(branch, "single", "--single-branch")
        text = refused(run("--ir-since=origin/main"))
        assert "Git knows no commit origin/main" in text
        assert "fetch origin +main:refs/remotes/origin/main" in text

    def test_an_unknown_ref(self, branch):
        assert "Git knows no commit mian" in refused(branch.run("--ir-since=mian"))

    def test_an_unknown_ref_in_the_settings(self, branch):
        text = refused(branch.run("-o", "ir_since=mian"))
        assert "the setting ir_since, mian: Git knows no commit mian" in text

    def test_a_ref_that_looks_like_an_option(self, branch):
        assert "Git knows no commit --all" in refused(branch.run("--ir-since=--all"))

    def test_an_unborn_branch(self, branch):
        git(branch.path, "checkout", "-q", "--orphan", "new")
        git(branch.path, "branch", "-D", "-q", "main", "feature")
        assert "has no commit yet. Commit the baselines first." in refused(branch.run("--ir-since=main"))

    def test_a_branch_without_a_common_commit(self, branch):
        git(branch.path, "checkout", "-q", "--orphan", "other")
        commit(branch.path)
        assert "main and HEAD have no commit in common" in refused(branch.run("--ir-since=main"))

    @posix
    def test_a_repository_of_another_user(self, branch, monkeypatch):
        real = next(
            Path(part, "git") for part in os.environ["PATH"].split(os.pathsep) if Path(part, "git").exists()
        )
        script = branch.path.with_name("bin") / "git"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
        assert "git config --global --add safe.directory" in refused(branch.run("--ir-since=main"))

    def test_a_partial_clone(self, branch):
        git(branch.path, "config", "uploadpack.allowFilter", "true")
        run = clone(branch, "partial", "--filter=blob:none")
        text = refused(run("--ir-since=origin/main"))
        assert "it is a partial clone (--filter), and nothing is fetched here" in text

    def test_every_test_of_a_run_says_the_same(self, branch):
        branch.write("golden/second.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
        branch.run("--ir-baseline-update").assert_outcomes(passed=2)
        result = branch.run("--ir-since=nowhere")
        result.assert_outcomes(failed=2)
        assert printed(result).count("Git knows no commit nowhere in") == 2


class TestReadAllTheSame:
    def test_a_detached_head(self, branch):
        git(branch.path, "checkout", "-q", "--detach")
        assert accepted(branch.run("--ir-since=main"))

    def test_a_merge_commit_of_ci(self, branch):
        git(branch.path, "checkout", "-q", "main")
        branch.write("other.txt", "main has moved on")
        commit(branch.path)
        git(branch.path, "checkout", "-q", "--detach")
        git(branch.path, "merge", "-q", "--no-ff", "feature", "-m", "refs/pull/1/merge")
        assert accepted(branch.run("--ir-since=main"))
        assert accepted(branch.run("--ir-since=HEAD^1"))

    def test_what_main_did_after_the_branch_left_it_is_not_the_branchs(self, branch):
        git(branch.path, "checkout", "-q", "main")
        branch.answers({**ANSWERS, "opening hours": ["doc-1"]})
        store(branch)
        commit(branch.path, "main is better now")
        git(branch.path, "checkout", "-q", "feature")
        assert "mrr fell from 0.8333 to 0.6111" in printed(branch.run("--ir-since=main"))

    def test_a_shallow_clone_that_is_deep_enough(self, branch):
        run = clone(branch, "deep", "--depth=2")
        assert "ACCEPTED" in printed(run("--ir-since=HEAD^1"))

    def test_a_worktree(self, branch):
        folder = branch.path.with_name("worktree")
        git(branch.path, "worktree", "add", "-q", "--detach", str(folder))
        result = branch.run(
            "--rootdir", str(folder), "-c", str(folder / "pytest.ini"), str(folder), "--ir-since=main"
        )
        assert "ACCEPTED" in printed(result)

    def test_a_sparse_checkout(self, branch):
        branch.write("elsewhere/file", "x")
        commit(branch.path)
        git(branch.path, "sparse-checkout", "set", "--no-cone", "/*", "!/elsewhere")
        assert not (branch.path / "elsewhere").exists()
        assert accepted(branch.run("--ir-since=main"))

    def test_a_renamed_baseline_is_followed(self, branch):
        git(branch.path, "mv", "golden/faq.yaml", "golden/questions.yaml")
        moved = branch.baseline.with_name("test_search_quality[questions].json")
        git(branch.path, "mv", str(branch.baseline), str(moved))
        store(branch)
        git(branch.path, "add", ".")
        result = branch.run("--ir-since=main")
        text = printed(result)
        assert "ACCEPTED: golden/questions.yaml: mrr fell" in text
        assert "Its baseline was ir_baselines/test_search/test_search_quality[faq].json then." in text
        assert "Gone since" not in text

    @pytest.mark.parametrize(
        "damage", ['{"format": "pytest-irmetrics run", "version": 99}', "<<<<<<< HEAD\n", "\udcff"]
    )
    def test_a_damaged_baseline_of_then_is_told_first(self, branch, damage):
        git(branch.path, "checkout", "-q", "main")
        branch.baseline.write_bytes(os.fsencode(damage))
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", "repair")
        store(branch)
        result = branch.run("--ir-since=main")
        assert result.ret == 0
        text = printed(result)
        assert "UNKNOWN: golden/faq.yaml: Nothing is known of what is accepted since main" in text
        assert "cannot be read" in text
        result = branch.run("--ir-since=main", "-o", "ir_accept=fail")
        refused(result)
        assert "To let it pass, add `-o ir_accept=warn` to this command." in printed(result)

    def test_a_baseline_of_an_older_format(self, branch):
        git(branch.path, "checkout", "-q", "main")
        text = branch.baseline.read_text()
        older = [line for line in text.splitlines() if not line.startswith(('"means"', '"relevance_level"'))]
        branch.baseline.write_text("\n".join(older).replace(', "weight": 1.0', ""))
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", "newer")
        make_ranking_worse(branch)
        store(branch)
        assert accepted(branch.run("--ir-since=main"))

    def test_an_uncommitted_edit_counts(self, branch):
        edit_golden_set(branch, "doc-1\n", "doc-2\n")
        assert "hours: doc-1 1 → none" in printed(branch.run("--ir-since=main"))

    @posix
    def test_nothing_that_the_repository_configures_is_run(self, branch):
        script = branch.path.with_name("script")
        ran = branch.path.with_name("ran")
        script.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
        script.chmod(0o755)
        (branch.path / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")
        for key in (
            "diff.x.textconv",
            "diff.external",
            "filter.x.smudge",
            "filter.x.clean",
            "core.fsmonitor",
            "core.pager",
        ):
            git(branch.path, "config", key, str(script))
        ran.unlink(missing_ok=True)
        assert accepted(branch.run("--ir-since=main"))
        assert not ran.exists()

    def test_the_variables_of_a_hook(self, branch, monkeypatch):
        other = new_repository(branch.path.with_name("other"))
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
        assert accepted(branch.run("--ir-since=main"))

    @posix
    @pytest.mark.parametrize("name", ['a "quoted" folder', "new\nline", "naïve", os.fsdecode(b"\xff")])
    def test_folders_of_any_name(self, branch, name):
        git(branch.path, "checkout", "-q", "main")
        folder = branch.path / name
        try:
            folder.mkdir()
        except OSError:
            pytest.skip("this file system has no such name")
        for one in ("golden", "ir_baselines", "test_search.py", "conftest.py", "answers.json"):
            (branch.path / one).rename(folder / one)
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", "strange")
        answers = {**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]}
        (folder / "answers.json").write_text(json.dumps(answers))
        store(branch)
        result = branch.run("--ir-since=main")
        assert "mrr fell from 0.8333 to 0.6111" in printed(result)


BEIR = {
    "golden/faq/queries.jsonl": '{"_id": "a", "text": "opening hours"}\n{"_id": "b", "text": "refund policy"}\n',
    "golden/faq/qrels/test.tsv": "query-id\tcorpus-id\tscore\na\tdoc-1\t1\nb\tdoc-9\t1\n",
    "golden/faq/corpus.jsonl": "not read\n",
}
FORMATS = {
    "qrels": (
        {
            "golden/faq.qrels": "a 0 doc-1 1\nb 0 doc-9 1\n",
            "golden/faq.topics.tsv": "a\topening hours\nb\trefund policy\n",
        },
        ("golden/faq.qrels", "a 0 doc-1 1", "a 0 doc-2 1"),
    ),
    "beir": (BEIR, ("golden/faq/qrels/test.tsv", "a\tdoc-1", "a\tdoc-2")),
    "split": ({**BEIR}, ("golden/faq/qrels/test.tsv", "a\tdoc-1", "a\tdoc-2")),
    "csv": (
        {"golden/faq.csv": "id,query,docid,rating\na,opening hours,doc-1,1\nb,refund policy,doc-9,1\n"},
        ("golden/faq.csv", "doc-1", "doc-2"),
    ),
    "jsonl": (
        {
            "golden/faq.jsonl": '{"id": "a", "query": "opening hours", "relevant": ["doc-1"]}\n'
            '{"id": "b", "query": "refund policy", "relevant": ["doc-9"]}\n'
        },
        ("golden/faq.jsonl", "doc-1", "doc-2"),
    ),
}
GOLDEN = {
    "qrels": "*.qrels",
    "beir": "faq",
    "split": "faq/qrels/test.tsv",
    "csv": "*.csv",
    "jsonl": "*.jsonl",
}


class TestGoldenSetsOfThen:
    """A golden set of then is read in any format, out of the commit alone."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_in_any_format(self, branch, form):
        files, (edited, before, after) = FORMATS[form]
        git(branch.path, "checkout", "-q", "main")
        (branch.path / "golden" / "faq.yaml").unlink()
        for name, text in files.items():
            (branch.path / name).parent.mkdir(parents=True, exist_ok=True)
            (branch.path / name).write_text(text)
        branch.test(f'ir_golden("golden/{GOLDEN[form]}")')
        git(branch.path, "rm", "-q", "-r", "--cached", "ir_baselines")
        branch.baseline.unlink()
        store(branch)
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", form)
        text = (branch.path / edited).read_text()
        (branch.path / edited).write_text(text.replace(before, after))
        shown = printed(branch.run("--ir-since=main"))
        assert "2 judgments changed: a: doc-1 1 → none, a: doc-2 none → 1." in shown
        assert "cannot be read" not in shown
        assert "as far as the baseline of then tells" not in shown

    def test_packed_with_gzip(self, branch):
        git(branch.path, "checkout", "-q", "main")
        golden = branch.path / "golden" / "faq.yaml"
        text = golden.read_text()
        golden.unlink()
        packed = golden.with_name("faq.yaml.gz")
        packed.write_bytes(gzip.compress(text.encode()))
        branch.test('ir_golden("golden/*.gz")')
        store(branch)
        commit(branch.path)
        packed.write_bytes(gzip.compress(text.replace("doc-1\n", "doc-2\n").encode()))
        assert "hours: doc-1 1 → none" in printed(branch.run("--ir-since=main"))

    def test_one_that_cannot_be_read_is_what_the_baseline_was_judged_with(self, branch):
        git(branch.path, "checkout", "-q", "main")
        golden = branch.path / "golden" / "faq.yaml"
        text = golden.read_text()
        golden.write_text("queries: [{")
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", "repair")
        golden.write_text(text.replace("doc-1\n", "doc-2\n"))
        shown = printed(branch.run("--ir-since=main"))
        assert "hours: doc-1 1 → none" in shown
        assert (
            "the golden set of then cannot be read, so that its edits show as far as the baseline of then tells"
            in shown
        )

    def test_one_that_is_made_in_python_is_what_the_baseline_was_judged_with(self, branch):
        git(branch.path, "checkout", "-q", "main")
        golden = 'GoldenSet.from_judgments({"a": {"doc-1": 1}}, texts={"a": "opening hours"})'
        call = f"from pytest_irmetrics import GoldenSet; irmetrics.check(golden={golden})"
        branch.test([], call)
        store(branch)
        commit(branch.path)
        branch.test([], call.replace("doc-1", "doc-2"))
        shown = printed(branch.run("--ir-since=main"))
        assert "a: doc-1 1 → none" in shown
        assert "the golden set is made in Python" in shown

    def test_where_its_tags_do_not_fit_the_marks_of_today_the_default_gate_still_holds(self, branch):
        load = 'from pytest_irmetrics import GoldenSet; golden = GoldenSet.load("golden/faq.yaml")'
        marks = ['ir_threshold("mrr", 0.2)', 'ir_threshold("mrr", 0.1, tag="billing")']
        git(branch.path, "checkout", "-q", "main")
        branch.test(marks, f"{load}; irmetrics.check(golden=golden)")
        store(branch)
        commit(branch.path)
        git(branch.path, "checkout", "-q", "-b", "retagged")
        make_ranking_worse(branch)
        edit_golden_set(branch, "tags: [billing]", "tags: [new]")
        branch.test(
            [mark.replace("billing", "new") for mark in marks], f"{load}; irmetrics.check(golden=golden)"
        )
        (baseline,) = branch.path.glob("ir_baselines/*/test_search_quality.json")
        baseline.unlink()
        text = printed(branch.run("--ir-baseline-update", "--ir-since=main"))
        assert "no query has the tag 'new'" in text
        assert "mrr fell from 0.8333 to 0.6111" in text
        assert "ACCEPTED" in text

    def test_no_file_is_left_behind(self, branch, monkeypatch, tmp_path):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr("tempfile.tempdir", None)
        before = set(tmp_path.iterdir())
        edit_golden_set(branch, "doc-1\n", "doc-2\n")
        branch.run("--ir-since=main")
        assert set(tmp_path.iterdir()) == before
        assert git(branch.path, "status", "--porcelain") == "M golden/faq.yaml"
