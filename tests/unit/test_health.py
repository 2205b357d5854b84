from __future__ import annotations

import pytest

from pytest_irmetrics.analysis import run_lint
from pytest_irmetrics.analysis.run_lint import lint_run, lint_run_verbose
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.lint import lint
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import build, resolve


@pytest.fixture
def golden_set(tmp_path):
    def load(text, head=""):
        path = tmp_path / "faq.yaml"
        path.write_text(f"{head}queries:\n{text}", encoding="utf-8")
        return GoldenSet.load(path, shown="faq.yaml")

    return load


def told(golden):
    return [str(warning) for warning in lint(golden)]


def pair(one, other, first="d1", second="d1", more="", also=""):
    return f"- {{id: q1, query: '{one}', relevant: {first}{more}}}\n- {{id: q2, query: '{other}', relevant: {second}{also}}}\n"


class TestNearDuplicates:
    @pytest.mark.parametrize(
        ("one", "other", "how"),
        [
            ("refund policy", "Refund  policy?", "but for case and punctuation"),
            ("¿refund policy?", "ｒｅｆｕｎｄ policy", "but for case and punctuation"),
            ("refund policy", "policy, refund", "in another order"),
            ("reset my password", "reset my pasword", "but for one letter"),
            ("reset my password", "reset my passwords", "but for one letter"),
            ("reset my password", "reset ny password", "but for one letter"),
            ("reset my password", "xeset my password", "but for one letter"),
        ],
    )
    def test_are_told_with_their_places(self, golden_set, one, other, how):
        (text,) = told(golden_set(pair(one, other)))
        assert text == (
            f"faq.yaml:3: note: {other!r} is {one!r} on line 2 {how}. It counts twice in the means. Keep one; or tag one "
            "of them, if that is on purpose."
        )

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("python 2 download", "python 3 download"),
            ("error code 404", "error code 405"),
            ("x == True", "x != True"),
            ("learning C", "learning C++"),
            ('"exact phrase"', "exact phrase"),
            ("cat food", "car food"),
            ("refund policy", "refund policies"),
            ("reset my password", "set my password"),
            ("???", "!!!"),
        ],
    )
    def test_other_questions_are_none(self, golden_set, one, other):
        assert told(golden_set(pair(one, other))) == []

    def test_what_has_another_answer_counts_only_in_the_same_words(self, golden_set):
        assert told(golden_set(pair("dog bites man", "man bites dog", "d1", "d2"))) == []
        assert told(golden_set(pair("reset my password", "reset my passwords", "d1", "d2"))) == []
        (text,) = told(golden_set(pair("refund policy", "Refund policy", "{d1: 1, d2: 0}", "{d2: 2}")))
        assert text.endswith("They are judged otherwise: judge them alike, or keep one.")

    def test_tags_and_params_set_queries_apart(self, golden_set):
        assert told(golden_set(pair("refund policy", "refund policy!", also=", tags: [punctuation]"))) == []
        assert told(golden_set(pair("reset my password", "reset my pasword", also=", tags: [typo]"))) == []
        assert told(golden_set(pair("refund policy", "Refund policy", also=", params: {lang: no}"))) == []
        assert told(golden_set(pair("refund policy", "Refund policy", first="d9", also=", tags: [x]")))

    def test_many_are_cut(self, golden_set):
        text = "".join(f"- {{id: q{n}, query: 'refund policy{'!' * n}', relevant: d}}\n" for n in range(13))
        lines = told(golden_set(text))
        assert len(lines) == 11
        assert lines[-1] == "faq.yaml:13: note: 2 more of this kind begin here."

    def test_queries_made_by_a_template_take_no_time(self):
        texts = {f"q{n}": f"how do I reset my password for account number {n}" for n in range(3000)}
        golden = GoldenSet.from_judgments({query: {"d": 1} for query in texts}, texts=texts)
        assert told(golden) == []


class TestLeaks:
    def test_a_query_that_names_its_answer_is_told(self, golden_set):
        (text,) = told(golden_set("- {query: 'how does doc-12 work?', relevant: {DOC-12: 1}}\n"))
        assert text.startswith(
            "faq.yaml:2: note: 'how does doc-12 work?' contains the id of its answer, 'DOC-12', so"
        )

    @pytest.mark.parametrize(
        ("query", "relevant"),
        [
            ("refund policy", "refund"),  # a plain word
            ("python 2024", "'2024'"),  # a year
            ("S307", "S307"),  # a look-up
            ("how does doc-12 work", "doc-1"),
            ("how does doc-12 work", "{doc-12: 0, x: 1}"),
            ("a1 steak", "a1"),
        ],
    )
    def test_what_is_none(self, golden_set, query, relevant):
        assert told(golden_set(f"- {{query: {query}, relevant: {relevant}}}\n")) == []


