"""Read TREC runs as trec_eval reads them, refuse what is none, and write what reads back."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import Run
from pytest_irmetrics.cli import main

READ = [  # lines, and what they say: `query: ids` for each query
    ("q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.7 x\n", "q1: b a"),
    ("q1 Q0 a 1 0.7 x\nq1 Q0 b 2 0.5 x", "q1: a b"),
    ("q1 Q0 a 1 2 x\r\nq1\tQ0  b_1 2 2 x\n\n \nq2 Q0 é 1 1 x\nq1 Q0 c 3 9 x\n", "q1: c b_1 a; q2: é"),
    ("q Q0 a 1 0.5 x\nq Q0 c 3 0.5 x\nq Q0 b 9 0.5 x\n", "q: c b a"),
    ("q Q0 a 1 0.5 x\nq Q0 d 4 0.50000000000000011 x\n", "q: d a"),
    ("q Q0 a 1 1e-3 x\nq Q0 b 1 -inf x\nq Q0 c 1 infinity x\nq Q0 d 1 2. x\n", "q: c d a b"),
    ("q Q0 D 1 1 x\nq Q0 c 1 1 x\nq Q0 é 1 1 x\n", "q: é c D"),
    ("\ufeffq Q0 a 1 1 x\n", "q: a"),
    ("q\u3000x Q0 a\u00a0b\x1c 1 1 x\n", "q\u3000x: a\u00a0b\x1c"),
    ("# made by bm25\n#\n# of six words just so\n# by the model 2 b\n#q Q0 a\nq Q0 a 1 1 x\n# q Q0 b 1 9 x\n#9 Q0 a 1 1 x\n", "q: a; #9: a"),
    ("q Q0 a 1 1 x\nq Q0 \0 1 2 x\n", "q: \0 a"),
]  # fmt: skip

REFUSED = [  # lines, the line that the error names, a key of it
    ("", 1, "the file is empty. Give a TREC run, of lines `query Q0 document rank score tag`."),
    ("\n \n# nothing\n", 1, "the file is empty"),
    ("q Q0 a 1 1 x\nq Q0 a 1 1\n", 2, "5 fields, not 6"),
    ("q Q0 a 1 2\nq Q0 b 2 1 7 x\n", 1, "5 fields, not 6. Write `query Q0 document rank score tag`, ids without white space."),
    ("q\n", 1, "1 field, not 6"),
    ("q 0 d 1\n", 1, "4 fields, not 6. Write"),
    ("q Q0 a 1 1 x\nq 0 d 1\n", 2, "4 fields, not 6. Write"),
    ("q Q0 a b 1 1 x\n", 1, "7 fields, not 6. Write"),
    ("q Q0 a doc 1 2.5 bm25\n", 1, "7 fields, not 6. Write `query Q0 document rank score tag`, ids without white space."),
    ("my q Q0 a 1 2.5 bm25\n", 1, "7 fields, not 6. Write `query Q0 document rank score tag`, ids without white space."),
    ("q Q0 doc 7 1 2.5 bm25\n", 1, "7 fields, not 6. Write `query Q0 document rank score tag`, ids without white space."),
    ("q Q0 a 1 high x\n", 1, "the score 'high' is not a number. Write `query"),
    ("q Q0 a 1 nan x\n", 1, "the score 'nan' is not a number"),
    ("q Q0 a 1 1_0 x\n", 1, "the score '1_0' is not a number"),
    ("q Q0 a 1 0x1 x\n", 1, "the score '0x1' is not a number"),
    ("q Q0 a 1 ٣ x\n", 1, "is not a number"),
    ("q Q0 a 1 2 x\np Q0 a 1 2 x\nq Q0 a 2 1 x\n", 3, "the document 'a' comes twice for query 'q'. Keep one of the lines."),
    ("q Q0 a 1 2 x\nq Q0 a 2 1 x\nq\n", 2, "the document 'a' comes twice"),
    ("q\nq Q0 a 1 2 x\nq Q0 a 2 1 x\n", 1, "1 field"),
    ("q Q0 a 1 2 x\n<<<<<<< HEAD\n", 2, "is in a merge conflict. Restore it from the branch that yours goes into, such as main: `git checkout main -- a.run`."),
    ('{"format": "x"}\n', 1, "2 fields, not 6"),
    ("q Q0 a 1 1 x\nq Q0 \udce9 1 1 x\n", 2, "is not UTF-8. Save the file as UTF-8."),
]  # fmt: skip

packed = pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])


def data_of(text):
    return text.encode("utf-8", "surrogateescape")


@packed
@pytest.mark.parametrize(("text", "said"), READ)
def test_a_run_is_read_as_trec_eval_reads_it(tmp_path, pack, text, said):
    (tmp_path / "a.run").write_bytes(pack(data_of(text)))
    run = Run.load(tmp_path / "a.run")
    assert run == Run(
        {query: ids.split(" ") for query, _, ids in (one.partition(": ") for one in said.split("; "))}
    )


@packed
@pytest.mark.parametrize(("text", "line", "key"), REFUSED)
def test_what_is_none_is_refused_with_its_line(tmp_path, monkeypatch, capsys, pack, text, line, key):
    (tmp_path / "a.run").write_bytes(pack(data_of(text)))
    (tmp_path / "faq.yaml").write_text("queries: [{query: q, relevant: a}]\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"\. [A-Z].*\.$") as caught:
        Run.load("a.run")
    assert str(caught.value).startswith(f"a.run:{line}: ")
    assert key in str(caught.value)
    assert main(["score", "faq.yaml", "a.run"]) == 1
    assert str(caught.value) in capsys.readouterr().err


SCORES = ["1", "2", "2.0", "2.50", "-1e3", "inf", "0x1", "1_0", "nan", "7 x", "\u0663"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2", "#3"]),
            st.sampled_from(["d1", "d_2", "é", "d\x1c3", "d\xa04"]),
            st.sampled_from(SCORES),
        ),
        max_size=9,
        unique_by=lambda row: row[:2],
    ),
    st.sampled_from([" ", "\t", "  "]),
    st.sampled_from(["\n", "\r\n", "\n\n", "\n \n"]),
)
def test_any_lines_are_a_run_in_the_order_of_trec_eval_or_an_error(tmp_path, rows, blank, end):
    path = tmp_path / "a.run"
    path.write_bytes(
        data_of("".join(blank.join((query, "Q0", doc, "0", score, "t")) + end for query, doc, score in rows))
    )
    if not rows or {"0x1", "1_0", "nan", "\u0663", "7 x"} & {score for _, _, score in rows}:
        with contextlib.suppress(ValueError):
            Run.load(path)
        return
    run = Run.load(path)
    for query in {query for query, _, _ in rows}:
        docs = sorted(((float(score), doc) for of, doc, score in rows if of == query), reverse=True)
        assert run[query] == tuple(doc for _, doc in docs)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\x0b\x0c\ufeff"), min_size=1),
        min_size=1,
        unique=True,
    )
)
def test_what_is_written_reads_back_in_the_order_of_the_queries(tmp_path, ids):
    run = Run({"q2": ids, "q1": ids[::-1], "q3": ids[:1]})
    run.save(tmp_path / "a.run")
    assert Run.load(tmp_path / "a.run") == run
    assert [line[:2] for line in (tmp_path / "a.run").read_bytes().split(b"\n")] == [b"q1"] * len(ids) + [
        b"q2"
    ] * len(ids) + [b"q3", b""]


UNFIT = [
    ("a b", "holds white space"),
    ("a\n", "holds white space"),
    ("a\tb", "holds white space"),
    ("a\ud800", "has no UTF-8"),
    ("", "is empty"),
]


@pytest.mark.parametrize(("name", "why"), UNFIT)
def test_what_would_read_otherwise_is_not_written(tmp_path, name, why):
    if name:
        with pytest.raises(
            ValueError, match=rf"is no id of a TREC run: it {why}.*\. Save with the suffix \.json"
        ):
            Run({"q": ["fine", name]}).save(tmp_path / "a.run")
    with pytest.raises(ValueError, match=rf"is no id of a TREC run: it {why}.*\. Give the query an `id`"):
        Run({name: ["fine"]}).save(tmp_path / "a.run")
    assert not (tmp_path / "a.run").exists()


@pytest.mark.parametrize(("name", "why"), [("#", "a line that begins with it is a comment")])
def test_a_query_that_would_not_be_read_as_one_is_not_written(tmp_path, name, why):
    with pytest.raises(ValueError, match=why):
        Run({name: ["d"]}).save(tmp_path / "a.run")
    documents = Run({f"{name}1": ["d", name]})
    documents.save(tmp_path / "a.run")
    assert Run.load(tmp_path / "a.run") == documents


def test_a_long_run_is_read_whole(tmp_path):
    lines = [f"q{n % 7} Q0 d{n} 1 {n} x" for n in range(20_000)]
    (tmp_path / "a.run").write_text("\n".join(lines))
    run = Run.load(tmp_path / "a.run")
    assert run["q3"] == tuple(f"d{n}" for n in reversed(range(20_000)) if n % 7 == 3)
    assert sum(map(len, (run[query] for query in run))) == 20_000
