"""The HTML report as text: one file, inert, accessible, and the same bytes for the same items."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.html import render
from pytest_irmetrics.reports.html_page import read_resource
from pytest_irmetrics.reports.session_report import RunInfo
from tests.unit.reports.page import Page
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

ATTRIBUTES = {
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "aria-live",
    "autocomplete",
    "charset",
    "class",
    "content",
    "cx",
    "cy",
    "d",
    "data-before",
    "data-explains",
    "data-kind",
    "data-label",
    "data-name",
    "data-now",
    "data-place",
    "data-set",
    "data-sort",
    "data-value",
    "datetime",
    "dir",
    "height",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "lang",
    "name",
    "open",
    "points",
    "preserveaspectratio",
    "r",
    "rel",
    "role",
    "rowspan",
    "scope",
    "selected",
    "spellcheck",
    "tabindex",
    "title",
    "type",
    "value",
    "viewbox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
}


def test_tests_of_the_same_golden_set_have_different_headings():
    text = Page(render(SessionReport([failing("t.py::test[dense]"), failing("t.py::test[bm25]")], 1))).text
    assert text.startswith("Retrieval quality: 2 of 2 tests fail")
    assert "golden/faq.yaml, test[dense]" in text
    assert "golden/faq.yaml, test[bm25]" in text


def test_a_page_shows_what_fails_and_by_how_much():
    text = Page(render(broken([passing(), failing()]))).text
    assert text.startswith("Retrieval quality: 1 of 2 golden sets fails, 1 test failed before")
    for told in (
        "FAILS 1 of 2 gates",
        "passes 1 gate",
        "1 query, 10 results each, compared with the baseline",
        "mrr fell by 0.5000 from the baseline to 0.5000; at most 0.0100 is allowed.",
        "1 query: 1 worse, 0 better, 0 same.",
        "Set in the setting ir_max_drop.",
        "mrr ✗ FAILS −0.5000 0.5000 1.0000 drop ≤ 0.01 1",
        "ndcg@10 ✓ passes 0.0000 0.9000 0.9000 drop ≤ 0.01 1",
        "Worst: refund .",
        "golden sets failing 1 of 2 queries worse 1 queries better 0 queries 2",
        "No query got the 10 results",
        "pytest 'tests/test_search.py::test_quality[faq]' --ir-baseline --ir-query refund",
        "pytest-irmetrics history 'tests/test_search.py::test_quality[faq]' --html history.html",
        "worse refund what of refund golden/faq.yaml now 0.5000 , moved by −0.5000",
        "1 d1 grade 3 now 2 d2 unjudged was 2",
        "2 d2 unjudged now 1 d1 grade 3 was 1",
        "Relevant and not among the results: d3 grade 1",
        "the key `relevent` is unknown. golden/new.yaml:9:1: and this too.",
    ):
        assert told in text
    assert text.index("golden/faq.yaml") < text.index("golden/help.yaml")


def test_a_page_shows_errors_statuses_and_notes():
    item = failing(
        outcome="error",
        rows=[row(full=0.8)],
        queries=[
            query("a", error="raised KeyError\nin line 2", scores={}, scores_before={}, now=()),
            query("b", now=(), before=None, status="no_answer"),
        ],
        gates=[gate("not checked", text="map is not checked without a baseline.")],
        lowered=["mrr 0.9 → 0.8"],
        only_queries=True,
    )
    text = Page(
        render(SessionReport([item], 2, unused_baselines={"ir_baselines/test_x/y.json": "gone"}))
    ).text
    for told in (
        "FAILS: not every query was retrieved",
        "raised KeyError in line 2",
        "Nothing was returned.",
        "no_answer",
        "not checked map is not checked without a baseline.",
        "The new baseline lowers mrr 0.9 → 0.8.",
        "ir_baselines/test_x/y.json belongs to no test",
        "Only single queries were judged",
        "The run was interrupted",
        "Over all of today's queries",
    ):
        assert told in text


def test_slices_and_the_kind_of_change_are_shown():
    text = Page(render(SessionReport([sliced()], 1))).text
    for told in (
        "Documents are ranked lower, not lost. Most of it is in billing.",
        "ndcg@10 by tag",
        "billing fell −0.2000 0.4000 0.6000 −0.300 to −0.100 12",
        "1 tag has too few changed queries to say anything other : 0.0000 (2 queries)",
        "20 queries show drops of 0.14",
    ):
        assert told in text


def test_the_self_test_is_shown():
    text = Page(render(SessionReport([tried()]))).text
    for told in (
        "baseline passes 1 gate",
        "caught 1 of 2; missed: drop last.",
        "reverse Every ranking is turned round. 3 mrr −0.5000 caught by mrr min",
        "drop last The last result is cut. 1 no metric moves ✗ MISSED",
        "ndcg@10 with max_drop=0.01 would catch it.",
    ):
        assert told in text
    assert "nothing could be made worse" in Page(render(SessionReport([tried(selftest=[])]))).text


def test_an_expected_failure_is_shown_as_expected():
    text = Page(render(SessionReport([failing(), passing()], 0, {NODE: "xfailed"}))).text
    assert "fails as expected" in text
    assert "FAILS 1 of 2 gates, as its xfail mark expects" in text


def test_a_session_that_measured_nothing_has_a_page():
    assert "nothing was measured" in Page(render(SessionReport([], 5))).text


def test_a_page_needs_no_other_file():
    page = Page(render(broken([failing(), passing()])))
    links = [
        value for _, attributes, _ in page.elements for name, value in attributes.items() if name == "href"
    ]
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert not {"img", "iframe", "object", "form"} & {tag for tag, _, _ in page.elements}
    assert not re.search(r"https?://|@import|url\(", render(SessionReport([failing()], 1)))


def test_only_its_own_script_and_style_may_run():
    text = render(SessionReport([failing()], 1))
    policy = next(meta["content"] for meta in Page(text).all("meta") if "http-equiv" in meta)
    for tag in ("style", "script"):
        (part,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(part.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_every_link_leads_somewhere():
    page = Page(render(SessionReport([failing(), passing()], 1)))
    anchors = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    assert {link["href"][1:] for link in page.all("a")} <= anchors
    assert "q-set-golden-faq.yaml-refund" in anchors


def test_the_anchor_of_a_query_does_not_depend_on_what_else_is_in_the_report():
    both = Page(render(SessionReport([passing(), passing("z", golden_set="z.yaml")])))
    turned = Page(
        render(SessionReport([failing("z", golden_set="z.yaml", queries=[query("opening")]), passing()], 1))
    )
    for page in (both, turned):
        assert {"q-set-z.yaml-opening", "q-set-golden-help.yaml-opening"} <= {
            attributes.get("id") for attributes in page.all("li")
        }


def test_ids_are_unique():
    items = [failing(NODE, queries=[query("a"), query("b")]), passing(), passing("z")]
    ids = Counter(a["id"] for _, a, _ in Page(render(SessionReport(items, 1))).elements if "id" in a)
    assert max(ids.values()) == 1


def test_tables_have_headers_and_controls_have_labels():
    page = Page(render(SessionReport([failing(), passing()], 1)))
    assert all("scope" in header for header in page.all("th"))
    for tag, _, around in page.elements:
        if tag in ("select", "input"):
            assert "label" in around


def test_hostile_text_is_escaped():
    text = render(SessionReport([hostile(), passing()], 1, {}, {HOSTILE[0]: "\n".join(HOSTILE)}))
    page = Page(text)
    plain = Page(render(broken([failing(), passing()])))
    assert {tag for tag, _, _ in page.elements} <= {tag for tag, _, _ in plain.elements} | {
        "details",
        "ul",
        "li",
    }
    assert {name for _, attributes, _ in page.elements for name in attributes} <= ATTRIBUTES
    assert len(page.all("script")) == len(page.all("style")) == len(page.all("h1")) == 1
    assert "<script>document.title = 'pwned'</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "\\u202e" in page.text
    for sign in ("\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\u2028"):
        assert sign not in text
    text.encode("utf-8")


@settings(deadline=None, max_examples=25)
@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_is_escaped(anything):
    item = failing(
        nodeid=anything,
        golden_set=anything,
        notes=[anything],
        queries=[query(anything, now=(anything,), where=anything, text=None, scores={anything: 0.5})],
    )
    page = Page(render(SessionReport([item], 1)))
    assert {name for _, attributes, _ in page.elements for name in attributes} <= ATTRIBUTES
    assert len(page.all("section")) == 2


def test_the_same_items_in_any_order_give_the_same_bytes():
    items = [failing(), passing(), passing("z")]
    assert render(broken(items)) == render(broken(items[::-1]))


def test_the_page_says_when_and_on_what_it_was_made():
    info = RunInfo(
        "2026-03-01T09:30:00+01:00", 75.2, "0123456789abcdef", {"python": "3.13.1", "pytest": "9.0.1"}
    )
    text = Page(render(SessionReport([failing()], 1, info=info))).text
    assert "commit 0123456789ab · 2026-03-01 09:30 +01:00 · took 1 min 15 s · Queries, worst first" in text
    assert text.endswith("python 3.13.1 · pytest 9.0.1")


def test_the_verdict_and_what_broke_come_first():
    text = Page(render(SessionReport([sliced()], 1))).text
    top = text[: text.index("golden/faq.yaml")]
    for told in (
        "1 of 1 golden set fails",
        "mrr fell by 0.5000",
        "Most of it is in billing.",
        "gates failing 1 of 2",
    ):
        assert told in top


def test_of_a_session_that_passes_the_means_come_first():
    text = Page(render(SessionReport([passing()]))).text
    assert "mrr 1.0000 gates passing 1 of 1 queries 1" in text[: text.index("golden/help.yaml")]
    both = Page(render(SessionReport([passing(), passing("z", golden_set="z.yaml")]))).text
    assert "golden sets passing 2 of 2" in both


def test_where_nothing_was_gated_the_first_screen_says_so():
    text = Page(
        render(SessionReport([passing(gates=[], rows=[row(baseline=None, verdict="", gate="")])]))
    ).text
    assert text.startswith(
        "Retrieval quality: 1 golden set passes ✓ Retrieval quality: 1 golden set passes mrr 0.5000 Nothing was gated"
    )
    assert "Means. metric 0 1 now queries mrr 0.5000" in text


def test_a_caption_explains_the_signs_that_its_plots_have():
    compared = {"gate": "drop≤0.01 ≥0.9", "allowed": 0.01, "bounds": [0.9]}
    for rows, told in (
        ([row()], "○ baseline, ● now, ◆ fails."),
        ([row(now=1.0, verdict="passes")], "○ baseline, ● now."),
        (
            [row(**compared)],
            "○ baseline, ● now, ◆ fails; the band is how far it may fall; the bracket is its limit.",
        ),
    ):
        assert (
            f"Change of each mean from the baseline: {told}"
            in Page(render(SessionReport([failing(rows=rows)], 1))).text
        )


def test_an_answer_where_none_is_right_is_told_and_not_called_the_same():
    queries = [
        query("none", now=["d9"], before=[], judgments={}, scores={}, scores_before={}, status="no_answer")
    ]
    page = Page(render(SessionReport([failing(queries=queries)], 1)))
    assert "Marked no_answer, and 1 document came back." in page.text
    assert [item["data-label"] for item in page.all("li") if "data-label" in item] == [""]


def test_statistics_are_offered_where_there_are_any():
    assert "Statistics, and where each limit was set" in render(SessionReport([failing()], 1))
    without = failing(gates=[gate(origin="", details=[])])
    assert "Statistics" not in render(SessionReport([without], 1))


def test_a_test_that_fails_for_another_reason_says_so_first():
    item = passing()
    text = Page(render(SessionReport([item], 1, {item.nodeid: "failed"}))).text
    top = text[: text.index("golden/help.yaml")]
    assert "It passes 1 gate, and the test fails for another reason." in top


def test_rows_that_fail_come_first_and_those_without_a_limit_last():
    rows = [row("map", verdict="", gate=""), row("mrr", 0.9, 0.9, "passes"), row("ndcg@10")]
    page = Page(render(SessionReport([failing(rows=rows)], 1)))
    table = page.text[page.text.index("queries ndcg@10") : page.text.index("What fails")]
    assert re.findall(r"(?:mrr|map|ndcg@10) (?:✓ passes |✗ FAILS )?[−0]", table) == [
        "ndcg@10 ✗ FAILS −",
        "mrr ✓ passes 0",
        "map −",
    ]


def test_the_index_has_each_golden_set_with_its_leading_metric_and_why_it_fails():
    second = failing("z.py::test[z]", golden_set="z.yaml", gates=[gate(text="mrr fell a lot.")])
    text = Page(render(SessionReport([failing(), second, passing()], 1))).text
    index = text[text.index("3 golden sets Change of each leading metric") :]
    for told in (
        "✗ FAILS z.yaml mrr fell a lot. mrr 0.5000 −0.5000 1 0 1",
        "✓ passes golden/help.yaml mrr 1.0000 0 0 1",
    ):
        assert told in index


def test_of_many_golden_sets_the_first_that_fail_are_open():
    many = [failing(f"t.py::test[{n}]", golden_set=f"{n}.yaml") for n in range(5)]
    page = Page(render(SessionReport(many, 1)))
    opened = ["open" in a for tag, a, around in page.elements if tag == "details" and around[-1] == "section"]
    assert opened == [True, True, True, False, False]


def test_variants_are_drawn_side_by_side():
    two = [
        passing(
            f"t.py::test[{name}]",
            golden_set="faq.yaml",
            rows=[row("mrr", mean, None), row("latency_p95", 9.5, None)],
        )
        for name, mean in (("bm25", 0.51), ("dense", 0.62))
    ]
    page = Page(render(SessionReport(two)))
    assert (
        "Side by side: faq.yaml, t.py::test bm25 dense How far each mean is below the highest of its metric. metric −0.13 0 bm25 dense mrr bm25 0.5100 dense 0.6200"
        in page.text
    )
    labels = [image["aria-label"] for image in page.all("svg") if "aria-label" in image]
    assert "mrr: bm25 0.5100, dense 0.6200" in labels
    assert not any(label.startswith("latency_p95: ") for label in labels)


def test_known_failures_have_no_bar():
    page = Page(render(SessionReport([failing(queries=[query("a"), query("b", status="xfail: T-1")])], 1)))
    assert "Queries, by mrr: 1 worse, 0 better, 0 same" in page.text
    assert [link["aria-label"] for link in page.all("a") if "tabindex" in link] == ["a: −0.5000"]


def test_a_score_that_moved_by_rounding_alone_is_the_same():
    moved = query(scores={"mrr": 1 / 3 + 9e-10, "map": 0.5}, scores_before={"mrr": 1 / 3, "map": 0.25})
    (line,) = (
        item
        for item in Page(render(SessionReport([failing(queries=[moved])], 1))).all("li")
        if "data-now" in item
    )
    assert (line["data-label"], line["data-now"], line["data-before"]) == (
        "same",
        "0.333333334 0.5",
        "0.333333334 0.25",
    )


def test_without_a_baseline_there_is_no_column_for_it():
    page = Page(render(SessionReport([passing()])))
    assert "baseline" not in page.text
    assert "delta" not in page.text
    assert "Queries, by mrr: 0 of 1 score 0" in page.text


def test_without_jinja2_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape('pip install "pytest-irmetrics[html]"')):
        render(SessionReport([failing()]))


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(scheme):
    blocks = re.findall(r":root \{(.*?)\}", read_resource("report.css"), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[scheme]))
    pairs = [(name, ground) for name in ("text", "faint", "link") for ground in ("page", "soft", "bad-soft")]
    pairs += [(name, f"{name}-soft") for name in ("bad", "good", "warn")]
    for name, ground in pairs:
        dark, light = sorted((luminance(colours[name]), luminance(colours[ground])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


def test_a_gate_is_listed_under_its_own_state_alone():
    gates = [
        gate("failed", text="mrr fell."),
        gate("passed", "map", (), text="map held."),
        gate("not checked", "recall", (), text="recall was not looked at."),
    ]
    report = render(SessionReport([failing(gates=gates)], 1))
    passes = report[report.index("<summary>What passes: 1 gate</summary>") :]
    passes = passes[: passes.index("</details>")]
    assert "map held." in passes
    assert "mrr fell." not in passes
    assert "recall was not looked at." not in passes
    before = report[: report.index("What passes")]
    assert "mrr fell." in before
    assert "map held." not in before
