"""Write golden sets in other formats: letters are written as they are, what is not printable is escaped."""

from __future__ import annotations

import pytest

from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.write import render_files


@pytest.mark.parametrize("form", ["yaml", "jsonl", "csv", "tsv"])
def test_letters_stay_readable(form):
    query = Query("q", "Où?", {"é": 1}, tags=("ü",), params={"ort": ["Köln"]})
    written = render_files(GoldenSet([query]), form, "out")["out"]
    assert [word for word in ("Où?", "é", "ü", "Köln") if word not in written] == []


def test_letters_of_a_beir_folder_stay_readable():
    files = render_files(GoldenSet([Query("q", "Où?", {"é": 1})]), "beir", "out/")
    assert '"Où?"' in files["out/queries.jsonl"]
    assert "é" in files["out/qrels/test.tsv"]


@pytest.mark.parametrize(("form", "file"), [("yaml", "out"), ("jsonl", "out"), ("beir", "out/queries.jsonl")])
def test_what_is_not_printable_is_escaped(form, file):
    golden = GoldenSet([Query("q", "a\x85", {"d": 1})])
    assert '"a\\u0085"' in render_files(golden, form, "out")[file]
