"""Paths of golden sets that cannot be read."""

from __future__ import annotations

import gzip
import os

import pytest

from pytest_irmetrics.golden import GoldenSet, GoldenSetError, files
from tests.unit.golden.golden_files import FULL, load


def error_of(path) -> str:
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.load(path)
    (problem,) = caught.value.problems
    assert str(problem) == f"{path}:1:1: {problem.message}"
    return problem.message


def test_a_missing_file(tmp_path):
    assert error_of(tmp_path / "no.yaml") == "There is no such file. Check the path."
    (tmp_path / "file").touch()
    assert error_of(tmp_path / "file" / "no.yaml") == "There is no such file. Check the path."


def test_a_folder(tmp_path):
    assert error_of(tmp_path).startswith("This is a folder. Name the golden sets in it")
    (tmp_path / "folder.yaml").mkdir()
    assert error_of(tmp_path / "folder.yaml").startswith("This is a folder.")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    assert error_of(tmp_path / "pipe.yaml").startswith("This is no regular file.")


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (PermissionError(13, "Permission denied"), "The file may not be read. Check its permissions."),
        (OSError(5, "Input/output error"), "The file cannot be read: Input/output error. Check the path."),
    ],
)
def test_a_file_that_the_system_does_not_open(tmp_path, monkeypatch, raised, message):
    path = tmp_path / "a.yaml"
    path.touch()

    def fail(*_, **__):
        raise raised

    monkeypatch.setattr(type(path), "open", fail)
    assert error_of(path) == message


def test_paths_that_no_file_can_have():
    assert error_of("a\0b.yaml") == "No file can have this path. Check its characters."
    assert "Check the path" in error_of("a" * 5000 + ".yaml")
    assert "Check" in error_of("\udc80\ud800.yaml")


def test_a_loop_of_links(tmp_path):
    (tmp_path / "a.yaml").symlink_to(tmp_path / "a.yaml")
    assert "Check the path" in error_of(tmp_path / "a.yaml")


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 10_000_000)
    path = tmp_path / "a.yaml"
    with path.open("wb") as file:
        file.truncate(10_000_001)
    assert error_of(path) == "The file is larger than 10 MB. Split it into several golden sets."


def test_yaml_has_two_suffixes_in_any_case(tmp_path):
    for name in ("a.yaml", "a.yml", "a.YAML"):
        (tmp_path / name).write_text(FULL)
        assert len(GoldenSet.load(str(tmp_path / name)).queries) == 4


@pytest.mark.parametrize("name", ["faq.yaml.gz", "faq.jsonl.gz", "faq.yaml", "faq.jsonl"])
def test_a_packed_file_gives_the_name_of_the_unpacked_one(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        load(
            name,
            gzip.compress(
                b'{"query": "a", "relevant": ["d1"]}'
                if "jsonl" in name
                else b"queries: [{query: a, relevant: d1}]"
            ),
        ).name
        == "faq"
    )
