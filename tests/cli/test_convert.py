"""Command `convert`: what is written in a format is read back as the same, from any format to any other."""

from __future__ import annotations

import itertools
import json
import string
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, Run
from tests.cli.console import run

ALL = {"id", "forbidden", "tags", "weight", "params", "thresholds", "xfail", "note"}
FORMATS = {
    "yaml": ("out.yaml", ALL),
    "jsonl": ("out.jsonl", ALL),
    "csv": ("out.csv", {"id", "tags", "weight", "params"}),
    "tsv": ("out.tsv", {"id", "tags", "weight", "params"}),
    "trec": ("out.qrels", {"id"}),
    "beir": ("out/", {"id"}),
    "quepid": ("out.csv", set()),
}
"""Format → a name that says it, and the keys of a query that it holds besides texts and grades."""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def convert(*arguments, status=0):
    done = run("convert", *arguments)
    assert done.status == status, done.err
    return done


def contents(path, holds=frozenset(ALL)):
    """What a golden set says of its queries, as far as a format holds it, without places."""
    golden = GoldenSet.load(path)
    return [
        (
            query.id if "id" in holds else query.text or "",
            query.text,
            list(query.judgments.items()),
            [(passage.doc, passage.text, passage.grade) for passage in query.passages],
            query.forbidden if "forbidden" in holds else (),
            query.tags if "tags" in holds else (),
            query.weight if "weight" in holds else 1,
            {key: (value, type(value)) for key, value in query.params.items() if "params" in holds},
            [(own.metric, own.limits) for own in query.thresholds] if "thresholds" in holds else [],
            query.xfail if "xfail" in holds else None,
            (query.note or None) if "note" in holds else None,
        )
        for query in golden.queries.values()
    ]


