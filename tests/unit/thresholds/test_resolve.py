"""Which gates hold where several places set thresholds, and how a test's gates are looked up."""

from __future__ import annotations

import pytest

from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.thresholds import Gate, Limit, ThresholdError, build, resolve


def error_of(function, *args, **kwargs) -> str:
    with pytest.raises(ThresholdError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def gates(*levels):
    return list(resolve(levels))


class TestResolve:
    def test_the_nearest_wins_word_by_word(self):
        near = [build("P@5", {"min": 0.9}, origin="function")]
        far = [build("precision@5", {"min": 0.5, "max_drop": 0.1}, origin="settings")]
        assert gates(near, far) == [
            Gate(Metric("precision", 5), None, "min", Limit(0.9), "function"),
            Gate(Metric("precision", 5), None, "max_drop", Limit(0.1), "settings"),
        ]

    def test_a_tag_is_another_gate(self):
        near = [build("mrr", {"min": 0.9}, tag="a", origin="near")]
        far = [build("mrr", {"min": 0.5}, origin="far")]
        assert gates(near, far) == [
            Gate(Metric("mrr"), "a", "min", Limit(0.9), "near"),
            Gate(Metric("mrr"), None, "min", Limit(0.5), "far"),
        ]

    def test_off_cancels_what_is_further_away_and_no_more(self):
        near = [build("mrr", {"min": 0.9, "max_drop": "off"}, origin="near")]
        far = [build("mrr", {"min": 0.5, "max_drop": 0.1, "max_lost": 0}, origin="far")]
        assert gates(near, far) == [
            Gate(Metric("mrr"), None, "min", Limit(0.9), "near"),
            Gate(Metric("mrr"), None, "max_lost", Limit(0), "far"),
        ]
        assert not gates([build("mrr", {"min": "off"})], [build("mrr", {"min": 0.5})])
        assert gates([build("mrr", {"min": 0.5})], [build("mrr", {"min": "off"})]) == [
            Gate(Metric("mrr"), None, "min", Limit(0.5))
        ]

    def test_one_place_may_say_a_word_once(self):
        one, two = (
            build("P@5", {"min": 0.9}, origin="f.yaml:2:3"),
            build("precision@5", {"min": 0.8}, origin="f.yaml:3:3"),
        )
        message = error_of(resolve, [[one, two]])
        assert (
            message == "`min` of precision@5 is set twice in one place (f.yaml:2:3 and f.yaml:3:3). Keep one."
        )
        tagged = [build("mrr", {"max": 0.9}, tag="a", origin="x")] * 2
        assert (
            error_of(resolve, [tagged])
            == "`max` of mrr for the tag 'a' is set twice in one place (x). Keep one."
        )

    def test_one_place_may_say_different_words_of_one_metric(self):
        level = [build("mrr", {"min": 0.9}), build("mrr", {"max_drop": 0.1})]
        assert gates(level) == [
            Gate(Metric("mrr"), None, "min", Limit(0.9)),
            Gate(Metric("mrr"), None, "max_drop", Limit(0.1)),
        ]

    def test_gates_are_found_by_metric_tag_and_word(self):
        level = [build("mrr", {"min": 0.9, "max_drop": 0.1}), build("mrr", {"max_drop": 0}, tag="a")]
        resolved = resolve([level])
        assert len(resolved) == 3
        assert list(resolved.of(Metric("mrr"))) == ["min", "max_drop"]
        assert not resolved.of(Metric("map"))
        assert resolved.metrics == (Metric("mrr"),)
        assert list(resolved.slices) == [(Metric("mrr"), None), (Metric("mrr"), "a")]
        assert [gate.tag for gate in resolved.with_word("max_drop")] == [None, "a"]
        assert [gate.tag for gate in resolved.with_word("max_drop", without="min")] == ["a"]
