"""docs/ci.md, docs/since.md, and how docs/baseline.md accepts: what they show gates, with the engine and with what was recorded where it is."""

from __future__ import annotations

import json
import re
import shlex

import pytest
import yaml

from pytest_irmetrics import cli
from tests.expected import RENEWING
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository
from tests.pages import DOCS, blocks, without_the_machine
from tests.projects import ANSWERS, TEST

PAGE, SINCE = DOCS / "ci.md", DOCS / "since.md"
FOUND = blocks(PAGE)
RECORD, REPLAY = (block.text[2:].strip() for block in FOUND if block.kind == "console")
CONFTEST, COMPARED = (block.text for block in FOUND if block.kind == "python")
GITHUB, GITLAB, HOOK = (yaml.safe_load(block.text) for block in FOUND[1:5:2] + FOUND[-1:])
ENGINE = """
    import json, pathlib

    ANSWERS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))

    def search(query, k):
        return ANSWERS[query][:k]
"""


@pytest.fixture
def shop(project, monkeypatch):
    """Two golden sets, and the page's retriever."""
    monkeypatch.setenv("COLUMNS", "200")
    project.write(
        "golden/movies.yaml",
        "queries:\n- {query: space movie, relevant: [m-1, m-2]}\n- {id: refund, query: refund policy, relevant: doc-9}\n",
    )
    project.answers({**ANSWERS, "space movie": ["m-2", "m-3", "m-1"]})
    project.write("shop.py", ENGINE)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.write("conftest.py", CONFTEST)
    return project


def run(project, monkeypatch, command):
    """Run a command of a page."""
    words = shlex.split(command)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    assert words.pop(0) == "pytest"
    return project.run(*words)


def scores(project, name):
    tests = json.loads((project.path / name).read_text(encoding="utf-8"))["tests"]
    return {test["nodeid"]: {row["metric"]: row["now"] for row in test["rows"]} for test in tests}


def test_several_golden_sets_gate_without_the_engine(shop, monkeypatch):
    shop.run("--ir-baseline-update").assert_outcomes(passed=2)
    run(shop, monkeypatch, RECORD).assert_outcomes(passed=2)
    (shop.path / "shop.py").unlink()
    run(shop, monkeypatch, f"{REPLAY} --ir-report=again.json").assert_outcomes(passed=2)
    assert scores(shop, "again.json") == scores(shop, "run.json")
    assert len(scores(shop, "run.json")) == 2

    # What the recording knows, and what else answers.
    shop.edit("golden/movies.yaml", "space movie", "space movies")
    result = run(shop, monkeypatch, REPLAY)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*the stored run was not asked this query.*"])
    shop.write("conftest.py", CONFTEST.replace(", test=request.node.nodeid", ""))
    (baseline,) = re.findall(r"`(ir_baselines/[^`]+)`", PAGE.read_text(encoding="utf-8"))
    replay = f"SEARCH_RUN='{baseline}' pytest -k faq"
    run(shop, monkeypatch, replay).assert_outcomes(passed=1, deselected=1)
    run(shop, monkeypatch, f"{replay} --ir-baseline").assert_outcomes(failed=1, deselected=1)
    shop.write("bm25.run", "refund Q0 doc-9 0 3.5 bm25\nhours Q0 doc-1 1 7 bm25\n")
    result = run(shop, monkeypatch, "SEARCH_RUN=bm25.run pytest -k faq -v")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*which counts as an empty answer: reset."])
    shop.test(
        ['ir_golden("golden/faq.yaml")', 'ir_threshold("mrr", max_drop=0.9)'],
        "irmetrics.check(against='bm25.run')",
    )
    run(shop, monkeypatch, f"SEARCH_RUN='{baseline}' pytest").assert_outcomes(passed=1)


def test_parametrized_retrievers_take_the_run_of_their_parameter(shop):
    shop.write(
        "conftest.py",
        """
        import pytest, shop

        @pytest.fixture(params=["bm25", "dense"], scope="session")
        def retriever(request):
            return shop.search if request.param == "bm25" else lambda query, k: shop.search(query, k)[::-1]
        """,
    )
    shop.write("test_search.py", TEST.replace('"mrr", 0.5', '"mrr", 0.1'))
    shop.run("--ir-report=run.json").assert_outcomes(passed=4)
    shop.write("conftest.py", COMPARED)
    shop.run("--ir-report=again.json").assert_outcomes(passed=4)
    assert scores(shop, "again.json") == scores(shop, "run.json")
    assert len({tuple(row.values()) for row in scores(shop, "run.json").values()}) > 2


