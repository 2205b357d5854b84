"""Golden sets in other formats than YAML: what each reader makes of a file, and of a bad one."""

from __future__ import annotations

import csv
import json
import random
import re
import string
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Query
from pytest_irmetrics.golden.errors import MAX_PROBLEMS
from pytest_irmetrics.golden.table_cells import guarded, param_text, read_param, unguarded

SURROGATE = re.compile("[\ud800-\udfff]")
FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def load(name: str, text: str | bytes) -> GoldenSet:
    return GoldenSet.load(write(name, text))


def problems(name: str, text: str | bytes | None = None) -> list[str]:
    if text is not None:
        write(name, text)
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.load(name)
    return [str(problem) for problem in caught.value.problems]


def survives(name: str) -> None:
    """A file is read, or refused in words with a place."""
    found = None
    try:
        golden = GoldenSet.load(name)
    except GoldenSetError as error:
        found = error.problems
    else:
        assert golden.queries
    assert found is None or all(problem.line and problem.column and problem.message for problem in found)


def judgments(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(query.judgments) for query_id, query in golden.queries.items()}


def texts(golden: GoldenSet) -> dict[str, str | None]:
    return {query_id: query.text for query_id, query in golden.queries.items()}


QRELS = """\
q1 0 d1 1
q1 0 d2 0
q2 0 d1 -1

q3\tQ0\td\u00a07\t2
q1 0 d9 3
"""


