"""JUnit's file has each score of a test under a fixed name, from workers and after reruns too."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from .conftest import edit_golden_set, make_ranking_worse


def properties(project, *options):
    """The properties of each test case in JUnit's file, in order."""
    project.run_apart("--junitxml=junit.xml", *options)
    cases = ET.parse(project.path / "junit.xml").iter("testcase")
    return [[(one.get("name"), one.get("value")) for one in case.iter("property")] for case in cases]


@pytest.mark.parametrize("options", [[], ["-n", "1"], ["-o", "junit_family=xunit1"]], ids=str)
def test_a_test_has_its_scores(project, options):
    (found,) = properties(project, *options)
    assert found == [
        ("ir.mrr", "0.833333"),
        ("ir.map", "0.777778"),
        ("ir.ndcg@3", "0.850217"),
        ("ir.ndcg@10", "0.850217"),
        ("ir.precision@10", "0.166667"),
        ("ir.recall@10", "1.0"),
        ("ir.judged@3", "0.611111"),
        ("ir.judged@10", "0.611111"),
    ]


def test_a_test_that_is_compared_has_what_it_is_compared_with(stored):
    make_ranking_worse(stored)
    (found,) = properties(stored, "--ir-baseline")
    assert {name: value for name, value in found if name.startswith("ir.mrr")} == {
        "ir.mrr": "0.611111",
        "ir.mrr.baseline": "0.833333",
        "ir.mrr.delta": "-0.222222",
    }


def test_a_mean_is_over_all_of_today_s_queries_and_what_is_compared_over_those_of_both(stored):
    edit_golden_set(stored, "relevant: doc-1", "relevant: doc-1\n  - {query: new, relevant: doc-1}")
    found = dict(properties(stored, "--ir-baseline")[0])
    assert (found["ir.mrr"], found["ir.mrr.baseline"], found["ir.mrr.delta"]) == ("0.625", "0.833333", "0.0")


def test_a_slice_has_its_tag(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5, tag="billing")'])
    assert ("ir.mrr [billing]", "1.0") in properties(project)[0]


def test_a_rerun_replaces_the_scores_and_leaves_what_the_test_records(stored):
    make_ranking_worse(stored)
    stored.write(
        "test_search.py",
        """
        import pytest

        @pytest.mark.ir_golden("golden/*.yaml")
        @pytest.mark.ir_threshold("mrr", 0.5)
        def test_search_quality(irmetrics, request):
            request.node.user_properties.append(("ir.model", "small"))
            irmetrics.check()
        """,
    )
    names = [name for name, _ in properties(stored, "--ir-baseline", "--reruns", "1")[-1]]
    assert names.count("ir.mrr") == 1
    assert names.count("ir.model") == 2  # pytest's own way


def test_what_only_evaluates_has_scores_and_what_fails_before_that_has_none(project):
    project.test('ir_golden("golden/*.yaml")', "irmetrics.evaluate()")
    assert ("ir.mrr", "0.833333") in properties(project)[0]
    project.retrieve("1 / 0")
    assert properties(project) == [[]]
