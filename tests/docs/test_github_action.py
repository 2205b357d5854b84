"""action.yml, and the workflows of docs/ci.md: each script is run as GitHub runs it, with a `gh` that notes what it is asked."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import yaml

from tests.git_repository import git, needs_git
from tests.pages import DOCS, ROOT, Project
from tests.plugin.conftest import make_ranking_worse

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GATE, KEEP, COMMENT = ACTION["runs"]["steps"]
PAGE = (DOCS / "ci.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
(WORKFLOW,) = (one for one in BLOCKS if isinstance(one, dict) and one.get("name") == "search quality")
(FORKS,) = (one for one in BLOCKS if isinstance(one, dict) and one.get("name") == "search quality, comment")
FORK_STEPS = FORKS["jobs"]["comment"]["steps"]

needs_bash = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are run with a POSIX bash")

GH = """
import json, pathlib, sys

folder = pathlib.Path(__file__).parent.parent
with (folder / "asked.jsonl").open("a") as file:
    body = [pathlib.Path(one.partition("@")[2]).read_text(encoding="utf-8") for one in sys.argv if one.startswith("body=@")]
    file.write(json.dumps({"words": sys.argv[1:], "body": body}) + "\\n")
if "--jq" in sys.argv:
    print((folder / ("pulls" if any(one.endswith("/pulls") for one in sys.argv) else "comments")).read_text(), end="")
