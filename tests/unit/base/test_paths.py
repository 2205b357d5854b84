"""Paths as a reader types them, and the ids of golden sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics.base.paths import parameter_id, path_below, relative_path


def test_a_path_is_told_relative_to_a_folder_or_to_where_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert relative_path(tmp_path / "a" / "b.yaml") == "a/b.yaml"
    assert relative_path(tmp_path / "a" / "b.yaml", tmp_path / "c") == "../a/b.yaml"
    assert path_below(tmp_path / "a" / "b.yaml") == "a/b.yaml"
    assert path_below(tmp_path / "a" / "b.yaml", tmp_path / "c") == str(tmp_path / "a" / "b.yaml")
    assert relative_path("") == ""


def test_a_path_is_told_whole_where_the_folder_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert relative_path("a/b.yaml") == path_below("a/b.yaml") == "a/b.yaml"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("golden/faq.yaml", "faq"),
        ("golden/de/faq.yaml", "de-faq"),
        ("golden/de/faq.v2.jsonl", "de-faq.v2"),
        ("golden/faq.qrels.gz", "faq"),
        ("other/faq.yaml", "other-faq"),
        ("golden/##vso[task].yaml", "#_#vso[task]"),
        ("golden/scifact.d", "scifact.d"),
    ],
)
def test_the_id_of_a_golden_set_is_its_path_below_the_patterns_folder(tmp_path, path, shown):
    (tmp_path / "golden" / "scifact.d").mkdir(parents=True)
    assert parameter_id(tmp_path / path, tmp_path / "golden") == shown
    assert isinstance(parameter_id(Path(path), Path("golden")), str)
