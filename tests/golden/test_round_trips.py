"""Golden sets of any texts are the same after `convert`, as far as a format holds them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.cli import main
from tests.golden.files import FULL, cli, content, forms, judgments, target_of, write

NASTY = [
    *["no", "0123", "12:30", "1.10", "2024-01-01", "null", "~", "true", "1e5", "1_000", "0x1F", "=", "<<", ".5", "-", "?", "a:b", "a:", "#a", "{a}", "[a", "a]", "a,b", "&a", "*a", "!a", "%a", "@a", "`a"],
    *["|", ">", "'a'", '"a"', "it's", "back\\slash", "...", "---", "=cmd()", "+1", "-1", "-x", "😀", "é", "你好", "a;b", "[1]", '["a"]', "{}", "NaN", "off", "\ufffe", "\x85", "\u2028"],
    *("- a", "? a", "a: b", "a #b", "a, b", 'say "hi"', "--- a", "a\nb", "a\r\nb", "a\tb", " a", "a ", "a  b", "\x1b[0m"),
    *("\x07", "\x1c", "\ufeffa", "\u202eabc", "x" * 1100, "<<<<<<< a"),
]  # fmt: skip
PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.sampled_from(NASTY) | st.text(PLAIN, min_size=1, max_size=12)
NON_BLANK = TEXT.filter(str.strip)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT | st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
IDS = st.lists(TEXT, min_size=1, max_size=4, unique=True)
GRADES = st.dictionaries(TEXT, st.integers(1, 1000) | st.floats(1, 1000), min_size=1, max_size=4)
PASSAGE = st.fixed_dictionaries(
    {"doc": TEXT, "text": st.sampled_from(["thirty days", " a  b\n", "é: #", "'"])},
    optional={"grade": st.integers(1, 4)},
)
QUERY = st.fixed_dictionaries(
    {"query": NON_BLANK, "relevant": IDS | GRADES},
    optional={
        "id": NON_BLANK,
        "tags": st.lists(
            TEXT.filter(lambda tag: "," not in tag and tag == tag.strip()), max_size=3, unique=True
        ),
        "weight": st.floats(1e-3, 1e9) | st.integers(1, 5),
        "params": st.dictionaries(TEXT.map(str.strip).filter(bool), VALUE, max_size=3),
        "forbidden": st.just(["no-document"]),
        "thresholds": st.just({"mrr": {"min": 0.5, "max_drop": "off"}, "ndcg(gain=exp)@10": 0.25}),
        "xfail": NON_BLANK.filter(
            lambda text: text.lower() not in ("true", "false", "null", "~", "yes", "no")
        ),
        "note": TEXT,
    },
)
ROUND_TRIP = settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[*settings.default.suppress_health_check, HealthCheck.filter_too_much],
)
EVERY_TEXT = [
    {"query": text, "relevant": [text], "params": {text.strip(): text, "empty": ""}, "note": text}
    for text in NASTY
    if text.strip()
]


def held(queries: list[dict], form: str) -> list[dict]:
    """The queries as far as a format holds them: rows are told by lines and, where a format is not known to quote, by white space."""
    if form not in ("yaml", "jsonl", "csv", "tsv", "beir"):
        queries = [
            query
            | {
                "id": f"q{n}",
                "query": " ".join(query["query"].split()) or "x",
                "relevant": {"d": 2, f"d{n}": 1},
            }
            for n, query in enumerate(queries)
        ]
    if form not in ("yaml", "jsonl"):
        queries = [query for query in queries if not re.search(r"<<<<<<<|\\r\\n", json.dumps(query))]
    return queries


@pytest.mark.hypothesis
@pytest.mark.parametrize("form", forms())
def test_each_format_is_read_back(form, capsys):
    target = target_of(form)

    @ROUND_TRIP
    @example(EVERY_TEXT)
    @given(st.lists(QUERY, min_size=1, max_size=4, unique_by=lambda query: query.get("id", query["query"])))
    def there_and_back(queries):
        queries = held(queries, form)
        assume(queries)
        write("in.jsonl", "".join(f"{json.dumps(query)}\n" for query in queries))
        assert main(["convert", "in.jsonl", target, "--force"]) == 0, capsys.readouterr().err
        lacks = re.search(r"has no place for (.*)\.|$", capsys.readouterr().err)[1] or ""
        assert main(["convert", target, "back.jsonl", "--from", form, "--force"]) == 0, (
            capsys.readouterr().err
        )
        before, after = content(GoldenSet.load("in.jsonl")), content(GoldenSet.load("back.jsonl"))
        assert after == {
            query_id: {name: value for name, value in query.items() if name not in lacks.split(", ")}
            for query_id, query in before.items()
        }
        assert [list(query["judgments"]) for query in after.values()] == [
            list(query["judgments"]) for query in before.values()
        ]

    there_and_back()


def test_what_trec_eval_takes_is_kept_but_for_yaml(capsys):
    write("in.qrels", "q 0 d 1\nq 0 e -1\np 0 f 0\n")
    kept = {"q": {"d": 1, "e": -1}, "p": {"f": 0}}
    for target in ("out.jsonl", "out.csv", "out.tsv", "out.qrels", "out.yaml"):
        _, notes = cli(capsys, "convert", "in.qrels", target)
        assert ("note: 1 grade below 0 became 0." in notes) is (target == "out.yaml")
        assert judgments(GoldenSet.load(target)) == (
            {"q": {"d": 1, "e": 0}} if target == "out.yaml" else kept
        )


@ROUND_TRIP
@given(st.lists(PASSAGE, min_size=1, max_size=3, unique_by=lambda one: (one["doc"], one["text"])), TEXT)
def test_passages_are_read_back(passages, doc):
    ids = [doc] if doc not in {passage["doc"] for passage in passages} else []
    write("in.jsonl", json.dumps({"query": "a", "relevant": [*ids, *passages]}))
    assert main(["convert", "in.jsonl", "out.yaml", "--force"]) == 0
    assert content(GoldenSet.load("out.yaml")) == content(GoldenSet.load("in.jsonl"))


@pytest.mark.parametrize("form", forms())
def test_a_format_that_leaves_out_nothing_holds_every_key_of_yaml(form, capsys):
    write("faq.yaml", FULL)
    if main(["convert", "faq.yaml", target_of(form)]) or capsys.readouterr().err:
        assert form != "yaml"
        return
    before, after = GoldenSet.load("faq.yaml"), GoldenSet.load(target_of(form))
    assert content(after) == content(before)
    assert (after.name, after.relevance_level) == (before.name, before.relevance_level)
    assert [t._replace(origin="") for t in after.thresholds] == [
        t._replace(origin="") for t in before.thresholds
    ]


@ROUND_TRIP
@example(EVERY_TEXT)
@given(st.lists(QUERY, min_size=1, max_size=4, unique_by=lambda query: query.get("id", query["query"])))
def test_other_readers_of_yaml_read_every_text_as_that_text(queries):
    queries = [
        query for query in queries if len(json.dumps(query)) < 900 or "x" * 1100 not in json.dumps(query)
    ]
    assume(queries)
    write("in.jsonl", "".join(f"{json.dumps(query)}\n" for query in queries))
    assert main(["convert", "in.jsonl", "out.yaml", "--force"]) == 0
    read = yaml.safe_load(Path("out.yaml").read_text("utf-8"))["queries"]
    for before, after in zip(queries, read, strict=True):
        grades = before["relevant"]
        assert list(after["relevant"]) == list(grades)
        for key in ("query", "note", "tags", "xfail"):
            assert (after.get(key) or None) == (before.get(key) or None)
        texts = {key: value for key, value in before.get("params", {}).items() if isinstance(value, str)}
        assert texts.items() <= after.get("params", {}).items()


@pytest.mark.parametrize("form", ["yaml", "jsonl", "csv", "tsv"])
def test_letters_stay_readable_and_what_cannot_be_printed_is_escaped(form, capsys):
    query = {
        "id": "q",
        "query": "Où?",
        "relevant": ["é"],
        "tags": ["ü"],
        "params": {"ort": ["Köln"]},
        "note": "a\x85",
    }
    write("in.jsonl", json.dumps(query))
    cli(capsys, "convert", "in.jsonl", f"out.{form}")
    text = Path(f"out.{form}").read_text("utf-8")
    assert [word for word in ("Où?", "é", "ü", "Köln") if word not in text] == []
    assert "\x85" not in text


CELL = r"A cell holds up to 131,072 characters, no NUL, and reads \r\n as \n. Change: "
ID = "Qrels hold no id with white space. Give each of these an `id` without: "
LINE = "A list holds texts of one line, without white space at the ends. Change: "
UNJUDGED = {"id": "q", "relevant": []}


@pytest.mark.parametrize(
    ("form", "query", "said"),
    [
        ("csv", {"params": {" a": 1}}, "A header holds no white space at the end of a name. Rename: ' a'."),
        ("csv", {"tags": ["b", "a,b"]}, "A table holds tags with commas between them. Rename: 'a,b'."),
        ("csv", {"tags": [" a", "b ", "c d"]}, "commas between them. Rename: ' a', 'b '."),
        ("csv", {"query": "a\r\nb"}, rf"{CELL}'a\r\nb'."),
        ("tsv", {"relevant": ["d", "a\0"]}, rf"{CELL}'a\x00'."),
        ("csv", {"query": "x" * 131_073}, f"{CELL}'{'x' * 59}…'."),
        ("beir/", {"id": "q\0"}, rf"{CELL}'q\x00'."),
        ("beir/", {"query": None}, "A BEIR folder has the queries' texts, and this golden set has none. Add them first."),
        ("qrels", {"id": "a b", "relevant": ["d", "e"]}, f"{ID}'a b'."),
        ("qrels", {"relevant": ["d", "d\t1", "\ufeffd", "d\0"]}, rf"{ID}'d\t1', '\ufeffd', 'd\x00'."),
        ("qrels", {"query": "a\nb"}, r"Topics hold one line a query. Take the line break out of: 'a\nb'."),
        ("qrels", {"query": "a\rb"}, r"out of: 'a\rb'."),
        ("qrels", {"query": "a\0b"}, r"out of: 'a\x00b'."),
        ("txt", UNJUDGED | {"query": " a"}, f"{LINE}'q'."),
        ("txt", UNJUDGED | {"query": "a\n"}, f"{LINE}'q'."),
        ("txt", UNJUDGED | {"query": "a\nb"}, f"{LINE}'q'."),
        ("txt", UNJUDGED | {"query": None}, f"{LINE}'q'."),
        ("csv", {"query": "x" * 131_072, "params": {"a b": 1}, "tags": ["a b"]}, None),
        ("qrels", {"query": "a b", "relevant": ["d\u00a01", "a\ufeff"]}, None),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_what_a_format_cannot_hold_is_refused(capsys, form, query, said):
    query = {"id": "q", "query": "a", "relevant": ["d"]} | query
    write("in.jsonl", json.dumps({key: value for key, value in query.items() if value is not None}))
    target = form if form == "beir/" else f"out.{form}"
    _, err = cli(capsys, "convert", "in.jsonl", target, status=1 if said else 0)
    assert not said or (len(err) == 1 and err[0].startswith("in.jsonl: ") and err[0].endswith(said)), err
    assert Path(target).exists() == (not said)


def test_a_cell_that_a_spreadsheet_would_take_for_a_formula_begins_with_a_space(capsys):
    write("in.jsonl", '{"query": "=1+1", "relevant": ["@d", "-5", "-1.5", "+x", "-x", " -1.5.", "x=1"]}')
    cli(capsys, "convert", "in.jsonl", "out.csv")
    assert (
        Path("out.csv").read_text()
        == "query,docid,rating\n =1+1, @d,1\n =1+1,-5,1\n =1+1,-1.5,1\n =1+1, +x,1\n =1+1, -x,1\n =1+1,  -1.5.,1\n =1+1,x=1,1\n"
    )
