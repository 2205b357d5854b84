"""docs/ci.md, docs/since.md, and how docs/baseline.md accepts: what they show gates, with the engine and with what was recorded where it is."""

from __future__ import annotations

import json
import re
import shlex

import pytest
import yaml

from pytest_irmetrics import Run, cli
from tests.expected import RENEWING
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository
from tests.pages import DOCS, blocks, without_the_machine
from tests.plugin.conftest import ANSWERS, TEST

PAGE = (DOCS / "ci.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in re.split(r"^##+ ", PAGE, flags=re.MULTILINE)[1:]}
MOVIES = """
    queries:
      - {query: space movie, relevant: [m-1, m-2]}
      - {id: refund, query: refund policy, relevant: doc-9}
"""
ENGINE = """
    import json, pathlib

    ANSWERS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))

    def search(query, k):
        return ANSWERS[query][:k]
"""


def block(section, language):
    return re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)


def commands(section):
    return [
        line[2:].partition("  ")[0]
        for text in block(section, "console")
        for line in text.splitlines()
        if line.startswith("$ ")
    ]


@pytest.fixture
def shop(project, monkeypatch):
    """Two golden sets, and the page's retriever."""
    monkeypatch.setenv("COLUMNS", "200")
    project.write("golden/movies.yaml", MOVIES)
    project.answers({**ANSWERS, "space movie": ["m-2", "m-3", "m-1"]})
    project.write("shop.py", ENGINE)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.write("conftest.py", block("Gate without the engine", "python")[0])
    return project


def run(project, monkeypatch, command):
    """Run a command of the page, in a folder that has the engine or else the recorded run."""
    words = shlex.split(command)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    assert words.pop(0) == "pytest"
    return project.run(*words)


def scores(project, name):
    tests = json.loads((project.path / name).read_text())["tests"]
    return {test["nodeid"]: {row["metric"]: row["now"] for row in test["rows"]} for test in tests}


def recorded(project, monkeypatch):
    """Record the run as the page does, and take the engine away."""
    record, replay = commands("Gate without the engine")
    project.run("--ir-baseline-update").assert_outcomes(passed=2)
    run(project, monkeypatch, record).assert_outcomes(passed=2)
    (project.path / "shop.py").unlink()
    return replay


def test_several_golden_sets_gate_without_the_engine(shop, monkeypatch):
    replay = recorded(shop, monkeypatch)
    result = run(shop, monkeypatch, f"{replay} --ir-report=again.json")
    result.assert_outcomes(passed=2)
    assert scores(shop, "again.json") == scores(shop, "run.json")
    assert len(scores(shop, "run.json")) == 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "query: space movie",
            "query: space movies",
            "space movies*the stored run was not asked this query.",
        ),
        (
            "query: refund policy",
            "query: refunds",
            "refund*the stored run answers another text, 'refund policy'.",
        ),
        (
            "relevant: doc-9",
            "relevant: doc-9, params: {lang: de}",
            "refund*the stored run answers other params",
        ),
    ],
)
def test_a_stale_run_is_an_error_and_no_score(shop, monkeypatch, old, new, words):
    replay = recorded(shop, monkeypatch)
    path = shop.path / "golden" / "movies.yaml"
    path.write_text(path.read_text().replace(old, new))
    result = run(shop, monkeypatch, replay)
    result.assert_outcomes(passed=1, failed=1)
    first, _, second = words.partition("*")
    result.stdout.fnmatch_lines([f"golden/movies.yaml:*: {first}", f"*{second}*"])
    result.stdout.fnmatch_lines(["1 of 2 queries could not be retrieved: *"])


def test_a_golden_set_and_a_depth_that_were_not_recorded(shop, monkeypatch):
    replay = recorded(shop, monkeypatch)
    shop.write("golden/new.yaml", "queries: [{query: anything new, relevant: d}]\n")
    result = run(shop, monkeypatch, replay.replace("--ir-baseline", "-k new"))
    result.assert_outcomes(errors=1, deselected=2)
    result.stdout.fnmatch_lines(["*RunError: run.json:1: has no run of a test *new*"])
    result = run(shop, monkeypatch, replay.replace("--ir-baseline", "-k faq -o ir_depth=20"))
    result.stdout.fnmatch_lines(
        ["The stored run was asked for 10 results a query, and 20 are asked for here*"]
    )


