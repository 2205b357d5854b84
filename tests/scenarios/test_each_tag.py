"""`tag="*"`: a gate for each tag that ten queries or more carry."""

from __future__ import annotations

import json

from tests.cli.console import run
from tests.projects import printed

TAGS = {"long": 12, "short": 10, "rare": 3}
QUERIES = [(f"{tag} {n}", tag) for tag, count in TAGS.items() for n in range(count)]
GOLDEN = "queries:\n" + "".join(f"- {{query: {q}, relevant: d, tags: [{tag}]}}\n" for q, tag in QUERIES)
GOOD = {query: ["d", "e"] for query, _ in QUERIES}
SHORT_LOST = GOOD | {query: ["e", "d"] for query, tag in QUERIES if tag == "short"}


def gated(project, *gates):
    project.write("golden/faq.yaml", GOLDEN)
    project.answers(GOOD)
    project.test(['ir_golden("golden/*.yaml")', *gates])
    return project


def test_each_tag_that_enough_queries_carry_is_gated_and_the_others_are_named(project):
    gated(project, 'ir_threshold("mrr", 0.8, tag="*")')
    passed = project.run("-q")
    passed.assert_outcomes(passed=1)
    assert "The limit on each tag leaves out those that fewer than 10 queries carry: rare (3)." in printed(
        passed
    )
    project.answers(SHORT_LOST)
    failed = project.run()
    failed.assert_outcomes(failed=1)
    assert "mrr of the queries tagged short is 0.5000" in printed(failed)
    assert "tagged rare" not in printed(failed)


def test_a_limit_that_a_tag_has_of_its_own_takes_the_place(project):
    gated(project, 'ir_threshold("mrr", 0.8, tag="*")', 'ir_threshold("mrr", 0.4, tag="short")')
    project.answers(SHORT_LOST)
    project.run().assert_outcomes(passed=1)
    gated(project, 'ir_threshold("mrr", 0.8, tag="*")', 'ir_threshold("mrr", 0.4, tag="long")')
    project.answers(SHORT_LOST)
    project.run().assert_outcomes(failed=1)


def test_off_of_a_tag_takes_the_limit_on_each_away(project):
    gated(project, 'ir_threshold("mrr", min="off", tag="short")', 'ir_threshold("mrr", 0.4)')
    setting = ("-o", "ir_thresholds=mrr 0.8 tag=*")
    project.store(*setting)
    project.answers(SHORT_LOST)
    project.run(*setting).assert_outcomes(passed=1)
    limits = json.loads(project.baseline.read_text())["limits"]
    assert {"metric": "mrr", "tag": "short", "min": "off"} in limits
    project.answers(GOOD | {query: ["e", "d"] for query, tag in QUERIES if tag == "long"})
    project.run(*setting).assert_outcomes(failed=1)


def test_it_is_stored_as_written_and_a_looser_one_is_named(project):
    gated(project, 'ir_threshold("mrr", max_drop=0.1, tag="*")')
    project.store()
    limits = json.loads(project.baseline.read_text())["limits"]
    assert {"metric": "mrr", "tag": "*", "max_drop": 0.1} in limits
    project.answers(SHORT_LOST)
    failed = project.run("--ir-baseline", "-o", "ir_max_drop=off")
    assert "mrr of the queries tagged short fell by 0.5000" in printed(failed)
    project.edit("test_search.py", "max_drop=0.1", "max_drop=0.9")
    said = printed(project.run("--ir-baseline", "-o", "ir_max_drop=off"))
    assert "mrr of the queries tagged * max_drop 0.1 → 0.9 (holds less)" in said
    project.answers(GOOD)
    assert "short lost (10)" in printed(project.run("--ir-selftest"))


def test_a_golden_set_has_it_too_and_where_no_query_has_a_tag_it_is_an_error(project):
    gated(project)
    project.write("golden/faq.yaml", 'slices: {"*": {mrr: {min: 0.8, max_lost: 1}}}\n' + GOLDEN)
    project.answers(SHORT_LOST)
    project.run().assert_outcomes(failed=1)
    project.write("golden/faq.yaml", "queries: [{query: a, relevant: d}]")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.8, tag="*")'])
    assert "no query has the tag '*'" in printed(project.run())


def test_score_and_the_self_test_keep_the_gate_of_a_tag_that_ten_queries_carried(project, monkeypatch):
    monkeypatch.chdir(project.path)
    golden = 'slices: {"*": {mrr: {max_drop: 0.1}}}\n' + GOLDEN
    gated(project)
    project.write("golden/faq.yaml", golden)
    project.store()
    project.write("golden/faq.yaml", golden.replace(", tags: [short]", "", 1))
    project.answers(SHORT_LOST)
    project.run("--ir-report=now.json")
    scored = run("score", "golden/faq.yaml", "now.json", "--against", str(project.baseline))
    assert scored.status == 1
    assert "mrr [short] 0.5000 (−0.5000)" in scored.out
    assert "mrr max_drop [short]" in printed(project.run("--ir-selftest", "-vv", "-o", "ir_max_drop=off"))
