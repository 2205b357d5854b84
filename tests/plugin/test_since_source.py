"""What `--ir-since` reads of marks and settings: as their files say, without running them."""

from __future__ import annotations

import pytest

from pytest_irmetrics.plugin.since_source import edited_marks, edited_settings, max_drop_then
from pytest_irmetrics.reports.since_report import EditSince
from tests.plugin.conftest import ASYNCIO_SETTING

THEN = b"""
import pytest

pytestmark = [pytest.mark.ir_threshold("map", 0.3)]


@pytest.mark.ir_threshold("mrr", 0.8, max_drop=0.02)
class TestSearch:
    @pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold(
        "ndcg@10",
        min=0.7,
    )
    def test_search(self, irmetrics):
        irmetrics.check()

    @pytest.mark.ir_threshold("recall@10", 0.9)
    def test_other(self, irmetrics):
        irmetrics.check()
"""


@pytest.fixture(autouse=True)
def _settings(pytester):
    pytester.makeini(f"[pytest]\n{ASYNCIO_SETTING}")


@pytest.fixture
def edits(pytester):
    def find(now, then=THEN):
        (item,) = [item for item in pytester.getitems(THEN.decode()) if item.originalname == "test_search"]
        found = edited_marks(then, now, item)
        return [(edit.before, edit.now) for edit in found]

    return find


def test_the_marks_of_a_test_its_class_and_its_module_are_compared(edits):
    now = THEN.replace(b"0.8, max_drop=0.02", b"0.6").replace(b"min=0.7", b"min=0.5").replace(b"0.3", b"0.1")
    assert sorted(edits(now)) == [
        ("ir_threshold('map', 0.3)", "ir_threshold('map', 0.1)"),
        ("ir_threshold('mrr', 0.8, max_drop=0.02)", "ir_threshold('mrr', 0.6)"),
        ("ir_threshold('ndcg@10', min=0.7)", "ir_threshold('ndcg@10', min=0.5)"),
    ]


@pytest.mark.parametrize(
    ("then", "now", "weaker"),
    [
        ('"mrr", 0.8', '"mrr", 0.6', True),
        ('"mrr", 0.6', '"mrr", min=0.8', False),
        ('"mrr", 0.8', '"mrr", max_drop=0.01', True),
        ('"mrr", 0.8, max_drop=0.02', '"mrr", 0.8, max_drop=0.3', True),
        ('"mrr", 0.8', '"mrr", 0.8, max_drop=0.3', True),
        ('"mrr", 0.8, max_drop=0.3', '"mrr", 0.8', False),
        ('"mrr", 0.8', '"mrr", 0.8, max_drop="off"', True),
        ('"mrr", 0.8, max_drop="off"', '"mrr", 0.8', False),
        ('"mrr", 0.8', '"mrr", LIMIT', False),  # nobody runs it
        ('"mrr", 0.8, tag="a"', '"mrr", 0.7, tag="b"', False),
        ('"freshness", 0.8', '"freshness", 0.7', True),
        ('"latency_p95", max=100', '"latency_p95", max=200', True),
    ],
)
def test_a_mark_that_holds_less_is_marked_so(pytester, then, now, weaker):
    source = "import pytest\n\n@pytest.mark.ir_threshold({})\ndef test_it(irmetrics): pass\n"
    item = pytester.getitem(source.format(then).replace("LIMIT", "0.5"), "test_it")
    sources = [source.format(arguments).encode() for arguments in (then, now)]
    assert [edit.weaker for edit in edited_marks(*sources, item, ["freshness"])] == [weaker]


def test_a_mark_that_is_gone_holds_less_and_one_that_is_new_does_not(pytester):
    source = "import pytest\n\n{}def test_it(irmetrics): pass\n"
    marked, bare = (source.format(mark) for mark in ('@pytest.mark.ir_threshold("mrr", 0.8)\n', ""))
    item = pytester.getitem(bare, "test_it")
    assert [edit.weaker for edit in edited_marks(marked.encode(), bare.encode(), item)] == [True]
    assert [edit.weaker for edit in edited_marks(bare.encode(), marked.encode(), item)] == [False]


def test_marks_of_a_module_that_has_them_under_two_names_are_compared(edits):
    then = THEN.replace(b"pytestmark =", b"MARKS = pytestmark =")
    assert edits(then.replace(b"0.3", b"0.1"), then) == [
        ("ir_threshold('map', 0.3)", "ir_threshold('map', 0.1)")
    ]


