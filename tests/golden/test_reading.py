"""What is read of golden sets: every key in every format, ids and texts as they are written."""

from __future__ import annotations

import csv
import gzip
import json
import random
import string
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, Query
from tests.golden.files import FULL, cli, content, judgments, limits, load, said, write

REFUND = {
    "text": "refund policy",
    "judgments": {"doc-9": 3, "doc-4": 1, "doc-7": 0},
    "tags": ("billing", "money"),
    "weight": 2.0,
    "params": {"lang": "no", "max_price": 500},
}
QUERY = "queries:\n- query: a\n  {}\n"


def read(text: str) -> dict[str, object]:
    """What is said of a query in YAML, of lines that follow `query: a`."""
    return said(load("faq.yaml", QUERY.format(text.replace("\n", "\n  "))).queries["a"])


def test_every_key_of_yaml():
    golden = load("faq.yaml", FULL)
    assert (golden.name, golden.relevance_level, golden.left_out) == ("the faq", 2, ())
    assert limits(golden.thresholds) == {
        "ndcg@10": {"min": "0.7"},
        "precision@5": {"min": "0.5", "max_drop": "5%", "max_lost": "3"},
        "recall@10 billing": {"min": "0.9"},
    }
    assert [t.origin for t in golden.thresholds] == ["faq.yaml:6:3", "faq.yaml:7:3", "faq.yaml:10:5"]
    assert content(golden) == {
        "how do I reset my password": {"judgments": {"doc-12": 2}},
        "refund": {
            **REFUND,
            "judgments": {"doc-9": 3, "doc-4": 1, "doc-7": 0, "doc-5": 2.5},
            "forbidden": ("doc-99", "doc-7"),
            "thresholds": {"mrr": {"min": "1", "max_drop": "off"}},
            "note": "anything, for people",
        },
        "asdf qwerty": {"no_answer": True},
        "known to be bad": {"judgments": {"doc-3": 2}, "xfail": "TICKET-7"},
    }
    assert golden.tags == {"billing", "money"}
    assert [(query.line, query.column) for query in golden.queries.values()] == [
        (12, 5),
        (14, 5),
        (24, 5),
        (26, 5),
    ]


def test_every_key_of_jsonl():
    lines = [
        {"query": "how do I reset my password", "relevant": ["doc-12", "doc-40"]},
        {
            "id": "refund", "query": "refund policy", "relevant": {"doc-9": 3, "doc-4": 1, "doc-7": 0},
            "forbidden": ["doc-99"], "tags": ["billing", "money"], "weight": 2.0, "note": "anything", "x-ours": {"any": 1},
            "params": {"lang": "no", "max_price": 500}, "thresholds": {"mrr": {"min": 1.0, "max_drop": "off"}},
        },
        {"query": "asdf qwerty", "no_answer": True, "tags": None, "weight": None},
        {"query": "known to be bad", "relevant": "doc-3", "xfail": "TICKET-7"},
        {"query": "by passage", "relevant": [{"doc": "a", "text": "b  c", "grade": 2}]},
    ]  # fmt: skip
    golden = load("faq.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    assert content(golden) == {
        "how do I reset my password": {"judgments": {"doc-12": 1, "doc-40": 1}},
        "refund": {
            **REFUND,
            "forbidden": ("doc-99",),
            "thresholds": {"mrr": {"min": "1", "max_drop": "off"}},
            "note": "anything",
        },
        "asdf qwerty": {"no_answer": True},
        "known to be bad": {"judgments": {"doc-3": 1}, "xfail": "TICKET-7"},
        "by passage": {"judgments": {"a: b c": 2}, "passages": [("a", "b  c", 2)]},
    }
    assert (golden.name, golden.relevance_level, golden.thresholds) == ("faq", 1, ())
    assert [query.line for query in golden.queries.values()] == [1, 2, 3, 4, 5]


CSV = """\
id,query,docid,rating,tags,weight,params.lang,params.max_price,x-why
refund,refund policy,doc-9,3,"billing, money",2,no,500,because
refund, ,doc-4,1,,,,,
reset,"how do I ""reset""
my password",doc-12,1,,,,,
refund,refund policy,doc-7,0,"billing, money",2,no,500,
"""


