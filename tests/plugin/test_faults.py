"""Fail by name for what is wrong with a file, a retriever, a fixture or a hook, with no traceback of ours."""

from __future__ import annotations

import os
import shlex
import sys

import pytest

from tests.plugin.conftest import ANSWERS, GATED, GOLDEN, RETRIEVER, text_of, write_tests


def retriever(project, code):
    lines = "import asyncio, pytest\n\n" + code + "\n\n@pytest.fixture\ndef retriever():\n    return search\n"
    (project.path / "conftest.py").write_text(lines)


@pytest.mark.skipif(sys.platform == "win32", reason="no links without rights, and no pipes")
def test_golden_files_that_are_no_files_fail_by_name_and_the_others_go_on(project):
    golden = project.path / "golden"
    (golden / "a-link.yaml").symlink_to("faq.yaml")
    (golden / "dangling.yaml").symlink_to("nowhere.yaml")
    (golden / "loop.yaml").symlink_to("loop.yaml")
    (golden / "folder.yaml").mkdir()
    os.mkfifo(golden / "pipe.yaml")
    result = project.run()
    result.assert_outcomes(passed=2, failed=3)
    for message in (
        "dangling.yaml:1:1: There is no such file",
        "loop.yaml:1:1: The file cannot be read",
        "pipe.yaml:1:1: ",
    ):
        assert message in text_of(result)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "golden/faq.yaml:1:1: The file is empty."),
        (b"\x00\xff\xfe\x80", "golden/faq.yaml:1:1: "),
        (
            "queries: [{query: Grüße, relevant: [a]}]".encode("latin-1"),
            "golden/faq.yaml:1:21: The byte 0xFC is not UTF-8.",
        ),
        (b"<<<<<<< ours\nqueries: []\n", "golden/faq.yaml:1:"),
        (b"queries:\n  - {query: a, relevant: [b], relevant: [c]}\n", "golden/faq.yaml:2:"),
        (b"a: &a [x]\nb: &b [*a, *a, *a]\nqueries: [*b, *b, *b]\n", "golden/faq.yaml:"),
        (b"queries: " + b"[" * 100_000, "golden/faq.yaml:1:"),
    ],
    ids=["empty", "binary", "latin-1", "conflict", "duplicate key", "aliases", "deep"],
)
def test_a_broken_golden_file_fails_by_line_and_column(project, content, message):
    (project.path / "golden/faq.yaml").write_bytes(content)
    result = project.run()
    result.assert_outcomes(failed=1)
    assert message in text_of(result)


def test_line_ends_do_not_matter(project):
    (project.path / "golden/faq.yaml").write_bytes(
        "\n".join(line[4:] for line in GOLDEN.splitlines()).replace("\n", "\r\n").encode()
    )
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize("setting", ["", "ir_timeout = 5", "ir_concurrency = 3"])
@pytest.mark.parametrize(
    ("act", "line"),
    [("pytest.skip('no engine')", "skipped, nothing was evaluated"), ("pytest.xfail('x')", "skipped, nothing was evaluated"),
     ("exit(3)", "SystemExit: 3")],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "async "])
def test_what_a_retriever_lets_pytest_know_is_told_without_contradiction(project, prefix, act, line, setting):
    project.write("pytest.ini", f"[pytest]\n{setting}\n")
    retriever(project, f"{prefix}def search(query, k):\n    {act}")
    result = project.run()
    assert line in text_of(result)
    assert ("FAILS" in text_of(result)) == (act == "exit(3)") == (result.ret == 1)
    quiet = text_of(project.run("-q"))
    assert f"retrieval quality: 1 golden set, 1 {'failed' if result.ret else 'skipped'}" in quiet


