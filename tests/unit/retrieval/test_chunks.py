"""What a retriever returned for a query that judges passages, of whatever shape."""

from __future__ import annotations

import sqlite3
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import pytest

from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.retrieval import RetrievalOptions, batched, retrieve
from pytest_irmetrics.run import Answer, Run

THIRTY = Passage("handbook", "thirty days", 2)
EU = Passage("handbook", "within the EU")
HELD = "You can return it within\n thirty\u00a0days."


def query(*passages, text="returns", **judgments):
    return Query(
        text, text, {**judgments, **{passage.key: passage.grade for passage in passages}}, passages=passages
    )


def asked(items, *passages, **options):
    retrieved = retrieve(
        [query(*passages or (THIRTY, EU))], lambda _query: items, RetrievalOptions(**options)
    )
    assert not retrieved.errors, retrieved.errors
    return retrieved.run["returns"]


def problem(items, *passages, **options):
    retrieved = retrieve(
        [query(*passages or (THIRTY, EU))], lambda _query: items, RetrievalOptions(**options)
    )
    assert not len(retrieved.run)
    return retrieved.errors["returns"]


class LangChainDocument:
    """As langchain_core.documents.Document."""

    def __init__(self, page_content, metadata, id=None):  # noqa: A002 - the framework's name
        self.page_content = page_content
        self.metadata = metadata
        self.id = id


class LlamaIndexNode:
    """As llama_index.core.schema.NodeWithScore: what it has not, raises."""

    def __init__(self, text, ref_doc_id, node_id):
        self.node = SimpleNamespace(ref_doc_id=ref_doc_id, id_=node_id, get_content=lambda: text)
        self.id_ = node_id

    @property
    def text(self):
        raise ValueError("Node must be a TextNode to get text.")


class TestShapes:
    @pytest.mark.parametrize(
        "item",
        [
            {"id": "handbook", "text": HELD},
            {"_id": "c7", "_source": {"doc_id": "handbook", "content": HELD}},
            {"id": 7, "payload": {"source": "handbook", "text": HELD}},
            SimpleNamespace(id=7, payload={"document_id": "handbook", "page_content": HELD}),
            SimpleNamespace(id="c7", content=HELD, meta={"source_id": "handbook"}),
            LangChainDocument(HELD, {"source": "handbook"}),
            LangChainDocument(HELD, {"source": "handbook"}, "c7"),
            (LangChainDocument(HELD, {"source": "handbook"}), 0.25),
            LlamaIndexNode(HELD, "handbook", "c7"),
        ],
        ids=lambda item: type(item).__name__,
    )
    def test_document_and_text_are_found(self, item):
        assert asked([item, "faq"]) == (THIRTY.key, "faq")

    def test_ir_doc_id_says_which_document(self):
        items = [{"chunk": 3, "file": "docs/handbook.md", "text": HELD}]
        assert asked(items, doc_id=lambda item: item["file"][5:-3]) == (THIRTY.key,)

    def test_a_row_of_a_database_is_read(self):
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        row = connection.execute("SELECT 'c7' AS id, 'handbook' AS doc_id, ? AS text", [HELD]).fetchone()
        connection.close()
        assert asked([row]) == (THIRTY.key,)

    def test_an_elasticsearch_response_is_read(self):
        hits = [
            {"_id": f"c{n}", "_source": {"source": "handbook", "text": text}}
            for n, text in enumerate([HELD, "x"])
        ]
        assert asked({"hits": {"hits": hits}}) == (THIRTY.key, "handbook (chunk c1)")

    def test_a_field_that_names_no_judged_document_says_nothing(self):
        assert asked([{"id": "c7", "source": "the web", "text": HELD}]) == ("c7",)

    def test_scores_of_pairs_are_checked(self):
        pairs = [(LangChainDocument(HELD, {"source": "handbook"}, f"c{n}"), n) for n in range(2)]
        assert "above that of the result before it" in problem(pairs)

    def test_chunk_and_passage_are_both_folded(self):
        passage = Passage("handbook", "\ufb01rst  thirty\ndays")
        assert asked([{"id": "handbook", "text": "the first thir\u00adty days"}], passage) == (passage.key,)

    def test_a_document_that_is_judged_as_a_whole_or_forbidden_is_known_too(self):
        items = [
            {"id": f"c{n}", "doc_id": doc, "text": HELD} for n, doc in enumerate(("faq", "old", "faq", "web"))
        ]
        known = Query("q", "q", {"faq": 1, THIRTY.key: 2}, forbidden=("old",), passages=(THIRTY,))
        assert retrieve([known], lambda _query: items).run["q"] == ("faq", "old", "faq (chunk c2)", "c3")