class TestQrels:
    def test_reads_as_trec_eval_does(self):
        golden = load("a.qrels", QRELS)
        assert judgments(golden) == {
            "q1": {"d1": 1, "d2": 0, "d9": 3},
            "q2": {"d1": -1},
            "q3": {"d\u00a07": 2},
        }
        assert texts(golden) == {"q1": None, "q2": None, "q3": None}
        assert (golden.name, golden.left_out) == ("a", ())
        assert [golden.where(query_id) for query_id in golden.queries] == [
            "a.qrels:1",
            "a.qrels:3",
            "a.qrels:5",
        ]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("last", [True, False])
    def test_every_end_of_line_and_a_byte_order_mark(self, end, last):
        rows = ["q1 0 d1 1", "q2 0 d2 2"]
        golden = load("a.qrels", b"\xef\xbb\xbf" + (end.join(rows) + end * last).encode())
        assert judgments(golden) == {"q1": {"d1": 1}, "q2": {"d2": 2}}

    @pytest.mark.parametrize("seed", range(5))
    def test_agrees_with_other_readers(self, seed):
        rng = random.Random(seed)
        separators = [" ", "\t", "   ", " \t"]
        seen = {(f"q{rng.randrange(20)}", f"d{rng.randrange(50)}") for _ in range(300)}
        rows = [
            rng.choice(separators).join([query, rng.choice("0123Q"), doc, str(rng.randint(-2, 4))])
            for query, doc in seen
        ]
        golden = load("a.qrels", "\n".join(rows) + "\n")
        ours = judgments(golden)
        with Path("a.qrels").open() as file:
            assert ours == pytrec_eval.parse_qrel(file)
        theirs: dict[str, dict[str, int]] = {}
        for row in ir_measures.read_trec_qrels("a.qrels"):
            theirs.setdefault(row.query_id, {})[row.doc_id] = row.relevance
        assert ours == theirs

    def test_rows_of_a_query_may_stand_apart(self):
        golden = load("a.qrels", "\nq1 0 d1 1\nq2 0 d1 1\n \nq1 0 d2 2.0\n")
        assert judgments(golden) == {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}
        assert [query.line for query in golden.queries.values()] == [2, 3]

    def test_a_document_judged_twice_is_reported_with_its_first_judgment(self):
        assert problems("a.qrels", "q1 0 d1 x\nq1 0 d1 1\nq2 0 d2 1\nq1 0 d1 1\nq1 0 d1 2\n") == [
            "a.qrels:1:9: The grade of 'd1' is 'x'. Write a number up to 1000.",
            "a.qrels:4:6: The query 'q1' judges 'd1' twice, first on line 2. Keep one.",
            "a.qrels:5:6: The query 'q1' judges 'd1' twice, first on line 2. Keep one.",
        ]

    def test_blocks_of_rows_are_read_as_one_file(self, monkeypatch):
        from pytest_irmetrics.golden import judgment_rows

        text = "".join(f"q{n // 3} 0 d{n} {n % 4}\n" for n in range(60))
        whole = load("a.qrels", text)
        monkeypatch.setattr(judgment_rows, "_BLOCK", 7)
        assert load("a.qrels", text).queries == whole.queries

    def test_texts_are_in_the_topics_beside(self):
        write("golden/a.topics.tsv", "q1\thow do I\treset\r\nq9\tunjudged\n\nq2\trefund \n")
        golden = load("golden/a.qrels", "q1 0 d1 1\nq2 0 d2 1\n")
        assert texts(golden) == {"q1": "how do I\treset", "q2": "refund "}
        assert golden.left_out == ("q9",)

    def test_what_is_wrong_in_both_files_is_said_in_one_go(self):
        write("golden/a.topics.tsv", "q1\tone\nq2 two\nq1\tagain\n\tnone\nq3\t \n")
        assert problems("golden/a.qrels", "q1 0 d1\nq2 0 d2 1\n") == [
            "golden/a.qrels:1:1: Here are 3 fields, and qrels have 4. Write `query 0 document grade`.",
            "golden/a.topics.tsv:2:1: This is no query and its text. Write `query`, a tab, and the text.",
            "golden/a.topics.tsv:3:1: The query 'q1' is here twice, first on line 1. Keep one.",
            "golden/a.topics.tsv:4:1: This is no query and its text. Write `query`, a tab, and the text.",
            "golden/a.topics.tsv:5:1: This is no query and its text. Write `query`, a tab, and the text.",
        ]

    def test_a_judged_query_without_a_text(self):
        write("a.topics.tsv", "q1\tone\n")
        assert problems("a.qrels", "q1 0 d1 1\nq2 0 d2 1\nq2 0 d3 1\n") == [
            "a.qrels:2:1: The query 'q2' has no text in a.topics.tsv. Add it, or remove its judgments."
        ]

    def test_every_problem_has_its_place(self):
        text = (
            "q1 0 d1 one\n"
            "q1 0 d2 1001\n"
            "q1 0 dé  nan\n"
            "q1 0 d3 1\n"
            "q1 0 a document 1\n"
            "q1 0 d3 2\n"
            "q1 Q0 d1 1 9.5 bm25\n"
            "q1\n"
            "q1 0 d4 2.50\n"
        )
        assert problems("a.qrels", text) == [
            "a.qrels:1:9: The grade of 'd1' is 'one'. Write a number up to 1000.",
            "a.qrels:2:9: The grade of 'd2' is '1001'. Write a number up to 1000.",
            "a.qrels:3:10: The grade of 'dé' is 'nan'. Write a number up to 1000.",
            "a.qrels:5:1: Here are 5 fields, and qrels have 4. Write `query 0 document grade`. An id in qrels holds no white space.",
            "a.qrels:6:6: The query 'q1' judges 'd3' twice, first on line 4. Keep one.",
            "a.qrels:7:1: Here are 6 fields, as in a TREC run, and qrels have 4. Write `query 0 document grade`.",
            "a.qrels:8:1: Here is 1 field, and qrels have 4. Write `query 0 document grade`.",
        ]

    def test_lines_whose_fields_add_up_are_still_wrong(self):
        assert len(problems("a.qrels", "1 0 5\n2 0 6 1 1\n")) == 2

    def test_fractions(self):
        assert judgments(load("a.qrels", "q 0 a 0.5\nq 0 b 2.0\n")) == {"q": {"a": 0.5, "b": 2}}

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "a.qrels:1:1: There is no judgment. Write one a line."),
            (" \n\n", "a.qrels:1:1: There is no judgment. Write one a line."),
            ("q 0 d 1\nq 0 \0 1\n", "a.qrels:2:5: Here is a NUL, which no text has. Save the file as UTF-8, or name another."),
            ("<<<<<<< HEAD\nq 0 d 1\n", "a.qrels:1:1: A marker of an unresolved merge. Keep one side and remove the markers."),
            ("q 0 d 1\n".encode("utf-16"), "a.qrels:1:1: The file is in UTF-16 or UTF-32. Save it as UTF-8."),
            (b"q 0 caf\xe9 1\n", "a.qrels:1:8: The byte 0xE9 is not UTF-8. In Latin-1 it would be 'é'. Save the file as UTF-8."),
            ("query-id\tcorpus-id\tscore\n", "a.qrels:1:1: This is the header of a table. Name the file .tsv, or write `query 0 document grade` from the first line on."),
        ],
    )  # fmt: skip
    def test_what_is_no_qrels(self, text, problem):
        assert problems("a.qrels", text) == [problem]

    def test_problems_are_capped(self):
        found = problems("a.qrels", "x\n" * 5000)
        assert len(found) == MAX_PROBLEMS + 1
        assert found[-1].endswith("the rest is not read. Solve these first.")

    @FUZZ
    @given(data=st.binary() | st.text("q01 \t\nd.-", max_size=60).map(str.encode))
    def test_no_bytes_end_in_a_traceback(self, data):
        survives(write("fuzz.qrels", data))


LINES = [
    {"query": "how do I reset my password", "relevant": ["doc-12", "doc-40"]},
    {
        "id": "refund",
        "query": "refund policy",
        "relevant": {"doc-9": 3, "doc-4": 1, "doc-7": 0},
        "forbidden": ["doc-99"],
        "tags": ["billing"],
        "weight": 2.0,
        "params": {"lang": "no", "max_price": 500, "deep": [1, {"a": None}]},
        "thresholds": {"mrr": {"min": 1.0, "max_drop": "off"}},
        "note": "anything",
        "x-ours": {"any": 1},
    },
    {"query": "asdf qwerty", "no_answer": True},
    {"query": "known to be bad", "relevant": "doc-3", "xfail": "TICKET-7"},
]


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