@pytest.mark.parametrize("name", ["faq.csv", "faq.tsv", "faq.csv.gz"])
def test_every_column_of_a_table(name):
    text = CSV.replace(",", "\t").replace("billing\t", "billing,") if name == "faq.tsv" else CSV
    golden = load(name, gzip.compress(text.encode()) if name.endswith("gz") else text)
    assert content(golden) == {
        "refund": REFUND,
        "reset": {"text": 'how do I "reset"\nmy password', "judgments": {"doc-12": 1}},
    }
    assert (golden.name, golden.left_out) == ("faq", ())
    assert [query.line for query in golden.queries.values()] == [2, 4]


def test_qrels_are_read_as_trec_eval_reads_them():
    write("golden/a.topics.tsv", "q1\thow do I\treset\r\nq9\tunjudged\n\n\t\n q2 \trefund \nq3\tx\n")
    golden = load(
        "golden/a.qrels", "\nq1 0 d1 1\nq1 0 d2 0\nq2 0 d1 -1\n \nq3\tQ0\td\u00a07\t2.0\nq1 0 d9 .5\n"
    )
    assert judgments(golden) == {"q1": {"d1": 1, "d2": 0, "d9": 0.5}, "q2": {"d1": -1}, "q3": {"d\u00a07": 2}}
    assert [query.text for query in golden.queries.values()] == ["how do I\treset", "refund ", "x"]
    assert (golden.name, golden.left_out) == ("a", ("q9",))
    assert [query.line for query in golden.queries.values()] == [2, 4, 6]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.qrels", "q1 0 d1 1\n", {"q1": {"d1": 1}}),
        ("a.qrels", "\ufeffq1 0 d1 1\r\nq2 0 d2 2", {"q1": {"d1": 1}, "q2": {"d2": 2}}),
        ("a.qrels", "q1 0 d1 1\rq2 0 d2 2\r", {"q1": {"d1": 1}, "q2": {"d2": 2}}),
        ("a.qrels", "#1 0 d1 1\n", {"#1": {"d1": 1}}),
        ("a.csv", "id,docid,rating\rq1,d,1\r", {"q1": {"d": 1}}),
        ("a.tsv", "id\tdocid\trating\nq1\td\t1\n", {"q1": {"d": 1}}),
        ("a.csv", "query,docid,rating\na, d,1\n", {"a": {" d": 1}}),
        ("a.csv", '\ufeffQuery;DocId;RATING\r\n"a, b; c";d;2', {"a, b; c": {"d": 2}}),
        ("a.csv", "query\tdocid\trating\na, b\td\t2", {"a, b": {"d": 2}}),
        ("a.csv", "query,docid,rating\na,d,1.0\na,e,-1.0,,\na,f, 0.5 \n,,\n", {"a": {"d": 1, "e": -1, "f": 0.5}}),
        ("a.csv", "query,docid,rating\n =a, @d,1\n -1,-1,2\n", {"=a": {"@d": 1}, " -1": {"-1": 2}}),
        ("a.csv", "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating,votes\r\nOSC,M,6,star wars,11,Star,3,8.1\r\nOSC,M,6,star wars,18,E,,6\r\n", {"star wars": {"11": 3}}),
        ("a.csv", "query,docid,title,Rating:Anna,Rating:Ben,Rating:Cy\na,d,x,3,0,1\na,e,,,,\nb,e,,1,,2\n", {"a": {"d": 1}, "b": {"e": 1.5}}),
        ("a.jsonl", '{"query": "a", "relevant": {"d": 0, "e": -2}}', {"a": {"d": 0, "e": -2}}),
        ("a.jsonl", '\ufeff{"query": "a", "relevant": [1.10, 12, -0, "0123"]}\n\n', {"a": {"1.10": 1, "12": 1, "-0": 1, "0123": 1}}),
        ("a.jsonl", '{"query": "\\ud83d\\ude00 Stra\\u00dfe", "relevant": ["d"]}\r\n', {"😀 Straße": {"d": 1}}),
        ("a.yaml", '{"queries": [{"query": "a", "relevant": {"b": 2}, "no_answer": false}]}', {"a": {"b": 2}}),
        ("a.yml", "queries: [{query: a, relevant: b}]", {"a": {"b": 1}}),
        ("a.YAML", "queries: [{relevant: b, query: a, tags: [t]}]\nslices: {t: {mrr: 1}}\n", {"a": {"b": 1}}),
        ("a.yaml", "queries:\n- query: >-\n    two\n    lines\n  relevant: ['it''s', \"\\u00e9\"]\n", {"two lines": {"it's": 1, "é": 1}}),
    ],
)  # fmt: skip
def test_judgments_are_read(name, text, expected):
    assert judgments(load(name, text)) == expected


