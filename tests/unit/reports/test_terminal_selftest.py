"""What ``--ir-selftest`` found, as lines of the terminal summary."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.layout import display_width
from pytest_irmetrics.base.screen import Screen, Style
from pytest_irmetrics.reports import ItemReport
from pytest_irmetrics.reports.item_report import Degradation
from pytest_irmetrics.reports.terminal import selftest_lines


def item(degradations, advice=()):
    return ItemReport("t", "golden/faq.yaml", selftest=list(degradations), advice=list(advice))


def lost(name="broke 3 % of queries (3/110)", caught=("ndcg@10 max_drop",), tag=None, **deltas):
    deltas = deltas or {"mrr": -0.02, "ndcg@10": -0.021}
    return Degradation(name, "Three queries come back empty.", 3, deltas, ["ndcg@10"], list(caught), tag)


def table(report, screen, *, everything=False):
    return [line.text for line in selftest_lines(report, screen, everything=everything)]


def test_degradations_survive_serialisation():
    sent = item([lost()], ["Do this."])
    assert ItemReport.loads(sent.dumps()) == sent
    assert ItemReport.loads(ItemReport("t", "g").dumps()).selftest is None


def test_the_table_has_a_line_for_each_and_a_conclusion():
    lines = table(item([lost(), lost("neighbours swapped", ())], ["Do this."]), Screen(80))
    assert lines == [
        "broke 3 % of queries (3/110)  ndcg@10 −0.021  caught by ndcg@10 max_drop",
        "neighbours swapped            ndcg@10 −0.021  MISSED",
        "caught 1 of 2; missed: neighbours swapped",
        "Do this.",
    ]


def test_gates_are_named_as_far_as_there_is_room():
    gates = ["mrr min", "ndcg@10 min", "ndcg@10 max_drop", "recall@10 max_drop [security]"]
    tried = [lost(caught=gates)]
    assert table(item(tried), Screen(200))[0].endswith(
        "caught by ndcg@10 min, ndcg@10 max_drop, mrr min, recall@10 max_drop [security]"
    )
    assert table(item(tried), Screen(80))[0].endswith("  caught by ndcg@10 min +3")
    assert table(item(tried), Screen(66))[0].endswith("  caught by 4 gates")


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_no_line_is_wider_than_the_screen(width, encoding):
    tried = [
        lost(),
        lost("neighbours swapped", ()),
        lost(
            "slice 請求書の支払い-and-all-that-goes-with-it\x1b[31m lost (12)",
            ["mrr min", "ndcg@10 max_drop"],
        ),
    ]
    for everything in (False, True):
        lines = table(item(tried, ["Advice. " * 20]), Screen(width, encoding), everything=everything)
        wider = [line.strip() for line in lines if display_width(line) > width]
        assert all(" " not in line for line in wider)  # a word that is too long stands alone
        assert "\x1b" not in "".join(lines)
        if encoding == "ascii":
            assert "".join(lines).isascii()


def test_many_slices_that_are_caught_are_counted_and_a_missed_one_is_shown():
    slices = [lost(f"slice t{number} lost (3)", tag=f"t{number}") for number in range(12)]
    slices.append(lost("slice bad lost (3)", (), tag="bad"))
    lines = table(item(slices), Screen(80))
    assert lines == [
        "slice bad lost (3)  ndcg@10 −0.021  MISSED",
        "12 more losses of slices: caught (-v shows them)",
        "caught 12 of 13; missed: slice bad lost (3)",
    ]
    assert "slice t3 lost (3): caught by ndcg@10 max_drop" in table(item(slices), Screen(80), everything=True)


def test_a_run_without_relevant_documents_is_named():
    assert table(item([]), Screen(80)) == [
        "nothing could be made worse: the stored run finds no relevant document"
    ]


def test_only_missed_degradations_are_yellow():
    report = item([lost("MISSED nothing"), lost("swapped", ())])
    for everything in (False, True):
        lines = selftest_lines(report, Screen(80), everything=everything)
        assert [line.text.split()[0] for line in lines if line.style is Style.YELLOW] == [
            "swapped:" if everything else "swapped"
        ]