class TestProblems:
    @pytest.mark.parametrize(
        "item", ["handbook", ("handbook", 0.5), {"id": "handbook"}, {"id": "handbook", "text": None}]
    )
    def test_a_chunk_without_text_is_explained(self, item):
        said = problem(["faq", item])
        assert said.startswith("result 2 is ")
        assert (
            "This query judges 'handbook' by passage, and the result has no text to look in. Return chunks with their "
            "text, under the key or attribute `text`, `page_content` or `content`."
        ) in said

    def test_other_documents_need_no_text(self):
        assert asked(["faq", ("terms", 0.5)]) == ("faq", "terms")

    @pytest.mark.parametrize(
        ("items", "name"),
        [
            ([{"id": "c7", "source": "handbook", "text": HELD}] * 2, "c7"),
            ([{"id": "handbook", "text": HELD}] * 2, "handbook"),
            (["faq", "faq"], "faq"),
        ],
    )
    def test_a_chunk_that_comes_twice_is_an_error(self, items, name):
        assert f"{name!r} came back at rank 1 and again at rank 2. Return each chunk once" in problem(items)
        assert len(asked(items, duplicates="collapse")) == 1

    def test_an_item_without_an_id_is_explained(self):
        assert "No id can be read from it." in problem([LangChainDocument(HELD, {"title": "elsewhere"})])

    def test_an_items_id_may_be_missing_beside_ir_doc_id(self):
        items = [{"file": "handbook", "text": text} for text in (HELD, "thirty days", "else")]
        assert asked(items, doc_id=lambda item: item["file"]) == (
            THIRTY.key,
            "handbook (chunk 1)",
            "handbook (chunk 2)",
        )


def chunks_of_handbook(text, k):
    texts = {"returns": [HELD, "thirty days within the EU", "else"], "nothing": ["else"]}
    return [{"id": f"c{n}", "doc_id": "handbook", "text": text} for n, text in enumerate(texts[text])][:k]


class TestRetrieval:
    def test_what_was_found_is_kept(self):
        retrieved = retrieve([query(THIRTY, EU)], chunks_of_handbook)
        answer = retrieved.run.answers["returns"]
        assert answer.rankings == ((THIRTY.key, EU.key, "handbook (chunk c2)"),)
        assert answer.passages == {
            THIRTY.key: ("handbook", "thirty days"),
            EU.key: ("handbook", "within the EU"),
        }

    def test_k_counts_what_was_drawn(self):
        both = [{"id": "handbook", "text": "thirty days within the EU"}, "faq", "terms"]
        assert asked(both, depth=2) == (THIRTY.key, EU.key, "faq")

    def test_latencies_are_milliseconds(self):
        retrieved = retrieve([query(THIRTY)], lambda _query: time.sleep(0.02) or [])
        ((milliseconds,),) = retrieved.latencies.values()
        assert 20 <= milliseconds < 20_000

    def test_a_query_without_passages_is_read_as_ever(self):
        queries = [query(THIRTY), query(text="nothing", c0=1)]
        retrieved = retrieve(queries, chunks_of_handbook)
        assert retrieved.run["nothing"] == ("c0",)

    def test_batches_are_read_as_chunks(self):
        queries = [query(THIRTY), query(EU, text="nothing")]
        many = batched(lambda texts, k: [chunks_of_handbook(text, k) for text in texts])
        assert retrieve(queries, many).run == retrieve(queries, chunks_of_handbook).run

    def test_other_processes_read_chunks(self):
        queries = [query(THIRTY), query(EU, text="nothing")]
        with ProcessPoolExecutor(1) as executor:
            there = retrieve(queries, chunks_of_handbook, RetrievalOptions(executor=executor))
        assert there.run == retrieve(queries, chunks_of_handbook).run
        assert not there.errors