def test_a_test_that_failed_to_retrieve_is_not_in_the_report(shop, monkeypatch):
    shop.answers(ANSWERS)
    record, replay = commands("Gate without the engine")
    run(shop, monkeypatch, record).assert_outcomes(passed=1, failed=1)
    result = run(shop, monkeypatch, replay.replace(" --ir-baseline", ""))
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*RunError: run.json:1: has no run of a test *movies*"])


def test_a_run_of_some_queries_answers_for_those_alone(shop, monkeypatch):
    shop.run("--ir-query=refund", "--ir-report=run.json").assert_outcomes(passed=2)
    assert list(Run.load(shop.path / "run.json", test="faq")) == ["refund"]
    monkeypatch.setenv("SEARCH_RUN", "run.json")
    result = shop.run("-k", "faq")
    result.stdout.fnmatch_lines(["2 of 3 queries could not be retrieved*"])


def test_latency_is_not_gated_without_the_engine(shop, monkeypatch):
    replay = recorded(shop, monkeypatch)
    shop.write("test_search.py", TEST.replace('"mrr", 0.5', '"latency_p95", max=1000'))
    result = run(shop, monkeypatch, replay.replace(" --ir-baseline", ""))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["A gate over no query: latency_p95 needs a retriever to time; a stored run has no*"]
    )


def test_a_report_of_several_tests_needs_a_test(shop, monkeypatch):
    replay = recorded(shop, monkeypatch)
    path = shop.path / "conftest.py"
    path.write_text(path.read_text().replace(", test=request.node.nodeid", ""))
    result = run(shop, monkeypatch, replay)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*RunError: run.json:1: has 2 runs, *Say whose is wanted: `Run.load(path, test=*"]
    )
    result.stdout.no_fnmatch_line("*run/*.py:*")


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
    (code,) = (code for code in block("Gate without the engine", "python") if "compared" in code)
    shop.write("conftest.py", code)
    shop.run("--ir-report=again.json").assert_outcomes(passed=4)
    assert scores(shop, "again.json") == scores(shop, "run.json")
    assert len({tuple(row.values()) for row in scores(shop, "run.json").values()}) > 2


def test_repeats_come_back_all(shop, monkeypatch):
    shop.run("--ir-repeat=2", "--ir-report=run.json").assert_outcomes(passed=2)
    monkeypatch.setenv("SEARCH_RUN", "run.json")
    shop.run("--ir-report=again.json").assert_outcomes(passed=2)
    assert len(Run.load(shop.path / "again.json", test="faq").answers["refund"].rankings) == 2


def test_other_files_answer_too(shop, monkeypatch):
    recorded(shop, monkeypatch)
    (name,) = re.findall(r"`(ir_baselines/[^`]+)`", SECTIONS["Gate without the engine"])
    path = shop.path / "conftest.py"
    path.write_text(path.read_text().replace(", test=request.node.nodeid", ""))
    monkeypatch.setenv("SEARCH_RUN", name)
    shop.run("-k", "faq", "--ir-baseline").assert_outcomes(passed=1, deselected=1)
    lines = ["refund Q0 doc-9 0 3.5 bm25", "refund Q0 doc-5 0 4 bm25", "hours Q0 doc-1 1 7 bm25"]
    shop.write("bm25.run", "\n".join(lines) + "\n")
    monkeypatch.setenv("SEARCH_RUN", "bm25.run")
    result = shop.run("-k", "faq", "-v")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["*No line of the stored run is about 1 query, which counts as an empty answer: reset."]
    )
    shop.write("bm25.run", "1 Q0 doc-9 0 3.5 bm25\n")
    result = shop.run("-k", "faq", "-v")
    result.stdout.fnmatch_lines(
        ["The stored run has no query that is asked here: it has '1', and asked is 'reset', *"]
    )


def test_a_run_of_several_golden_sets_to_compare_with(shop):
    shop.run("--ir-report=main.json").assert_outcomes(passed=2)
    for name in ("faq", "movies"):
        Run.load(shop.path / "main.json", test=name).save(shop.path / f"{name}.json")
    ids = [*(f"q{n}" for n in range(9)), "reset", "refund", "hours"]
    shop.write("main.run", "".join(f"{query_id} Q0 doc-9 1 1 bm25\n" for query_id in ids))
    for name in ("faq.json", "main.run"):
        check = f"irmetrics.check(against={name!r})"
        shop.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'], check)
        result = shop.run("-k", "faq", "-v")
        result.assert_outcomes(passed=1, deselected=1)
        result.stdout.no_fnmatch_line("*not in the golden set*")
    shop.write("main.run", "other Q0 doc-9 1 1 bm25\n")
    result = shop.run("-k", "faq")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["Only 0% of main.run's queries*"])
    check = check.replace("main.run", "movies.json")  # which says of which golden set it is
    shop.test(['ir_golden("golden/faq.yaml")', 'ir_threshold("mrr", max_drop=0.01)'], check)
    shop.run("-v").stdout.fnmatch_lines(["*movies.json not in the golden set any more: space movie."])


