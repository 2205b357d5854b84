"""Git repositories of all kinds, with `--ir-since` and `history`: each is read right, or an error says what to type; none passes unsure."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from pytest_irmetrics.cli import main
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository, write_and_commit
from tests.projects import ANSWERS, printed, text_of

pytestmark = needs_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts, and paths that Windows has not")
STORED = "ir_baselines/test_search/test_search_quality[faq].json"
WORSE = {**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Give the folder for what each of these tests begins with, made once."""
    return tmp_path_factory.mktemp("kept") / "branch"


@pytest.fixture
def branch(project, monkeypatch, kept):
    """Give a project whose baseline is committed on `main`, with the branch `feature` checked out and a fall stored there."""
    isolate_git(monkeypatch)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
    if not kept.exists():
        store_a_fall(project)
        shutil.copytree(project.path, kept, symlinks=True)
    shutil.copytree(kept, project.path, symlinks=True, dirs_exist_ok=True)
    project.monkeypatch = monkeypatch
    return project


def store_a_fall(project):
    project.write("pytest.ini", "[pytest]\n")
    project.write(".gitignore", "__pycache__\n*.out\n")
    new_repository(project.path)
    project.store()
    commit(project.path, "store it")
    git(project.path, "checkout", "-q", "-b", "feature")
    project.answers(WORSE)
    project.store()
    commit(project.path, "a fall")


def run_in(project, folder, *options):
    """Run pytest in a folder, with its own settings."""
    folder = folder or project.path
    return project.run("--rootdir", str(folder), "-c", str(folder / "pytest.ini"), str(folder), *options)


def beside(project, name):
    return project.path.with_name(f"{project.path.name}-{name}")


def clone(project, *options):
    folder = beside(project, "clone")
    git(project.path, "clone", "-q", *options, project.path.as_uri(), str(folder))
    return folder


def move_main_on(project, file="other.txt", text="main has moved on"):
    git(project.path, "checkout", "-q", "main")
    write_and_commit(project.path, {file: text}, "main moves on")
    git(project.path, "checkout", "-q", "feature")


def install_git(project, before):
    """Put a program git on the PATH that does something of the shell before it is git."""
    real = next(
        Path(part, "git") for part in os.environ["PATH"].split(os.pathsep) if Path(part, "git").exists()
    )
    script = beside(project, "bin") / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\n{before} exec {real} "$@"\n')
    script.chmod(0o755)
    project.monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


# States in which the other commit cannot be read: what makes them, given the project; they return the folder to run in.


def as_it_is(project):
    pass


def no_git(project):
    project.monkeypatch.setenv("PATH", str(project.path))


def git_in_the_current_folder_alone(project):
    project.write("git", "#!/bin/sh\ntouch was_run\n").chmod(0o755)
    project.monkeypatch.setenv("PATH", f".{os.pathsep}")


def git_that_is_no_program(project):
    project.write("bin/git", "").chmod(0o755)
    project.monkeypatch.setenv("PATH", str(project.path / "bin"))


def no_repository(project):
    project.monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    (project.path / ".git").rename(project.path / "git")


def bare_repository(project):
    git(project.path, "config", "core.bare", "true")


def shallow(project):
    return clone(project, "--depth=1", "--no-single-branch")


def shallow_without_the_branch(project):
    return clone(project, "--depth=1")


def single_branch(project):
    return clone(project, "--single-branch")


def partial(project):
    git(project.path, "config", "uploadpack.allowFilter", "true")
    return clone(project, "--filter=blob:none")


def unrelated(project):
    git(project.path, "checkout", "-q", "--orphan", "other")
    commit(project.path)


def another_users(project):
    install_git(project, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")


def failing_git(project):
    install_git(project, r"printf 'a line\nsomething \377 broke\n' >&2; exit 3;")


def silent_git(project):
    install_git(project, "exit 3;")


def lfs(project):
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4\n"
    kept_as(project, lambda path: path.write_text(pointer))


def link(project):
    kept_as(project, lambda path: path.symlink_to("/etc/hosts"))


def object_cut_short(project):
    name = git(project.path, "rev-parse", f"main:{STORED}").strip()
    path = project.path / ".git/objects" / name[:2] / name[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-6])


