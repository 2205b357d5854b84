"""Write a file whole or not at all.

Unit tests, because no run of pytest fails at a given system call or ends between two of them.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pytest_irmetrics.base.atomic_write import WriteError, content_digest, write_output, write_whole

OLD, NEW = b"old\n" * 40, b"new\n" * 40
LEFT = ".ir-writing-0123456789abcdef.tmp"

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
either = pytest.mark.parametrize("write", [write_whole, write_output])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ir_baselines" / "test_x" / "test_a[faq].json"
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)
    return path


def names(path):
    return [one.name for one in path.parent.iterdir()]


def test_says_whether_anything_changed_and_touches_nothing_that_did_not(path):
    before = path.stat()
    assert write_whole(path, OLD) is False
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert write_whole(path, NEW) is True
    assert path.read_bytes() == NEW
    assert names(path) == [path.name]


def test_what_was_changed_since_it_was_read_is_not_written_over(path):
    assert write_whole(path, NEW, digest_when_read=content_digest(OLD)) is True
    with pytest.raises(WriteError, match=r"was changed meanwhile, and nothing was written\. Run it again"):
        write_whole(path, b"newer", digest_when_read=content_digest(OLD))
    assert path.read_bytes() == NEW
    assert write_whole(path, NEW, digest_when_read=content_digest(OLD)) is False


@either
def test_makes_the_folders_that_it_takes(tmp_path, write):
    write(tmp_path / "a" / "b" / "c.json", NEW)
    (tmp_path / "other").touch()
    assert (tmp_path / "a/b/c.json").read_bytes() == NEW
    assert (tmp_path / "a/b/c.json").stat().st_mode == (tmp_path / "other").stat().st_mode


@posix
def test_the_disk_has_the_file_before_it_has_the_name(path, monkeypatch):
    fsync, replace, done = os.fsync, Path.replace, []

    def note_fsync(descriptor):
        done.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", lambda *paths: [done.append("replace"), replace(*paths)][1])
    write_whole(path, NEW)
    assert done == [len(NEW), "replace"]


@posix
@either
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755])
def test_links_are_followed_and_the_mode_is_kept(tmp_path, path, write, mode):
    link = tmp_path / "link.json"
    link.symlink_to(path)
    path.chmod(mode)
    write(link, NEW)
    assert link.is_symlink()
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_to_nothing_is_written_through(path, tmp_path):
    link = path.with_name("link.json")
    link.symlink_to(tmp_path / "shared" / "real.json")
    write_whole(link, NEW)
    assert (tmp_path / "shared" / "real.json").read_bytes() == NEW


def read_only(path):
    path.chmod(0o444)
    assert write_whole(path, OLD) is False


def folder_in_its_place(path):
    path.unlink()
    path.mkdir()


def file_in_place_of_its_folder(path):
    path.unlink()
    path.parent.rmdir()
    path.parent.touch()


def link_to_itself(path):
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            read_only,
            r"test_a\[faq\]\.json: is read-only\. Make it writable \(`chmod u\+w`\), and write it again",
        ),
        (folder_in_its_place, r"is not a file\. Move it out of the way, and write it again\."),
        (
            file_in_place_of_its_folder,
            r"cannot be written: .*\. What was there is as it was\. Mend that, and write",
        ),
        (link_to_itself, "cannot be written"),
    ],
)
def test_what_cannot_be_written_says_why(path, spoil, words):
    spoil(path)
    with pytest.raises(WriteError, match=words):
        write_whole(path, NEW)


@either
@pytest.mark.parametrize(
    ("owner", "call"), [(os, "fsync"), (Path, "open"), (Path, "replace"), (Path, "chmod")]
)
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_whatever_fails_the_file_stays_and_nothing_is_left(path, monkeypatch, write, owner, call, problem):
    def fail(*_args, **_kwargs):
        raise problem

    with monkeypatch.context() as patched:
        real = Path.open
        broken = (
            fail
            if call != "open"
            else lambda self, mode="r", *a, **k: fail() if "x" in mode else real(self, mode, *a, **k)
        )
        patched.setattr(owner, call, broken)
        with pytest.raises((WriteError, OSError, KeyboardInterrupt), match=r"No space left|^$"):
            write(path, NEW)
    assert path.read_bytes() == OLD
    assert names(path) == [path.name]


@posix
def test_a_full_disk_leaves_the_file(path):
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from pytest_irmetrics.base.atomic_write import WriteError, write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try: write_whole(Path(sys.argv[1]), b'x' * 1_000_000)\n"
        "except WriteError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large. What was there is as it was." in said.stdout
    assert path.read_bytes() == OLD
    assert names(path) == [path.name]


def test_many_writers_of_one_file_leave_one_of_theirs(path):
    texts = [f"{number}\n".encode() * 5000 for number in range(8)]
    read = []

    def write(text):
        for _ in range(10):
            write_whole(path, text)
            read.append(path.read_bytes())

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 80
    assert set(read) <= set(texts)
    assert names(path) == [path.name]


@posix
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output(pipe, b"new")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("name", "hours", "stays"),
    [(LEFT, 24.01, False), (LEFT, 23.99, True), ("x.tmp", 999, True), (f"{LEFT}.bak", 999, True)],
)
def test_what_a_killed_writer_left_is_removed_a_day_later(path, name, hours, stays):
    left = path.with_name(name)
    left.write_text("half")
    os.utime(left, (time.time() - hours * 3600,) * 2)
    write_whole(path, NEW)
    assert left.exists() is stays


def test_what_cannot_be_removed_stays_without_a_word(path):
    path.with_name(LEFT).mkdir()
    os.utime(path.with_name(LEFT), (1, 1))
    write_whole(path, NEW)
    assert path.read_bytes() == NEW
