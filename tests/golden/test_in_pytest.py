"""Golden sets of every format, as a user marks a test with them."""

from __future__ import annotations

import json

import pytest

from tests.projects import ANSWERS, printed

QRELS = "reset 0 doc-12 1\nreset 0 doc-40 1\nrefund 0 doc-9 3\nhours 0 doc-1 1\n"
TOPICS = (
    "reset\thow do I reset my password\nrefund\trefund policy\nhours\topening hours\nnever\tnever judged\n"
)
FILES = {
    "a.qrels": QRELS,
    "a.topics.tsv": TOPICS,
    "b.jsonl": '{"query": "opening hours", "relevant": ["doc-1"]}\n',
    "c.csv": "query,docid,rating\nrefund policy,doc-9,3\n",
    "d.tsv": "query\tdocid\trating\nrefund policy\tdoc-9\t3\n",
    "nf.v2/queries.jsonl": '{"_id": "1", "text": "refund policy"}\n',
    "nf.v2/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\tdoc-9\t1\n",
    "no_golden_set/readme.md": "",
}


@pytest.fixture
def formats(project):
    """A project without a YAML file, whose golden sets are in other formats."""
    (project.path / "golden/faq.yaml").unlink()
    for name, text in FILES.items():
        project.write(f"golden/{name}", text)
    return project


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("golden/*", "a b c d nf.v2"),
        ("golden/*.qrels", "a"),
        ("golden/*.tsv", "d"),
        ("golden/nf*", "nf.v2"),
        ("golden/nf.v2/", "nf.v2"),
        ("golden/*/qrels/test.tsv", "nf.v2-qrels-test"),
    ],
)
def test_one_item_for_each_file_or_folder_is_named_by_its_path_without_the_suffix(formats, pattern, ids):
    formats.test(f'ir_golden("{pattern}")')
    result = formats.run("-v")
    items = [one.split()[0].split("::")[1] for one in result.outlines if one.startswith("test_search.py::")]
    assert items == [f"test_search_quality[{name}]" for name in ids.split()]
    result.assert_outcomes(passed=len(items))
    assert ("Left out, because without any judgment: never." in printed(result)) is ("a" in ids.split())


@pytest.mark.parametrize(
    ("extra", "pattern", "words"),
    [
        (
            {"a.jsonl": FILES["b.jsonl"]},
            "golden/a.*",
            "Two golden sets have the id 'a': golden/a.jsonl and golden/a.qrels.",
        ),
        ({}, "golden/no_golden_set", "Write which files: golden/no_golden_set/*.yaml."),
        (
            {"a.qrels": "reset 0 doc-12 good\n"},
            "golden/a.qrels",
            "golden/a.qrels:1:1: The grade of 'doc-12' is 'good'.",
        ),
    ],
)
def test_what_is_wrong_fails_the_test(formats, extra, pattern, words):
    for name, text in extra.items():
        formats.write(f"golden/{name}", text)
    formats.test(f'ir_golden("{pattern}")')
    result = formats.run()
    result.assert_outcomes(failed=1)
    assert words in printed(result)


def test_a_set_without_texts_is_checked_against_a_run(formats):
    (formats.path / "golden/a.topics.tsv").unlink()
    formats.test(['ir_golden("golden/a.qrels")', 'ir_threshold("mrr", 0.9)'])
    result = formats.run()
    result.assert_outcomes(failed=1)
    assert "A golden set without texts can only be scored with a Run in place of the retriever." in printed(
        result
    )
    run = {"reset": ["doc-12"], "refund": ["doc-4", "doc-9"], "hours": ["doc-1"]}
    rows = [
        f"{query} Q0 {doc} {rank} {-rank} x" for query, docs in run.items() for rank, doc in enumerate(docs)
    ]
    queries = [{"id": query, "text": f"the words of {query}", "rankings": [run[query]]} for query in run]
    with_texts = {"format": "pytest-irmetrics run", "version": 1, "queries": queries}
    for name, data in {"bm25.run": "\n".join(rows), "bm25.json": json.dumps(with_texts)}.items():
        formats.write(name, data)
        formats.write(
            "conftest.py",
            f"""
            import pathlib, pytest, pytest_irmetrics

            @pytest.fixture
            def retriever():
                return pytest_irmetrics.Run.load(pathlib.Path(__file__).with_name({name!r}))
            """,
        )
        result = formats.run()
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*mrr is 0.8333*0.9*"])


@pytest.mark.parametrize(
    ("name", "place"), [("a.qrels", "golden/a.qrels:3"), ("nf.v2", "golden/nf.v2/qrels/test.tsv:2")]
)
def test_a_baseline_is_of_any_format_and_a_changed_judgment_is_named(formats, name, place):
    formats.test([f'ir_golden("golden/{name}")', 'ir_threshold("mrr", max_drop=0.01)'])
    formats.store()
    (stored,) = (formats.path / "ir_baselines/test_search").glob("*.json")
    assert json.loads(stored.read_text())["golden_set"] == f"golden/{name}"
    formats.run("--ir-baseline").assert_outcomes(passed=1)
    formats.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9"]})
    result = formats.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{place}*"])
    if name == "a.qrels":
        formats.answers(ANSWERS)
        formats.write("golden/a.qrels", f"{QRELS}reset 0 doc-3 2\n")
        result = formats.run("--ir-baseline", "-v")
        result.assert_outcomes(passed=1)
        assert "1 judgment changed: reset: doc-3 none → 2." in printed(result)