@pytest.mark.parametrize("error", ["asyncio.CancelledError", "GeneratorExit", "RecursionError"])
def test_what_a_retriever_raises_shows_its_line_and_none_of_ours(project, error):
    retriever(project, f"async def search(query, k):\n    raise {error}")
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "conftest.py:4" in text_of(result)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("search = None", "The retriever is None. Give a callable of (query, k)"),
        ("class search: pass", "a class. Give a callable of (query, k)"),
        ("search = lambda: []", "cannot be called: too many positional arguments"),
        ("async def search(query, k):\n    for n in range(10**12): yield f'doc-{n}'", "mrr is 0.2333"),
        (
            "def search(query, k):\n    yield 'doc-1'\n    raise OSError('gone')",
            "raised OSError: gone (conftest.py:5)",
        ),
    ],
)
def test_what_is_no_retriever_fails_in_words(project, code, message):
    retriever(project, code)
    result = project.run()
    result.assert_outcomes(failed=1)
    assert message in text_of(result)


def test_an_expected_failure_is_not_counted_as_one(project):
    write_tests(project, "@pytest.mark.xfail\nGATED\ndef test_it(irmetrics): irmetrics.check()\n")
    result = project.run()
    result.assert_outcomes(xfailed=1)
    assert "golden/faq.yaml: FAILS as expected, 3 queries" in text_of(result)
    assert "all pass" in text_of(project.run("-q"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("golden/faq.yaml", "a\\u0000b"), "its baseline is still there"),
        (("golden/faq.yaml", "../../etc/passwd"), "its baseline is still there"),
        (('"golden/faq.yaml"', "7"), "ir_baselines/test_search/test_search_quality[faq].json:1: `golden_set` is not text"),
        (('"depth": 10', '"depth": ' + "9" * 5000), "[faq].json:1: holds a number of thousands of digits"),
        (('"format"', '"version": 1, "format"'), "the key 'version' is there twice"),
        (('"id": "hours"', '"id": "reset"'), "query 'reset' is there twice"),
        (('["doc-2", "doc-1"]', '["doc-2", "doc-2"]'), "'doc-2' is in it twice"),
        (('"rankings"', '"rankings": ' + "[" * 100_000 + '"x"'), "[faq].json"),
    ],
    ids=["null", "elsewhere", "number", "digits", "key", "query", "document", "deep"],
)  # fmt: skip
def test_a_baseline_that_someone_edited_fails_by_name(project, damage, message):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    good = project.baseline.read_text()
    bad = good.replace(*damage, 1)
    assert bad != good
    project.baseline.write_text(bad)
    result = project.run("--ir-baseline")
    assert result.ret == 1
    assert message in text_of(result)
    assert f"{project.path}/ir_baselines" not in text_of(result)


def test_renaming_every_query_or_the_golden_set_never_passes(project):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    golden = project.path / "golden/faq.yaml"
    golden.write_text(golden.read_text().replace("id: ", "id: x"))
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "Only 0% of the baseline's queries (by weight) are still asked in the same words" in text_of(
        result
    )
    golden.rename(project.path / "golden/new.yaml")
    project.run("--ir-baseline").assert_outcomes(failed=2)
    (project.path / "golden/new.yaml").unlink()
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=2)
    assert "no test of this run used irmetrics" not in text_of(result)


def test_the_command_finds_a_query_whose_id_looks_like_an_option(project):
    project.write("golden/faq.yaml", "queries: [{id: -x, query: opening hours, relevant: doc-1}]")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = project.run("--ir-baseline-update")
    assert "--ir-query=-x" in text_of(result)
    project.run("--ir-query=-x").assert_outcomes(passed=1)