class TestPassagesOfAStoredRun:
    """What was judged when the stored run was made is looked for as well, whoever asks."""

    THEN = Run.of(
        {
            "returns": Answer(
                (("handbook: thirty days",),),
                "returns",
                judgments={THIRTY.key: 2, EU.key: 1, "faq": 1},
                passages={THIRTY.key: ("handbook", "thirty days")},
            ),
            "nothing": Answer(
                ((EU.key,),), "nothing", judgments={EU.key: 1}, passages={EU.key: ("handbook", EU.text)}
            ),
        },
        depth=10,
    )
    QUERIES = (query(EU), query(EU, text="nothing"))

    def asked(self, retriever, **options):
        return retrieve(self.QUERIES, retriever, RetrievalOptions(stored=self.THEN, **options))

    @pytest.mark.parametrize("options", [{}, {"concurrency": 2}, {"timeout": 60}])
    def test_an_answer_is_ranked_by_the_passages_of_now_and_of_then(self, options):
        retrieved = self.asked(chunks_of_handbook, **options)
        assert retrieved.run["returns"] == ("handbook (chunk c0)", EU.key, "handbook (chunk c2)")
        assert list(retrieved.by_stored_passages) == ["returns"]
        formerly = retrieved.by_stored_passages["returns"]
        assert formerly.rankings == ((THIRTY.key, EU.key, "handbook (chunk c2)"),)
        assert set(formerly.passages) == {THIRTY.key, EU.key}

    def test_batches_coroutines_and_other_processes_give_the_same(self):
        async def coroutine(text, k):
            return chunks_of_handbook(text, k)

        plain = self.asked(chunks_of_handbook)
        many = batched(lambda texts, k: [chunks_of_handbook(text, k) for text in texts])
        with ProcessPoolExecutor(1) as executor:
            others = [
                self.asked(many),
                self.asked(coroutine),
                self.asked(chunks_of_handbook, executor=executor),
            ]
        assert [(other.run, other.by_stored_passages) for other in others] == [
            (plain.run, plain.by_stored_passages)
        ] * 3

    def test_every_repeat_is_ranked_twice(self):
        assert len(self.asked(chunks_of_handbook, repeat=3).by_stored_passages["returns"].rankings) == 3

    def test_an_answer_without_texts_is_ranked_once(self):
        queries = [query(faq=1)]
        retrieved = retrieve(queries, lambda _query: ["handbook"], RetrievalOptions(stored=self.THEN))
        assert retrieved.run["returns"] == ("handbook",)
        assert not retrieved.by_stored_passages

    def test_a_query_that_failed_has_neither(self):
        def search(text, k):
            if text == "returns":
                raise KeyError
            return chunks_of_handbook(text, k)

        retrieved = self.asked(search)
        assert list(retrieved.errors) == ["returns"]
        assert not retrieved.by_stored_passages


class TestStored:
    GOLDEN = GoldenSet([query(THIRTY, EU)])

    def test_a_chunk_of_several_passages_is_read_whole(self):
        run = retrieve(
            [query(THIRTY, EU)],
            lambda _query: [{"id": "handbook", "text": "thirty days within the EU"}, "faq"],
            RetrievalOptions(depth=1),
        ).run
        now = evaluate_run(self.GOLDEN, run, ["recall", "recall@1"], depth=1)
        assert (now["recall"], now["recall@1"]) == (1.0, 0.5)

    def test_a_stored_run_stands_in_for_the_retriever(self, tmp_path):
        run = retrieve([query(THIRTY, EU)], chunks_of_handbook).run
        path = tmp_path / "run.json"
        run.save(path)
        stored = Run.load(path)
        assert stored == run
        assert stored.dumps() == run.dumps() == path.read_text(encoding="utf-8")
        assert retrieve([query(THIRTY, EU)], stored).run == run

    def test_a_stored_run_is_replayed_under_a_shortened_passage(self):
        run = retrieve([query(THIRTY, EU)], chunks_of_handbook).run
        days = Passage("handbook", "thirty")
        again = retrieve([query(days)], run).run.answers["returns"]
        assert again.rankings == ((days.key, EU.key, "handbook (chunk c2)"),)
        assert again.passages == {days.key: ("handbook", "thirty")}
        assert dict(evaluate_run(GoldenSet([query(days)]), run, ["mrr"]).scores["mrr"]) == {"returns": 1.0}

    def test_a_stored_ranking_is_cut_at_a_lesser_depth(self):
        run = retrieve([query(THIRTY, EU)], chunks_of_handbook).run
        assert retrieve([query(THIRTY, EU)], run, RetrievalOptions(depth=1)).run["returns"] == (THIRTY.key,)
        assert evaluate_run(self.GOLDEN, run, ["recall"], depth=1)["recall"] == 0.5