class TestJsonl:
    def test_reads_what_yaml_reads(self):
        ours = load("faq.jsonl", jsonl(*LINES))
        theirs = load("faq.yaml", json.dumps({"queries": LINES}))
        assert list(ours.queries) == list(theirs.queries)
        for query_id, query in ours.queries.items():
            other = theirs.queries[query_id]
            for name in Query.__slots__:
                if name in ("line", "column", "thresholds"):
                    continue
                assert getattr(query, name) == getattr(other, name), name
            assert [(t.metric, t.limits) for t in query.thresholds] == [
                (t.metric, t.limits) for t in other.thresholds
            ]
        assert [golden_line.line for golden_line in ours.queries.values()] == [1, 2, 3, 4]
        assert (ours.name, ours.relevance_level, ours.thresholds, ours.left_out) == ("faq", 1, (), ())

    @pytest.mark.parametrize(
        "record", [{"relevant": ["a", "b"]}, {"relevant": {"a": 2, "b": 0}, "tags": ["t"]}]
    )
    def test_the_quick_and_the_careful_reading_agree(self, record):
        usual = {"query": "😀 Straße", **record}
        quick = load("a.jsonl", json.dumps(usual, ensure_ascii=False))
        careful = load("a.jsonl", json.dumps({**usual, "x-else": 1}))  # the emoji as an escaped pair, too
        assert quick.queries == careful.queries

    def test_ids_are_text_as_written(self):
        golden = load(
            "a.jsonl", '{"id": 0.10, "query": "q", "relevant": [1.10, 12, -0, "0123"], "tags": 5}\n'
        )
        (query,) = golden.queries.values()
        assert (query.id, list(query.judgments), query.tags) == ("0.10", ["1.10", "12", "-0", "0123"], ("5",))

    def test_without_a_relevant_document_as_trec_eval_has_it(self):
        golden = load(
            "a.jsonl",
            jsonl(
                {"query": "a", "relevant": {"d": 0, "e": -2}},
                {"query": "b", "relevant": []},
                {"query": "c"},
                {"query": "d", "relevant": ["x"]},
                {"query": "e", "relevant": None, "tags": None, "weight": None},
            ),
        )
        assert judgments(golden) == {"a": {"d": 0, "e": -2}, "d": {"x": 1}}
        assert golden.left_out == ("b", "c", "e")

    def test_without_texts(self):
        assert texts(load("a.jsonl", jsonl({"id": "q1", "relevant": ["d"]}))) == {"q1": None}
        assert problems(
            "a.jsonl", jsonl({"id": "q1", "relevant": ["d"]}, {"query": "b", "relevant": ["d"]})
        ) == ["a.jsonl:1:1: This query has no `query`, and others do. Write the text to search for."]

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ('{"query": "a", "relevent": ["b"]}', "1:16: 'relevent' is no key of a query. Did you mean `relevant`?"),
            ('{"query": "a", "query": "b", "relevant": ["c"]}', "1:16: 'query' is here twice, first on line 1. Keep one."),
            ('{"query": "a", "relevant": {"b": 1, "b": 2}}', "1:37: 'b' is here twice, first on line 1. Keep one."),
            ('{"query": "a", "relevant": ["b", "b"]}', "1:34: The document 'b' is here twice, first on line 1. Keep one."),
            ('{"query": "a", "relevant": {"b": "1"}}', "1:34: The grade of 'b' is text, '1'. Take the quotes off."),
            ('{"query": "a", "relevant": {"b": 1e3, "c": 1001}}', "1:44: The grade of 'c' is 1001, above 1000. Write a number from 0 to 1000."),
            ('{"query": "a", "relevant": {"b": NaN}}', "1:34: 'NaN' is no number in JSON. Write a finite one."),
            ('{"query": "a", "relevant": {"b": true}}', "1:34: The grade of 'b' is 'true', which is no number. Write one from 0 to 1000."),
            ('{"query": "a", "relevant": {"b": ' + "9" * 5000 + "}}", "1:34: The grade of 'b' is"),
            ('{"query": "a", "relevant": ["b", null]}', "1:34: `relevant` has null here, without quotes. Write a text."),
            ('{"query": "a", "relevant": [{"doc": null, "text": "b"}]}', "1:37: `doc` has null here, without quotes. Write a text."),
            ('{"id": false, "query": "a", "relevant": ["b"]}', "1:8: `id` has false here, without quotes. Write a text."),
            ('{"query": "", "relevant": ["b"]}', "1:11: `query` is empty. Write its text, or remove the key."),
            ('{"relevant": ["b"]}', "1:1: This query has no `query`. Write the text to search for."),
            ('{"query": "a", "relevant": ["b"], "weight": 0}', "1:45: `weight` is '0'. Write a number above 0 and up to 1,000,000,000."),
            ('{"query": "a", "no_answer": true, "relevant": ["b"]}', "1:47: A `no_answer` query has no `relevant`. Remove one of the two."),
            ('{"query": "a", "relevant": ["b"], "forbidden": ["b"]}', "1:49: 'b' is forbidden here, and relevant on line 1. Remove it from one of the two."),
            ('{"query": "a", "relevant": ["b"], "thresholds": {"ndgc": 1}}', "1:50: "),
            ('["a"]', "1:1: A query is a mapping, and this is a list. Write `query: …` and `relevant: …`."),
            ('{"query": "a\\ud800", "relevant": ["b"]}', "1:11: An escape in this text is half of a character. Write the character itself."),
            ('{"query": "a\\x", "relevant": ["b"]}', "1:11: An escape in this text is none that JSON has. Double the backslash."),
            ('{"query": "a\tb", "relevant": ["b"]}', '1:13: A control character cannot stand in JSON. Remove it, or write "\\u0009".'),
            ('{"query": "a, "relevant": ["b"]}', "1:16: A `,` is missing before 'relevant'. Write it."),
            ('{"query": "a", "relevant": ["b]}', "1:29: The quote that opens here is never closed on its line. Close it."),
            ('{"query": "a", "relevant": ["b"]', "1:33: The JSON ends here, too early. Close what it opened."),
            ('{"query": "a", "relevant": ["b"],}', "1:34: A '}' makes no sense here. Remove the comma before it."),
            ('{"query": "a", "relevant": ["b",]}', "1:33: A ']' makes no sense here. Remove the comma before it."),
            ("{'query': 'a', 'relevant': ['b']}", "1:2: A key is in double quotes, and here is \"'query'\". Write {\"key\": …}."),
            ('{"query": "a", "no_answer": True}', "1:29: 'True' is no JSON. Write true."),
            ('{"query": "a", "relevant": b}', "1:28: 'b' is no JSON. Put a text in double quotes."),
            ('{"query" "a"}', "1:10: A `:` is missing between a key and its value, before '\"a\"'. Write it."),
            ('{"query": "a", "relevant": ["b"]} {}', "1:35: '{' follows where the JSON has ended. Write one object."),
            ('{"query": , "relevant": ["b"]}', "1:11: A ',' makes no sense here, where a value is wanted. Write one."),
            ('{"query": "a", "params": {"n": 1e999}, "relevant": ["b"]}', "1:32: The number 1e999 is too large. Write a smaller one, or quote it to make it text."),
            ("[" * 100_000, "1:31: Lists and objects are more than 30 deep here. Write them less deep."),
            ('{"_id": "1", "text": "a", "metadata": {}}', "1:1: This is a query of a BEIR folder, without its judgments. Name the folder in place of this file."),
            ("[", "1:1: JSON over several lines begins here. Write one query a line, without a list around them."),
            ("", "1:1: There is no query. Write one a line: "),
            ('{"query": "a"}', 'No query has a judgment. Write "relevant" with the documents of each.'),
        ],
    )  # fmt: skip
    def test_every_problem_has_its_place_and_words(self, line, problem):
        (found,) = problems("a.jsonl", line)
        assert found.removeprefix("a.jsonl:").startswith(problem) or found.endswith(problem)

    def test_all_lines_are_checked_in_one_go(self):
        text = '{"query": "a"\n\n{"query": "b", "relevant": ["c"]}\r\n{"query": "b", "relevant": ["c"]}\nnonsense\n'
        assert [line.split(" ")[0] for line in problems("a.jsonl", text)] == [
            "a.jsonl:1:14:",
            "a.jsonl:4:11:",
            "a.jsonl:5:1:",
        ]

    def test_a_line_that_nobody_writes(self, monkeypatch):
        from pytest_irmetrics.golden import jsonl as room

        monkeypatch.setattr(room, "MAX_LINE", 1_000_000)
        (found,) = problems("a.jsonl", '{"query": "' + "a" * 1_000_000 + '", "relevant": ["b"]}')
        assert found == "a.jsonl:1:1: This line is longer than 1 MB. Split the query."

    @FUZZ
    @given(data=st.binary() | st.text('{}[]:,"\\u0dtrue null1-.e\n', max_size=60).map(str.encode))
    def test_no_bytes_end_in_a_traceback(self, data):
        survives(write("fuzz.jsonl", data))

    @FUZZ
    @given(
        value=st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: (
                st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4)
            ),
            max_leaves=12,
        ),
        style=st.sampled_from([{}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (",", ":")}]),
    )
    def test_nodes_are_what_the_standard_reader_reads(self, value, style):
        from pytest_irmetrics.golden.json_nodes import JsonError, compose
        from pytest_irmetrics.golden.nodes import MappingStartEvent

        def plain(node):
            if node.__class__ is list:
                if node[0].__class__ is MappingStartEvent:
                    return {
                        key.value: plain(value) for key, value in zip(node[1::2], node[2::2], strict=True)
                    }
                return [plain(item) for item in node[1:]]
            return node.value if node.style else json.loads(node.value)

        text = json.dumps(value, **style)
        if SURROGATE.search(json.dumps(value, ensure_ascii=False)):
            with pytest.raises(JsonError, match="half of a character"):
                compose(json.dumps(value))
        else:
            assert plain(compose(text)) == value