def test_those_of_another_test_are_not(edits):
    assert edits(THEN.replace(b'"recall@10", 0.9', b'"recall@10", 0.1')) == []


def test_another_layout_is_no_edit(edits):
    assert (
        edits(THEN.replace(b'(\n        "ndcg@10",\n        min=0.7,\n    )', b"('ndcg@10', min = 0.7)"))
        == []
    )


def test_added_and_removed_marks_are_named(edits):
    mark = b'    @pytest.mark.ir_golden("golden/*.yaml")\n'
    assert edits(THEN.replace(mark, b"")) == [("ir_golden('golden/*.yaml')", None)]
    assert edits(THEN, THEN.replace(mark, b"")) == [(None, "ir_golden('golden/*.yaml')")]


def test_a_file_that_is_no_python_has_no_marks(edits):
    assert edits(THEN, b"\x00 what") == []
    assert edits(THEN, b"(" * 100_000) == []


@pytest.mark.parametrize(
    ("name", "then", "now"),
    [
        ("pytest.ini", "[pytest]\nir_max_drop = 0.02\naddopts = -q\n", "[pytest]\nir_max_drop = 0.5\n"),
        ("tox.ini", "[pytest]\nir_max_drop = 0.02\n", "[pytest]\nir_max_drop=0.5\n"),
        ("setup.cfg", "[tool:pytest]\nir_max_drop = 0.02\n", "[tool:pytest]\nir_max_drop = 0.5\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nir_max_drop = 0.02\n",
            "[tool.pytest.ini_options]\nir_max_drop = '0.5'\n",
        ),
        ("pyproject.toml", "[tool.pytest]\nir_max_drop = 0.02\n", "[tool.pytest]\nir_max_drop = 0.5\n"),
        ("pytest.toml", "[pytest]\nir_max_drop = 0.02\n", "[pytest]\nir_max_drop = 0.5\n"),
    ],
)
def test_settings_are_compared_in_each_kind_of_file(name, then, now):
    assert edited_settings(then.encode(), now.encode(), name) == [
        EditSince("setting", "ir_max_drop", "0.02", "0.5")
    ]


def test_a_setting_of_several_lines_is_one_edit():
    then = b"[pytest]\nir_thresholds =\n    mrr 0.8\n    ndcg@10 0.7 max_drop=0.01\n"
    edits = edited_settings(then, then.replace(b"0.8", b"0.6"), "pytest.ini")
    assert [(edit.before, edit.now) for edit in edits] == [
        ("mrr 0.8 ; ndcg@10 0.7 max_drop=0.01", "mrr 0.6 ; ndcg@10 0.7 max_drop=0.01")
    ]


def test_a_file_of_settings_that_was_not_there_or_cannot_be_read():
    now = b"[pytest]\nir_max_drop = 0.5\n"
    assert edited_settings(None, now, "pytest.ini") == [EditSince("setting", "ir_max_drop", None, "0.5")]
    assert edited_settings(b"\xff[", now, "pytest.ini") == []


@pytest.mark.parametrize(
    ("edit", "allowed"),
    [
        (EditSince("setting", "ir_max_drop", "0.02", "0.5"), 0.02),
        (EditSince("setting", "ir_max_drop", None, "0.5"), 0.01),
        (EditSince("setting", "ir_max_drop", "off", "0.5"), 0.01),
        (
            EditSince(
                "mark", "t.py", "ir_threshold('mrr', max_drop=0.03)", "ir_threshold('mrr', max_drop=0.3)"
            ),
            0.03,
        ),
        (EditSince("mark", "t.py", "ir_threshold('mrr', max_drop='5%')", None), 0.05),
        (
            EditSince("mark", "t.py", "ir_threshold('mrr', 0.5)", "ir_threshold('mrr', 0.5, max_drop=0.3)"),
            0.01,
        ),
        (EditSince("mark", "t.py", "ir_threshold('mrr', 0.5)", "ir_threshold('mrr', 0.4)"), None),
    ],
)
def test_the_max_drop_of_then_is_that_of_the_edited_mark_or_setting(edit, allowed):
    found = max_drop_then([edit])
    assert (None if found is None else found.absolute(1.0)) == allowed