NASTY = [
    "no", "0123", "12:30", "1.10", "2024-01-01", "null", "~", "true", "1e5", "1_000", "0x1F", "=", "<<", ".5", "-", "?", "- a", "? a",
    "a: b", "a:b", "a:", "a #b", "#a", "{a}", "[a", "a]", "a, b", "a,b", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", "'a'", '"a"', "it's",
    'say "hi"', "back\\slash", "...", "---", "--- a", "a\nb", "a\r\nb", "a\tb", " a", "a ", "a  b", "=cmd()", "+1", "-1", "-x", "\x85", "\u2028",
    "\ufeffa", "\x1b[0m", "\x07", "\x1c", "😀", "é", "你好", "\u202eabc", "x" * 1100, "a;b", "[1]", '["a"]', "{}", "NaN", "off", "<<<<<<<", "\ufffe",
]  # fmt: skip
TEXT = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
NON_BLANK = TEXT.filter(str.strip)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
PASSAGES = st.lists(
    st.fixed_dictionaries(
        {"doc": TEXT, "text": st.text(string.ascii_letters + " é", min_size=1).filter(str.strip)},
        optional={"grade": st.integers(1, 4)},
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda passage: (passage["doc"], " ".join(passage["text"].casefold().split())),
)
QUERY = st.fixed_dictionaries(
    {
        "query": NON_BLANK,
        "relevant": st.lists(TEXT, min_size=1, max_size=4, unique=True)
        | st.dictionaries(TEXT, st.integers(1, 1000) | st.floats(1, 1000), min_size=1, max_size=4),
    },
    optional={
        "id": NON_BLANK,
        "tags": st.lists(
            TEXT.filter(lambda tag: "," not in tag and tag == tag.strip()), max_size=3, unique=True
        ),
        "weight": st.floats(1e-3, 1e9) | st.integers(1, 5),
        "params": st.dictionaries(TEXT.map(str.strip).filter(bool), VALUE, max_size=3),
        "thresholds": st.just({"mrr": {"min": 0.5, "max_drop": "off"}, "ndcg(gain=exp)@10": 0.25}),
        "xfail": NON_BLANK.filter(
            lambda text: text.lower() not in ("true", "false", "null", "~", "yes", "no")
        ),
        "note": TEXT,
    },
)
ROUND_TRIP = settings(
    max_examples=30,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def is_word(text: str) -> bool:
    return text.encode().split() == [text.encode()] and text[0] != "\ufeff"


FOLDS = "<<<<<<<"
"""On a line of its own it is what a merge leaves."""


def fitting(queries, form):
    """The queries as a format can hold them."""
    if form == "trec":
        queries = [
            query | {"id": f"q{n}", "relevant": {f"d{m}": 1 for m, _ in enumerate(query["relevant"])}}
            if not all(map(is_word, [query.get("id", query["query"]), *query["relevant"]]))
            else query
            for n, query in enumerate(queries)
        ]
        queries = [query for query in queries if not {"\n", "\r"} & set(query["query"])]
    if form not in ("yaml", "jsonl"):
        queries = [query for query in queries if FOLDS not in json.dumps(query)]
    if form in ("csv", "tsv", "quepid", "beir"):  # a checkout would change these line ends
        queries = [query for query in queries if "\\r\\n" not in json.dumps(query)]
    if form == "quepid":
        queries = list({query["query"]: query for query in queries}.values())
    assume(queries and len({query.get("id", query["query"]) for query in queries}) == len(queries))
    return queries


def there_and_back(queries, form):
    target, holds = FORMATS[form]
    Path("in.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
    convert("in.jsonl", target, "--to", form, "--force")
    convert(target, "back.yaml", "--force", "--from", form)
    assert run("check", "back.yaml").status == 0
    assert contents("back.yaml") == contents("in.jsonl", holds)


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_is_read_back_as_far_as_it_holds_what_was_written(form):
    @ROUND_TRIP
    @example(
        [
            {"query": text, "relevant": [text], "params": {text.strip(): text}, "note": text}
            for text in NASTY
            if text.strip()
        ]
    )
    @given(st.lists(QUERY, min_size=1, max_size=4, unique_by=lambda query: query.get("id", query["query"])))
    def holds(queries):
        there_and_back(fitting(queries, form), form)

    holds()


@pytest.mark.parametrize("form", ["yaml", "jsonl"])
@ROUND_TRIP
@given(
    st.lists(
        st.fixed_dictionaries({"query": NON_BLANK, "relevant": PASSAGES}),
        min_size=1,
        max_size=3,
        unique_by=lambda query: query["query"],
    )
)
def test_passages_are_read_back(form, queries):
    there_and_back(queries, form)


@ROUND_TRIP
@given(NON_BLANK)
def test_other_yaml_readers_read_texts_as_the_same(text):
    Path("in.jsonl").write_text(json.dumps({"query": text, "relevant": [text], "note": text}))
    convert("in.jsonl", "out.yaml", "--force")
    (query,) = yaml.safe_load(Path("out.yaml").read_text(encoding="utf-8"))["queries"]
    assert (query["query"], query["relevant"], query["note"]) == (text, [text], text)


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(FORMATS, 2)))
def test_any_format_becomes_any_other(one, other):
    Path("in.jsonl").write_text(
        '{"id": "a", "query": "one,two", "relevant": {"d1": 3, "d2": 0}}\n{"id": "b", "query": "b", "relevant": ["d3"]}\n'
    )
    first, second = FORMATS[one][0], FORMATS[other][0]
    second = f"2-{second}"
    convert("in.jsonl", first, "--to", one)
    convert(first, second, "--from", one, "--to", other)
    holds = {"id"} - ({"id"} if "quepid" in (one, other) else set())
    convert(second, "end.yaml", "--from", other)
    assert contents("end.yaml", holds) == contents("in.jsonl", holds)


def test_yaml_of_long_lists_and_of_a_whole_set_is_as_people_write_it():
    ids = [f"a-rather-long-document-id-{n}" for n in range(5)]
    query = {
        "query": "a",
        "relevant": dict.fromkeys(ids, 2),
        "forbidden": [f"not-{name}" for name in ids],
        "params": {"k" * 1100: "v" * 50},
    }
    Path("a.jsonl").write_text(json.dumps(query))
    convert("a.jsonl", "a.yaml")
    assert max(map(len, Path("a.yaml").read_text().split())) > 1000
    assert contents("a.yaml") == contents("a.jsonl")
    whole = """\
name: the faq
relevance_level: 2
thresholds:
  ndcg@10: 0.7
  precision@5: {min: 0.5, max_drop: 5%, max_lost: 3}
  mrr: "off"
slices:
  billing:
    recall@10: 0.9
queries:
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-5: 2.5}
    forbidden: [doc-99]
    tags: [billing]
    weight: 2
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1, max_drop: "off"}}
    note: anything, for people
  - query: asdf qwerty
    no_answer: true
  - id: bad
    query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""
    Path("whole.yaml").write_text(whole)
    convert("whole.yaml", "-", "--to", "yaml")
    assert convert("whole.yaml", "-", "--to", "yaml").out == whole


def test_formulas_are_guarded_in_tables():
    Path("a.jsonl").write_text('{"query": "=1+1", "relevant": {"@d": 1, "-5": 1}, "tags": ["+x"]}')
    convert("a.jsonl", "a.csv")
    assert Path("a.csv").read_text() == "query,docid,rating,tags\n =1+1, @d,1, +x\n =1+1,-5,1,\n"
    assert contents("a.csv") == contents("a.jsonl")


def test_a_metric_of_ones_own_is_named():
    Path("a.yaml").write_text("queries:\n- {query: a, relevant: b, thresholds: {freshness: 0.5}}\n")
    assert "freshness" in convert("a.yaml", "a.jsonl", status=1).err
    convert("a.yaml", "a.jsonl", "--metric", "freshness")


RUN = Run({"b": ["d1", "d2"], "a": ["d3"]})


@pytest.mark.parametrize(
    "names", list(itertools.permutations(["a.run", "a.json", "a.run.gz", "a.json.gz", "a.trec"], 2))
)
def test_runs_become_one_another_packed_as_they_are_named(names):
    first, second = names
    RUN.save("in.json")
    convert("in.json", first)
    convert(first, second)
    assert Run.load(second) == RUN
    for name in names:
        assert name.endswith(".gz") == (Path(name).read_bytes()[:2] == b"\x1f\x8b")


def test_golden_sets_are_packed_as_they_are_named():
    Path("a.jsonl").write_text('{"query": "a", "relevant": ["d"]}')
    convert("a.jsonl", "a.yaml.gz")
    assert Path("a.yaml.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert contents("a.yaml.gz") == contents("a.jsonl")


def test_that_a_trec_run_does_not_hold_all_is_told():
    answers = [{"id": "a", "tags": ["t"], "rankings": [["d"]]}, {"id": "b", "rankings": [[]]}]
    head = {"format": "pytest-irmetrics run", "version": 1}
    Path("a.json").write_text(json.dumps({**head, "queries": answers}))
    done = convert("a.json", "a.run")
    assert done.err.startswith("note: A TREC run holds the ids of one ranking a query")
    assert done.out == "a.run: 1 query\n"
    assert "--force" in convert("a.json", "a.run", status=1).err


def test_one_of_two_files_that_is_there_is_not_written_over():
    Path("a.jsonl").write_text('{"id": "q", "query": "a b", "relevant": ["d"]}')
    Path("a.topics.tsv").write_text("mine\n")
    assert "a.topics.tsv: It is there already." in convert("a.jsonl", "a.qrels", status=1).err
    assert not Path("a.qrels").exists()
    convert("a.jsonl", "a.qrels", "--force")
    assert Path("a.topics.tsv").read_text() == "q\ta b\n"
