"""BEIR folders."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet
from tests.reached import often
from tests.unit.golden.golden_files import FUZZ, damaged, jsonl, judgments, problems, survives, texts, write


def beir(base: str, splits: dict[str, str], queries: str | None = None) -> str:
    lines = [{"_id": f"q{n}", "text": f"text of {n}", "metadata": {}} for n in range(5)]
    write(f"{base}/queries.jsonl", jsonl(*lines) if queries is None else queries)
    for split, rows in splits.items():
        write(f"{base}/qrels/{split}.tsv", f"query-id\tcorpus-id\tscore\n{rows}")
    return base


ROWS = "q1\tMED-10\t1\nq1\tMED 11\t2\nq3\tMED-14\t0\n"


def test_reads_the_split_test():
    beir("beir/nfcorpus", {"dev": "q0\tx\t1\n", "test": ROWS, "train": "q2\tx\t1\n"})
    write("beir/nfcorpus/corpus.jsonl", '{"_id": "MED-10", "title": "", "text": "…"}\n')
    golden = GoldenSet.load("beir/nfcorpus")
    assert judgments(golden) == {"q1": {"MED-10": 1, "MED 11": 2}, "q3": {"MED-14": 0}}
    assert texts(golden) == {"q1": "text of 1", "q3": "text of 3"}
    assert (golden.name, golden.left_out) == ("nfcorpus", ())
    assert str(golden.path) == "beir/nfcorpus"
    assert golden.where("q3") == "beir/nfcorpus/qrels/test.tsv:4"
    assert golden.locate("q1", "MED 11") == 3


def test_blank_lines_and_rows_without_a_score_are_left_out():
    beir(
        "a",
        {"test": "q1\tx\t1\nq2\tx\t\nq3\tx\t2\n"},
        '\n{"_id": "q1", "text": "one"}\n \t\n{"_id": "q3", "text": "three"}\n',
    )
    golden = GoldenSet.load("a")
    assert judgments(golden) == {"q1": {"x": 1}, "q3": {"x": 2}}
    assert (texts(golden), golden.left_out) == ({"q1": "one", "q3": "three"}, ())


def test_a_space_before_an_id_is_part_of_it():
    beir("a", {"test": "q1\t =x\t1\n"})
    assert judgments(GoldenSet.load("a")) == {"q1": {" =x": 1}}


def test_reads_another_split_by_its_file():
    beir("nf.corpus", {"dev": "q0\tx\t1\n", "test": ROWS})
    golden = GoldenSet.load("nf.corpus/qrels/dev.tsv")
    assert (judgments(golden), texts(golden)) == ({"q0": {"x": 1}}, {"q0": "text of 0"})
    assert golden.name == "nf.corpus-dev"


def test_a_folder_needs_queries_jsonl():
    write("a/qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{ROWS}")
    (problem,) = problems("a")
    assert problem.startswith(
        "a/qrels/test.tsv:1:1: These are judgments of a BEIR folder, and a/queries.jsonl"
    )
    write(
        "b/qrels/test.tsv", "query\tdocid\trating\nq\td\t1\n"
    )  # a golden set of its own, in a folder of that name
    assert problems("b")[0].startswith("b:1:1: This is a folder.")


def test_reads_the_only_split():
    assert judgments(GoldenSet.load(beir("a", {"dev": "q0\tx\t1\n"}))) == {"q0": {"x": 1}}


def test_several_splits_without_test_are_ambiguous():
    beir("a", {"dev": ROWS, "train": ROWS})
    assert problems("a") == [
        "a:1:1: This BEIR folder has the splits dev, train, and no test. Name the file of one: a/qrels/dev.tsv."
    ]
    assert problems(beir("b", {"x": ""}) + "/") == [
        "b/qrels/x.tsv:1:1: There is no judgment. Write one a line."
    ]


def test_a_folder_needs_qrels(folder):
    beir("a", {})
    (folder / "a/qrels").mkdir()
    assert problems("a") == [
        "a:1:1: There are no qrels/*.tsv in this folder. Add the judgments of a split as qrels/test.tsv."
    ]


def test_reads_quoted_cells():
    golden = GoldenSet.load(beir("a", {"test": 'q1\t"a ""b"""\t1\nq2\t<dbpedia:"Heroes">\t2.0\n'}))
    assert judgments(golden) == {"q1": {'a "b"': 1}, "q2": {'<dbpedia:"Heroes">': 2}}


def test_a_judged_query_needs_a_text():
    assert problems(beir("a", {"test": "q1\tx\t1\nq7\tx\t1\n"})) == [
        "a/qrels/test.tsv:3:1: The query 'q7' has no text in a/queries.jsonl. Add it, or remove its judgments."
    ]


def test_a_split_needs_queries_jsonl(folder):
    beir("a", {"test": ROWS})
    (folder / "a/queries.jsonl").unlink()
    assert problems("a/qrels/test.tsv") == [
        (
            "a/qrels/test.tsv:1:1: These are judgments of a BEIR folder, and a/queries.jsonl, which has its texts, is not "
            "there. Add it; or name the columns id, docid and rating, if there are no texts."
        )
    ]
    write("x.tsv", "id\tdocid\trating\nq1\tx\t1\n")
    assert texts(GoldenSet.load("x.tsv")) == {"q1": None}


@often(0.05)
@FUZZ
@given(
    data=st.binary(max_size=8)
    | damaged(
        [b"q1\td1\t1\n", b"q1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n", b"q1\td1\t1\r\n\r\nq2\td 3\t1\r\n"],
        "q0\t1d\n ",
    )
    | damaged(
        [b"q1\td1\t1\n", b"q1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n", b"q1\td1\t1\r\n\r\nq2\td 3\t1\r\n"],
        "q0\t1d\n ",
    )
)
def test_arbitrary_bytes_never_end_in_a_traceback(data):
    beir("fuzz", {})
    write("fuzz/qrels/test.tsv", b"query-id\tcorpus-id\tscore\n" + data)
    survives("fuzz")