class TestRandomIds:
    """Vector stores draw a UUID for each chunk that is added without an id: another one after each indexing."""

    CHUNKS = (
        ("handbook", "nothing of it"),
        ("handbook", HELD),
        ("handbook", "nothing of it"),
        ("other", "of no judged document"),
        ("other", "nor this"),
    )

    @pytest.mark.parametrize(
        "draw", [lambda: str(uuid.uuid4()), uuid.uuid4, uuid.uuid1, lambda: uuid.uuid4().hex]
    )
    def test_two_indexings_of_one_corpus_give_one_ranking(self, draw):
        rankings = {
            asked([LangChainDocument(text, {"source": source}, draw()) for source, text in self.CHUNKS])
            for _ in range(3)
        }
        (ranking,) = rankings
        first, passage, again, other, further = ranking
        assert first.startswith("handbook (chunk ")
        assert len(first) == len("handbook (chunk 01234567)")
        assert (passage, again, other) == (THIRTY.key, "handbook (chunk 1)", "other")
        assert further.startswith("other (chunk ")

    def test_ids_that_are_made_of_contents_are_kept(self):
        own_id = str(uuid.uuid5(uuid.NAMESPACE_URL, "handbook#1"))
        items = [
            {"id": own_id, "text": "x", "source": "handbook"},
            {"id": "c2", "text": "y", "source": "handbook"},
        ]
        assert asked(items) == (f"handbook (chunk {own_id})", "handbook (chunk c2)")

    def test_a_random_id_without_a_source_stays_what_it_is(self):
        own_id = str(uuid.uuid4())
        assert asked([{"id": own_id, "text": "x"}]) == (own_id,)

    def test_a_judged_document_may_have_such_an_id(self):
        own_id = str(uuid.uuid4())
        passage = Passage(own_id, "thirty days")
        assert asked([{"id": own_id, "text": HELD, "source": "elsewhere"}], passage) == (passage.key,)

    def test_a_chunk_that_comes_twice_is_told_by_its_id(self):
        own_id = str(uuid.uuid4())
        items = [{"id": own_id, "text": "x", "source": "handbook"}] * 2
        assert f"{own_id!r} came back at rank 1 and again at rank 2" in problem(items)

    def test_a_chunk_without_an_id_of_an_unjudged_source_has_a_name(self):
        items = [
            LangChainDocument(text, {"source": source})
            for source, text in self.CHUNKS
            if text == HELD or source == "other"
        ]
        assert asked(items) == (THIRTY.key, "other", "other (chunk 1)")

    def test_a_chunk_without_an_id_or_a_source_is_an_error(self):
        assert "result 1 is" in problem([LangChainDocument("x", {})])


def test_only_the_queries_of_a_batch_that_judge_passages_are_read_by_them():
    plain, of_passages = Query("plain", "plain", {"c1": 1}), query(THIRTY)
    chunk = {"id": "c1", "doc_id": "handbook", "text": HELD}
    for queries in ([plain, of_passages], [of_passages, plain]):
        retrieved = retrieve(queries, batched(lambda texts: [[chunk]] * len(texts)), RetrievalOptions())
        assert not retrieved.errors
        assert retrieved.run["plain"] == ("c1",)
        assert retrieved.run["returns"] == (THIRTY.key,)


def test_a_passage_that_one_repeat_found_is_stored_with_its_text():
    answers = iter(
        [[{"id": "c1", "doc_id": "handbook", "text": HELD}], [{"id": "c2", "doc_id": "other", "text": "x"}]]
    )
    run = retrieve([query(THIRTY)], lambda _query: next(answers), RetrievalOptions(repeat=2)).run
    assert run.answers["returns"].passages == {THIRTY.key: ("handbook", THIRTY.normalized)}
