"""Golden sets in other formats than YAML, as a user marks a test with them."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import ANSWERS, printed

QRELS = "reset 0 doc-12 1\nreset 0 doc-40 1\nrefund 0 doc-9 3\nhours 0 doc-1 1\n"
TOPICS = (
    "reset\thow do I reset my password\nrefund\trefund policy\nhours\topening hours\nnever\tnever judged\n"
)
RUN = {"reset": ["doc-12"], "refund": ["doc-4", "doc-9"], "hours": ["doc-1"]}


@pytest.fixture
def formats(project):
    """Give a project without a YAML file, whose golden sets are in other formats."""
    (project.path / "golden/faq.yaml").unlink()
    project.write("golden/a.qrels", QRELS)
    project.write("golden/a.topics.tsv", TOPICS)
    project.write("golden/b.jsonl", '{"query": "opening hours", "relevant": ["doc-1"]}\n')
    project.write("golden/c.csv", "query,docid,rating\nrefund policy,doc-9,3\n")
    project.write("golden/d.tsv", "query\tdocid\trating\nrefund policy\tdoc-9\t3\n")
    project.write("golden/nf.v2/queries.jsonl", '{"_id": "1", "text": "refund policy"}\n')
    project.write("golden/nf.v2/qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\tdoc-9\t1\n")
    project.write("golden/no_golden_set/readme.md", "")
    return project


def items(result) -> list[str]:
    return [line.split("::")[1] for line in result.outlines if line.startswith("test_search.py::")]


def test_one_item_for_each_file_and_folder(formats):
    formats.test('ir_golden("golden/*")')
    result = formats.run("--collect-only", "-q")
    assert items(result) == [f"test_search_quality[{name}]" for name in ("a", "b", "c", "d", "nf.v2")]
    formats.run().assert_outcomes(passed=5)


@pytest.mark.parametrize(
    ("pattern", "item_id"),
    [
        ("golden/*.qrels", "a"),
        ("golden/*.tsv", "d"),
        ("golden/nf*", "nf.v2"),
        ("golden/nf.v2", "nf.v2"),
        ("golden/nf.v2/", "nf.v2"),
        ("golden/*/qrels/test.tsv", "nf.v2-qrels-test"),
    ],
)
def test_the_id_is_the_path_without_the_suffix(formats, pattern, item_id):
    formats.test(f'ir_golden("{pattern}")')
    assert items(formats.run("--collect-only", "-q")) == [f"test_search_quality[{item_id}]"]


def test_two_formats_of_one_name_are_a_failing_item(formats):
    formats.write("golden/a.jsonl", '{"query": "opening hours", "relevant": ["doc-1"]}\n')
    formats.test('ir_golden("golden/a.*")')
    result = formats.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Two golden sets have the id 'a': golden/a.jsonl and golden/a.qrels.*"])


def test_a_folder_that_is_no_golden_set_is_still_refused(formats):
    formats.test('ir_golden("golden/no_golden_set")')
    result = formats.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*is a folder*Write which files: golden/no_golden_set/[*].yaml."])


def test_queries_without_a_judgment_are_named(formats):
    formats.test('ir_golden("golden/a.qrels")')
    result = formats.run("-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*Left out, because without any judgment: never.*"])


def test_a_set_without_texts_is_checked_against_a_run(formats):
    (formats.path / "golden/a.topics.tsv").unlink()
    formats.test(['ir_golden("golden/a.qrels")', 'ir_threshold("mrr", 0.9)'])
    result = formats.run()
    result.assert_outcomes(failed=1)
    assert (
        "there is no text to ask with. A golden set without texts can only be scored with a Run in place of the retriever."
        in printed(result)
    )
    lines = [
        f"{query} Q0 {doc} {rank} {-rank} x" for query, docs in RUN.items() for rank, doc in enumerate(docs)
    ]
    formats.write("bm25.run", "\n".join(lines))
    formats.write(
        "conftest.py",
        """
        import pathlib, pytest, pytest_irmetrics

        @pytest.fixture
        def retriever():
            return pytest_irmetrics.Run.load(pathlib.Path(__file__).with_name("bm25.run"))
        """,
    )
    result = formats.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*mrr is 0.8333*0.9*"])


def test_what_is_wrong_fails_the_test_with_its_place(formats):
    formats.write("golden/a.qrels", "reset 0 doc-12 good\n")
    formats.test('ir_golden("golden/a.qrels")')
    result = formats.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["golden/a.qrels:1:1: The grade of 'doc-12' is 'good'. Write a number up to 1000."]
    )


@pytest.mark.parametrize("name", ["a.qrels", "nf.v2"])
def test_a_baseline_is_of_any_format(formats, name):
    formats.test([f'ir_golden("golden/{name}")', 'ir_threshold("mrr", max_drop=0.01)'])
    formats.run("--ir-baseline-update").assert_outcomes(passed=1)
    (stored,) = (formats.path / "ir_baselines/test_search").glob("*.json")
    assert json.loads(stored.read_text())["golden_set"] == f"golden/{name}"
    formats.run("--ir-baseline").assert_outcomes(passed=1)
    formats.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9"]})
    result = formats.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    line = "golden/a.qrels:3" if name == "a.qrels" else "golden/nf.v2/qrels/test.tsv:2"
    result.stdout.fnmatch_lines([f"*{line}*"])


def test_a_changed_judgment_is_named_with_its_line(formats):
    formats.test(['ir_golden("golden/a.qrels")', 'ir_threshold("mrr", max_drop=0.01)'])
    formats.run("--ir-baseline-update").assert_outcomes(passed=1)
    formats.write("golden/a.qrels", f"{QRELS}reset 0 doc-3 2\n")
    result = formats.run("--ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    assert "Changed: golden/a.qrels:5 reset: doc-3 unjudged → 2." in printed(result)