@pytest.mark.parametrize("where", ["sub", "..", "."])
def test_the_commands_in_messages_work_from_where_pytest_was_called(project, monkeypatch, where):
    for name in ("test_search.py", "golden/faq.yaml"):
        target = project.path / "sub" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (project.path / name).rename(target)
    project.write("pytest.ini", "[pytest]\n")
    project.answers({**ANSWERS, "opening hours": []})
    tests_file = project.path / "sub/test_search.py"
    tests_file.write_text(tests_file.read_text().replace("0.5", "0.9"))
    monkeypatch.chdir(project.path / where)
    shown = os.path.relpath(tests_file).replace(os.sep, "/")
    result = project.run(str(tests_file), "--rootdir", str(project.path))
    result.assert_outcomes(failed=1)
    assert f"To look closer: pytest '{shown}::test_search_quality[faq]' --ir-query hours" in text_of(result)
    project.run(f"{shown}::test_search_quality[faq]", "--ir-query", "hours").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "options",
    [("-p", "no:terminal"), ("--no-summary",), ("-W", "error"), ("--import-mode=importlib",), ("-n", "2"), ("--reruns", "1")],
    ids=" ".join,
)  # fmt: skip
def test_no_option_turns_a_failure_into_a_pass_or_an_internal_error(project, options):
    write_tests(project, "GATED\ndef test_it(irmetrics): irmetrics.check()\n")
    result = project.run_apart(*options)
    assert result.ret == 1
    text_of(result)


def test_tests_of_one_name_in_two_classes_have_a_baseline_each(project):
    mark = GATED.replace("0.99", "0.5").replace("\n", "\n    ")
    body = "def test_it(self, irmetrics): irmetrics.check()\n"
    write_tests(project, "".join(f"class Test{name}:\n    {mark}{body}\n" for name in ("A", "B")))
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(passed=2)
    assert len([*project.path.glob("ir_baselines/**/*.json")]) == 2
    project.run("--ir-baseline").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("golden=3", "golden=3 is no golden set. Give a path"),
        ("against=3", "What `against` gives cannot be asked. The retriever is int 3. Give a callable"),
        ("against='nope.json'", "nope.json: cannot be read: No such file or directory"),
        ("against=lambda query, k: None", "The retriever given as `against` failed for 3 queries"),
        (
            "against=lambda query, k: 'refund' in query and 1 / 0 or []",
            "`against` failed for 1 query; the first",
        ),
        ("golden={'q': {'d': 'x'}}", "Query 'q' grades 'd' 'x'. Give a number up to 1000."),
        (
            "golden={'q': {'d': 1}}",
            "A golden set without texts can only be scored with a Run in place of the retriever.",
        ),
    ],
)
def test_wrong_arguments_fail_in_words(project, given, message):
    project.test('ir_golden("golden/*.yaml")', f"irmetrics.check({given})")
    result = project.run()
    result.assert_outcomes(failed=1)
    assert message in text_of(result)


def test_asking_for_a_metric_that_was_not_evaluated_shows_the_users_line(project):
    project.test('ir_golden("golden/*.yaml")', 'irmetrics.evaluate()["ndcg@9"]')
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "ndcg@9 was not evaluated" in text_of(result)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("@pytest.fixture\ndef ir_doc_id(): return 3", "The fixture ir_doc_id gives 3. Give a function"),
        (
            "@pytest.fixture\ndef ir_corpus(): return 3",
            "The fixture ir_corpus could not be asked for a document",
        ),
        (
            "@pytest.fixture\ndef ir_executor(): return 3",
            "The fixture ir_executor gives 3. Give a concurrent.futures.Executor; of a Dask client it is client.get_executor().",
        ),
        (
            "def pytest_irmetrics_metrics(config): return ['mine']",
            "gave ['mine']; it maps names to functions.",
        ),
        ("def pytest_irmetrics_metrics(config): return {}['x']", "KeyError: 'x'"),
        ("def pytest_irmetrics_evaluated(item, evaluation): return {}['x']", "KeyError: 'x'"),
    ],
)
def test_fixtures_and_hooks_of_the_users_that_break_fail_in_words(project, code, message):
    conftest = project.path / "conftest.py"
    conftest.write_text(f"{conftest.read_text()}\n\n{code}\n")
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert message in text_of(result)
    assert "golden/faq.yaml: FAILS" in text_of(result)
    assert not project.baseline.exists()


