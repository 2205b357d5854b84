"""The Markdown report: short, inert, failed golden sets first, and never more than GitHub takes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.markdown import COMMENT_LIMIT, STEP_SUMMARY_LIMIT, render
from tests.unit.reports.samples import (
    HOSTILE,
    NODE,
    broken,
    failing,
    gate,
    hostile,
    passing,
    query,
    row,
    sliced,
    tried,
)

ALLOWED_TAGS = {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}


CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.*?)(?<!`)\1(?!`)")


def tables(text):
    """The tables of a report, each as rows of cells."""
    found, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif current:
            found.append(current)
            current = []
    return found


def test_a_report_has_one_headline_and_a_table_for_each_golden_set():
    text = render(SessionReport([passing(), failing()], 1))
    assert text.startswith("## Retrieval quality: 1 of 2 golden sets fails\n")
    assert len(re.findall("^## ", text, re.MULTILINE)) == 1
    assert text.index("`golden/faq.yaml`: FAILS 1 of 2 gates") < text.index(
        "`golden/help.yaml`: passes 1 gate"
    )
    overview, scores, ranking, other = tables(text)
    assert overview == [
        ["golden set", "verdict", "metric", "now", "delta"],
        [":--", ":--", ":--", "--:", "--:"],
        ["`golden/faq.yaml`", "**FAILS 1 of 2 gates**", "`mrr`", "0.5000", "−0.5000"],
        ["`golden/help.yaml`", "passes 1 gate", "`mrr`", "1.0000", ""],
    ]
    assert scores == [
        ["metric", "n", "now", "baseline", "delta", "gate", "verdict"],
        [":--", "--:", "--:", "--:", "--:", ":--", ":--"],
        ["`mrr`", "1", "0.5000", "1.0000", "−0.5000", "drop ≤ 0.01", "**FAILS**"],
        ["`ndcg@10`", "1", "0.9000", "0.9000", "0.0000", "drop ≤ 0.01", "passes"],
    ]
    assert ranking == [
        ["rank", "baseline", "now"],
        ["--:", ":--", ":--"],
        ["1", "`d1` (**grade 3**, now 2)", "`d2` (was 2)"],
        ["2", "`d2` (now 1)", "`d1` (**grade 3**, was 1)"],
    ]
    assert other[0] == ["metric", "n", "now", "gate", "verdict"]
    assert "<details><summary>1 golden set passes</summary>" in text
    assert "Not returned: `d3` (grade 1)." in text
    assert "- **mrr fell by 0.5000 from the baseline to 0.5000; at most 0.0100 is allowed.**" in text


def test_nothing_is_folded_when_all_pass():
    text = render(SessionReport([passing("a"), passing("b", golden_set="b")]))
    assert text.startswith("## Retrieval quality: 2 golden sets pass\n")
    assert "<details>" not in text


def test_tests_of_the_same_golden_set_have_different_headings():
    text = render(SessionReport([failing("t.py::test[dense]"), failing("t.py::test[bm25]"), passing()], 1))
    assert text.startswith("## Retrieval quality: 2 of 3 tests fail\n")
    assert "### `golden/faq.yaml, test[dense]`: FAILS" in text
    assert "### `golden/faq.yaml, test[bm25]`: FAILS" in text
    assert "<summary>1 test passes</summary>" in text
    assert "### `golden/help.yaml`: passes" in text


def test_unmeasured_tests_come_first():
    text = render(broken([]))
    assert "`tests/test_search.py::test_quality[new]`:" in text
    assert "the key \\`relevent\\` is unknown." in text
    assert "and this too." in text


def test_of_very_many_unmeasured_tests_the_first_are_named():
    unmeasured = {f"t{number}": "a line\n" * 40 for number in range(100)}
    text = render(SessionReport([], 1, {}, unmeasured), limit=10_000)
    assert re.search(r"\*\d+ tests more are left out here", text)
    assert "*20 lines more are left out here, for brevity.*" in text


def test_expected_failures_do_not_count_as_passes():
    text = render(SessionReport([failing("a", golden_set="a"), failing()], 1, {NODE: "xfailed"}))
    assert "<summary>1 other golden set</summary>" in text
    assert "as its xfail mark expects" in text


def test_errors_notes_and_statuses_are_shown():
    item = failing(
        queries=[query(error="raised KeyError\nin two lines", status="xfail: T-7", now=(), before=None)],
        gates=[
            gate(word="errors", origin=""),
            gate("not checked", text="map: not checked without a baseline."),
        ],
        lowered=["mrr 0.9 → 0.8"],
        only_queries=True,
    )
    text = render(SessionReport([item], 3, unused_baselines={"ir_baselines/test_x/y.json": "gone"}))
    for told in (
        "raised KeyError\nin two lines\n",
        "xfail: T-7",
        "- map: not checked without a baseline.",
        "- The new baseline lowers mrr 0.9 → 0.8.",
        "`ir_baselines/test_x/y.json` belongs to no test",
        "Only single queries were judged",
        "internal error",
    ):
        assert told in text
    assert "Set in" not in text


def test_an_empty_ranking_is_shown_as_such():
    assert "Nothing was returned." in render(
        SessionReport([failing(queries=[query(now=(), before=None)])], 1)
    )


def test_a_query_without_a_baseline_has_one_ranking():
    ranking = tables(render(SessionReport([failing(queries=[query(before=None, scores={"mrr": 0.5})])], 1)))[
        1
    ]
    assert ranking[0] == ["rank", "now"]
    assert ranking[2] == ["1", "`d2`"]


def test_of_a_deep_ranking_only_relevant_documents_are_shown():
    now = [f"d{number}" for number in range(2, 200)]
    text = render(
        SessionReport([failing(queries=[query(now=[*now[:150], "d1", *now[150:]], before=None)])], 1)
    )
    ranking = tables(text)[1]
    assert [cells[0] for cells in ranking[2:]] == [*map(str, range(1, 11)), "151"]
    assert "*188 ranks more are left out here, for brevity.*" in text


def test_of_many_failed_gates_the_first_are_shown():
    gates = [gate(text=f"gate {number} fails") for number in range(500)]
    text = render(SessionReport([failing(gates=gates, notes=["a note"] * 30)], 1))
    assert text.count("- **gate ") == 20
    assert "480 failed gates more are left out" in text
    assert "10 notes more are left out" in text


def test_hostile_text_is_escaped():
    text = render(SessionReport([hostile()], 1, {}, {HOSTILE[0]: "\n".join(HOSTILE)}))
    words = CODE.sub("", text)
    assert set(re.findall(r"<[^>]*>?", words)) <= ALLOWED_TAGS
    assert not re.search(r"@everyone|#1|https://|www\.e|:smile|\$|[^\\]!?\[", words)
    for rows in tables(text):
        assert len({len(cells) for cells in rows}) == 1
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\x00" not in text
    assert not re.search(r"^\s*::", text, re.MULTILINE)
    text.encode("utf-8")


def test_the_same_items_in_any_order_give_the_same_bytes():
    items = [failing(), passing(), passing("z")]
    assert render(broken(items)) == render(broken(items[::-1]))


def many(sets, queries):
    queries = [query(f"query number {number} that is rather long to read") for number in range(queries)]
    return [
        failing(f"tests/test_x.py::test[{number}]", golden_set=f"golden/{number}.yaml", queries=queries)
        for number in range(sets)
    ]


def test_a_large_report_fits_into_a_comment():
    text = render(SessionReport(many(30, 20), 1))
    assert len(text.encode()) <= COMMENT_LIMIT
    assert len(tables(text)) >= 30
    assert re.search(r"\*\d+ quer\w+ more are left out here", text)
    assert len(render(SessionReport(many(30, 20), 1), limit=STEP_SUMMARY_LIMIT)) > COMMENT_LIMIT


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (30_000, "explaining queries more are left out"),
        (20_000, "sections on failing golden sets more are left out"),
        (8_000, "27 sections on failing golden sets more are left out"),
        (3_000, "| `golden/0.yaml` | **FAILS 1 of 2 gates** |"),
        (1_000, "golden sets more are left out"),
        (150, "*30 golden sets more are left out here, for brevity.*"),
        (100, ""),
    ],
)
def test_a_report_that_is_cut_says_what_it_leaves_out(limit, said):
    text = render(SessionReport(many(30, 20), 1), limit=limit)
    assert len(text.encode()) <= limit
    assert said in text
    assert bool(text) == bool(said)
    if limit == 1_000:
        assert "| `golden/0.yaml` | **FAILS" in text


def test_the_sections_on_sets_that_pass_are_left_out_before_one_that_fails():
    sets = [
        passing(f"test_search.py::test_it[{n}]", golden_set=f"golden/passing-{n}.yaml") for n in range(20)
    ]
    text = render(SessionReport([*many(40, 3), *sets], 1), limit=40_000)
    (overview, *_) = tables(text)
    assert [cells[1] for cells in overview[2:]] == ["**FAILS 1 of 2 gates**"] * 40 + ["passes 1 gate"] * 20
    assert text.count("\n### ") == 40
    assert "### `golden/passing" not in text


def test_where_failing_sets_have_a_row_passing_ones_have_no_section():
    items = [
        *many(30, 20),
        passing(),
        passing("test_search.py::test_it[other]", golden_set="golden/other.yaml"),
    ]
    text = render(SessionReport(items, 1), limit=3_000)
    (overview,) = tables(text)
    assert [cells[1] for cells in overview[2:]] == ["**FAILS 1 of 2 gates**"] * 30 + ["passes 1 gate"] * 2
    assert "###" not in text


def test_the_limit_counts_bytes():
    text = render(SessionReport(many(3, 3), 1))
    assert len(text) < len(text.encode())
    assert len(render(SessionReport(many(3, 3), 1), limit=len(text)).encode()) <= len(text)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.sampled_from([failing(), passing(), hostile(), failing("ö" * 90_000)]), max_size=4),
    st.integers(0, 200_000),
)
def test_no_limit_is_exceeded(items, limit):
    session = SessionReport(items, 1, {}, {"x" * 70_000: "\u200b" * 100_000})
    assert len(render(session, limit=limit).encode()) <= limit


def test_very_long_names_are_cut():
    assert (
        len(render(SessionReport([failing(golden_set="x" * 10**5, queries=[query("\u200b" * 10**5)])], 1)))
        < 20_000
    )


def test_slices_and_the_kind_of_change_are_shown():
    text = render(SessionReport([sliced()], 1))
    assert "Documents are ranked lower, not lost. Most of it is in billing." in text
    assert "<details><summary>3 slices</summary>" in text
    assert tables(text)[-1][2:] == [
        ["`billing`", "12", "0.4000", "0.6000", "−0.2000", "−0.300 to −0.100", "fell"],
        ["`login`", "9", "0.9000", "0.8000", "+0.1000", "+0.050 to +0.150", "rose"],
    ]
    assert "*1 tag more: 1 of fewer than 5 queries.*" in text
    rows = [row(tag=f"tag {number}", now=1.0, n=6) for number in range(30)]
    rows[29] = row(tag="broken", now=0.0, n=6)
    many = render(SessionReport([sliced(slices=rows)], 1))
    assert "broken" in many
    assert "10 tags more: 10 that cost the mean less" in many


def test_the_self_test_is_shown():
    text = render(SessionReport([tried()]))
    assert "`golden/faq.yaml`: baseline passes 1 gate" in text
    assert "Self-test: caught 1 of 2; missed: drop last." in text
    assert tables(text)[-1][2:] == [
        ["drop last", "1", "no metric moves", "**MISSED**"],
        ["reverse", "3", "mrr −0.5000", "caught by mrr min"],
    ]
    assert text.endswith(
        "ndcg@&#8203;10 with max\\_drop=0.01 would catch it.\n\n- No query got the 10 results that were asked for; the longest answer has 2.\n"
    )
    assert "nothing could be made worse" in render(SessionReport([tried(selftest=[])]))


def test_of_a_long_self_test_what_no_gate_catches_is_shown():
    caught, missed = tried().selftest
    text = render(SessionReport([tried(selftest=[*[caught] * 30, missed])]))
    assert "| drop last | 1 | no metric moves | **MISSED** |" in text
    assert "\n\n*11 degradations more are left out here, for brevity; each is caught.*\n" in text
    text = render(SessionReport([tried(selftest=[missed] * 30)]))
    assert "\n\n*10 degradations more are left out here, for brevity.*\n" in text


def test_a_single_golden_set_has_no_table_of_all():
    assert "verdict | metric | now" not in render(SessionReport([failing()], 1))


def test_the_table_of_all_has_the_mean_that_fails_a_set():
    rows = [row("mrr", 0.9, 0.9, "passes"), row("ndcg@10", 0.4, 0.6, tag="billing")]
    text = render(SessionReport([failing(rows=rows), passing(rows=[])], 1))
    assert tables(text)[0][2:] == [
        ["`golden/faq.yaml`", "**FAILS 1 of 2 gates**", "`ndcg@10 [billing]`", "0.4000", "−0.2000"],
        ["`golden/help.yaml`", "passes 1 gate", "", "", ""],
    ]


def test_of_very_many_golden_sets_the_failing_ones_stay_in_the_table():
    items = [passing(f"t::t[{n}]", golden_set=f"golden/{n}.yaml") for n in range(500)]
    text = render(SessionReport([*items, failing()], 1))
    assert len(text.encode()) <= COMMENT_LIMIT
    assert tables(text)[0][2][0] == "`golden/faq.yaml`"
    assert len(tables(text)[0]) == 102
    assert "*401 golden sets more are left out here, for brevity.*" in text
    assert "### `golden/faq.yaml`: FAILS" in text


def test_the_commands_stand_below_the_queries():
    text = render(SessionReport([failing(judge=["pytest --ir-report=json:run.json", "label `x`"])], 1))
    commands = text.partition("</details>\n\n")[2].split("\n\n")[0].splitlines()
    assert commands == [
        f"- To look closer: `pytest '{NODE}' --ir-baseline --ir-query refund`",
        "- To judge both: `pytest --ir-report=json:run.json`",
        "- To judge both: `` label `x` ``",
        f"- To accept it: `pytest '{NODE}' --ir-baseline-update`",
    ]
    assert "To accept it" not in render(SessionReport([failing(accept=None)], 1))
    assert "To accept it" not in render(SessionReport([failing(accept="x" * 1001)], 1))
    assert "To look closer" not in render(SessionReport([passing(look="pytest")], 0))


def test_a_comment_leaves_room_for_a_line_of_whoever_posts_it():
    """GitHub takes 65,536 characters; the marker by which a comment is found again is one line more."""
    assert len(render(SessionReport(many(60, 20), 1)).encode()) <= 65_536 - 500


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_text_of_others_makes_markup(one, other, third):
    """What GitHub would link, mention, format or fetch is broken wherever a text of others can stand."""
    item = failing(
        nodeid=one,
        golden_set=other,
        queries=[
            query(one, text=other, where=f"{third}:1", now=(one, third), judgments={one: 1.0, other: 2.0})
        ],
        rows=[row(tag=third, gate=one, verdict=other)],
        gates=[gate(queries=[one], text=other, details=[third], origin=one)],
        notes=[one],
        kind_sentences=[third],
        titles={one: other, third: one},
        look=other,
        accept=third,
    )
    words = CODE.sub("", render(SessionReport([item, passing()], 1, {}, {third: one})))
    words = re.sub(r"<code>.*?</code>", "", words)
    assert set(re.findall(r"<[^>]*>?", words)) <= ALLOWED_TAGS
    assert not re.search(r"(?<!\\)[\[\]]|@\w|(?<!&)#\d|://|www\.|\$", words.replace("### ", ""))


def test_a_row_of_a_slice_has_its_tag():
    text = render(SessionReport([failing(rows=[row(tag="billing")])], 1))
    assert tables(text)[0][2][0] == "`mrr [billing]`"


def test_a_set_without_texts_is_reported_by_its_ids():
    text = render(SessionReport([failing(queries=[query("q1", text=None), query("q2", text="q2")])], 1))
    assert re.search(r"(?m)^\*\*`q1`\*\*$", text)
    assert re.search(r"(?m)^\*\*`q2`\*\*$", text)
    assert "None" not in text