class TestThresholds:
    QUERIES = "- {query: one thing, relevant: [a, b]}\n- {query: another, relevant: c, tags: [t]}\n"

    @pytest.mark.parametrize(
        ("limits", "words"),
        [
            ("mrr: 0", "faq.yaml:1:14: note: `min: 0` of mrr is a gate that nothing fails"),
            ("mrr: {min_each: 0}", "`min_each: 0` of mrr is a gate that nothing fails"),
            ("mrr: {max_drop: 1}", "`max_drop: 1` of mrr is a gate that nothing fails"),
            ("mrr: {max_drop: 100%}", "`max_drop: 100%` of mrr is a gate that nothing fails"),
            ("mrr: {max_lost: 2}", "`max_lost: 2` of mrr is a gate that nothing fails"),
            (
                "P@10: 0.2",
                "`min: 0.2` of precision@10 cannot be met: with these judgments the best ranking there is scores 0.1500.",
            ),
            ("P@10: {min_each: 0.15}", "the best ranking there is scores 0.1000."),
            ("recall@1: 0.8", "the best ranking there is scores 0.7500."),
        ],
    )
    def test_that_nothing_fails_or_nothing_meets_are_told(self, golden_set, limits, words):
        (text,) = told(golden_set(self.QUERIES, f"thresholds: {{{limits}}}\n"))
        assert words in text

    def test_of_slices_and_queries_too(self, golden_set):
        assert "faq.yaml:1:14" in told(golden_set(self.QUERIES, "slices: {t: {P@2: 0.6}}\n"))[0]
        query = "- {query: one thing, relevant: a, thresholds: {P@2: 0.6}}\n"
        assert told(golden_set(query))[0].startswith("faq.yaml:2:48: note: `min: 0.6` of precision@2 cannot")

    def test_good_ones_are_not(self, golden_set):
        head = "thresholds: {P@10: 0.15, mrr: {min: 1.0, max_drop: off, max_lost: 1}, ndcg@10: {min_each: 1.0, max_drop: 5%}}\n"
        assert told(golden_set(self.QUERIES, head)) == []


def limits(*marks):
    return resolve([[build(metric, words, tag=tag) for metric, words, tag in marks]])


def noted(golden, run, *marks, corpus=None, detail=False, stored=None):
    metrics = list(dict.fromkeys(["recall@10", "ndcg@10", "hit@2", *(metric for metric, *_ in marks)]))
    evaluation = evaluate_run(golden, Run(run), metrics, depth=10)
    if detail:
        return list(lint_run_verbose(evaluation, limits(*marks), corpus))
    before = None if stored is None else evaluate_run(golden, Run(stored), metrics, depth=10)
    return list(lint_run(evaluation, limits(*marks), corpus, before))


