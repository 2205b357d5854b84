"""Files that are read as a whole: regular ones alone, up to a size, and folders of them."""

from __future__ import annotations

import errno
import os

import pytest

from pytest_irmetrics.base.read_file import (
    ImpossiblePathError,
    NotRegularError,
    TooLargeError,
    open_regular,
    read_regular,
)


def test_a_file_is_read_up_to_the_limit(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(TooLargeError):
        read_regular(path, 4)


def test_a_file_that_grows_while_it_is_read_is_too_large(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_bytes(b"12345")
    monkeypatch.setattr("pytest_irmetrics.base.read_file._require_regular", lambda *_: None)
    with pytest.raises(TooLargeError):
        read_regular(path, 4)


def test_a_file_that_was_exchanged_when_it_is_opened_is_closed_again(tmp_path, monkeypatch):
    path, opened, looks = tmp_path / "run.json", [], iter([None, TooLargeError(4)])
    path.write_bytes(b"12345")

    def look(*_):
        if error := next(looks):
            raise error

    monkeypatch.setattr("pytest_irmetrics.base.read_file._require_regular", look)
    real = type(path).open
    monkeypatch.setattr(type(path), "open", lambda self, mode: opened.append(real(self, mode)) or opened[0])
    with pytest.raises(TooLargeError):
        open_regular(path, 4)
    assert opened[0].closed


@pytest.mark.parametrize(
    ("limit", "shown"),
    [(100_000_000, "100 MB"), (999_999_999, "999 MB"), (1_000_000_000, "1 GB"), (2_500_000_000, "2 GB")],
)
def test_the_limit_is_said_in_round_units(limit, shown):
    error = TooLargeError(limit)
    assert error.shown_limit == shown
    assert (error.errno, error.strerror) == (errno.EFBIG, f"it is larger than {shown}")


def test_a_folder_and_a_device_are_told_apart(tmp_path):
    with pytest.raises(NotRegularError, match=r"it is a folder$") as caught:
        open_regular(tmp_path, 10)
    assert (caught.value.is_folder, caught.value.errno) == (True, errno.EISDIR)
    with pytest.raises(NotRegularError, match=r"it is no regular file, but a pipe or a device$") as caught:
        open_regular(type(tmp_path)(os.devnull), 10)
    assert (caught.value.is_folder, caught.value.errno) == (False, errno.EINVAL)


def test_a_path_that_no_file_has_is_an_error_of_the_system(tmp_path):
    with pytest.raises(ImpossiblePathError, match="no file can have this path"):
        open_regular(tmp_path / "a\0b", 10)
