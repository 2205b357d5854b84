"""What a run shows to be doubtful in its golden set."""

from __future__ import annotations

import pytest

from pytest_irmetrics.analysis import run_lint
from pytest_irmetrics.analysis.run_lint import lint_run, lint_run_verbose
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import build, resolve


@pytest.fixture
def golden_set(tmp_path):
    def load(text, head=""):
        path = tmp_path / "faq.yaml"
        path.write_text(f"{head}queries:\n{text}", encoding="utf-8")
        return GoldenSet.load(path, shown="faq.yaml")

    return load


def limits(*marks):
    return resolve([[build(metric, words, tag=tag) for metric, words, tag in marks]])


def notes(golden, run, *marks, corpus=None, detail=False, stored=None):
    metrics = list(dict.fromkeys(["recall@10", "ndcg@10", "hit@2", *(metric for metric, *_ in marks)]))
    evaluation = evaluate_run(golden, Run(run), metrics, depth=10)
    if detail:
        return list(lint_run_verbose(evaluation, limits(*marks), corpus))
    before = None if stored is None else evaluate_run(golden, Run(stored), metrics, depth=10)
    return list(lint_run(evaluation, limits(*marks), corpus, before))


class TestRunLint:
    @pytest.mark.parametrize(
        ("judged", "returned"),
        [
            ("Doc-12", "doc-12"),
            ("doc_12", "doc-12"),
            ("doc-7", "doc-007"),
            ("'doc-12 '", "doc-12"),
            ("ｄoc", "doc"),
        ],
    )
    def test_an_id_returned_only_in_another_spelling_is_reported(self, golden_set, judged, returned):
        golden = golden_set(f"- query: q\n  relevant: [{judged}, x]\n")
        (text,) = notes(golden, {"q": [returned, "x"]})
        spelt = judged.strip("'")
        assert text == (
            f"The golden set seems to misspell 1 id that no query returned: {spelt!r} (faq.yaml:3) for {returned!r}. Write "
            "them as the index does."
        )

    def test_of_a_large_run_only_the_first_results_are_checked(self, golden_set, monkeypatch):
        golden = golden_set(
            "- {query: q, relevant: [DOC, x]}\n- {query: r, relevant: [E, x]}\n- {query: s, relevant: [F, x]}\n"
        )
        answers = {"q": ["doc", "x"], "r": ["e", "x"], "s": ["f", "E"]}
        monkeypatch.setattr(run_lint, "_MAX_RESULTS", 3)
        (text,) = notes(golden, answers)
        assert "seems to misspell 1 id that no query returned: 'DOC'" in text  # not E, which s returns, nor F
        monkeypatch.setattr(run_lint, "_MAX_RESULTS", 2)
        assert notes(golden, {**answers, "s": ["DOC"]}) == []

    def test_merely_similar_ids_are_not_reported(self, golden_set):
        golden = golden_set("- {query: q, relevant: [doc-1, doc-10, a]}\n- {query: r, relevant: [b]}\n")
        assert notes(golden, {"q": ["doc-2", "doc-100", "a"], "r": []}) == []
        other = golden_set("- {query: q, relevant: [DOC]}\n- {query: r, relevant: [b]}\n")
        assert notes(other, {"q": ["doc"], "r": ["DOC"]}) == []  # both are returned
        assert notes(other, {"q": ["doc"], "r": []}, corpus={"DOC", "doc"}) == []

    def test_an_index_that_has_the_golden_sets_spelling_alone_hides_no_other_spelling(self, golden_set):
        golden = golden_set("- query: q\n  relevant: [DOC, x]\n")
        (text,) = notes(golden, {"q": ["doc", "x"]}, corpus={"DOC", "x", *map(str, range(20))})
        assert text == (
            "1 id came back in another spelling than the index and the golden set have: 'DOC' (faq.yaml:3) came back as 'doc'. "
            "Return ids as the index has them."
        )
        (text,) = notes(golden, {"q": ["doc", "x"]}, corpus={"doc", "x", *map(str, range(20))})
        assert text.startswith("The golden set seems to misspell 1 id")

    def test_two_documents_of_the_baseline_are_not_spellings_of_one(self, golden_set):
        golden = golden_set("- {query: q, relevant: [a._b, x]}\n- {query: r, relevant: [b]}\n")
        today = {"q": ["a.b"], "r": []}
        assert notes(golden, today, stored={"q": ["a._b"], "r": ["a.b"]}) == []

    def test_ids_that_the_index_respelt_since_the_baseline_are_reported_as_such(self, golden_set):
        golden = golden_set("- {query: q, relevant: [DOC, X_Y]}\n- {query: r, relevant: [b]}\n")
        text, other = notes(golden, {"q": ["doc", "x-y"], "r": []}, stored={"q": ["DOC"], "r": ["b"]})
        assert text == (
            "1 id came back in another spelling than before, which is the golden set's: 'DOC' (faq.yaml:2) is now 'doc'. "
            "Return ids as before; or, where the new spelling is meant, write it in the golden set."
        )
        assert other.startswith("The golden set seems to misspell 1 id that no query returned: 'X_Y'")

    def test_documents_that_no_query_returns_are_a_hint(self, golden_set):
        golden = golden_set("- {query: q, relevant: [a, b]}\n- {query: r, relevant: {c: 1, n: 0}}\n")
        (text,) = notes(golden, {"q": ["a"], "r": []}, detail=True)
        assert text == (
            "2 of 3 documents judged relevant were returned for no query at all: b (faq.yaml:2), c (faq.yaml:3). Hard to "
            "find, or not in the index: a fixture ir_corpus tells which."
        )
        assert notes(golden, {"q": ["a"], "r": []}, detail=True, corpus={"a", "b", "c"}) == []

    def test_gates_on_answers_that_hold_the_whole_index_are_reported(self, golden_set):
        golden = golden_set("- {query: q, relevant: a}\n")
        marks = [
            ("recall@10", {"min": 0.9}, None),
            ("ndcg@10", {"min": 0.9}, None),
            ("hit@2", {"min": 0.9}, None),
        ]
        (text,) = notes(golden, {"q": ["a"]}, *marks, corpus={"a", "b", "c"})
        assert text.startswith(
            "The index holds 3 documents, no more than an answer: whatever their order, recall@10 is the same"
        )
        assert notes(golden, {"q": ["a"]}, *marks, corpus=set(map(str, range(11))) | {"a"}) == []
        assert notes(golden, {"q": ["a"]}, ("ndcg@10", {"min": 0.9}, None), corpus={"a"}) == []

        class Asked:
            def __contains__(self, _):
                return True

        assert notes(golden, {"q": ["a"]}, *marks, corpus=Asked()) == []

    def test_queries_that_no_gate_covers_are_a_hint(self, golden_set):
        golden = golden_set(
            "- {query: q, relevant: a}\n- {query: r, relevant: a, tags: [t]}\n- {query: s, no_answer: true}\n"
            "- {query: u, relevant: a, forbidden: [f]}\n- {query: v, relevant: a, thresholds: {mrr: 0.5}}\n"
        )
        run = {query: ["a"] for query in "qruv"}
        (text,) = notes(golden, run, ("ndcg@10", {"min": 0.5}, "t"), detail=True)
        assert text == (
            "1 query can fail nothing: there are gates on tags alone, and these carry none of them: 'q'. Add a threshold "
            "for all."
        )
        assert notes(golden, run, ("ndcg@10", {"min": 0.5}, None), detail=True) == []
        assert notes(golden, run, detail=True) == []  # nothing is gated at all, which is said elsewhere

    def test_the_golden_sets_own_warnings_are_a_hint(self, golden_set):
        golden = golden_set(
            "- {id: q1, query: refund policy, relevant: d1}\n- {id: q2, query: Refund policy, relevant: d1}\n"
        )
        run = {"q1": ["d1"], "q2": ["d1"]}
        assert notes(golden, run) == []
        (text,) = notes(golden, run, detail=True)
        assert text.startswith("faq.yaml:3: 'Refund policy' is 'refund policy' on line 2 but for case")

    def test_a_chunk_or_passage_counts_as_its_document(self, golden_set):
        golden = golden_set(
            "- query: q\n  relevant: [{doc: handbook, text: thirty days}, {doc: terms, text: x}, a, b]\n"
        )
        key = golden.queries["q"].passages[0].key
        (text,) = notes(golden, {"q": [key, "terms (chunk 1)", "a"]}, detail=True)
        assert text.startswith(
            "1 of 4 documents judged relevant were returned for no query at all: b (faq.yaml:3)."
        )


def test_a_gate_on_all_queries_beside_one_on_a_tag_covers_every_query(golden_set):
    golden = golden_set(
        "- {id: q1, query: one, relevant: d1, tags: [a]}\n- {id: q2, query: two, relevant: d2}\n"
    )
    run = {"q1": ["d1"], "q2": ["d2"]}
    on_tag, on_all = ("ndcg@10", {"min": 0.5}, "a"), ("ndcg@10", {"min": 0.5}, None)
    assert any("can fail nothing" in note for note in notes(golden, run, on_tag, detail=True))
    assert not any("can fail nothing" in note for note in notes(golden, run, on_tag, on_all, detail=True))