class TestRuns:
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
    def test_an_id_that_is_returned_in_another_spelling_is_told(self, golden_set, judged, returned):
        golden = golden_set(f"- query: q\n  relevant: [{judged}, x]\n")
        (text,) = noted(golden, {"q": [returned, "x"]})
        spelt = judged.strip("'")
        assert text == (
            f"The golden set seems to misspell 1 id that no query returned: {spelt!r} (faq.yaml:3) for {returned!r}. Write "
            "them as the index does."
        )

    def test_of_a_large_run_the_first_results_show_it(self, golden_set, monkeypatch):
        golden = golden_set(
            "- {query: q, relevant: [DOC, x]}\n- {query: r, relevant: [E, x]}\n- {query: s, relevant: [F, x]}\n"
        )
        answers = {"q": ["doc", "x"], "r": ["e", "x"], "s": ["f", "E"]}
        monkeypatch.setattr(run_lint, "_MAX_RESULTS", 3)
        (text,) = noted(golden, answers)
        assert "seems to misspell 1 id that no query returned: 'DOC'" in text  # not E, which s returns, nor F
        monkeypatch.setattr(run_lint, "_MAX_RESULTS", 2)
        assert noted(golden, {**answers, "s": ["DOC"]}) == []

    def test_what_is_only_like_it_is_not(self, golden_set):
        golden = golden_set("- {query: q, relevant: [doc-1, doc-10, a]}\n- {query: r, relevant: [b]}\n")
        assert noted(golden, {"q": ["doc-2", "doc-100", "a"], "r": []}) == []
        other = golden_set("- {query: q, relevant: [DOC]}\n- {query: r, relevant: [b]}\n")
        assert noted(other, {"q": ["doc"], "r": ["DOC"]}) == []  # both are returned
        assert noted(other, {"q": ["doc"], "r": []}, corpus={"DOC", "doc"}) == []

    def test_two_documents_of_the_baseline_are_no_spellings_of_one(self, golden_set):
        golden = golden_set("- {query: q, relevant: [a._b, x]}\n- {query: r, relevant: [b]}\n")
        today = {"q": ["a.b"], "r": []}
        assert noted(golden, today, stored={"q": ["a._b"], "r": ["a.b"]}) == []

    def test_ids_that_the_index_spells_otherwise_since_the_baseline_are_not_the_golden_sets_fault(
        self, golden_set
    ):
        golden = golden_set("- {query: q, relevant: [DOC, X_Y]}\n- {query: r, relevant: [b]}\n")
        text, other = noted(golden, {"q": ["doc", "x-y"], "r": []}, stored={"q": ["DOC"], "r": ["b"]})
        assert text == (
            "1 id came back in another spelling than before, which is the golden set's: 'DOC' (faq.yaml:2) is now 'doc'. "
            "Return ids as before; or, where the new spelling is meant, write it in the golden set."
        )
        assert other.startswith("The golden set seems to misspell 1 id that no query returned: 'X_Y'")

    def test_documents_that_no_query_returns_are_a_detail(self, golden_set):
        golden = golden_set("- {query: q, relevant: [a, b]}\n- {query: r, relevant: {c: 1, n: 0}}\n")
        (text,) = noted(golden, {"q": ["a"], "r": []}, detail=True)
        assert text == (
            "2 of 3 documents judged relevant were returned for no query at all: b (faq.yaml:2), c (faq.yaml:3). Hard to "
            "find, or not in the index: a fixture ir_corpus tells which."
        )
        assert noted(golden, {"q": ["a"], "r": []}, detail=True, corpus={"a", "b", "c"}) == []

    def test_an_index_that_every_answer_holds_whole_is_told(self, golden_set):
        golden = golden_set("- {query: q, relevant: a}\n")
        marks = [
            ("recall@10", {"min": 0.9}, None),
            ("ndcg@10", {"min": 0.9}, None),
            ("hit@2", {"min": 0.9}, None),
        ]
        (text,) = noted(golden, {"q": ["a"]}, *marks, corpus={"a", "b", "c"})
        assert text.startswith(
            "The index holds 3 documents, no more than an answer: whatever their order, recall@10 is the same"
        )
        assert noted(golden, {"q": ["a"]}, *marks, corpus=set(map(str, range(11))) | {"a"}) == []
        assert noted(golden, {"q": ["a"]}, ("ndcg@10", {"min": 0.9}, None), corpus={"a"}) == []

        class Asked:
            def __contains__(self, _):
                return True

        assert noted(golden, {"q": ["a"]}, *marks, corpus=Asked()) == []

    def test_queries_that_no_gate_looks_at_are_a_detail(self, golden_set):
        golden = golden_set(
            "- {query: q, relevant: a}\n- {query: r, relevant: a, tags: [t]}\n- {query: s, no_answer: true}\n"
            "- {query: u, relevant: a, forbidden: [f]}\n- {query: v, relevant: a, thresholds: {mrr: 0.5}}\n"
        )
        run = {query: ["a"] for query in "qruv"}
        (text,) = noted(golden, run, ("ndcg@10", {"min": 0.5}, "t"), detail=True)
        assert text == (
            "1 query can fail nothing: there are gates on tags alone, and these carry none of them: 'q'. Add a threshold "
            "for all."
        )
        assert noted(golden, run, ("ndcg@10", {"min": 0.5}, None), detail=True) == []
        assert noted(golden, run, detail=True) == []  # nothing is gated at all, which is said elsewhere

    def test_the_golden_sets_own_doubts_are_a_detail(self, golden_set):
        golden = golden_set(pair("refund policy", "Refund policy"))
        run = {"q1": ["d1"], "q2": ["d1"]}
        assert noted(golden, run) == []
        (text,) = noted(golden, run, detail=True)
        assert text.startswith("faq.yaml:3: 'Refund policy' is 'refund policy' on line 2 but for case")

    def test_a_document_comes_back_with_its_passages_and_chunks(self, golden_set):
        golden = golden_set(
            "- query: q\n  relevant: [{doc: handbook, text: thirty days}, {doc: terms, text: x}, a, b]\n"
        )
        key = golden.queries["q"].passages[0].key
        (text,) = noted(golden, {"q": [key, "terms (chunk 1)", "a"]}, detail=True)
        assert text.startswith(
            "1 of 4 documents judged relevant were returned for no query at all: b (faq.yaml:3)."
        )
