"""What is doubtful in a golden set by itself."""

from __future__ import annotations

import pytest

from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.lint import lint


@pytest.fixture
def golden_set(load_yaml):
    return lambda text, head="": load_yaml(f"{head}queries:\n{text}")


def warnings(golden):
    return [str(warning) for warning in lint(golden)]


def pair(one, other, first="d1", second="d1", more="", also=""):
    return f"- {{id: q1, query: '{one}', relevant: {first}{more}}}\n- {{id: q2, query: '{other}', relevant: {second}{also}}}\n"


class TestNearDuplicates:
    @pytest.mark.parametrize(
        ("one", "other", "how"),
        [
            ("refund policy", "Refund  policy?", "but for case and punctuation"),
            ("¿refund policy?", "ｒｅｆｕｎｄ policy", "but for case and punctuation"),
        ],
    )
    def test_are_reported_with_their_places(self, golden_set, one, other, how):
        (text,) = warnings(golden_set(pair(one, other)))
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
    def test_different_texts_are_not_reported(self, golden_set, one, other):
        assert warnings(golden_set(pair(one, other))) == []

    def test_without_a_common_answer_only_equal_texts_are_reported(self, golden_set):
        assert warnings(golden_set(pair("dog bites man", "man bites dog", "d1", "d2"))) == []
        assert warnings(golden_set(pair("reset my password", "reset my passwords", "d1", "d2"))) == []
        (text,) = warnings(golden_set(pair("refund policy", "Refund policy", "{d1: 1, d2: 0}", "{d2: 2}")))
        assert text.endswith("They are judged otherwise: judge them alike, or keep one.")

    def test_different_tags_or_params_are_not_reported(self, golden_set):
        assert (
            warnings(golden_set(pair("refund policy", "refund policy!", also=", tags: [punctuation]"))) == []
        )
        assert (
            warnings(golden_set(pair("reset my password", "reset my pasword", also=", tags: [typo]"))) == []
        )
        assert warnings(golden_set(pair("refund policy", "Refund policy", also=", params: {lang: no}"))) == []
        assert warnings(golden_set(pair("refund policy", "Refund policy", first="d9", also=", tags: [x]")))

    def test_at_most_ten_of_a_kind_are_listed(self, golden_set):
        text = "".join(f"- {{id: q{n}, query: 'refund policy{'!' * n}', relevant: d}}\n" for n in range(13))
        lines = warnings(golden_set(text))
        assert len(lines) == 11
        assert lines[-1] == "faq.yaml:13: note: 2 more of this kind begin here."

    def test_thousands_of_similar_queries_take_little_time(self):
        texts = {f"q{n}": f"how do I reset my password for account number {n}" for n in range(3000)}
        golden = GoldenSet.from_judgments({query: {"d": 1} for query in texts}, texts=texts)
        assert warnings(golden) == []


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
    def test_ineffective_and_impossible_limits_are_reported(self, golden_set, limits, words):
        (text,) = warnings(golden_set(self.QUERIES, f"thresholds: {{{limits}}}\n"))
        assert words in text

    def test_of_slices_and_queries_are_checked_too(self, golden_set):
        assert "faq.yaml:1:14" in warnings(golden_set(self.QUERIES, "slices: {t: {P@2: 0.6}}\n"))[0]
        query = "- {query: one thing, relevant: a, thresholds: {P@2: 0.6}}\n"
        assert warnings(golden_set(query))[0].startswith(
            "faq.yaml:2:48: note: `min: 0.6` of precision@2 cannot"
        )

    def test_sensible_limits_are_not_reported(self, golden_set):
        head = "thresholds: {P@10: 0.15, mrr: {min: 1.0, max_drop: off, max_lost: 1}, ndcg@10: {min_each: 1.0, max_drop: 5%}}\n"
        assert warnings(golden_set(self.QUERIES, head)) == []


def test_the_best_ranking_has_the_best_document_first_whatever_the_order_of_the_judgments(golden_set):
    golden = golden_set(
        "- {query: a, relevant: {d1: 1, d2: 3}}\n", "thresholds: {mrr(rel=3): 1.0, ndcg@10: 1.0}\n"
    )
    assert not [warning for warning in warnings(golden) if "mrr" in warning]
    golden = golden_set("- {query: a, relevant: {d1: 1, d2: 2}}\n", "thresholds: {mrr(rel=3): 1.0}\n")
    assert [warning for warning in warnings(golden) if "mrr" in warning]