def test_cells_that_are_json_are_that_value():
    golden = load("a.csv", 'query,docid,rating,,params.a,params.B,params.c\nq,d,1,,"[1, null]",01,"""5"""\n')
    assert golden.queries["q"].params == {"a": [1, None], "B": "01", "c": "5"}


def test_queries_without_a_judgment_are_left_out_and_named(capsys):
    assert load("a.csv", "query,docid,rating\na,d,1\na,e,\nb,f,\nc\n").left_out == ("b", "c")
    lines = '{"query": "a", "relevant": ["d"]}\n{"query": "b", "relevant": {}}\n{"query": "c"}\n'
    assert load("a.jsonl", lines).left_out == ("b", "c")
    [[line], _] = cli(capsys, "check", "a.jsonl")
    assert line == "a.jsonl: 1 query, 0 tags, no thresholds, without any judgment and left out: b, c"


def beir(**splits: str) -> None:
    texts = [{"_id": f"q{n}", "text": f"text of {n}", "metadata": {}} for n in range(3)]
    texts += [{"_id": "elsewhere", "text": text} for text in ("", "a", "b")]
    write("data/nf.v2/queries.jsonl", "\n \t\n".join(map(json.dumps, [*texts, {"_id": 7, "text": "seven"}])))
    for split, rows in splits.items():
        write(f"data/nf.v2/qrels/{split}.tsv", f"query-id\tcorpus-id\tscore\n{rows}")


def test_a_beir_folder():
    beir(
        dev="q0\tx\t1\n", test='q1\t"MED ""11"""\t2.0\nq1\tMED-10\t1\nq2\tx\t\n7\t=x\t0\n', train="q2\tx\t1\n"
    )
    golden = GoldenSet.load("data/nf.v2/")
    assert content(golden) == {
        "q1": {"text": "text of 1", "judgments": {"MED-10": 1, 'MED "11"': 2}},
        "7": {"text": "seven", "judgments": {"=x": 0}},
    }
    assert (golden.name, str(golden.path), golden.where_judged("q1", "MED-10")) == (
        "nf.v2",
        "data/nf.v2",
        "data/nf.v2/qrels/test.tsv:3",
    )
    other = GoldenSet.load("data/nf.v2/qrels/dev.tsv")
    assert (other.name, judgments(other), other.queries["q0"].text) == (
        "nf.v2-dev",
        {"q0": {"x": 1}},
        "text of 0",
    )
    for name in ("data/nf.v2/other/x.tsv", "data/qrels/x.tsv"):
        plain = load(name, "id\tdocid\trating\nq0\tx\t1\n")
        assert (plain.name, plain.queries["q0"].text) == ("x", None)


def test_a_beir_folder_of_one_split():
    beir(dev="q0\tx\t1\n")
    assert judgments(GoldenSet.load("data/nf.v2")) == {"q0": {"x": 1}}
    write("data/nf.v2/qrels/dev.tsv", "score\tQuery-ID\tcorpus-id\ttags\n2\tq1\tx\tbilling\n")
    golden = GoldenSet.load("data/nf.v2")
    assert (judgments(golden), golden.tags) == ({"q1": {"x": 2}}, {"billing"})


# Texts and values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    ["0123", "12:30", "no", "1.10", "2024-01-01", "0x_", "1_000", "~0", "nullable", ".nan", "R&D&x", "<<<"],
)
def test_ids_and_texts_are_as_written(written):
    one, other = load(
        "faq.yaml",
        f"queries:\n- {{id: {written}, query: {written}, relevant: [{written}, b], forbidden: {written}0, tags: {written}}}\n"
        f"- {{query: b, relevant: {{{written}: 1}}}}",
    ).queries.values()
    assert (one.id, one.text, list(one.judgments)) == (written, written, [written, "b"])
    assert (one.forbidden, one.tags, list(other.judgments)) == ((written + "0",), (written,), [written])


@pytest.mark.parametrize("text", ["a !important b", "R&D & more", "2 * 3 *", "a & b!", "<< a", "a << b"])
def test_signs_of_yaml_within_a_text_are_text(text):
    assert text in load("faq.yaml", f"queries:\n- {{query: {text}, relevant: b}}\n").queries


