"""Write a run as a TREC run and read it back."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_irmetrics.run import Run, RunError, trec

FIELDS = st.sampled_from(["q1", "q2", "q3"]), st.sampled_from(["d1", "d_2", "é", "d\x1c3", "d\xa04"])
SCORES = st.sampled_from(
    ["1", "2.5", "2.50", "-1e3", "inf", "0x1", "1_0", "nan", "-inf", "\u0663", "infinity"]
)


def outcome(path):
    try:
        return Run.load(path)
    except RunError as error:
        return str(error)


class TestReadingInParts:
    """A file is read in parts of 64 KB, and nothing depends on where one ends."""

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
    @given(
        st.lists(
            st.tuples(
                *FIELDS,
                st.sampled_from(["1", "2.5", "2.50", "-1e3", "inf", "7", "8", "9"]) | SCORES,
                st.sampled_from([" ", " ", " ", "\t", "  "]),
                st.sampled_from(["\n"] * 9 + ["\r\n", "\n\n", "\r", " x\n", " x", "\0\n", "\n \n"]),
            ),
            max_size=9,
        ),
        st.sampled_from(["", "", "\ufeff", "\n"]),
        st.integers(1, 60),
    )
    def test_small_parts_give_what_one_large_part_gives(self, tmp_path, rows, start, chunk):
        lines = [
            blank.join((query, "Q0", doc, "1", score, "tag")) + end for query, doc, score, blank, end in rows
        ]
        path = tmp_path / "run.trec"
        path.write_text(start + "".join(lines), encoding="utf-8", newline="")
        whole = outcome(path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec, "_CHUNK", chunk)
            assert outcome(path) == whole

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.dictionaries(st.tuples(*FIELDS), st.sampled_from(["1", "2", "2.0", "-3", "inf"]), min_size=1),
        st.integers(1, 60),
        st.randoms(),
    )
    def test_orders_what_is_well_formed_as_trec_eval_does(self, tmp_path, scores, chunk, rng):
        path = tmp_path / "run.trec"
        rows = list(scores.items())
        rng.shuffle(rows)
        path.write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for (query, doc), score in rows), "utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec, "_CHUNK", chunk)
            read = Run.load(path)
        for query in {query for query, _ in scores}:
            docs = sorted(((float(score), doc) for (of, doc), score in rows if of == query), reverse=True)
            assert read[query] == tuple(doc for _, doc in docs)

    def test_a_field_too_few_is_not_made_up_for_by_the_next_line(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_text("q1 Q0 a 1 2\nq1 Q0 b 2 1 7 x\n")
        with pytest.raises(RunError, match=r":1: 5 fields, not 6"):
            Run.load(path)

    def test_a_query_may_have_lines_in_several_places(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_bytes(b"q1 Q0 a 1 2 t\r\nq1\tQ0 b_1 2 2 t\n\nq2 Q0 \xc3\xa9 1 1 t\nq1 Q0 c 3 9 t")
        read = Run.load(path)
        assert {query: read[query] for query in read} == {"q1": ("c", "b_1", "a"), "q2": ("é",)}

    def test_not_utf8(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_bytes(b"q1 Q0 a 1 2 t\nq1 Q0 \xe9 1 1 t\n")
        with pytest.raises(RunError, match=r":2: is not UTF-8"):
            Run.load(path)


class TestTrec:
    @staticmethod
    def read(tmp_path, text):
        path = tmp_path / "base.run"
        path.write_text(text, encoding="utf-8", newline="")
        return Run.load(path)

    def test_orders_by_score_then_by_id_descending_and_ignores_the_rank(self, tmp_path):
        run = self.read(
            tmp_path,
            "q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.7 x\n\nq2\tQ0\tz\t9\t1e-3\tx\nq1 Q0 c 3 0.5 x\r\nq1 Q0 d 4 0.50000000000000011 x\n",
        )
        assert run == Run({"q1": ["b", "d", "c", "a"], "q2": ["z"]})

    def test_an_id_may_hold_what_is_white_space_elsewhere(self, tmp_path):
        assert self.read(tmp_path, "q\u3000x Q0 a\u00a0b\x1c 1 1 x\n")["q\u3000x"] == ("a\u00a0b\x1c",)

    def test_a_byte_order_mark_is_no_part_of_the_first_id(self, tmp_path):
        assert list(self.read(tmp_path, "\ufeffq Q0 a 1 1 x\n")) == ["q"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "base.run:1: the file is empty"),
            ("\n \n", "base.run:1: the file is empty"),
            ("q Q0 a 1 1 x\nq Q0 a 1 1\n", "base.run:2: 5 fields, not 6"),
            ("q\n", "base.run:1: 1 field, not 6"),
            ("q 0 d 1\n", "base.run:1: 4 fields, not 6; judgments (qrels) have 4. Write"),
            ("q Q0 a 1 1 x\nq 0 d 1\n", "base.run:2: 4 fields, not 6. Write"),
            ("q Q0 a b 1 1 x\n", "base.run:1: 7 fields, of which"),
            ("q Q0 a 1 high x\n", "base.run:1: the score 'high' is not a number"),
            ("q Q0 a 1 nan x\n", "base.run:1: the score 'nan' is not a number"),
            ("q Q0 a 1 1_0 x\n", "base.run:1: the score '1_0' is not a number"),
            ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", "base.run:2: the document 'a' comes twice for query 'q'"),
            ("q Q0 a 1 2 x\n<<<<<<< HEAD\n", "base.run:2: is in a merge conflict"),
            ('{"format": "x"}\n', "base.run:1: looks like JSON"),
        ],
    )
    def test_says_what_is_wrong_and_where(self, tmp_path, text, words):
        with pytest.raises(RunError) as caught:
            self.read(tmp_path, text)
        assert words in str(caught.value)

    def test_reads_a_packed_run_in_parts(self, tmp_path, monkeypatch):
        text = "".join(f"q{n % 3} Q0 d{n} 1 {n} x\n" for n in range(60))
        (tmp_path / "run.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
        whole = self.read(tmp_path, text)
        assert Run.load(tmp_path / "run.gz") == whole
        monkeypatch.setattr(trec, "_CHUNK", 5)
        assert Run.load(tmp_path / "run.gz") == whole

    def test_says_that_a_packed_run_is_damaged_or_too_large(self, tmp_path, monkeypatch):
        packed = gzip.compress(b"q Q0 a 1 1 x\n" * 100_000)
        (tmp_path / "run.gz").write_bytes(packed[:-9])
        with pytest.raises(
            RunError, match=r"run\.gz: cannot be read: its gzip data is cut short or damaged\."
        ):
            Run.load(tmp_path / "run.gz")
        (tmp_path / "run.gz").write_bytes(packed)
        monkeypatch.setattr(trec, "MAX_RUN_BYTES", 1_000_000)
        with pytest.raises(RunError, match=r"run\.gz: cannot be read: it is larger than 1 MB"):
            Run.load(tmp_path / "run.gz")

    def test_what_follows_the_tag_is_not_read(self, tmp_path):
        text = "q1 Q0 a 1 0.5 bm25 0.3 more\nq1 Q0 b 2 0.7 bm25 # sure\nq1 Q0 c 3 0.6 bm25\n"
        assert self.read(tmp_path, text)["q1"] == ("b", "c", "a")

    @pytest.mark.parametrize(
        "line", ["q Q0 a doc 1 2.5 bm25", "my q Q0 a 1 2.5 bm25", "q Q0 doc 7 1 2.5 bm25"]
    )
    def test_an_id_with_white_space_is_not_read_as_further_fields(self, tmp_path, line):
        with pytest.raises(RunError, match=r":1: 7 fields, .*: an id holds white space\."):
            self.read(tmp_path, f"{line}\n")

    def test_comments_are_not_read(self, tmp_path):
        text = "# made by bm25\n#\n# a line of just as many\n#q Q0 a\n#in words of five here\nq Q0 a 1 1 x\n# q Q0 b 1 9 x\n#9 Q0 a 1 1 x\n"
        run = self.read(tmp_path, text)
        assert {query: run[query] for query in run} == {"q": ("a",), "#9": ("a",)}

    def test_a_query_that_would_be_read_as_a_comment_is_not_written(self, tmp_path):
        with pytest.raises(RunError, match="a line that begins with it is a comment"):
            Run({"#": ["d"]}).save(tmp_path / "x.run")

    @pytest.mark.parametrize("name", ["x.run.gz", "x.json.gz"])
    def test_a_packed_run_reads_back_and_is_the_same_each_time(self, tmp_path, name):
        run = Run({"q": ["a", "b"]})
        run.save(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        run.save(tmp_path / name)
        assert first[:2] == b"\x1f\x8b"
        assert first == (tmp_path / name).read_bytes()
        assert Run.load(tmp_path / name) == run

    def test_the_first_fault_of_a_file_is_told(self, tmp_path):
        twice = "q Q0 a 1 2 x\nq Q0 a 2 1 x\n"
        for later in ("q\n", "q Q0 b 1 nan x\n"):
            with pytest.raises(RunError, match=":2: the document 'a' comes twice"):
                self.read(tmp_path, twice + later)
            with pytest.raises(RunError, match=r":1: (1 field|the score)"):
                self.read(tmp_path, later + twice)

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("a b", "holds white space"),
            ("a\n", "holds white space"),
            ("\ud800", "has no UTF-8"),
            ("a\tb", "holds white space"),
        ],
    )
    def test_refuses_to_write_what_would_read_otherwise(self, tmp_path, name, why):
        with pytest.raises(
            RunError, match=rf"cannot be an id in a TREC run: it {why}.*\. Save with the suffix"
        ):
            Run({"q": ["fine", name]}).save(tmp_path / "x.run")
        with pytest.raises(
            RunError, match=rf"cannot be an id in a TREC run: it {why}.*\. Give the query an `id`"
        ):
            Run({name: ["fine"]}).save(tmp_path / "x.run")
        assert not (tmp_path / "x.run").exists()

    def test_refuses_to_write_a_query_with_an_empty_id(self, tmp_path):
        with pytest.raises(RunError, match="cannot be an id in a TREC run: it is empty"):
            Run({"": ["fine"]}).save(tmp_path / "x.run")

    def test_refuses_a_query_that_starts_as_a_byte_order_mark(self, tmp_path):
        with pytest.raises(RunError, match="cannot be an id in a TREC run: it begins with a byte order mark"):
            Run({"\ufeffa": ["fine"]}).save(tmp_path / "x.run")

    @given(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\x0b\x0c\ufeff"), min_size=1),
            min_size=1,
            unique=True,
        )
    )
    @settings(max_examples=100, deadline=None)
    def test_what_is_written_reads_back(self, tmp_path_factory, ids):
        path = tmp_path_factory.getbasetemp() / "round.run"
        run = Run({"q": ids})
        run.save(path)
        assert Run.load(path) == run


def test_queries_are_written_in_the_order_of_their_ids(tmp_path):
    Run({"b": ["d2", "d1"], "c": ["d1"], "a": ["d3"]}).save(tmp_path / "out.run")
    lines = (tmp_path / "out.run").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["a", "b", "b", "c"]