@pytest.fixture
def branch(shop, monkeypatch):
    """The project on a branch that left origin/main, where its baselines are committed."""
    isolate_git(monkeypatch)
    new_repository(shop.path)
    shop.run("--ir-baseline-update").assert_outcomes(passed=2)
    commit(shop.path, "store the baselines")
    git(shop.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(shop.path, "checkout", "-q", "-b", "feature")
    shop.answers({**ANSWERS, "space movie": ["m-3", "m-2", "m-1"]})
    return shop


@needs_git
@pytest.mark.parametrize("ci", ["GitHub", "GitLab"])
def test_each_ci_s_command_gates_and_writes_what_it_keeps(branch, monkeypatch, ci):
    if ci == "GitLab":
        (command,) = (line for line in GITLAB["search-quality"]["script"] if line.startswith("pytest"))
        kept = [
            *GITLAB["search-quality"]["artifacts"]["reports"].values(),
            *GITLAB["search-quality"]["artifacts"]["paths"],
        ]
        assert kept == ["junit.xml", "report.html"]
    else:
        gate, keep = GITHUB
        command, kept = gate["run"], ["summary", "report/run.json", "report/report.html"]
        assert keep["with"]["path"] == "report"
    summary = branch.write("summary", "# Build\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for name in ("${{ github.base_ref }}", "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        command = command.replace(name, "main")
    command = command.replace("$GITHUB_STEP_SUMMARY", str(summary))
    run(branch, monkeypatch, command).assert_outcomes(passed=1, failed=1)
    for name in kept:
        assert (branch.path / name).stat().st_size > 100


@needs_git
def test_accepting_a_change(branch, monkeypatch):
    accept = next(block.text for block in blocks(DOCS / "baseline.md") if "ir-query" in block.text)
    update, one, add = (line.partition("  ")[0] for line in accept.splitlines())
    assert add == "git add ir_baselines"
    run(branch, monkeypatch, one.replace("--ir-query=phone", "--ir-query=hours")).assert_outcomes(passed=2)
    run(branch, monkeypatch, "pytest --ir-baseline").assert_outcomes(passed=1, failed=1)
    run(branch, monkeypatch, update).assert_outcomes(passed=2)
    run(branch, monkeypatch, "pytest --ir-baseline").assert_outcomes(passed=2)


def test_the_hook_reads_golden_sets(shop, monkeypatch, capsys):
    (hook,) = HOOK["repos"][0]["hooks"]
    files = sorted(path.relative_to(shop.path).as_posix() for path in shop.path.rglob("*.*"))
    files = [name for name in files if re.search(hook["files"], name)]
    assert files == ["golden/faq.yaml", "golden/movies.yaml"]
    monkeypatch.chdir(shop.path)
    program, *words = hook["entry"].split()
    assert program == "pytest-irmetrics"
    assert cli.main([*words, *files]) == 0
    shop.write("golden/faq.yaml", "queries: [{query: a, relevent: b}]\n")
    assert cli.main([*words, *files]) == 1
    assert "golden/faq.yaml:1:" in capsys.readouterr().out


WORSE = {"coupon": 10, "refund": 2, **{f"order {number}": 2 for number in range(1, 8)}}
"""The queries that the branch makes worse, each with the rank of its document from then on."""

ORDERS = [*WORSE, *(f"opening hours {number}" for number in range(1, 12))]


def store_search(project, ranks, minimum):
    """Store and commit the baseline of a search in which each query's one relevant document has a rank."""
    queries = "".join(f"  - {{query: {query}, relevant: right}}\n" for query in ORDERS)
    project.write("golden/faq.yaml", f"thresholds: {{mrr: {minimum}}}\nqueries:\n{queries}")
    others = [f"other-{number}" for number in range(9)]
    project.answers({query: [*others[: ranks.get(query, 1) - 1], "right"] for query in ORDERS})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    commit(project.path)


@needs_git
def test_what_a_branch_accepts_is_said_as_the_page_shows_it(project, monkeypatch):
    isolate_git(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    project.test(['ir_golden("golden/*.yaml")'])
    new_repository(project.path)
    store_search(project, {}, 0.9)
    git(project.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    store_search(project, WORSE, 0.5)
    result = project.run("--ir-since=origin/main", "-q")
    result.assert_outcomes(passed=1)
    printed = result.stdout.str().partition("%]\n")[2]
    accepted = without_the_machine(printed.partition("\n1 passed")[0] + "\n")
    (shown,) = (block.text for block in blocks(SINCE) if block.remark == "accepted")
    if RENEWING:
        SINCE.write_text(SINCE.read_text(encoding="utf-8").replace(shown, accepted), encoding="utf-8")
    else:
        assert accepted == shown