"""


class Job:
    """A folder in which a step's script runs, with `pytest`, `python` and `gh` in its path."""

    def __init__(self, project, tmp_path):
        self.project, self.folder = project, tmp_path / "job"
        self.folder.mkdir()
        shell = Project(self.folder)
        (shell.scripts / "gh.py").write_text(GH, encoding="utf-8")
        shell.script("gh", str(shell.scripts / "gh.py"))
        shell.script("pip", "-c pass")
        for name in ("comments", "pulls", "output", "summary"):
            (self.folder / name).write_text("", encoding="utf-8")
        self.environment = {
            **shell.environment,
            "PYTHONPATH": str(ROOT),
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "shop/search",
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
        }
        self.reports = self.folder / "retrieval-quality"

    def run(self, step, folder, **environment):
        """Run a step's script as GitHub does; `environment` is what its expressions give."""
        assert set(environment) == set(step.get("env", {}))
        assert "${{" not in step["run"]  # what is in it could run commands
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def gate(self, arguments="", since="origin/main"):
        return self.run(GATE, self.project.path, ARGUMENTS=arguments, SINCE=since, REPORTS=str(self.reports))

    def comment(self, **changes):
        given = {"GH_TOKEN": "t", "NAME": "retrieval-quality", "NUMBER": "7", **changes}
        return self.run(COMMENT, self.reports, **given)

    @property
    def asked(self):
        """What `gh` was asked, as its words and the text that it posts."""
        path = self.folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def job(branch, tmp_path):
    """A branch whose search got worse since it left origin/main."""
    git(branch.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    make_ranking_worse(branch)
    return Job(branch, tmp_path)


@needs_bash
@pytest.mark.parametrize("arguments", ["-k 'not faq", 'tests "a b'])
def test_a_quote_that_is_left_open_fails_the_step(job, arguments):
    done = job.gate(arguments)
    assert done.returncode == 1
    assert "::error title=arguments::The input `arguments` cannot be split as a shell does." in done.stdout
    assert "passed" not in done.stdout
    assert "failed" not in done.stdout


@needs_bash
@needs_git
class TestTheGate:
    """The step that runs pytest."""

    def test_fails_and_writes_every_report(self, job):
        done = job.gate("-k ''")  # an empty argument is one
        assert done.returncode == 1
        assert "\n::error file=golden/faq.yaml,line=5,title=" in done.stdout
        assert (job.folder / "summary").read_text(encoding="utf-8").startswith("## Retrieval quality: 1 of 1")
        assert sorted(path.name for path in job.reports.iterdir()) == ["report.html", "report.md", "run.json"]
        assert (job.folder / "output").read_text() == f"reports={job.reports}\n"
        report = json.loads((job.reports / "run.json").read_text(encoding="utf-8"))
        assert report["tests"][0]["since"]["ref"] == "origin/main"

    def test_gates_on_the_stored_baseline_where_there_is_no_other_branch(self, job):
        assert job.gate(since="").returncode == 1
        report = json.loads((job.reports / "run.json").read_text(encoding="utf-8"))
        assert report["tests"][0]["since"] is None
        assert report["tests"][0]["against"] == "the baseline"

    def test_reads_its_arguments_as_a_shell_does_and_runs_none_of_them(self, job):
        done = job.gate("test_search.py -k 'faq and not slow' -o 'ir_max_drop=0.9'")
        assert done.returncode == 0, done.stdout
        done = job.gate("-k '$(touch pwned)' ; touch pwned")
        assert not (job.project.path / "pwned").exists()

    def test_leaves_a_folder_where_pytest_could_not_begin(self, job):
        assert job.gate(since="nowhere").returncode
        assert job.comment().returncode == 0
        assert job.gate("--no-such-option").returncode == 4
        assert job.reports.is_dir()


@needs_bash
@needs_git
class TestTheComment:
    """The step that comments on the pull request."""

    def test_is_made_once_and_then_edited(self, job):
        job.gate()
        assert job.comment().returncode == 0
        look, post = job.asked
        assert look["words"][:3] == ["api", "--paginate", "repos/shop/search/issues/7/comments?per_page=100"]
        assert post["words"][-3] == "repos/shop/search/issues/7/comments"
        assert "POST" in post["words"]
        (body,) = post["body"]
        assert body.startswith("<!-- pytest-irmetrics: retrieval-quality -->\n## Retrieval quality: 1 of 1")
        (job.folder / "comments").write_text("41\n42\n")
        job.comment()
        edit = job.asked[-1]
        assert "PATCH" in edit["words"]
        assert "repos/shop/search/issues/comments/41" in edit["words"]
        assert edit["body"] == [body]
        # It edits none but its own: other workflows comment by the same name, and anybody can write the marker.
        job.comment(NAME="other")
        assert job.asked[-2]["words"][-1] == (
            '.[] | select(.user.login == "github-actions[bot]" and '
            '(.body | startswith("<!-- pytest-irmetrics: other -->"))) | .id'
        )

    def test_is_left_out_where_there_is_no_report(self, job):
        job.reports.mkdir()
        assert job.comment().returncode == 0
        assert job.asked == []


@needs_bash
@needs_git
class TestTheCommentOnAFork:
    """The second workflow of the page."""

    def test_is_made_of_the_json_report(self, job):
        job.gate()
        (job.reports / "report.md").write_text("![x](https://evil.example/x.png) @everyone", encoding="utf-8")
        (job.folder / "pulls").write_text("9\n")
        _, render, post = FORK_STEPS
        assert job.run(render, job.reports).returncode == 0
        given = {"GH_TOKEN": "t", "NAME": "retrieval-quality", "HEAD": "fork:$(touch x)", "COMMIT": "c0ffee"}
        assert job.run(post, job.reports, **given).returncode == 0
        pulls, _, comment = job.asked
        assert "head=fork:$(touch x)" in pulls["words"]
        assert not (job.reports / "x").exists()
        assert "repos/shop/search/issues/9/comments" in comment["words"]
        assert "evil" not in comment["body"][0]
        assert "mrr fell by" in comment["body"][0]
        # It is left out where the commit is of no open pull request.
        (job.folder / "pulls").write_text("")
        assert job.run(post, job.reports, **given).returncode == 0
        assert len(job.asked) == 4


def test_the_workflows_of_the_page_fit_the_action():
    (gate,) = WORKFLOW["jobs"].values()
    assert WORKFLOW["permissions"]["pull-requests"] == "write"
    assert gate["steps"][0]["with"]["fetch-depth"] == 0
    assert gate["steps"][-1]["uses"].partition("@")[0] == "OWNER/pytest-irmetrics"
    assert KEEP["if"] == "${{ !cancelled() }}"
    assert KEEP["with"]["path"] == "${{ steps.gate.outputs.reports }}"
    assert FORK_STEPS[0]["with"]["name"] == ACTION["inputs"]["artifact"]["default"]
    assert FORK_STEPS[2]["run"].endswith(COMMENT["run"].rstrip("\n") + "\n")
    assert FORKS[True]["workflow_run"]["workflows"] == [WORKFLOW["name"]]
    assert FORKS["permissions"] == {"pull-requests": "write", "actions": "read"}
    for condition in (
        "inputs.comment == 'true'",
        "head.repo.full_name == github.repository",
        "'pull_request'",
    ):
        assert condition in COMMENT["if"]
    assert "full_name != github.repository" in FORKS["jobs"]["comment"]["if"]


def test_every_input_is_used_and_on_the_page():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    section = PAGE.partition("Its inputs are")[2].partition("\n\n")[0]
    for name, described in ACTION["inputs"].items():
        assert described["description"]
        assert "default" in described
        assert f"inputs.{name}" in text
        assert f"`{name}`" in section
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])


def test_each_action_has_the_same_major_version_wherever_it_is_used():
    """Those before them run on a Node.js that GitHub's runners do not have any more."""
    found = set()
    files = [ROOT / "action.yml", *(ROOT / ".github").rglob("*.yml"), *(ROOT / "docs").rglob("*.md")]
    for file in files:
        found |= set(re.findall(r"uses: (actions/[\w-]+@\S+)", file.read_text(encoding="utf-8")))
    assert found == {
        "actions/checkout@v6",
        "actions/setup-python@v6",
        "actions/upload-artifact@v7",
        "actions/download-artifact@v8",
        "actions/upload-pages-artifact@v5",
        "actions/deploy-pages@v5",
    }