CSV = """\
id,query,docid,rating,tags,weight,params.lang,params.max_price,x-why
refund,refund policy,doc-9,3,"billing, money",2,no,500,because
refund,,doc-4,1,,,,,
reset,"how do I ""reset""
my password",doc-12,1,,,,,
refund,refund policy,doc-7,0,"billing, money",2,no,500,
"""


class TestTables:
    def test_reads_every_column(self):
        golden = load("faq.csv", CSV)
        refund, reset = golden.queries.values()
        assert refund == Query(
            "refund",
            "refund policy",
            {"doc-9": 3, "doc-4": 1, "doc-7": 0},
            tags=("billing", "money"),
            weight=2.0,
            params={"lang": "no", "max_price": 500},
            line=2,
            column=1,
        )
        assert reset == Query("reset", 'how do I "reset"\nmy password', {"doc-12": 1}, line=4, column=1)
        assert (golden.name, golden.left_out) == ("faq", ())

    @pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_whatever_stands_between_cells(self, name, delimiter):
        if name == "a.tsv" and delimiter != "\t":
            return
        text = (
            delimiter.join(["Query", "DocId", " Rating"]) + "\r\n" + delimiter.join(['"a, b; c"', "d", "2"])
        )
        golden = load(name, b"\xef\xbb\xbf" + text.encode())
        assert judgments(golden) == {"a, b; c": {"d": 2}}

    def test_a_blank_after_each_comma_as_people_type_it(self):
        assert judgments(load("a.csv", 'query, docid, rating\n"a, b", d, 1\n')) == {"a, b": {"d": 1}}
        assert judgments(load("a.csv", "query,docid,rating\na, d,1\n")) == {"a": {" d": 1}}

    def test_not_rated_yet(self):
        golden = load("a.csv", "query,docid,rating\na,d,1\na,e,\nb,f,\nc\n,,\n")
        assert judgments(golden) == {"a": {"d": 1}}
        assert golden.left_out == ("b", "c")

    def test_as_pandas_writes_ratings_beside_a_gap(self):
        assert judgments(load("a.csv", "query,docid,rating\na,d,1.0\na,e,-1.0\na,f,0.5\n")) == {
            "a": {"d": 1, "e": -1, "f": 0.5}
        }

    def test_without_texts(self):
        assert texts(load("a.csv", "id,docid,rating\nq1,d,1\n")) == {"q1": None}

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "1:1: There is no header. Begin with the line `query,docid,rating`."),
            ("\n\n", "1:1: There is no header. Begin with the line `query,docid,rating`."),
            ("a,d,1\n", "1:1: This is no header: 'a' is no column. Begin with `query,docid,rating`."),
            ("query,docid,rating\n", "1:1: There is no judgment. Write one a row, under the header."),
            ("query,docid,raitng\na,d,1\n", "1:13: 'raitng' is no column of a golden set. Did you mean `rating`?"),
            ("query,docid,grade\na,d,1\n", "1:13: 'grade' is no column of a golden set. Did you mean `rating`?"),
            ("query,docid,rating,title\na,d,1,t\n", "1:20: 'title' is no column of a golden set. The columns are query, docid, rating, id, tags, weight and params.NAME; one for people begins with x-."),
            ("query,docid,rating,docid\na,d,1,t\n", "1:20: The column 'docid' is there twice. Keep one."),
            ("query,docid\na,d\n", "1:1: The header has no column `rating`. The columns are query, docid and rating, and perhaps id, tags, weight and params.NAME."),
            ("docid,rating\na,1\n", "1:1: The header has no column `query`. The columns are query, docid and rating, and perhaps id, tags, weight and params.NAME."),
            ("query,docid,rating\na,d,good\n", "2:5: The grade of 'd' is 'good'. Write a number up to 1000."),
            ('query,docid,rating\na,d,"0,5"\n', "2:5: The grade of 'd' is '0,5'. Write a number up to 1000."),
            ("query,docid,rating\na,d,1e999\n", "2:5: The grade of 'd' is '1e999'. Write a number up to 1000."),
            ("query,docid,rating\na,d,1\na,d,2\n", "3:3: The query 'a' judges 'd' twice, first on line 2. Keep one."),
            ("query,docid,rating\na,,1\n", "2:4: This rating is of no document. Write its id in the column `docid`."),
            ("query,docid,rating\n,d,1\n", "2:1: This row has no query. Write its text or its id on each row."),
            ("query,docid,rating\na, b,d,1\n", "2:8: Here are 4 cells, and the header has 3. Put a text that contains a comma in double quotes."),
            ("query,docid,rating\na,d\n", "2:3: Here are 2 cells, and the header has 3. Put a text that contains a comma in double quotes."),
            ('query,docid,rating\n"a\nb",d,1\n"c,d,1\n', "4:1: The quote that opens this cell is never closed. Close it."),
            ('query,docid,rating\n"a" b,d,1\n', '2:1: A quote ends this cell too early. Write a quote within a quoted cell twice, "".'),
            ('query,docid,rating\n"a\nb",d,x\n', "3:6: The grade of 'd' is 'x'. Write a number up to 1000."),
            ('query,docid,rating\na,"' + "d" * 200_000 + '",1\n', "2:3: A cell here is longer than 131,072 characters. Is the quote that opens it never closed?"),
            ("id,query,docid,rating\n1,a,d,1\n1,b,e,1\n", "3:3: The query '1' has another text on line 2. Give each an id of its own."),
            ("id,query,docid,rating\n1,a,d,1\n2,,e,1\n", "3:1: The query '2' has no text, and others do. Write it in the column `query`."),
            ("query,docid,rating,weight\na,d,1,0\n", "2:7: `weight` is '0'. Write a number above 0 and up to 1,000,000,000."),
            ("query,docid,rating,weight\na,d,1,2\na,e,1,3\n", "3:7: `weight` of the query 'a' is '2' on line 2. Keep one."),
            ('query,docid,rating,tags\na,d,1,"x,,y"\n', "2:7: `tags` is 'x,,y'. Write different tags with commas between."),
            ("query,docid,rating\na,\0,1\n", "2:3: Here is a NUL, which no text has. Save the file as UTF-8, or name another."),
        ],
    )  # fmt: skip
    def test_every_problem_has_its_place_and_words(self, text, problem):
        assert problems("a.csv", text) == [f"a.csv:{problem}"]

    def test_all_rows_are_checked_in_one_go(self):
        text = "query,docid,rating,weight\na,d,x,y\nb,,1,\n"
        assert [line.split(" ")[0] for line in problems("a.csv", text)] == [
            "a.csv:2:5:",
            "a.csv:2:7:",
            "a.csv:3:4:",
        ]

    @FUZZ
    @given(
        data=st.binary()
        | st.text('query,docid;rating\n\r"\t1', max_size=60).map(
            lambda text: f"query,docid,rating\n{text}".encode()
        )
    )
    def test_no_bytes_end_in_a_traceback(self, data):
        survives(write("fuzz.csv", data))

    @FUZZ
    @given(text=st.text() | st.text(" =+-@\t\r1."))
    def test_a_guard_against_formulas_comes_off_again(self, text):
        assert unguarded(guarded(text)) == text
        if text[:1] in "=+@" and text:
            assert guarded(text)[0] == " "

    @FUZZ
    @given(
        value=st.text()
        | st.sampled_from(
            ["true", "null", "1", "1.0", "-1", '"a"', "[1", "[1]", "NaN", "{}", "", "01", "1e5", "5 "]
        )
        | st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: (
                st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4)
            ),
            max_leaves=8,
        )
    )
    def test_a_cell_holds_any_parameter(self, value):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return
        read = read_param(param_text(value))
        assert read == value
        assert type(read) is type(value)