@pytest.mark.parametrize("text", ["'null'", '"null"', "'~'", '"~"'])
def test_in_quotes_null_is_text(text):
    written = text[1:-1]
    one, two, three, four = load(
        "faq.yaml",
        f"queries:\n- {{id: {text}, query: {text}, relevant: [{text}, b], forbidden: [{text}0]}}\n".replace(
            f"{text}0", "'n'"
        )
        + f"- {{query: b, relevant: {{{text}: 1}}}}\n- {{query: c, relevant: {text}, tags: {text}}}\n"
        f"- {{query: d, relevant: [{{doc: {text}, text: {text}}}]}}",
    ).queries.values()
    assert (one.id, one.text, list(one.judgments)) == (written, written, [written, "b"])
    assert list(two.judgments) == list(three.judgments) == list(three.tags) == [written]
    assert four.passages[0][:2] == (written, written)


PARAMS = {
    "500": 500, "-1": -1, "1.10": 1.1, "1e3": 1000.0, "true": True, "false": False, "null": None, '"500"': "500",
    "'true'": "true", "no": "no", "True": "True", "~": "~", "012": "012", "0x1F": "0x1F", ".5": ".5", "+1": "+1",
    "1_000": "1_000", ".nan": ".nan", "NaN": "NaN", "12:30": "12:30", "2024-01-01": "2024-01-01", '""': "",
    "[1, '1', {a: null}]": [1, "1", {"a": None}], "{}": {},
}  # fmt: skip


def test_params_are_json_values_or_text():
    keys = ", ".join(f"k{n}: {written}" for n, written in enumerate(PARAMS))
    params = load("faq.yaml", QUERY.format(f"relevant: b\n  params: {{{keys}}}")).queries["a"].params
    assert list(params.values()) == list(PARAMS.values())
    assert [type(value) for value in params.values()] == [type(value) for value in PARAMS.values()]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("doc", {"doc": 1}),
        ("[doc]", {"doc": 1}),
        ("'a, b'", {"a, b": 1}),
        ("{doc: 0.5, 'x': 1000, y: 0, z: .25}", {"doc": 0.5, "x": 1000, "y": 0, "z": 0.25}),
        ("{doc: 2, text: 1}", {"doc": 2, "text": 1}),
        ("{doc: 1, text: 2, grade: 3}", {"doc": 1, "text": 2, "grade": 3}),
        ("{'<<': 1}", {"<<": 1}),
        ("[<<, '~']", {"<<": 1, "~": 1}),
    ],
)
def test_relevant_is_one_id_a_list_or_grades_by_id(written, expected):
    found = read(f"relevant: {written}")["judgments"]
    assert found == expected
    assert [type(grade) for grade in found.values()] == [type(grade) for grade in expected.values()]


def test_a_list_may_hold_passages():
    text = """relevant:
- faq
- {doc: handbook, text: "thirty  days\\nafter purchase", grade: 2}
- doc: handbook
  text: >
    within the
    EU
  x-why: the law
- {doc: terms, text: no refund, grade: 0}"""
    golden = load("faq.yaml", QUERY.format(text.replace("\n", "\n  ")))
    query = golden.queries["a"]
    assert query.judgments == {
        "faq": 1, "handbook: thirty days after purchase": 2, "handbook: within the EU": 1, "terms: no refund": 0,
    }  # fmt: skip
    assert query.documents == {"faq": 1, "handbook": 2, "terms": 0}
    assert [tuple(passage) for passage in query.passages] == [
        ("handbook", "thirty  days\nafter purchase", 2), ("handbook", "within the EU\n", 1), ("terms", "no refund", 0),
    ]  # fmt: skip
    places = [golden.where_judged("a", name) for name in query.judgments]
    assert places == [f"faq.yaml:{line}" for line in (4, 5, 8, 11)]


def test_the_name_of_a_passage_stays_the_same_or_stored_rankings_no_longer_mean_it():
    texts = {"a  short\ntext": "doc: a short text", "x" * 60: "doc: " + "x" * 60}
    texts["word " * 40] = "doc: word word word word word word word word word wor… (53738dc1)"
    texts["\ufb01t\u00ad \uff21"] = "doc: fit A"
    for text, key in texts.items():
        assert list(read(f"relevant: [{{doc: doc, text: {json.dumps(text)}}}]")["judgments"]) == [key]


def test_weights_may_be_tiny_or_huge():
    for weight in ("1e-300", ".5", "3", "1000000000"):
        assert read(f"relevant: b\nweight: {weight}")["weight"] == float(weight)


