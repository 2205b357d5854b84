"""Queries that nobody has judged: compared with the baseline by `overlap`, in no mean, and the first to be judged."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, GoldenSetError, Run, compare, evaluate
from tests.cli.console import run
from tests.projects import printed, text_of
from tests.warm_python import pytest_words

QUERIES = [f"query {n}" for n in range(30)]
ANSWERS = {query: [f"{query}-{rank}" for rank in range(10)] for query in QUERIES}
CHANGED = {**ANSWERS, **{query: [f"other-{rank}" for rank in range(10)] for query in QUERIES[:9]}}
"""Nine of thirty queries get other documents: an overlap of 0.7."""

MIXED = """
queries:
- {query: a, relevant: [d1]}
- {query: b, relevant: [], tags: [t]}
- {query: c, no_answer: true}
"""


@pytest.fixture
def gated(project):
    """A project with thirty queries in a text file, of which none is judged, and a stored baseline."""
    (project.path / "golden/faq.yaml").unlink()
    project.write("golden/faq.txt", "\n".join([*QUERIES, "", ""]))
    project.answers(ANSWERS)
    project.test(['ir_golden("golden/*")', 'ir_threshold("overlap@10", 0.8)'])
    project.store()
    return project


def test_a_list_of_queries_gates_without_one_judgment(gated):
    passed = gated.run("--ir-baseline")
    passed.assert_outcomes(passed=1)
    assert "golden/faq.txt: passes, 30 queries; overlap@10 1.0000" in printed(passed)
    assert "Nobody has judged 30 of 30 queries: only overlap looks at these." in printed(passed)
    gated.answers(CHANGED)
    failed = gated.run("--ir-baseline", "--ir-report=report.json", "--ir-report=report.md", "-v")
    failed.assert_outcomes(failed=1)
    said = text_of(failed)
    assert "overlap@10 is 0.7000, 0.1000 below the threshold: at least 0.8000 is required." in said
    assert (
        "golden/faq.txt:1: query 0 [unjudged] overlap@10 1.0000 → 0.0000 gone: query 0-0; query 0-1;" in said
    )
    assert "--run run.json To accept it:" in said  # label lists documents by no overlap
    assert re.search(r" - +1 +unjudged +query 0-0", printed(gated.run("--ir-baseline", "--ir-query=query 0")))
    (row,) = json.loads((gated.path / "report.json").read_text())["tests"][0]["rows"]
    assert (row["now"], row["baseline"], row["worse"]) == (pytest.approx(0.7), 1.0, 9)
    assert "overlap" in (gated.path / "report.md").read_text()
    updated = gated.run("--ir-baseline-update")
    updated.assert_outcomes(passed=1)
    assert "overlap@10 is 0.7000" in printed(updated)
    assert "As the baseline this is lower" not in printed(updated)
    gated.run("--ir-baseline").assert_outcomes(passed=1)


def test_without_a_baseline_an_overlap_is_not_checked(gated):
    result = gated.run()
    result.assert_outcomes(passed=1)
    assert "overlap@10: min 0.8 is not checked without --ir-baseline." in printed(result)
    assert "To judge" not in printed(result)
    gated.test(['ir_golden("golden/*")', 'ir_threshold("mrr", 0.5)'])
    assert "then pytest-irmetrics label FILE --run run.json -i." in printed(gated.run())


@pytest.mark.parametrize("option", ["-q", "-v"])
def test_a_set_without_judgments_whose_overlap_is_not_gated_gates_nothing(gated, option):
    gated.test('ir_golden("golden/*")')
    result = gated.run("--ir-baseline", option)
    result.assert_outcomes(passed=1)
    assert "nothing gated" in printed(result)


def test_judged_and_unjudged_queries_live_in_one_file(project):
    project.write("golden/faq.yaml", MIXED)
    project.answers({"a": ["d1", "d2"], "b": ["d3", "d4"]})
    project.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("mrr", 1.0)',
            'ir_threshold("overlap@10", min_each=0.9)',
        ],
        'assert {"mrr"} == {*irmetrics.check().scores} & {"mrr", "overlap@10"}',
    )
    project.store()
    stored = json.loads(project.baseline.read_text())
    assert {one["id"]: one.get("unjudged") for one in stored["queries"]} == {"a": None, "b": True, "c": None}
    assert stored["means"]["mrr"] == 1.0
    assert "overlap@10" not in stored["means"]
    project.answers({"a": ["d1", "d2"], "b": ["d3", "d5", "d6", "d7"]})
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "overlap@10 is below 0.9000 for 1 of 3 queries; the lowest is 0.5000" in printed(result)
    assert "Missing judgments" not in printed(result)
    project.test('ir_golden("golden/*.yaml")')
    project.answers({"a": ["d2", "d1"], "b": ["d3", "d4"]})
    assert "ndcg@10 fell by 0.3691" in printed(project.run("--ir-baseline"))
    project.edit("golden/faq.yaml", "relevant: [d1]", "relevant: []")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("overlap@10", 1.0)'])
    project.answers({"a": ["d1", "d2"], "b": ["d3", "d5"]})
    assert "gone: d4 new: d5" in printed(project.run("--ir-baseline"))


def test_judging_a_query_is_an_edit_of_labels(project):
    project.write("golden/faq.yaml", MIXED)
    project.answers({"a": ["d1"], "b": ["d3", "d4"]})
    project.store()
    project.edit("golden/faq.yaml", "relevant: []", "relevant: [d4]")
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert "1 judgment changed: b: d4 none → 1." in printed(result)
    project.answers({"a": ["d2"], "b": ["d4"]})
    assert "mrr fell by 0.2500" in printed(project.run("--ir-baseline", "-o", "ir_max_drop=0"))


def test_in_python_compare_tells_the_overlap(tmp_path):
    path = tmp_path / "faq.yaml"
    path.write_text(MIXED)
    golden = GoldenSet.load(path)
    assert [query.is_unjudged for query in golden.queries.values()] == [False, True, False]
    with pytest.raises(ValueError, match=r"compare\(now, baseline\)\['overlap@2'\].now"):
        evaluate(golden, Run({"a": []}), ["overlap@2"])
    before = evaluate(golden, Run({"a": ["d1", "d2", "d3"], "b": [], "c": []}), ["mrr"])
    now = evaluate(golden, Run({"a": ["d2", "d9", "d1"], "b": ["x"], "c": []}), ["mrr"])
    change = compare(now, before)["overlap@2"]
    assert dict(change.after) == {"a": 0.5, "b": 0.0, "c": 1.0}
    assert change.now == pytest.approx(0.5)
    assert set(now.scores["mrr"]) == {"a"}
    assert now.score("overlap@2", "a") is None


def test_a_list_of_queries_is_read_and_written():
    Path("q.txt").write_text("\ufeffone\n\n  two\twords \nspain 0 italy 4\nno\n", encoding="utf-8")
    assert list(GoldenSet.load("q.txt").queries) == ["one", "two\twords", "spain 0 italy 4", "no"]
    for target in ("q.yaml", "q.jsonl", "back.txt"):
        assert run("convert", "q.txt", target).status == 0
        assert all(query.is_unjudged for query in GoldenSet.load(target).queries.values())
    assert Path("back.txt").read_text() == "one\ntwo\twords\nspain 0 italy 4\nno\n"
    texts = ("one", r'"two\twords"', "spain 0 italy 4", '"no"')
    written = ["queries:", *(f"  - query: {text}\n    relevant: []" for text in texts)]
    assert Path("q.yaml").read_text().splitlines() == "\n".join(written).splitlines()
    refused = run("convert", "q.txt", "q.csv")
    assert refused.status == 1
    assert "Nothing of it can be held as CSV. Convert it to JSONL." in refused.err
    Path("faq.yaml").write_text(MIXED)
    said = "faq.yaml: A list of queries holds no judgments. Choose YAML or JSONL, for the judgments of: 'a'."
    assert run("convert", "faq.yaml", "faq.txt").err.splitlines()[-1] == said
    for text, said in (
        ("", "q.txt:1:1: There is no query. Write one a line.$"),
        (
            "301 0 FT-1 2\n301 Q0 FT-2 1 0.5 tag",
            "q.txt:1:1: These are lines of qrels or of a run, not queries. Name",
        ),
        ("7\tone\n9\ttwo\n", "q.txt:1:1: Tabs part these lines into columns. Keep that of the texts: `cut"),
        ("\na\na\n", "q.txt:3:1: 'a' is on line 2 already. Remove one of the two.$"),
    ):
        Path("q.txt").write_text(text)
        with pytest.raises(GoldenSetError, match=said):
            GoldenSet.load("q.txt")


def test_init_begins_from_a_list_of_queries(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    Path("queries.txt").write_text(
        "refund policy\nhow do I pay by invoice\nrefund policy\n\n refund policy\n"
    )
    done = run("init", "--queries", "queries.txt")
    assert done.status == 0, done.err
    assert done.err == "note: queries.txt: each query is written once; 2 repeated lines are left out.\n"
    assert list(GoldenSet.load("golden/faq.yaml").queries) == ["refund policy", "how do I pay by invoice"]
    assert "\nFirst put your search into conftest.py, as the fixture `retriever`.\n" in done.out
    assert done.out.endswith("\nFail where a change finds other documents:  pytest --ir-baseline\n")
    first = "# Nobody has judged these queries yet (`relevant: []`). They are compared with the baseline, by overlap@10.\n"
    assert Path("golden/faq.yaml").read_text().startswith(first)
    commands = [line.partition(": ")[2] for line in done.out.splitlines() if " pytest " in line]
    for command in commands:
        pytester.run(*pytest_words(), *shlex.split(command)[1:]).assert_outcomes(passed=1)
    conftest = Path("conftest.py")
    conftest.write_text(conftest.read_text().replace("size=k)", "size=k)[2:]"))
    broken = pytester.run(*pytest_words(), *shlex.split(commands[-1])[1:])
    broken.assert_outcomes(failed=1)
    assert run("init", "--queries", "nowhere.txt").err.startswith("nowhere.txt:1:1: ")
    assert run("init", "--queries", "golden").err.startswith("golden:1:1: ")
    assert not run("init", "--queries", "-", "--dir", "other", stdin=b"one\ntwo\n").err


def test_label_offers_first_what_changed_in_unjudged_queries():
    Path("faq.yaml").write_text(MIXED)
    Run({"a": ["u1", "u2"], "b": ["v1", "v2", "v3"], "c": []}).save("before.run")
    Run({"a": ["u2", "u1"], "b": ["v1", "v2", "w3"], "c": []}).save("now.run")
    done = run("label", "faq.yaml", "--run", "before.run", "--run", "now.run", "-o", "-")
    order = [line.split(",")[2] for line in done.data.decode("utf-8-sig").splitlines()[1:]]
    assert order == ["v3", "w3", "u1", "u2", "v1", "v2"]


HELD_BACK = "Grades below 1 wait for a relevant document of their query: faq.yaml:4: b ({}). Keep them, and give them again with one of 1 or more."


def test_a_grade_of_0_waits_for_a_relevant_document():
    Path("faq.yaml").write_text(MIXED)
    Run({"b": ["v1", "v2", "v3"]}).save("a.run")
    label = ["label", "faq.yaml", "--run", "a.run", "-i"]
    only = run(*label, stdin="0\n0\nq\n")
    assert "quit:   Written as soon as a document of this query is relevant.\n" in only.out
    assert "but one below 1 only once its query has a relevant document." in " ".join(only.out.split())
    assert HELD_BACK.format("v1, v2") in " ".join(only.out.split())
    assert Path("faq.yaml").read_text() == MIXED
    run(*label, stdin="0\n0\nu\ns\n2\nq\n")
    assert dict(GoldenSet.load("faq.yaml").queries["b"].judgments) == {"v1": 0, "v3": 2}
    Path("faq.yaml").write_text(MIXED)
    both = run(*label, stdin="0\nu\n0\n2\nu\n3\n0\nq\n")
    assert "faq.yaml: 3 judgments written." in both.out
    assert "relevant: {v1: 0, v2: 3, v3: 0}" in Path("faq.yaml").read_text()


def test_queries_without_a_relevant_document_keep_no_other_judgment_from_being_written():
    Path("faq.yaml").write_text(MIXED)
    rows = "b,v1,0\na,u1,0\nb,v2,0\nb,v3,\n"
    Path("list.csv").write_text(f"query,docid,rating\n{rows}")
    listed = run("label", "faq.yaml", "--from", "list.csv")
    held = HELD_BACK.format("list.csv:2, list.csv:4")
    assert (listed.status, listed.err) == (0, f"note: {held}\n")  # the list has them
    assert listed.out.endswith("faq.yaml: 1 judgment appended.\n")
    assert "relevant: {d1: 1, u1: 0}" in Path("faq.yaml").read_text()
    given = run("label", "faq.yaml", "--judge", "b", "v1", "0")
    assert (given.status, given.err) == (1, f"note: {HELD_BACK.format('--judge b v1 0')}\n")
    Path("two.yaml").write_text("relevance_level: 2\nqueries:\n- {query: b, relevant: []}\n")
    low = run("label", "two.yaml", "--judge", "b", "v1", "1")
    assert "Grades below 2 wait for a relevant document of their query: two.yaml:3: b" in low.err
    assert "give them again with one of 2 or more" in low.err
    Path("list.csv").write_text(f"query,docid,rating\n{rows}b,v4,2\n")
    again = run("label", "faq.yaml", "--from", "list.csv")
    assert (again.status, again.err) == (0, "")
    assert "relevant: {v1: 0, v2: 0, v4: 2}" in Path("faq.yaml").read_text()
