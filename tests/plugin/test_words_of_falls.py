"""What a failure offers as its cause, and what it says of a fall, is so."""

from __future__ import annotations

import json
import random

import pytest

from tests.plugin.conftest import ANSWERS, make_ranking_worse, printed

GATED = ('ir_threshold("ndcg@10", max_drop=0.01)',)


def project_of_thirty(project, marks=GATED, tag=(), *, all_judged=False):
    """Thirty queries, two relevant documents each, and a stored baseline that has them at ranks 1 and 2."""
    queries = [
        {
            "query": f"question {n}",
            "relevant": {
                **(dict.fromkeys(ranking_of(n), 0) if all_judged else {}),
                f"a{n}": 2,
                f"b{n}": 1,
            },
            "tags": ["billing"] if n in tag else [],
        }
        for n in range(30)
    ]
    project.write("golden/faq.yaml", json.dumps({"queries": queries}))
    project.test(['ir_golden("golden/*.yaml")', *marks])
    project.answers({f"question {n}": ranking_of(n) for n in range(30)})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)


def ranking_of(n):
    return [f"a{n}", f"b{n}", *(f"x{n}-{i}" for i in range(8))]


def unjudged(n, count, where="y"):
    return [f"{where}{n}-{i}" for i in range(count)]


def part_of_the_index_lost(n):
    """The relevant documents are gone, what was below them moved up, and others came in at the end."""
    return [*ranking_of(n)[2:], *unjudged(n, 2)]


def reversed_and_cut(n):
    return [*reversed(ranking_of(n)[1:8]), *unjudged(n, 3)]


def the_other_end_of_the_list(n):
    return unjudged(n, 10)


def shuffled(n):
    ranking = [*ranking_of(n)[:5], *unjudged(n, 5)]
    random.Random(n).shuffle(ranking)
    return ranking


def another_querys_answer(n):
    return ranking_of((n + 1) % 30)


def lost_and_replaced_in_place(n):
    """One other document stands where the best one stood, which is gone though little came in."""
    return [f"y{n}", *ranking_of(n)[2:], f"z{n}"]


def page_two(n):
    return [*ranking_of(n)[5:], *unjudged(n, 5)]


OF_THE_RETRIEVER = (
    part_of_the_index_lost,
    reversed_and_cut,
    the_other_end_of_the_list,
    shuffled,
    another_querys_answer,
    lost_and_replaced_in_place,
    page_two,
)


@pytest.mark.parametrize("change", OF_THE_RETRIEVER, ids=lambda change: change.__name__)
def test_what_the_retriever_did_is_not_put_down_to_missing_judgments(project, change):
    project_of_thirty(project)
    project.answers({f"question {n}": change(n) if n < 20 else ranking_of(n) for n in range(30)})
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "new and unjudged" not in printed(result)
    assert "pytest-irmetrics label" not in printed(result)


@pytest.mark.parametrize("many", [1, 3, 5, 9])
def test_new_unjudged_documents_above_the_known_ones_are_to_be_judged_first(project, many):
    project_of_thirty(project, all_judged=True)
    project.answers({f"question {n}": [*unjudged(n, many), *ranking_of(n)][:10] for n in range(30)})
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert f"{30 * many} of 300 results are new and unjudged. If" in printed(result)


# What fell -------------------------------------------------------------------------------------------------


def test_no_mean_hides_a_slice_when_it_fell_itself(project):
    project_of_thirty(project, ['ir_threshold("ndcg@10", max_drop=0.9)'], tag=range(8))
    worse = {f"question {n}": unjudged(n, 10) if n < 8 else ranking_of(n) for n in range(30)}
    project.answers(worse)
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    text = printed(result)
    assert "The mean hides" not in text
    assert "ndcg@10 fell by 0.2667, and by 1.0000 in `billing` (8 of 8 queries worse, 0 better);" in text, (
        text
    )


def test_a_query_that_fell_does_not_pass_when_it_alone_is_looked_at(stored):
    make_ranking_worse(stored)
    result = stored.run("--ir-baseline", "--ir-query=refund")
    result.assert_outcomes(passed=1)
    text = printed(result)
    assert "passes," not in text
    assert "golden/faq.yaml: no mean judged, 1 of 1 query worse; mrr 0.3333 (−0.6667)" in text
    assert "Only single queries were judged" in text
    result = stored.run("--ir-baseline", "--ir-query=refund", "-q")
    assert "all pass" not in printed(result)
    assert "1 golden set, no mean judged" in printed(result)


def test_a_single_query_with_a_gate_of_its_own_passes_that_gate(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", min_each=0.2)'])
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    text = printed(project.run("--ir-baseline", "--ir-query=refund"))
    assert "golden/faq.yaml: single queries pass, no mean judged, 1 query; mrr 1.0000" in text
    project.answers({**ANSWERS, "refund policy": ["doc-5"]})
    result = project.run("--ir-baseline", "--ir-query=refund")
    result.assert_outcomes(failed=1)
    assert "golden/faq.yaml: FAILS, 1 of 1 query worse; mrr 0.0000 (−1.0000)" in printed(result)


def test_a_document_that_others_passed_was_overtaken_by_them(stored):
    stored.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9", "doc-4"]})
    text = printed(stored.run("--ir-baseline"))
    assert "doc-9 (grade 3): rank 1 → 2; doc-4 (grade 1): rank 2 → 3 above it now: doc-5 (unjudged)" in text
    text = printed(stored.run("-v", "--ir-baseline"))
    assert "doc-9 (grade 3) fell from rank 1 to 2, overtaken by doc-5 (unjudged)." in text


def test_a_latency_that_is_too_high_shows_the_milliseconds_of_its_queries(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=20)'])
    project.retrieve("__import__('time').sleep(0.06 * ('hours' in query)) or answers.get(query, [])[:k]")
    result = project.run("-v", "--ir-report=report.md")
    result.assert_outcomes(failed=1)
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.endswith(": hours"))
    block = lines[start : lines.index("", start)]
    assert block[1] == "  query     opening hours"
    assert block[2].startswith("  took ")
    assert block[2].endswith(" ms")
    assert len(block) == 3, block
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert " ms" in report[report.index("**`hours`**") :].splitlines()[2]
    assert "| rank |" not in report


def test_a_query_that_is_slow_and_too_low_shows_both(project):
    project.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("latency_p95", max=20)',
            'ir_threshold("mrr", min_each=0.9)',
        ]
    )
    project.retrieve("__import__('time').sleep(0.06 * ('hours' in query)) or answers.get(query, [])[:k]")
    text = printed(project.run("-v"))
    assert "query opening hours mrr 0.5000 took " in text
    assert " ms now 1 doc-2 2 doc-1(1)" in text