def test_aliases_stand_for_what_they_name():
    golden = load(
        "faq.yaml",
        "x-common: &docs [a, b]\nx-graded: &graded {c: 2}\nx-all: &all\n"
        "- {query: &text hello, relevant: *docs, tags: &tags [t]}\n"
        "- {id: two, note: *text, query: R&D &c., relevant: *graded, tags: *tags}\nqueries: *all\n",
    )
    assert content(golden) == {
        "hello": {"judgments": {"a": 1, "b": 1}, "tags": ("t",)},
        "two": {"text": "R&D &c.", "judgments": {"c": 2}, "tags": ("t",), "note": "hello"},
    }
    assert [query.line for query in golden.queries.values()] == [4, 5]


def test_a_set_without_any_text_may_be_checked_against_a_run():
    golden = load("faq.yaml", "queries:\n- {id: q1, relevant: a}\n- {id: q2, relevant: b}\n")
    assert [query.text for query in golden.queries.values()] == [None, None]
    assert load("a.jsonl", '{"id": "q1", "relevant": ["d"]}').queries["q1"].text is None


def test_thresholds_may_name_metrics_of_ones_own():
    write("a.yaml", "thresholds: {freshness@5: {min: -3}}\n" + QUERY.format("relevant: b"))
    assert limits(GoldenSet.load("a.yaml", custom_metrics=["freshness"]).thresholds) == {
        "freshness@5": {"min": "-3"}
    }


def test_a_query_without_an_answer_may_have_a_threshold_of_its_own():
    found = read("no_answer: true\nthresholds: {no_answer: 1}")
    assert found == {"no_answer": True, "thresholds": {"no_answer": {"min": "1"}}}


@pytest.mark.parametrize("name", ["faq.yaml.gz", "faq.jsonl.gz", "faq.yaml", "faq.qrels.gz"])
def test_a_packed_file_gives_the_name_of_the_unpacked_one(name):
    text = b"q 0 d 1\r\n" if "qrels" in name else b'{"query": "a", "relevant": ["d1"]}'
    assert load(name, gzip.compress(text if "yaml" not in name else b"queries: [%b]" % text)).name == "faq"


def test_the_parser_in_python_reads_the_same(capsys):
    """It stands in where PyYAML has no libyaml."""
    write("a.yaml", FULL)
    write(
        "b.yaml",
        "x: &a [b]\nqueries:\n- {query: 'é', relevant: *a, note: \"\\U0001f600\"}\n".replace("x:", "x-a:"),
    )
    write("c.yaml", ("\ufeff" + FULL).replace("\n", "\r\n"))
    write(
        "d.yaml",
        json.dumps({"queries": [{"query": "a", "relevant": {"b": 2}, "params": {"c": [1.5, None]}}]}),
    )
    arguments = ["check", "--json", "a.yaml", "b.yaml", "c.yaml", "d.yaml"]
    out, _ = cli(capsys, *arguments)
    code = "import sys, yaml; vars(yaml).pop('CBaseLoader', None); from pytest_irmetrics.cli import main; sys.exit(main(sys.argv[1:]))"
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == out
    assert len(out) > 10


def test_yaml_is_loaded_for_yaml_alone():
    code = "import sys, pytest_irmetrics as p; p.GoldenSet.from_judgments({1: {2: 3}}); assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# Other tools ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_qrels_agree_with_other_readers(seed):
    rng = random.Random(seed)
    seen = sorted({(f"q{rng.randrange(20)}", f"d{rng.randrange(50)}") for _ in range(300)})
    rows = [
        rng.choice([" ", "\t", " \t"]).join([q, rng.choice("0123Q"), d, str(rng.randint(-2, 4))])
        for q, d in seen
    ]
    rng.shuffle(rows)
    ours = judgments(load("a.qrels", "\n".join(rows) + "\n"))
    with Path("a.qrels").open() as file:
        assert ours == pytrec_eval.parse_qrel(file)
    theirs: dict[str, dict[str, int]] = {}
    for row in ir_measures.read_trec_qrels("a.qrels"):
        theirs.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    assert ours == theirs


def test_what_the_csv_module_writes_is_read():
    rng = random.Random(7)
    texts = ["".join(rng.choices(string.ascii_letters + ",;\"\n\t'", k=8)).strip() or "x" for _ in range(50)]
    with Path("a.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["query", "docid", "rating"], *([text, f"d{n}", "1"] for n, text in enumerate(texts))]
        )
    assert list(GoldenSet.load("a.csv").queries) == list(dict.fromkeys(texts))