def kept_as(project, make):
    """Let the baseline on main be something else, and start another branch there with the file itself."""
    text = project.baseline.read_text()
    git(project.path, "checkout", "-q", "main")
    project.baseline.unlink()
    make(project.baseline)
    commit(project.path)
    git(project.path, "checkout", "-q", "-b", "another")
    project.baseline.unlink()
    project.baseline.write_text(text)


def submodule(project):
    outer = new_repository(beside(project, "outer"))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(project.path), "search")
    write_and_commit(outer, {"pytest.ini": "[pytest]\n"})
    return outer


FETCH = "fetch origin +main:refs/remotes/origin/main;"
REFUSED = [  # the state, REF, what is said
    (no_git, "main", "There is no program git on PATH. Install Git (apt-get install git, apk add git)."),
    (git_in_the_current_folder_alone, "main", "There is no program git on PATH"),
    (git_that_is_no_program, "main", "git rev-parse cannot be run in {0}: [Errno 8] Exec format error"),
    (no_repository, "main", "It is in no Git repository. Run this in a clone, with its folder .git."),
    (bare_repository, "main", "It is in no Git repository with files. Run this in a clone."),
    (another_users, "main", "git config --global --add safe.directory {0}. The repository belongs to another user: if you trust it, this makes Git read it."),
    (failing_git, "main", "git rev-parse failed in {0}: something \ufffd broke."),
    (silent_git, "main", "git rev-parse failed in {0}: it printed nothing."),
    (as_it_is, "mian", "Git knows no commit mian in {0}. Give another branch, tag or commit."),
    (as_it_is, "--all", "Git knows no commit --all in"),
    (as_it_is, "main:a", "Git knows no commit main:a in"),
    (as_it_is, "main..", "Git knows no commit main.. in"),
    (as_it_is, "a\0b", "git rev-parse cannot be run in {0}: embedded null byte."),
    (as_it_is, "a\nb", r"Git knows no commit a\nb in"),
    (single_branch, "origin/main", f"Git knows no commit origin/main in {{0}}. Fetch it: git -C {{0}} {FETCH}"),
    (single_branch, "origin/v/2", "fetch origin +v/2:refs/remotes/origin/v/2;"),
    (single_branch, "other/main", "fetch --tags origin;"),
    (shallow_without_the_branch, "origin/main", "Git knows no commit origin/main in {0}, a shallow clone. In CI, clone the whole history: `fetch-depth: 0` for actions/checkout in GitHub Actions, `GIT_DEPTH: 0` in GitLab CI. Fetch it:"),
    (shallow, "origin/main", "{0} is a shallow clone, which lacks the commits back to where this branch left origin/main. Fetch them: git -C {0} fetch --unshallow. In CI"),
    (unrelated, "main", "main and HEAD have no commit in common in {0}. Give the branch, tag or commit that this branch grew from."),
    (partial, "origin/main", "from promisor remote. It is a partial clone (--filter), and nothing is fetched here. Fetch all: git fetch --refetch --no-filter origin"),
    (lfs, "main", "[faq].json in commit"),
    (lfs, "main", "is a link, or kept in Git LFS, which is not read. Keep it in Git itself."),
    (link, "main", "is a link, or kept in Git LFS, which is not read. Keep it in Git itself."),
    (object_cut_short, "main", "git cat-file failed in {0}: fatal: "),
    (submodule, "main", "is in another Git repository than {0}, as a submodule is, and its commits are not compared with that one's. Run its tests by themselves, with --rootdir there."),
]  # fmt: skip