class TestQuepid:
    def test_the_export_of_a_case(self):
        export = {
            "case_name": "Movies",
            "owner_email": "someone@example.com",
            "options": {},
            "scorer": {"name": "nDCG@10", "scale": [0, 1, 2, 3]},
            "queries": [
                {"arranged_at": 1, "query_text": "star wars", "options": {}, "notes": None, "information_need": "the films", "ratings": {"11": 3, "1893": 2, "140607": None}},
                {"arranged_at": 2, "query_text": "rambo", "options": None, "notes": "the first", "ratings": {"7555": 3.0, "1368": "2"}},
                {"arranged_at": 3, "query_text": "no idea", "ratings": {}},
                {"arranged_at": 4, "query_text": "nothing", "ratings": None},
            ],
            "try": {"query_params": "q=#$query##"},
        }  # fmt: skip
        golden = load("case.json", json.dumps(export, indent=2))
        assert judgments(golden) == {"star wars": {"11": 3, "1893": 2}, "rambo": {"7555": 3, "1368": 2}}
        assert [query.note for query in golden.queries.values()] == ["the films", "the first"]
        assert (golden.name, golden.left_out) == ("Movies", ("no idea", "nothing"))
        lines = json.dumps(export, indent=2).splitlines()
        assert '"arranged_at": 2' in lines[golden.queries["rambo"].line]

    def test_the_export_of_ratings(self):
        golden = load("ratings.json", json.dumps({"queries": [{"query": "star wars", "ratings": {"11": 3}}]}))
        assert judgments(golden) == {"star wars": {"11": 3}}

    def test_rated_queries(self):
        text = 'query,docid,rating\n" -wars, star",11,3\nrambo,7555,3\nrambo,1368,\nno idea\n'
        golden = load("case_basic.csv", text)
        assert judgments(golden) == {"-wars, star": {"11": 3}, "rambo": {"7555": 3}}
        assert golden.left_out == ("no idea",)

    def test_the_detailed_export(self):
        text = (
            "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating,overview,vote_average\r\n"
            'OSC,Movies,6,star wars,11,Star Wars,3,"Princess Leia, captured",8.1\r\n'
            "OSC,Movies,6,star wars,1893,Episode I,,,6.5\r\n"
        )
        assert judgments(load("general.csv", text)) == {"star wars": {"11": 3}}

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("{}", '1:1: This is no export of Quepid, which has a list of "queries". Write a golden set as YAML or JSONL.'),
            ('{"queries": []}', "1:1: No query has a rating. Rate some results in Quepid, and export the case again."),
            ('{"format": "pytest-irmetrics run"}', "1:1: This is a run of pytest-irmetrics, not a golden set. Name the golden set."),
            ('{"queries": [{"query": "a",\n "relevant": ["b"]}]}', "1:14: This is no query of an export of Quepid. Name a golden set with these keys .yaml, which JSON is, too."),
            ('{"queries": [\n 5]}', '2:2: This is no query of an export of Quepid. An export has "query_text" or "query", and "ratings".'),
            ('{"queries": [{"query": "a", "ratings": {"b": "x"}}]}', "1:46: The grade of 'b' is 'x'. Write a number up to 1000."),
            ('{"queries": [{"query": "a", "ratings": {"b": 1, "b": 1}}]}', "1:49: The query 'a' judges 'b' twice, first on line 1. Keep one."),
            ('{"queries": [{"query": "a", "ratings": {"": 1}}]}', "1:41: Here is a rating without a document. Write its id."),
            ('{"queries": [{"query": "a", "ratings": [1]}]}', '1:40: The "ratings" are no object. Write {"document": rating}.'),
            ('{"queries": [{"query": "a", "ratings": {"b": 1}}, {"query": "a", "ratings": {}}]}', "1:51: The query 'a' is here twice. Keep one."),
            ('{"queries": [', "1:14: The JSON ends here, too early. Close what it opened."),
        ],
    )  # fmt: skip
    def test_every_problem_has_its_place_and_words(self, text, problem):
        assert problems("a.json", text)[0] == f"a.json:{problem}"

    @FUZZ
    @given(
        data=st.binary()
        | st.text('{}[]:,"queriesratings1', max_size=60).map(lambda text: f'{{"queries": [{text}'.encode())
    )
    def test_no_bytes_end_in_a_traceback(self, data):
        survives(write("fuzz.json", data))