GITLAB = "GitLab"


@pytest.fixture
def branch(shop, monkeypatch):
    """The project on a branch that left origin/main, where its baselines are committed."""
    isolate_git(monkeypatch)
    new_repository(shop.path)
    shop.run("--ir-baseline-update").assert_outcomes(passed=2)
    commit(shop.path, "store the baselines")
    git(shop.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(shop.path, "checkout", "-q", "-b", "feature")
    return shop


@needs_git
@pytest.mark.parametrize("section", ["Without the action", GITLAB])
def test_each_ci_s_command_gates_and_writes_what_it_keeps(branch, monkeypatch, section):
    text = block(section, "yaml")[0]
    config = yaml.safe_load(text)
    if section == GITLAB:
        (command,) = (line for line in config["search-quality"]["script"] if line.startswith("pytest"))
        artifacts = config["search-quality"]["artifacts"]
        assert list(artifacts["reports"]) == ["junit"]
        kept = [*artifacts["reports"].values(), *artifacts["paths"]]
    else:
        gate, keep = config
        command, kept = gate["run"], ["report/run.json", "report/report.html"]
        assert keep["with"]["path"] == "report"
    summary = branch.write("summary", "# Build\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    command = command.replace("$GITHUB_STEP_SUMMARY", str(summary))
    for name in ("${{ github.base_ref }}", "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        command = command.replace(name, "main")
    branch.answers({**ANSWERS, "space movie": ["m-3", "m-2", "m-1"]})
    run(branch, monkeypatch, command).assert_outcomes(passed=1, failed=1)
    for name in kept:
        assert (branch.path / name).stat().st_size > 100
    if section != GITLAB:
        assert "movies" in summary.read_text(encoding="utf-8")


@needs_git
def test_accepting_a_change(branch, monkeypatch):
    accept = next(block.text for block in blocks(DOCS / "baseline.md") if "ir-query" in block.text)
    update, one, add = (line.partition("  ")[0] for line in accept.splitlines())
    assert add == "git add ir_baselines"
    branch.answers({**ANSWERS, "space movie": ["m-3", "m-2", "m-1"]})
    result = run(branch, monkeypatch, one.replace("--ir-query=phone", "--ir-query='opening hours'"))
    result.assert_outcomes(passed=2)
    run(branch, monkeypatch, "pytest --ir-baseline").assert_outcomes(passed=1, failed=1)
    result = run(branch, monkeypatch, update)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*mrr*1.0000*0.7500*"])
    run(branch, monkeypatch, "pytest --ir-baseline").assert_outcomes(passed=2)


def test_the_hook_reads_golden_sets(shop, monkeypatch, capsys):
    (text,) = block("Before the commit", "yaml")
    (hook,) = yaml.safe_load(text)["repos"][0]["hooks"]
    files = [
        str(path.relative_to(shop.path))
        for path in shop.path.rglob("*.*")
        if re.search(hook["files"], path.relative_to(shop.path).as_posix())
    ]
    assert sorted(files) == ["golden/faq.yaml", "golden/movies.yaml"]
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
    right = {query: ranks.get(query, 1) - 1 for query in ORDERS}
    project.answers({query: [*others[:above], "right"] for query, above in right.items()})
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
    result = project.run("--ir-since=origin/main")
    result.assert_outcomes(passed=1)
    printed = result.stdout.str().partition(" retrieval quality ===")[2].partition("\n")[2]
    accepted = without_the_machine(printed.partition("\nsince origin/main")[0] + "\n")
    page = DOCS / "since.md"
    (shown,) = (block.text for block in blocks(page) if block.remark == "accepted")
    if RENEWING:
        page.write_text(page.read_text(encoding="utf-8").replace(shown, accepted), encoding="utf-8")
    else:
        assert accepted == shown
