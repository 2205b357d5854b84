"""What is said, before anything is asked, of a golden set that is too small for its tolerance."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.conftest import write_tests

NOTE = (
    "note: golden/faq.yaml: max_drop 0.01 on 3 queries is 0.03 of one query's score: one wrong document above the "
    "relevant ones fails it, whichever the query."
)


def told(result):
    return [line for line in result.outlines if line.startswith("note: ") and "of one query" in line]


@pytest.fixture
def stored(project):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    return project


def test_it_is_said_once_and_before_the_tests(stored):
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert told(result) == [NOTE]
    result.stdout.fnmatch_lines(["collected 1 item", NOTE, "*test_search.py*"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such names")
def test_a_hostile_name_is_inert(stored):
    (stored.path / "golden" / "faq.yaml").rename(stored.path / "golden" / "faq\x1b[31m.yaml")
    (note,) = told(stored.run("--ir-baseline", "--co"))
    assert "golden/faq\\x1b[31m.yaml" in note


def test_it_is_said_when_tests_are_only_collected(stored):
    assert told(stored.run("--ir-baseline", "--co")) == [NOTE]
    assert told(stored.run("--ir-baseline", "--co", "-v")) == [NOTE]


def test_with_v_the_summary_says_it_and_more(stored):
    result = stored.run("--ir-baseline", "-v")
    assert told(result) == []
    result.stdout.fnmatch_lines(
        ["*hint: max_drop 0.01 of mrr on 3 queries is 0.03 of one query's score: one*"]
    )
    assert str(result.stdout).count("max_drop 0.01 of mrr on 3") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--no-ir-baseline",),
        ("--ir-baseline-update",),
        ("--ir-selftest",),
        ("--ir-baseline", "-q"),
        ("--ir-baseline", "--co", "-q"),
        ("--ir-baseline", "-o", "ir_max_drop=0.5"),
        ("--ir-baseline", "-o", "ir_max_drop=off"),
        ("--ir-baseline", "-o", "ir_max_drop=50%"),
        ("--ir-baseline", "-k", "nothing"),
    ],
)
def test_it_is_not_said_where_it_does_not_matter(stored, arguments):
    assert told(stored.run(*arguments)) == []


def test_nor_where_no_test_measures(project):
    project.write("test_search.py", "def test_it():\n    pass\n")
    assert told(project.run("--ir-baseline")) == []


def test_the_least_tolerance_of_a_set_is_told(stored):
    stored.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("recall@10", max_drop=0.1)',
            'ir_threshold("ndcg@10", max_drop=0.001, significance=0.05)',
            'ir_threshold("precision@10", max_drop="2%", tag="billing")',
        ]
    )
    (note,) = told(stored.run("--ir-baseline"))
    assert note.startswith(
        "note: golden/faq.yaml: max_drop 2% on 1 query tagged billing is at most 0.02 of one query's score: one query that loses"
    )
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.1)'])
    (note,) = told(stored.run("--ir-baseline"))
    assert note.endswith(
        "max_drop 0.1 on 3 queries is 0.30 of one query's score: one query that loses all its relevant documents fails it, whichever the query."
    )


def test_many_sets_do_not_flood(stored):
    for number in range(5):
        stored.write(f"golden/more{number}.yaml", "queries: [{query: opening hours, relevant: doc-1}]")
    result = stored.run("--ir-baseline")
    assert len(told(result)) == 3
    result.stdout.fnmatch_lines(["note: 3 more golden sets are as small."])


def test_what_cannot_be_read_is_its_tests_to_tell(stored):
    stored.write("golden/faq.yaml", "queries: [{query: a}]")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert told(result) == []
    stored.run("--ir-baseline", "-o", "ir_max_drop=much").assert_outcomes(failed=1)


def test_workers_do_not_flood(stored):
    result = stored.run_apart("--ir-baseline", "-n", "2")
    result.assert_outcomes(passed=1)
    assert str(result.stdout).count("of one query") <= 1


def test_several_tests_over_one_golden_set_say_it_once(stored):
    write_tests(
        stored,
        "\n\n".join(
            f"""@pytest.mark.ir_golden("golden/faq.yaml")
@pytest.mark.ir_threshold("{metric}", max_drop=0.01)
def test_{metric}(irmetrics):
    irmetrics.check()"""
            for metric in ("mrr", "recall")
        ),
    )
    assert told(stored.run("--ir-baseline", "--co")) == [NOTE]