def beir(base: str, splits: dict[str, str], queries: str | None = None) -> str:
    lines = [{"_id": f"q{n}", "text": f"text of {n}", "metadata": {}} for n in range(5)]
    write(f"{base}/queries.jsonl", jsonl(*lines) if queries is None else queries)
    for split, rows in splits.items():
        write(f"{base}/qrels/{split}.tsv", f"query-id\tcorpus-id\tscore\n{rows}")
    return base


class TestBeir:
    ROWS = "q1\tMED-10\t1\nq1\tMED 11\t2\nq3\tMED-14\t0\n"

    def test_the_split_test(self):
        beir("beir/nfcorpus", {"dev": "q0\tx\t1\n", "test": self.ROWS, "train": "q2\tx\t1\n"})
        write("beir/nfcorpus/corpus.jsonl", '{"_id": "MED-10", "title": "", "text": "…"}\n')
        golden = GoldenSet.load("beir/nfcorpus")
        assert judgments(golden) == {"q1": {"MED-10": 1, "MED 11": 2}, "q3": {"MED-14": 0}}
        assert texts(golden) == {"q1": "text of 1", "q3": "text of 3"}
        assert (golden.name, golden.left_out) == ("nfcorpus", ())
        assert str(golden.path) == "beir/nfcorpus"
        assert golden.where("q3") == "beir/nfcorpus/qrels/test.tsv:4"
        assert golden.locate("q1", "MED 11") == 3

    def test_another_split_is_named_by_its_file(self):
        beir("nf.corpus", {"dev": "q0\tx\t1\n", "test": self.ROWS})
        golden = GoldenSet.load("nf.corpus/qrels/dev.tsv")
        assert (judgments(golden), texts(golden)) == ({"q0": {"x": 1}}, {"q0": "text of 0"})
        assert golden.name == "nf.corpus-dev"

    def test_a_folder_whose_queries_are_missing_says_so(self):
        write("a/qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{self.ROWS}")
        (problem,) = problems("a")
        assert problem.startswith(
            "a/qrels/test.tsv:1:1: These are judgments of a BEIR folder, and a/queries.jsonl"
        )
        write(
            "b/qrels/test.tsv", "query\tdocid\trating\nq\td\t1\n"
        )  # a golden set of its own, in a folder of that name
        assert problems("b")[0].startswith("b:1:1: This is a folder.")

    def test_the_only_split(self):
        assert judgments(GoldenSet.load(beir("a", {"dev": "q0\tx\t1\n"}))) == {"q0": {"x": 1}}

    def test_several_splits_and_no_test(self):
        beir("a", {"dev": self.ROWS, "train": self.ROWS})
        assert problems("a") == [
            "a:1:1: This BEIR folder has the splits dev, train, and no test. Name the file of one: a/qrels/dev.tsv."
        ]
        assert problems(beir("b", {"x": ""}) + "/") == [
            "b/qrels/x.tsv:1:1: There is no judgment. Write one a line."
        ]

    def test_a_folder_without_qrels(self, folder):
        beir("a", {})
        (folder / "a/qrels").mkdir()
        assert problems("a") == [
            "a:1:1: There are no qrels/*.tsv in this folder. Add the judgments of a split as qrels/test.tsv."
        ]

    def test_quotes_as_csv_has_them(self):
        golden = GoldenSet.load(beir("a", {"test": 'q1\t"a ""b"""\t1\nq2\t<dbpedia:"Heroes">\t2.0\n'}))
        assert judgments(golden) == {"q1": {'a "b"': 1}, "q2": {'<dbpedia:"Heroes">': 2}}

    def test_what_is_wrong_in_both_files_is_said_in_one_go(self):
        queries = '{"_id": "q1", "text": "a"}\n{"_id": "q1", "text": "b"}\n{"_id": "q2"}\n{"id": 1}\n{"_id": "q9" "text": 1}\n{"_id": 1, "_id": 1}\n'
        assert problems(beir("a", {"test": "q1\tx\t1\nq2\ty\tz\nq2\ty\t1\n"}, queries)) == [
            "a/qrels/test.tsv:3:6: The grade of 'y' is 'z'. Write a number up to 1000.",
            "a/queries.jsonl:2:1: The query 'q1' is here twice, first on line 1. Keep one.",
            "a/queries.jsonl:3:1: The query 'q2' has no `text`. Write it.",
            'a/queries.jsonl:4:1: This is no query of a BEIR folder. Write {"_id": "…", "text": "…"}.',
            "a/queries.jsonl:5:14: A `,` is missing before '\"text\"'. Write it.",
            "a/queries.jsonl:6:1: A key is here twice, or a number is too long. Keep one key, and shorter numbers.",
        ]

    def test_no_judgment_is_taken_for_the_header(self):
        beir("a", {})
        for rows in ("q1\tx\t1\n", self.ROWS, 'q1\t"x"\t1\nq3\ty\t1\n'):
            write("a/qrels/test.tsv", rows)
            assert problems("a") == [
                (
                    "a/qrels/test.tsv:1:1: This is a judgment, and the header is missing. Write query-id, corpus-id and score "
                    "above it, with tabs between."
                )
            ]

    @pytest.mark.parametrize(
        "text",
        [
            "query_id\tdoc\trelevance\nq1\tx\t2\n",
            "corpus-id\tquery-id\tscore\nx\tq1\t2\n",
            "score\tQuery-ID\tcorpus-id\n2\tq1\tx\n",
            '"query-id"\t"corpus-id"\t"score"\nq1\tx\t2\n',
        ],
    )
    def test_columns_go_by_the_header_where_it_names_them(self, text):
        beir("a", {})
        write("a/qrels/test.tsv", text)
        assert judgments(GoldenSet.load("a")) == {"q1": {"x": 2}}

    def test_a_judged_query_without_a_text(self):
        assert problems(beir("a", {"test": "q1\tx\t1\nq7\tx\t1\n"})) == [
            "a/qrels/test.tsv:3:1: The query 'q7' has no text in a/queries.jsonl. Add it, or remove its judgments."
        ]

    def test_the_texts_are_missing(self, folder):
        beir("a", {"test": self.ROWS})
        (folder / "a/queries.jsonl").unlink()
        assert problems("a/qrels/test.tsv") == [
            (
                "a/qrels/test.tsv:1:1: These are judgments of a BEIR folder, and a/queries.jsonl, which has its texts, is not "
                "there. Add it; or name the columns id, docid and rating, if there are no texts."
            )
        ]
        write("x.tsv", "id\tdocid\trating\nq1\tx\t1\n")
        assert texts(GoldenSet.load("x.tsv")) == {"q1": None}

    @FUZZ
    @given(data=st.binary() | st.text("q0\t1d\n ", max_size=40).map(str.encode))
    def test_no_bytes_end_in_a_traceback(self, data):
        beir("fuzz", {})
        write("fuzz/qrels/test.tsv", b"query-id\tcorpus-id\tscore\n" + data)
        survives("fuzz")