def test_a_text_of_several_lines_is_the_same_after_a_checkout_with_other_line_ends():
    text = 'query,docid,rating\n"how do I\nreset ""it""",d1,2\n'
    assert content(load("a.csv", text)) == content(load("b.csv", text.replace("\n", "\r\n")))


WORD = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\ufeff"),
    min_size=1,
    max_size=8,
)


@given(
    st.dictionaries(
        WORD.filter(str.strip),
        st.dictionaries(WORD, st.integers(1, 1000) | st.floats(1, 9)),
        min_size=1,
        max_size=4,
    ).filter(lambda sets: all(sets.values()))
)
def test_yaml_and_jsonl_say_what_json_says(sets):
    """JSON is YAML: what a program writes as one is read as the same golden set under each suffix."""
    queries = [{"query": text, "relevant": grades} for text, grades in sets.items()]
    as_yaml = load("a.yaml", json.dumps({"queries": queries}, ensure_ascii=False))
    as_jsonl = load("a.jsonl", "\n".join(map(json.dumps, queries)))
    assert judgments(as_yaml) == judgments(as_jsonl) == sets


# Places --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_with_every_line_end(end, mark):
    golden = load("faq.yaml", (mark + FULL.replace("\n", end)).encode())
    assert golden.where("refund") == "faq.yaml:14"
    assert [golden.where_judged("refund", doc) for doc in ("doc-9", "doc-99", "nobody")] == [
        "faq.yaml:16", "faq.yaml:17", "faq.yaml:14",
    ]  # fmt: skip
    with pytest.raises(KeyError):
        golden.where("nobody")


BLOCK = "queries:\n- query: a\n  relevant:\n  - b\n  - c\n-\n  query: e\n  relevant:\n    f: 1\n    ? g\n    : 2\n"
ANCHOR = "queries:\n- {query: a, relevant: &b [b]}\n- {query: e, relevant: *b}\n- {query: f, relevant: [b]}\n- query: g\n  relevant: h\n"
FLOW = "queries: [{query: a, relevant: [b,\n c]}, {query: d, relevant: e}, {\n query: f,\n relevant: {\n g: 1}}]\n"


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.yaml", BLOCK, {"a b": 4, "a c": 5, "e f": 9, "e g": 10, "e nobody": 7}),
        ("a.yaml", FLOW, {"a b": 1, "a c": 2, "d e": 2, "f g": 5, "f nobody": 2}),
        ("a.yaml", ANCHOR, {"e b": 3}),
        ("a.qrels", "q 0 x 1\np 0 d 1\nq 0 d 1\n", {"q x": 1, "p d": 2, "q d": 3, "p x": 2}),
        ("a.csv", "query,docid,rating\nq,x,1\np,d,1\nq,d,1\n", {"q x": 2, "q d": 4, "p d": 3}),
        ("a.csv", 'id;query;docid;rating\nq;"a, b";d;1\n', {"q d": 2}),
        ("a.tsv", "query\tdocid\trating\nq\tx\t1\nq\td\t1\n", {"q d": 3}),
        ("a.jsonl", '\n{"query": "q", "relevant": ["x", "d"]}\n', {"q x": 2, "q d": 2}),
    ],
)
def test_the_line_of_a_judgment_is_found(name, text, lines):
    golden = load(name, text)
    places = {pair: golden.where_judged(*pair.split()) for pair in lines}
    assert places == {pair: f"{name}:{line}" for pair, line in lines.items()}


def test_where_the_file_no_longer_says_so_a_judgment_has_the_place_of_its_query():
    for change in (b"", b"\xff\n\n\n", b"queries:\n- query: a\n  relevant: [x\n"):
        golden = load("faq.yaml", QUERY.format("relevant: d-1"))
        Path("faq.yaml").write_bytes(change)
        assert golden.where_judged("a", "d-1") == "faq.yaml:2"
    golden = load("faq.yaml", QUERY.format("relevant: d-1"))
    Path("faq.yaml").unlink()
    assert golden.where_judged("a", "d-1") == "faq.yaml:2"
    made = GoldenSet.from_judgments({"q": {"d": 1}}, name="mine")
    assert (made.where_judged("q", "d"), made.where("q")) == ("mine", "mine")


def test_a_query_of_ones_own_is_as_one_that_was_read():
    golden = load("faq.yaml", QUERY.format("relevant: {b: 2}"))
    (query,) = golden.queries.values()
    made = Query("a", "a", {"b": 2}, line=query.line, column=query.column)
    assert query == made
