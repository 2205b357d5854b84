"""Passages: what a chunk holds, and as what it stands in a ranking."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden.passage import Passage, normalize_text
from pytest_irmetrics.metrics import FAMILIES, Scorer, parse_metric
from pytest_irmetrics.retrieval.passages import Chunk, document_of, rank_chunks, translate_ranking

THIRTY = Passage("handbook", "thirty days", 2)
EU = Passage("handbook", "within the EU")
REFUND = Passage("terms", "no refund", 3)


def chunk(document, text=None, own=None):
    return Chunk(document, own, text)


CHUNKS_AND_PASSAGES = given(
    st.lists(st.tuples(st.sampled_from("ab"), st.text("xyz ", max_size=6).map(normalize_text)), max_size=12),
    st.lists(
        st.builds(
            Passage,
            st.sampled_from("ab"),
            st.text("xyz", min_size=1, max_size=2),
            st.sampled_from([0, 1, 2, 3.5]),
        ),
        max_size=6,
        unique_by=lambda passage: passage.key,
    ),
    st.booleans(),
)


class TestFold:
    @pytest.mark.parametrize(
        ("text", "normalized"),
        [
            ("thirty days", "thirty days"),
            (" thirty\n\t days\r\n", "thirty days"),
            ("thirty\u00a0days\u2028after\u3000all", "thirty days after all"),
            ("thir\u00adty d\u200bay\ufeffs", "thirty days"),
            ("e\u0301t\u00e9", "\u00e9t\u00e9"),
            ("e\u200b\u0301", "\u00e9"),
            ("of\ufb01ce \uff11\uff12", "office 12"),
            ("Thirty Days", "Thirty Days"),
            ("\u200b \n", ""),
        ],
    )
    def test_layout_goes_and_words_stay(self, text, normalized):
        assert normalize_text(text) == normalized

    @given(st.text())
    def test_folding_twice_is_folding_once(self, text):
        assert normalize_text(normalize_text(text)) == normalize_text(text)

    @given(st.text(alphabet=st.characters(codec="utf-8")))
    def test_unicode_forms_are_one(self, text):
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert normalize_text(unicodedata.normalize(form, normalize_text(text))) == normalize_text(text)


class TestKey:
    def test_the_key_is_document_and_text(self):
        assert Passage("handbook", " thirty\n days ", 2).key == "handbook: thirty days"

    def test_the_key_of_a_long_text_is_cut_and_still_unique(self):
        start = "You can send a product back to us within thirty days of the day "
        keys = {Passage("handbook", start + end).key for end in ("of purchase", "of delivery")}
        assert len(keys) == 2
        assert {key.partition("…")[0] for key in keys} == {
            "handbook: You can send a product back to us within thirty"
        }
        assert Passage("handbook", start + "of  purchase").key in keys

    def test_a_lone_surrogate_is_no_error(self):
        assert Passage("d", "\ud800" * 61).key.startswith("d: ")


class TestRank:
    def test_a_chunk_stands_for_the_passage_that_it_holds(self):
        chunks = [chunk("faq"), chunk("handbook", "returned within thirty days of", "c7")]
        assert rank_chunks(chunks, [THIRTY, EU], collapse=False) == ("faq", THIRTY.key)

    def test_a_passage_of_another_document_is_another(self):
        assert rank_chunks([chunk("terms", "thirty days")], [THIRTY, REFUND], collapse=False) == (
            "terms (chunk 1)",
        )

    def test_several_in_one_chunk_follow_each_other_the_best_grade_first(self):
        chunks = [chunk("handbook", "within the EU it is thirty days"), chunk("faq")]
        assert rank_chunks(chunks, [EU, THIRTY], collapse=False) == (THIRTY.key, EU.key, "faq")

    def test_a_passage_within_another_is_found_with_it(self):
        longer = Passage("handbook", "thirty days after purchase", 1)
        chunks = [chunk("handbook", "thirty days after purchase")]
        assert rank_chunks(chunks, [longer, THIRTY], collapse=False) == (THIRTY.key, longer.key)

    def test_overlapping_chunks_count_once_and_keep_their_rank(self):
        chunks = [chunk("handbook", "thirty days", own) for own in ("c1", "c2", None)] + [chunk("faq")]
        ranking = rank_chunks(chunks, [THIRTY], collapse=False)
        assert ranking == (THIRTY.key, "handbook (chunk c2)", "handbook (chunk 1)", "faq")

    def test_overlapping_chunks_collapse(self):
        chunks = [chunk("handbook", "thirty days", own) for own in ("c1", "c2", None)] + [chunk("faq")]
        assert rank_chunks(chunks, [THIRTY], collapse=True) == (THIRTY.key, "faq")

    def test_a_later_chunk_gains_what_it_adds(self):
        chunks = [chunk("handbook", "thirty days"), chunk("handbook", "thirty days within the EU")]
        assert rank_chunks(chunks, [THIRTY, EU], collapse=True) == (THIRTY.key, EU.key)

    @pytest.mark.parametrize("collapse", [False, True])
    def test_chunks_without_a_passage_keep_their_rank(self, collapse):
        chunks = [
            chunk("handbook", "something else"),
            chunk("handbook", "and more"),
            chunk("handbook", "thirty days"),
        ]
        assert rank_chunks(chunks, [THIRTY], collapse=collapse) == (
            "handbook (chunk 1)",
            "handbook (chunk 2)",
            THIRTY.key,
        )

    def test_other_documents_collapse_or_keep_their_rank_too(self):
        chunks = [chunk("faq", own="c1"), chunk("faq", own="c2"), chunk("handbook", "thirty days")]
        assert rank_chunks(chunks, [THIRTY], collapse=False) == ("faq", "faq (chunk c2)", THIRTY.key)
        assert rank_chunks(chunks, [THIRTY], collapse=True) == ("faq", THIRTY.key)

    @CHUNKS_AND_PASSAGES
    def test_translating_a_ranking_to_the_same_passages_changes_nothing(self, chunks, passages, collapse):
        ranking = rank_chunks(
            [Chunk(document, None, text) for document, text in chunks], passages, collapse=collapse
        )
        stored = {passage.key: (passage.doc, passage.text) for passage in passages if passage.key in ranking}
        assert translate_ranking(ranking, stored, passages, {passage.key for passage in passages}) == ranking

    @CHUNKS_AND_PASSAGES
    def test_no_score_leaves_its_range(self, chunks, passages, collapse):
        ranking = rank_chunks(
            [Chunk(document, None, text) for document, text in chunks], passages, collapse=collapse
        )
        assert len(set(ranking)) == len(ranking)
        judgments = {passage.key: passage.grade for passage in passages}
        held = {
            passage.key
            for passage in passages
            for document, text in chunks
            if document == passage.doc and passage.text in text
        }
        assert held == judgments.keys() & set(ranking)
        if not any(judgments.values()):
            return
        metrics = [
            parse_metric(name)
            for family in FAMILIES.values()
            if family.kind == "ranking"
            for name in (family.name, f"{family.name}@1", f"{family.name}@3")
            if name.partition("@")[0] not in ("r_precision", "bpref") or "@" not in name
        ]
        for metric, score in zip(metrics, Scorer(metrics).row(judgments, ranking), strict=True):
            family = FAMILIES[metric.family]
            assert score is None or family.lower <= score <= family.upper + 1e-12, metric.name


class TestTranslateRanking:
    """A stored ranking under the judgments of today."""

    STORED = {  # noqa: RUF012 - read only
        "handbook: thirty days after purchase": ("handbook", "thirty days after purchase"),
        "handbook: thirty days": ("handbook", "thirty days"),
    }

    def translate_ranking(self, ranking, passages, judged=()):
        return translate_ranking(
            ranking, self.STORED, passages, {*judged, *(passage.key for passage in passages)}
        )

    def test_the_same_passages_are_the_same_ranking(self):
        ranking = ("faq", "handbook: thirty days", "handbook (chunk 1)", "handbook (chunk c7)")
        assert self.translate_ranking(ranking, [THIRTY, EU]) == ranking

    def test_a_shortened_text_is_still_held(self):
        ranking = ("faq", "handbook: thirty days after purchase")
        assert self.translate_ranking(ranking, [Passage("handbook", "days after")]) == (
            "faq",
            "handbook: days after",
        )

    def test_another_text_is_not_known_to_be_held(self):
        ranking = ("handbook: thirty days", "faq")
        assert self.translate_ranking(ranking, [Passage("handbook", "sixty days")]) == (
            "handbook: thirty days",
            "faq",
        )

    def test_the_same_text_of_another_document_is_another_passage(self):
        ranking = ("handbook: thirty days",)
        assert self.translate_ranking(ranking, [Passage("terms", "thirty days")]) == ranking

    def test_two_entries_that_hold_it_count_once(self):
        ranking = ("handbook: thirty days after purchase", "handbook: thirty days")
        assert self.translate_ranking(ranking, [THIRTY]) == ("handbook: thirty days", "handbook (chunk 1)")

    def test_a_document_that_is_judged_as_a_whole_now(self):
        ranking = ("faq", "handbook (chunk 1)", "handbook: thirty days")
        assert self.translate_ranking(ranking, [], ["handbook"]) == (
            "faq",
            "handbook",
            "handbook: thirty days",
        )

    def test_a_run_that_was_made_of_keys(self):
        assert self.translate_ranking(("faq", EU.key), [EU]) == ("faq", EU.key)


def test_the_document_of_a_chunk():
    assert [document_of(entry) for entry in ("handbook (chunk 7)", "faq", "a (chunk b (chunk 2)")] == [
        "handbook",
        "faq",
        "a (chunk b",
    ]