class TestPlaces:
    @pytest.mark.parametrize(
        ("name", "text", "line"),
        [
            ("a.qrels", "q 0 x 1\np 0 d 1\nq 0 d 1\n", 3),
            ("a.csv", "query,docid,rating\nq,x,1\np,d,1\nq,d,1\n", 4),
            ("a.csv", 'id;query;docid;rating\nq;"a, b";d;1\n', 2),
            ("a.tsv", "query\tdocid\trating\nq\tx\t1\nq\td\t1\n", 3),
            ("a.jsonl", jsonl({"query": "q", "relevant": ["x", "d"]}), 1),
            ("a.json", '{"queries": [\n{"query": "q",\n "ratings": {"x": 1,\n"d": 1}}]}', 4),
        ],
    )
    def test_where_a_judgment_is(self, name, text, line):
        golden = load(name, text)
        assert golden.locate("q", "d") == line
        assert golden.locate("q", "nowhere") is None
        write(name, "\n")
        assert load_again(golden).locate("q", "d") is None


def load_again(golden: GoldenSet) -> GoldenSet:
    """The same set, its file not yet looked at."""
    return GoldenSet(golden.queries.values(), path=golden.path)


def test_an_identical_cell_is_read_by_the_standard_reader_too():
    rng = random.Random(7)
    rows = [
        ["".join(rng.choices(string.printable[:95] + "\n", k=8)).strip() or "x", f"d{n}", "1"]
        for n in range(50)
    ]
    with Path("a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["query", "docid", "rating"], *rows])
    golden = GoldenSet.load("a.csv")
    assert [unguarded(query) for query, _, _ in rows] == list(golden.queries)