@posix
@pytest.mark.parametrize(("make", "ref", "key"), REFUSED)
def test_what_cannot_be_read_is_an_error_that_says_what_to_type(branch, make, ref, key):
    folder = make(branch) or branch.path
    result = run_in(branch, folder, f"--ir-since={ref}")
    result.assert_outcomes(failed=1)
    said = text_of(result)
    assert "--ir-since=" in said
    assert key.format(folder) in said
    assert not (branch.path / "was_run").exists()


@pytest.mark.parametrize("ref", ["", " "])
def test_a_ref_that_a_script_left_empty_is_an_error(branch, ref):
    result = branch.run(f"--ir-since={ref}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "nothing. Name the branch that this one left: --ir-since=origin/main.\n" in result.stderr.str()


def test_every_test_of_a_run_says_the_same_and_the_setting_is_named(branch):
    branch.write("golden/second.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
    branch.run("--ir-baseline-update").assert_outcomes(passed=2)
    result = branch.run("-o", "ir_since=nowhere")
    result.assert_outcomes(failed=2)
    assert printed(result).count("the setting ir_since, nowhere: Git knows no commit nowhere in") == 2


# States in which the fall that the branch has stored is found.


def merge_of_ci(project):
    move_main_on(project)
    git(project.path, "checkout", "-q", "--detach", "main")
    git(project.path, "merge", "-q", "--no-ff", "feature", "-m", "refs/pull/1/merge")
    git(project.path, "tag", "merged")
    git(project.path, "checkout", "-q", "main")
    write_and_commit(project.path, {"more.txt": "main has moved on since"})
    git(project.path, "checkout", "-q", "merged")


def several_merge_bases(project):
    """Of two common ancestors the later one holds the good baseline, the earlier one a worse one than the branch stores."""
    good = git(project.path, "show", f"main:{STORED}")
    git(project.path, "checkout", "-q", "main")
    git(project.path, "branch", "other")
    project.monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-02T00:00:00Z")
    project.answers(
        {query: ["none"] for query in ANSWERS} | {"opening hours": ["doc-1"], "refund policy": ["doc-9"]}
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'])
    project.store()
    commit(project.path, "the earlier one, where all is poor")
    git(project.path, "tag", "earlier")
    git(project.path, "checkout", "-q", "other")
    project.monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-03T00:00:00Z")
    write_and_commit(project.path, {"x": "x"}, "the later one")
    git(project.path, "tag", "later")
    git(project.path, "merge", "-q", "--no-ff", "-s", "ours", "earlier", "-m", "criss")
    git(project.path, "checkout", "-q", "main")
    git(project.path, "merge", "-q", "--no-ff", "-s", "ours", "later", "-m", "cross")
    git(project.path, "branch", "-f", "from", "other")
    assert good == git(project.path, "show", f"later:{STORED}")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'])
    project.answers(WORSE)
    project.store()


def worktree(project):
    folder = beside(project, "worktree")
    git(project.path, "worktree", "add", "-q", "--detach", str(folder))
    return folder


def hook_of_another_repository(project):
    other = new_repository(beside(project, "other"))
    for name, value in (
        ("GIT_DIR", other / ".git"),
        ("GIT_INDEX_FILE", other / "index"),
        ("GIT_WORK_TREE", other),
    ):
        project.monkeypatch.setenv(name, str(value))
    project.monkeypatch.setenv("GIT_TRACE", "1")


def trusted_repository_of_another_user(project):
    another_users(project)
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": str(project.path)}.items():
        project.monkeypatch.setenv(f"GIT_CONFIG_{name}", value)


def sparse_checkout(project):
    write_and_commit(project.path, {"elsewhere/file": "x"})
    git(project.path, "sparse-checkout", "set", "--no-cone", "/*", "!/elsewhere")
    assert not (project.path / "elsewhere").exists()


def behind_a_link(project):
    folder = beside(project, "link")
    folder.symlink_to(project.path)
    return folder


def moved(project):
    git(project.path, "mv", "golden/faq.yaml", "golden/questions.yaml")
    git(project.path, "mv", STORED, STORED.replace("faq", "questions"))
    project.store()
    git(project.path, "add", ".")


def odd_folder(name):
    def make(project):
        try:
            (project.path / name).mkdir()
        except OSError:
            pytest.skip("this file system has no such name")
        git(project.path, "checkout", "-q", "main")
        for one in ("golden", "ir_baselines", "test_search.py", "conftest.py", "answers.json"):
            (project.path / one).rename(project.path / name / one)
        commit(project.path)
        git(project.path, "checkout", "-q", "-b", "strange")
        project.edit(f"{name}/answers.json", '["doc-9", "doc-4", "doc-5"]', '["doc-5", "doc-6", "doc-9"]')
        project.run(str(project.path / name), "--ir-baseline-update").assert_outcomes(passed=1)

    return make


def configured_programs(project):
    """Let the repository configure programs, each of which would leave a trace."""
    script = beside(project, "script")
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {project.path}/was_run\ncat\n')
    script.chmod(0o755)
    project.write(".git/info/attributes", "* diff=x filter=x\n")
    keys = "diff.x.textconv diff.x.command diff.external filter.x.smudge filter.x.clean filter.x.process core.fsmonitor core.pager"
    for key in f"{keys} core.editor core.sshCommand core.askPass gpg.program credential.helper alias.rev-parse pager.ls-tree".split():
        git(project.path, "config", key, str(script))
    git(project.path, "config", "log.showSignature", "true")
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        target = project.path / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(script.read_bytes())
        target.chmod(0o755)
    (project.path / "was_run").unlink(missing_ok=True)


FOUND = [
    (as_it_is, "main"),
    (lambda project: git(project.path, "checkout", "-q", "--detach"), "main"),
    (lambda project: move_main_on(project, STORED, "broken"), "main"),
    (
        lambda project: write_and_commit(project.path, {"main": "a file that is called like the branch"}),
        "main",
    ),
    (merge_of_ci, "main"),
    (merge_of_ci, "HEAD^1"),
    (several_merge_bases, "from"),
    (lambda project: clone(project, "--depth=2"), "HEAD^1"),
    (worktree, "main"),
    (hook_of_another_repository, "main"),
    (trusted_repository_of_another_user, "main"),
    (sparse_checkout, "main"),
    (behind_a_link, "main"),
    (moved, "main"),
    (configured_programs, "main"),
    *(
        (odd_folder(name), "main")
        for name in (
            'a "quoted" folder',
            "new\nline\ttab",
            "naïve \N{SNOWMAN}",
            "back\\slash",
            "-rf",
            ":(top)a",
            os.fsdecode(b"\xff"),
        )
    ),
]


@posix
@pytest.mark.parametrize(("make", "ref"), FOUND)
def test_the_fall_that_the_branch_stores_is_found(branch, make, ref):
    folder = make(branch)
    folder = folder if isinstance(folder, Path) else branch.path
    result = run_in(branch, folder, f"--ir-since={ref}")
    assert result.ret == 0
    said = text_of(result)
    assert re.search(r"ACCEPTED: .*mrr fell by 0\.2222 from \S+ \([0-9a-f]+\) to 0\.6111", said)
    assert ("Its baseline was" in said) == (make is moved)
    assert "gone since" not in said
    assert not (branch.path / "was_run").exists()


def test_a_baseline_of_nobody_then_is_new_and_one_of_then_is_gone(branch):
    branch.write("golden/second.yaml", "queries: [{id: hours, query: closing hours, relevant: doc-1}]\n")
    branch.retrieve("answers.get(query, ['doc-1'])")
    branch.run("--ir-baseline-update").assert_outcomes(passed=2)
    git(branch.path, "rm", "-q", "-f", STORED, "golden/faq.yaml")
    git(branch.path, "add", ".")
    said = text_of(branch.run("--ir-since=main"))
    assert re.search(r"since main \([0-9a-f]+\): 1 test new", said)
    gone = "1 baseline or its test is gone since the commit of --ir-since, so that no test is held to that"
    assert f"{gone}: {STORED}." in said
    branch.write("test_more.py", "def test_more(): pass\n")
    other = "def test_other(): pass\n"
    # The test is gone, with its baseline or without, and with all tests of its module.
    for kept, left in (("golden/faq.yaml", other), (STORED, other), (STORED, "")):
        branch.write("test_search.py", left)
        git(branch.path, "checkout", "-q", "main", "--", kept)
        refused = branch.run("--ir-since=main", "-o", "ir_accept=fail")
        assert (refused.ret, f"{gone}: {STORED}." in text_of(refused)) == (1, True)
        assert "error: a branch takes no baseline away where `ir_accept = fail`" in text_of(refused)


DAMAGE = ['{"format": "pytest-irmetrics run", "version": 99}', "<<<<<<< HEAD\n", "\udcff"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_baseline_of_then_is_told_first_and_can_be_a_failure(branch, damage):
    kept_as(branch, lambda path: path.write_bytes(os.fsencode(damage)))
    result = branch.run("--ir-since=main")
    assert result.ret == 0
    said = r"ACCEPTED: golden/faq.yaml: The baseline of main .*cannot be read\. \S+\.json at main:1: "
    assert re.search(said, text_of(result))
    assert branch.run("--ir-since=main", "-o", "ir_accept=fail").ret == 1


JSONL = '{"id": "a", "query": "opening hours", "relevant": ["doc-1"]}\n{"id": "b", "query": "refund policy", "relevant": ["doc-9"]}\n'
FORMATS = {
    "golden/faq.qrels": {"golden/faq.qrels": "a 0 doc-1 1\nb 0 doc-9 1\n", "golden/faq.topics.tsv": "a\topening hours\nb\trefund policy\n"},
    "golden/faq": {"golden/faq/qrels/test.tsv": "query-id\tcorpus-id\tscore\na\tdoc-1\t1\nb\tdoc-9\t1\n", "golden/faq/queries.jsonl": '{"_id": "a", "text": "opening hours"}\n{"_id": "b", "text": "refund policy"}\n', "golden/faq/corpus.jsonl": "not read\n"},
    "golden/faq.csv": {"golden/faq.csv": "id,query,docid,rating\na,opening hours,doc-1,1\nb,refund policy,doc-9,1\n"},
    "golden/faq.jsonl": {"golden/faq.jsonl": JSONL},
    "golden/faq.jsonl.gz": {"golden/faq.jsonl.gz": gzip.compress(JSONL.encode())},
}  # fmt: skip


@pytest.mark.parametrize("marked", FORMATS)
def test_a_golden_set_of_then_is_read_in_any_format_out_of_the_commit_alone(
    branch, marked, monkeypatch, tmp_path
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    git(branch.path, "checkout", "-q", "main")
    (branch.path / "golden/faq.yaml").unlink()
    branch.baseline.unlink()
    files = {
        branch.path / name: text if isinstance(text, bytes) else text.encode()
        for name, text in FORMATS[marked].items()
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    branch.test(f'ir_golden("{marked}")')
    branch.store()
    commit(branch.path)
    before = set(tmp_path.iterdir())
    path, content = next(iter(files.items()))
    edited = (
        gzip.compress(JSONL.replace("doc-1", "doc-2").encode())
        if marked.endswith("gz")
        else content.replace(b"doc-1", b"doc-2")
    )
    path.write_bytes(edited)
    said = text_of(branch.run("--ir-since=main"))
    assert "2 judgments changed: a: doc-1 1 → none, a: doc-2 none → 1." in said
    assert "cannot be read" not in said
    assert set(tmp_path.iterdir()) == before
    assert git(branch.path, "status", "--porcelain").split()[1:] == [path.relative_to(branch.path).as_posix()]


def test_a_baseline_that_is_gone_is_brought_back_from_a_commit_that_has_it(branch):
    stored = git(branch.path, "rev-parse", "HEAD")[:10]
    git(branch.path, "rm", "-q", STORED)
    commit(branch.path, "drop it")
    assert f"To bring it back: git checkout {stored} -- " in text_of(branch.run("--ir-baseline"))


def test_a_run_without_it_starts_no_process(branch, monkeypatch):
    monkeypatch.setenv("PATH", "")  # of no program
    git_ran = "There is no program git"
    assert git_ran not in text_of(branch.run("--ir-baseline"))
    assert git_ran in text_of(branch.run("--ir-since=main"))


# History ----------------------------------------------------------------------------------------------------------------


def subjects(capsys, *options, status=0):
    """The subjects of the versions that `history` shows as scored, newest first, and all that it prints."""
    assert main(["history", "--limit", "0", *options]) == status
    out, err = capsys.readouterr()
    return re.findall(r"(?m)^\d{4}-\d\d-\d\d +[0-9a-f]{7,} .* {2,}(\S.*?)$", out), out + err


def test_history_follows_renames_deletions_and_merges_and_no_file_that_is_like_it(branch, capsys):
    path = branch.path
    (path / "ir_baselines/test_search/test_search_quality[other].json").write_text(
        branch.baseline.read_text()
    )
    commit(path, "another that is like it")
    move_main_on(branch)
    git(path, "checkout", "-q", "main")
    git(path, "merge", "-q", "--no-ff", "feature", "-m", "merge\tit: naïve")
    write_and_commit(
        path, {"golden/faq.yaml": (path / "golden/faq.yaml").read_text() + "# x\n"}, "not about it"
    )
    moved(branch)
    commit(path, "rename it")
    text = (path / STORED.replace("faq", "questions")).read_text()
    git(path, "rm", "-q", STORED.replace("faq", "questions"))
    commit(path, "drop it")
    (path / STORED).parent.mkdir(parents=True, exist_ok=True)
    write_and_commit(path, {STORED.replace("faq", "questions"): text}, "bring it back")
    found, said = subjects(capsys, "questions")
    assert found[:5] == ["bring it back", "drop it", "rename it", "merge\\tit: naïve", "store it"]
    assert "5 versions of its baseline" in said
    assert "holds no baseline of this test" in said
    _, said = subjects(capsys, "other")
    assert "1 version of its baseline" in said


HISTORY = [  # the state, options, exit status, what is said
    (no_git, [], 1, "There is no program git on PATH"),
    (no_repository, [], 1, "It is in no Git repository"),
    (as_it_is, ["--since", "mian"], 1, "Git knows no commit mian in"),
    (as_it_is, ["--since", "main"], 0, "Since main"),
    (shallow, [], 0, "This clone is shallow: older commits are not in it."),
    (partial, [], 0, "It is a partial clone (--filter)"),
    (lfs, [], 0, "is a link, or kept in Git LFS"),
    (object_cut_short, [], 0, "git cat-file failed in"),
    (lfs, ["--since", "main"], 0, "is a link, or kept in Git LFS"),
    (lambda project: write_and_commit(project.path, {STORED: "{"}), [], 1, "the file was cut short"),
    (lambda project: move_main_on(project, "x", "y"), ["--since", "main~1"], 0, "Since main~1"),
    (lambda project: commit(project.path, "empty"), ["--since", "nothing"], 1, "Git knows no commit nothing"),
]  # fmt: skip


@posix
@pytest.mark.parametrize(("make", "options", "status", "key"), HISTORY)
def test_history_says_what_it_cannot_read(branch, monkeypatch, capfd, make, options, status, key):
    folder = make(branch)
    monkeypatch.chdir(folder if isinstance(folder, Path) else branch.path)
    monkeypatch.setenv("COLUMNS", "300")
    said = subjects(capfd, *options, status=status)[1]
    assert key in " ".join(said.split())
    assert not re.search("(?m)^(error|fatal): ", said)  # of a process of Git's
