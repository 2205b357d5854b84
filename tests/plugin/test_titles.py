"""Titles beside the ids of documents: from the fixture ir_doc_title, or from what came back; never in a baseline."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import ANSWERS, printed

WORSE = {**ANSWERS, "refund policy": ["doc-1", "doc-2", "doc-9"]}


@pytest.fixture
def worse(stored):
    """A project whose search got worse since its baseline was stored."""
    stored.answers(WORSE)
    return stored


def give_titles(project, fixture):
    conftest = project.path / "conftest.py"
    text = conftest.read_text(encoding="utf-8")
    conftest.write_text(
        f"{text}\n\n@pytest.fixture(scope='session')\ndef ir_doc_title():\n    return {fixture}\n",
        encoding="utf-8",
    )


def test_a_mapping_gives_titles(worse):
    give_titles(worse, "{'doc-9': 'Refunds of annual plans', 'doc-1': None}")
    result = worse.run("--ir-baseline")
    result.stdout.fnmatch_lines(['*doc-9 "Refunds of annual plans" (grade 3)*'])
    assert "None" not in result.stdout.str()


def test_a_function_gives_titles(worse):
    give_titles(worse, "lambda doc_id: f'About {doc_id}'")
    worse.run("--ir-baseline").stdout.fnmatch_lines(['*doc-9 "About doc-9" (grade 3)*'])


@pytest.mark.parametrize(
    ("fixture", "note"),
    [
        ("{}.__getitem__", "*note: ir_doc_title raised KeyError*for the document*no more titles are shown*"),
        ("lambda doc_id: 12", "*note: ir_doc_title gave int 12 for the document*"),
    ],
)
def test_titles_that_cannot_be_had_cost_a_note_and_no_verdict(stored, fixture, note):
    give_titles(stored, fixture)
    result = stored.run("--ir-baseline", "--ir-report=r.json")
    result.assert_outcomes(passed=1)
    text = printed(result)
    assert pytest.LineMatcher([text]).fnmatch_lines([note]) is None
    assert text.count("ir_doc_title") == 1


@pytest.mark.parametrize(("options", "asked"), [([], False), (["-v"], False), (["-vv"], True)])
def test_titles_are_asked_for_where_documents_are_shown(stored, options, asked):
    give_titles(stored, "{}.__getitem__")
    result = stored.run("--ir-baseline", *options)
    result.assert_outcomes(passed=1)
    assert ("ir_doc_title raised KeyError" in printed(result)) == asked


@pytest.mark.parametrize(
    "document",
    [
        "{'id': i, 'title': 'The title of ' + i}",
        "{'id': i, 'metadata': {'title': 'The title of ' + i}}",
        "{'_id': i, '_source': {'title': 'The title of ' + i}}",
        "(types.SimpleNamespace(id=i, title='The title of ' + i), 0.5)",
    ],
)
def test_what_comes_back_has_titles(worse, document):
    worse.retrieve(f"[{document} for i in answers.get(query, [])[:k]]")
    conftest = worse.path / "conftest.py"
    conftest.write_text("import types\n" + conftest.read_text(encoding="utf-8"), encoding="utf-8")
    worse.run("--ir-baseline").stdout.fnmatch_lines(['*"The title of doc-1"*'])


def test_a_title_that_raises_is_none(worse):
    worse.retrieve("[Strange(i) for i in answers.get(query, [])[:k]]")
    conftest = worse.path / "conftest.py"
    strange = (
        "class Strange:\n    def __init__(self, i): self.id = i\n    title = property(lambda self: 1 / 0)\n\n"
    )
    conftest.write_text(strange + conftest.read_text(encoding="utf-8"), encoding="utf-8")
    assert "ZeroDivisionError" not in worse.run("--ir-baseline").stdout.str()


def test_titles_are_in_every_report_and_in_no_baseline(worse):
    give_titles(worse, "lambda doc_id: f'<b>About {doc_id}</b>'")
    worse.run("--ir-baseline", "--ir-report=r.html", "--ir-report=r.json", "--ir-report=r.md")
    texts = {
        suffix: (worse.path / f"r.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "json", "md")
    }
    assert "&lt;b&gt;About doc-9&lt;/b&gt;" in texts["html"]
    assert "<b>About" not in texts["html"] + texts["md"]
    assert "About doc-9" in texts["md"]
    assert json.loads(texts["json"])["tests"][0]["titles"]["doc-9"] == "<b>About doc-9</b>"
    worse.run("--ir-baseline-update")
    assert "About" not in worse.baseline.read_text(encoding="utf-8")


def test_one_query_in_full_has_a_column_of_titles(worse):
    give_titles(worse, "lambda doc_id: f'About {doc_id}'")
    worse.run("--ir-baseline", "--ir-query", "refund").stdout.re_match_lines(
        [r".*3 +1 +3 +doc-9 +About doc-9$"]
    )


def test_a_long_title_is_cut_and_stays_on_its_line(worse):
    give_titles(worse, "lambda doc_id: 'word\\n' * 100")
    text = printed(worse.run("--ir-baseline"))
    assert f'doc-9 "{"word " * 5}word…" (grade 3): rank 1 → 3' in text
    assert "word " * 30 not in text
