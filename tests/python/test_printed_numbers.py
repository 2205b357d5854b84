"""Numbers at the ends of their ranges, and close to a limit, as messages print them: never so that they contradict a verdict.

Each row is a test of one pytest run; a metric of the project's own gives the number that is the first id of a ranking.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch

from tests.projects import text_of

CONFTEST = """
import pytest

def pytest_irmetrics_metrics(config):
    return {"mine": lambda query, ranking, k: eval(ranking[0]) if ranking else 0.0}
"""
TEST = """
import pytest

ROWS = {rows!r}

@pytest.mark.ir_golden("golden/faq.yaml")
@pytest.mark.parametrize("row", [pytest.param(row, marks=pytest.mark.ir_threshold("mine", **words)) for row, (_, words) in enumerate(ROWS)])
def test_it(irmetrics, row):
    irmetrics.check(retriever=lambda query, k: [ROWS[row][0], "x"])
"""

AGAINST_A_LIMIT = [  # the score, the threshold, what is printed of them; None where the test passes
    ("0.79", {"min": 0.8}, "mine is 0.7900, * below the threshold: at least 0.8000 is required"),
    ("0.79996", {"min": 0.8}, "mine is 0.79996, * below the threshold: at least 0.80000 is required"),
    ("0.8 - 2e-9", {"min": 0.8}, "mine is 0.799999998, * below the threshold: at least 0.800000000 is required"),
    ("0.8 - 9e-10", {"min": 0.8}, None),
    ("-0.25", {"min": 0}, "mine is −0.2500, * below the threshold: at least 0.0000 is required"),
    ("-0.00001", {"min": 0}, "mine is −0.00001, * below the threshold: at least 0.00000 is required"),
    ("1234567891.0", {"min": 1234567892}, "mine is 1234567891, * below the threshold: at least 1234567892 is required"),
    ("1e12", {"min": 2e12}, "mine is 1e+12, * below the threshold: at least 2e+12 is required"),
    ("-1e12", {"min": 0.5}, "mine is −1e+12, * below the threshold: at least 0.5 is required"),
    ("987_654_321.0", {"min": 1e12}, "mine is 9.87654e+08, * below the threshold: at least 1e+12 is required"),
    ("1e15 + 1", {"min": 1e15 + 2}, "mine is 1000000000000001, * below the threshold: at least 1000000000000002 is required"),
    ("2.0**54", {"min": 2.0**54 + 4}, "mine is 1.801439850948198e+16, * below the threshold: at least 1.801439850948199e+16 is required"),
    ("1.7e308", {"min": 0.5}, "the metric mine returned 1.7e+308 for the query 'hours'"),
    ("10**400", {"min": 0.5}, "the metric mine raised OverflowError on the query 'hours'"),
    ("float('nan')", {"min": 0.5}, "the metric mine returned nan for the query 'hours'"),
    ("__import__('fractions').Fraction(1, 2)", {"min": 0.5}, None),
    ("True", {"min": 0.5}, None),
    ("'0.5'", {"min": 0.5}, None),
]  # fmt: skip

AGAINST_A_BASELINE = [  # the score before and now, the threshold, what is printed
    ("0.8", "0.79", {"max_drop": 0.001}, "mine fell by 0.0100 from the baseline to 0.7900; at most"),
    ("0.8", "0.79996", {"max_drop": 0.00001}, "mine fell by 0.00004 from the baseline to 0.79996; at most"),
    ("0.81004", "0.8", {"max_drop": 0.01}, "mine fell by 0.01004 from the baseline to 0.8000; at most 0.01000 is"),
    ("0.8", "0.8 - 5e-10", {"max_drop": 0}, None),
    ("-0.5", "-0.75", {"max_drop": 0.1}, "mine fell by 0.2500 from the baseline to −0.7500; at most"),
    ("1e12", "-1e12", {"max_drop": 0.1}, "mine fell by 2e+12 from the baseline to −1e+12; at most"),
    ("-1.0", "-1.1", {"max_drop": "5%"}, "mine fell by 0.1000 from the baseline to −1.1000; at most 0.0500 (5% of −1.0000)"),
    ("1.0", "0.9", {"max_drop": "5%"}, "mine fell by 0.1000 from the baseline to 0.9000; at most 0.0500 (5% of 1.0000)"),
]  # fmt: skip


def run(project, rows, *options):
    project.write("conftest.py", CONFTEST)
    project.write("golden/faq.yaml", "queries: [{id: hours, query: opening hours, relevant: x}]\n")
    project.write("test_search.py", TEST.format(rows=rows))
    return project.run(*options)


def assert_printed(result, keys):
    said = text_of(result)
    by_row = dict(re.findall(r"_+ test_it\[faq-(\d+)\] _+ (.*?)(?= _{3,} test_it| ={3,} )", said))
    assert {
        row: key for row, key in enumerate(keys) if key and not fnmatch(by_row.get(str(row), ""), f"*{key}*")
    } == {}, by_row
    assert sorted(map(int, by_row)) == [row for row, key in enumerate(keys) if key]


def test_a_score_beside_its_limit(project):
    rows = [(score, words) for score, words, _ in AGAINST_A_LIMIT]
    assert_printed(run(project, rows), [key for *_, key in AGAINST_A_LIMIT])


def test_a_score_beside_what_it_was(project):
    run(project, [(before, {"min": -1e13}) for before, *_ in AGAINST_A_BASELINE], "--ir-baseline-update")
    rows = [(now, words) for _, now, words, _ in AGAINST_A_BASELINE]
    assert_printed(run(project, rows, "--ir-baseline"), [key for *_, key in AGAINST_A_BASELINE])


def test_a_small_p_has_three_decimals_and_the_smallest_are_below_a_limit(project):
    queries = [f"query {number}" for number in range(12)]
    listed = "".join(f"  - {{query: {query}, relevant: x}}\n" for query in queries)
    for worse, key in ((8, "p = 0.004"), (12, "p < 0.001")):
        project.write("golden/faq.yaml", f"queries:\n{listed}")
        project.answers({query: ["x", "y"] for query in queries})
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01, significance=0.05)'])
        project.store()
        project.answers(
            {query: ["x", "y"] if number >= worse else ["y", "x"] for number, query in enumerate(queries)}
        )
        assert key in text_of(project.run("--ir-baseline", "-v"))
