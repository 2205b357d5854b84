"""Golden sets in other formats than YAML: what each reader makes of a file, and of a bad one."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet, Query
from tests.unit.golden.golden_files import FUZZ, jsonl, judgments, load, problems, survives, texts, write

SURROGATE = re.compile("[\ud800-\udfff]")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