def test_the_command_for_a_query_of_several_lines_can_be_copied(project):
    project.write("golden/faq.yaml", "queries:\n- query: |\n    how do I\n    reset ::it\n  relevant: [d1]\n")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    result = project.run()
    printed = next(line for line in result.outlines if line.startswith("To look closer: "))
    _, *arguments = shlex.split(printed.removeprefix("To look closer: "))
    assert arguments[-2:] == ["--ir-query", r"how do I\nreset :\:it\n"]
    result = project.run(*arguments)
    result.assert_outcomes(passed=1)
    assert r"golden/faq.yaml:2: how do I\nreset :\:it\n" in text_of(result)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("GoldenSet.load('bad.yaml')", "bad.yaml:1:1: 'querys' is no key of a golden set."),
        ("GoldenSet.load('gone.yaml')", "gone.yaml:1:1: There is no such file."),
        ("GoldenSet.load('bad.txt')", "bad.txt:1:1: A golden set is a file with"),
        ("GoldenSet.load('bad.jsonl')", "bad.jsonl:1:1: JSON over several lines begins here."),
        ("GoldenSet.load('bad.csv')", "bad.csv:1:1: There is no header."),
        ("GoldenSet.load('bad.qrels')", "bad.qrels:1:1: Here is 1 field, and qrels have 4."),
        ("GoldenSet.load('bad.json')", "bad.json:1:1: This is no export of Quepid"),
        ("GoldenSet.load('bad')", "bad:1:1: There are no qrels/*.tsv in this folder."),
        ("GoldenSet.from_judgments({'q': {'d': 'x'}})", "judgments: Query 'q' grades 'd' 'x'."),
        ("Run.load('bad.json')", "bad.json:1: is not a stored run: `format` is nothing"),
        ("Run.load('bad.json', test='a test')", "bad.json:1: is one run, and no report of tests"),
        ("evaluate(GOLDEN, RUN, metrics=['nope'])", "unknown metric 'nope'"),
        ("compare(*[evaluate(GOLDEN, RUN, metrics=['mrr'])] * 2)['ndcg']", "ndcg was not evaluated"),
    ],
)
def test_what_python_is_told_of_a_broken_file_shows_the_users_line_and_none_of_ours(project, call, message):
    contents = {"yaml": "querys: []\n", "txt": "", "jsonl": "{", "csv": "", "qrels": "word\n", "json": "{}"}
    for suffix, content in contents.items():
        project.write(f"bad.{suffix}", content)
    (project.path / "bad" / "qrels").mkdir(parents=True)
    project.write("bad/queries.jsonl", "")
    project.write(
        "test_search.py",
        "from pytest_irmetrics import GoldenSet, Run, compare, evaluate\n\n"
        "GOLDEN = GoldenSet.from_judgments({'q': {'d': 1}})\nRUN = Run({'q': ['d']})\n\n"
        f"def test_search():\n    {call}\n",
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    assert message in text_of(result)
    shown = result.stdout.str()
    assert f"> {call}" in " ".join(shown.split())
    assert "contextlib" not in shown
    assert shown.count("\n>") == 1


METRICS = """
    def pytest_irmetrics_metrics(config):
        {body}
"""


@pytest.mark.parametrize("call", ["check()", "evaluate()"])
@pytest.mark.parametrize("options", [[], ["--ir-baseline-update"], ["--ir-report=report.md", "-vv"]])
def test_a_metric_of_ones_own_that_raises_fails_the_test_and_not_pytest(project, call, options):
    body = 'return {"fresh": lambda query, ranking, k: 1 / (ranking[0] == "doc-12")}'
    project.write("conftest.py", RETRIEVER + METRICS.format(body=body))
    project.write("pytest.ini", "[pytest]\nir_metrics = mrr fresh\n")
    project.test('ir_golden("golden/*.yaml")', body=f"irmetrics.{call}")
    result = project.run(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the metric fresh raised ZeroDivisionError on the query 'refund': *"])
    assert not project.baseline.exists()


def test_a_hook_for_metrics_that_raises_fails_the_tests_and_not_pytest(project):
    project.write("conftest.py", RETRIEVER + METRICS.format(body='raise KeyError("fresh")'))
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*KeyError: 'fresh'"])
