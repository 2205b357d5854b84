"""Which document a returned chunk is of, which judged passages it holds, and as what it stands in the ranking."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, compare, evaluate
from tests.retrievers.shapes import rows
from tests.retrievers.ways import BY_QUERY, WAYS, outcome

THIRTY = {"doc": "handbook", "text": "thirty days", "grade": 2}
LONGER = {"doc": "handbook", "text": "thirty days after purchase"}
EU = {"doc": "handbook", "text": "within the EU"}
REFUND = {"doc": "terms", "text": "no refund", "grade": 3}
HELD = "You can return it within\n thirty\u00a0days."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("golden")


@pytest.fixture
def read(folder):
    """What items are read as for a query that judges these passages: the ranking, or the problem."""

    def read(items, relevant=(THIRTY, EU), forbidden=(), **options):
        query = {"id": "text 0", "query": "text 0", "relevant": list(relevant), "forbidden": list(forbidden)}
        path = folder / "golden.yaml"
        path.write_text(json.dumps({"queries": [query]}), encoding="utf-8")
        return outcome(evaluate(GoldenSet.load(path), lambda _query: items, ["mrr"], **options))

    return read


def chunk(document, text=None, own=None):
    return {"id": own, "doc_id": document, "text": text} if own else {"id": document, "text": text}


class LlamaIndexNode:
    """As llama_index.core.schema.NodeWithScore: what it has not, raises."""

    def __init__(self, text, ref_doc_id, node_id):
        self.node = SimpleNamespace(ref_doc_id=ref_doc_id, id_=node_id, get_content=lambda: text)
        self.id_ = node_id

    @property
    def text(self):
        raise ValueError("Node must be a TextNode to get text.")


def langchain(text, metadata, own=None):
    return SimpleNamespace(page_content=text, metadata=metadata, id=own)


def sqlite_row():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    return connection.execute("SELECT 'c7' AS id, 'handbook' AS doc_id, ? AS text", [HELD]).fetchone()


T, E = "handbook: thirty days", "handbook: within the EU"


@pytest.mark.parametrize(
    "item",
    [
        {"id": "handbook", "text": HELD},
        {"_id": "c7", "_source": {"doc_id": "handbook", "content": HELD}},
        {"id": 7, "payload": {"source": "handbook", "text": HELD}},
        {"id": 7, "fields": {"source": "handbook", "text": HELD}},
        SimpleNamespace(id=7, payload={"document_id": "handbook", "page_content": HELD}),
        SimpleNamespace(id="c7", content=HELD, meta={"source_id": "handbook"}),
        SimpleNamespace(id="c7", entity={"source_id": "handbook", "text": HELD}),
        langchain(HELD, {"source": "handbook"}),
        langchain(HELD, {"source": "handbook"}, "c7"),
        (langchain(HELD, {"source": "handbook"}), 0.25),
        LlamaIndexNode(HELD, "handbook", "c7"),
        sqlite_row(),
    ],
    ids=lambda item: type(item).__name__,
)
def test_document_and_text_are_found(read, item):
    assert read([item, "faq"]) == [T, "faq"]


@pytest.mark.parametrize(("row", "ranking"), rows(Path(__file__).with_name("chunks.txt")))
def test_a_chunk_stands_for_the_passages_that_it_is_the_first_to_hold(read, row, ranking):
    items, relevant = eval(row)
    ranking, collapsed = eval(f"{ranking}, None")[:2] if "], [" not in ranking else eval(ranking)
    assert read(items, relevant, ["old"]) == ranking
    assert read(items, relevant, ["old"], duplicates="collapse") == (collapsed or ranking)


def test_doc_id_says_which_document(read):
    items = [{"chunk": n, "file": "docs/handbook.md", "text": text} for n, text in enumerate((HELD, "else"))]
    ranking = read(items, doc_id=lambda item: item["file"][5:-3])
    assert ranking == [T, "handbook (chunk 7a1748a5)"]


def test_a_chunk_goes_by_its_own_id_where_that_is_judged_and_by_the_first_field_where_it_has_none(read):
    assert read([{"id": "faq", "source": "terms"}], [THIRTY, "faq", "terms"]) == ["faq"]
    assert read([{"doc_id": "faq", "source": "terms", "text": HELD}]) == ["faq"]


def test_what_follows_a_chunk_that_comes_twice_is_read_where_duplicates_collapse(read):
    items = [*[chunk("handbook", HELD, "c7")] * 2, "faq"]
    assert read(items, [THIRTY], duplicates="collapse") == [T, "faq"]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        *(
            (["faq", item], "result 2 is ")
            for item in ("handbook", ("handbook", 0.5), {"id": "handbook"}, {"id": "handbook", "text": None})
        ),
        (
            ["handbook"],
            "This query judges 'handbook' by passage, and the result has no text to look in. Return chunks",
        ),
        (
            [chunk("handbook", HELD, "c7")] * 2,
            "'c7' came back at rank 1 and again at rank 2. Return each chunk once; or set `ir_duplicates = collapse`, which",
        ),
        (
            [chunk("handbook", HELD)] * 2,
            "'handbook: You can return it within thirty days.' came back at rank 1 and again at rank 2",
        ),
        ([chunk("handbook", text, text) for text in (" ", "\n")], "the result has no text to look in."),
        (["faq", "faq"], "'faq' came back at rank 1 and again at rank 2"),
        ([langchain(HELD, {"title": "elsewhere"})], "No id can be read from it."),
        (
            [(langchain(HELD, {"source": "handbook"}, f"c{n}"), n) for n in range(2)],
            "above that of the result before",
        ),
    ],
)
def test_a_chunk_that_cannot_be_read_is_explained(read, items, words):
    said = read(items)
    assert isinstance(said, str)
    assert words in said


def test_passages_are_looked_for_however_the_retriever_is_asked(folder):
    path = folder / "many.yaml"
    queries = [{"id": f"q{n}", "query": f"q{n}", "relevant": [THIRTY] if n % 2 else "c7"} for n in range(6)]
    path.write_text(json.dumps({"queries": queries}), encoding="utf-8")
    golden = GoldenSet.load(path)
    for name, way in {**BY_QUERY, **WAYS}.items():
        make, options, *_ = way.args
        if "beside" in name or "thread" in name:
            continue
        found = evaluate(golden, make(lambda _query, _k: [chunk("handbook", HELD, "c7")]), ["mrr"], **options)
        assert not found.errors
        assert [found.run[f"q{n}"] for n in range(6)] == [("c7",), (T,)] * 3, name
        assert found["mrr"] == 1
        assert found.run.answers["q1"].passages == {T: ("handbook", "thirty days")}


def test_a_run_is_cut_at_a_depth_that_it_was_not_asked_for_alone(folder):
    path = folder / "deep.yaml"
    path.write_text(json.dumps({"queries": [{"id": "q", "query": "q", "relevant": [THIRTY, EU, "faq"]}]}))
    golden, items = GoldenSet.load(path), [chunk("handbook", f"{HELD} within the EU", "c7"), "faq"]
    for depth, entries in ((1, 2), (2, 3)):
        found = evaluate(golden, lambda _query, k: items[:k], ["recall"], depth=depth)
        assert found["recall"] == entries / 3
        assert evaluate(golden, found.run, ["recall"])["recall"] == entries / 3
        assert compare(found, evaluate(golden, found.run, ["recall"]))["recall"].baseline == entries / 3
    assert [evaluate(golden, found.run, ["recall"], depth=depth)["recall"] for depth in (1, 2)] == [1 / 3, 1]


CHUNKS = st.lists(st.tuples(st.sampled_from("ab"), st.text("xyz ", max_size=6)), max_size=10)
PASSAGES = st.lists(
    st.tuples(st.sampled_from("ab"), st.text("xyz", min_size=1, max_size=2), st.sampled_from([0, 1, 2, 3.5])),
    min_size=1,
    max_size=6,
    unique_by=lambda passage: passage[:2],
).filter(lambda passages: any(grade for _, _, grade in passages))


@given(CHUNKS, PASSAGES, st.sampled_from(["error", "collapse"]))
def test_no_passage_counts_twice_and_no_score_leaves_its_range(folder, chunks, passages, duplicates):
    assume(any(text.strip() for _, text in chunks))
    relevant = [{"doc": doc, "text": text, "grade": grade} for doc, text, grade in passages]
    path = folder / "any.yaml"
    path.write_text(
        json.dumps({"queries": [{"id": "q", "query": "q", "relevant": relevant}]}), encoding="utf-8"
    )
    items = [{"id": n, "doc_id": doc, "text": text} for n, (doc, text) in enumerate(chunks)]
    golden = GoldenSet.load(path)
    found = evaluate(
        golden, lambda _query: items, ["mrr", "map", "ndcg@10", "recall", "f1@5"], duplicates=duplicates
    )
    assert not found.errors
    ranking = found.run["q"]
    assert len(set(ranking)) == len(ranking)
    assert all(0 <= found[metric] <= 1 for metric in found.metrics)
    held = {
        f"{doc}: {text}"
        for doc, text, _ in passages
        for of, chunk in chunks
        if of == doc and text in " ".join(chunk.split())
    }
    assert held == {entry for entry in ranking if ": " in entry}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("thirty days", " thirty\n\t days\r\n"),
        ("thirty days after all", "thirty\u00a0days\u2028after\u3000all"),
        ("thirty days", "thir\u00adty d\u200ba\u200cy\u200d\u2060\ufeffs"),
        ("\u00e9t\u00e9", "e\u0301t\u00e9"),
        ("office 12", "of\ufb01ce \uff11\uff12"),
        *((text, unicodedata.normalize("NFD", text)) for text in ("\u00e9t\u00e9", "\u1e9b\u0323")),
    ],
)
def test_layout_and_unicode_forms_are_one_and_case_is_not(read, text, other):
    key = read([chunk("d", text)], [{"doc": "d", "text": text}])
    assert (
        key
        == read([chunk("d", other)], [{"doc": "d", "text": text}])
        == read([chunk("d", text)], [{"doc": "d", "text": other}])
    )
    assert read([chunk("d", text.upper())], [{"doc": "d", "text": text}]) != key


def test_the_name_of_a_long_passage_is_cut_and_still_its_own(read):
    start = "You can send a product back to us within thirty days of the day "
    keys = {
        read([chunk("d", start + end)], [{"doc": "d", "text": start + end}])[0]
        for end in ("of purchase", "of delivery")
    }
    assert len(keys) == 2
    assert {key.partition("…")[0] for key in keys} == {"d: You can send a product back to us within thirty"}
