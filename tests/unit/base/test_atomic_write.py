"""Write files whole or not at all, and remove what dead writers left."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from pytest_irmetrics.base import atomic_write as writing
from pytest_irmetrics.base.atomic_write import WriteError, remove_abandoned, write_output, write_whole

OLD, NEW = b"old\n" * 40, b"new\n" * 40
DEAD = ".ir-writing-0123456789abcdef.tmp"
WINDOWS = sys.platform == "win32"

posix = pytest.mark.skipif(WINDOWS, reason="modes and locks of POSIX")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ir_baselines" / "test_x" / "test_a[faq].json"


class TestWriteWhole:
    def test_makes_folders_and_tells_whether_anything_changed(self, path):
        assert write_whole(path, OLD) is True
        assert write_whole(path, OLD) is False
        assert write_whole(path, NEW) is True
        assert path.read_bytes() == NEW
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    @posix
    def test_the_disk_has_the_file_before_it_has_the_name_and_then_the_folder(self, path, monkeypatch):
        fsync, replace, done = os.fsync, Path.replace, []

        def note_fsync(descriptor):
            done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
            fsync(descriptor)

        def note_replace(*paths):
            done.append("replace")
            return replace(*paths)

        monkeypatch.setattr(os, "fsync", note_fsync)
        monkeypatch.setattr(Path, "replace", note_replace)
        write_whole(path, OLD)
        assert done == ["file", "replace", "folder"]

    def test_an_unchanged_file_is_not_touched(self, path):
        write_whole(path, OLD)
        before = path.stat()
        write_whole(path, OLD)
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_a_link_stays_a_link(self, path, tmp_path):
        real = tmp_path / "shared" / "real.json"
        real.parent.mkdir()
        real.write_bytes(OLD)
        path.parent.mkdir(parents=True)
        path.symlink_to(real)
        write_whole(path, NEW)
        assert path.is_symlink()
        assert real.read_bytes() == NEW
        assert list(real.parent.iterdir()) == [real]

    def test_a_link_to_nothing_is_written_through(self, path, tmp_path):
        path.parent.mkdir(parents=True)
        path.symlink_to(tmp_path / "shared" / "real.json")
        write_whole(path, NEW)
        assert (tmp_path / "shared" / "real.json").read_bytes() == NEW

    def test_a_link_to_itself_is_said(self, path):
        path.parent.mkdir(parents=True)
        path.symlink_to(path)
        with pytest.raises(WriteError, match="cannot be written"):
            write_whole(path, NEW)
        assert path.is_symlink()

    @posix
    @pytest.mark.parametrize("mode", [0o640, 0o600, 0o755, 0o664])
    def test_the_mode_is_kept(self, path, mode):
        write_whole(path, OLD)
        path.chmod(mode)
        write_whole(path, NEW)
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @posix
    def test_a_new_file_has_the_mode_that_the_umask_gives(self, path):
        write_whole(path, OLD)
        other = path.with_name("other")
        other.touch()
        assert path.stat().st_mode == other.stat().st_mode

    def test_a_read_only_file_is_refused_and_stays(self, path):
        write_whole(path, OLD)
        path.chmod(0o444)
        assert write_whole(path, OLD) is False
        with pytest.raises(WriteError, match=r"test_a\[faq\]\.json: is read-only"):
            write_whole(path, NEW)
        assert path.read_bytes() == OLD
        assert len(list(path.parent.iterdir())) == 1

    def test_a_folder_in_its_place_is_said(self, path):
        path.mkdir(parents=True)
        with pytest.raises(WriteError, match="is not a file"):
            write_whole(path, NEW)

    def test_a_file_in_the_folders_place_is_said(self, path, tmp_path):
        (tmp_path / "ir_baselines").touch()
        with pytest.raises(WriteError, match="cannot be written"):
            write_whole(path, NEW)

    @posix
    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_read_only_folder_is_said(self, path):
        write_whole(path, OLD)
        path.parent.chmod(0o555)
        try:
            with pytest.raises(WriteError, match="cannot be written: Permission denied"):
                write_whole(path, NEW)
        finally:
            path.parent.chmod(0o755)
        assert path.read_bytes() == OLD

    @pytest.mark.parametrize(
        ("owner", "call"),
        [(os, "fsync"), (os, "open"), (Path, "replace"), (Path, "chmod"), (writing, "open")],
    )
    @pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EIO])
    def test_whatever_fails_the_old_file_stays_and_nothing_is_left(
        self, path, monkeypatch, owner, call, problem
    ):
        write_whole(path, OLD)

        def fail(*_args, **_kwargs):
            raise OSError(problem, os.strerror(problem))

        stand_in = partial(Broken, fail) if owner is writing else fail
        monkeypatch.setattr(owner, call, stand_in, raising=owner is not writing)
        with pytest.raises(WriteError, match=os.strerror(problem)):
            write_whole(path, NEW)
        monkeypatch.undo()
        assert path.read_bytes() == OLD
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    @pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit])
    def test_an_interrupt_leaves_nothing(self, path, monkeypatch, problem):
        write_whole(path, OLD)

        def interrupt(_):
            raise problem

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(problem):
            write_whole(path, NEW)
        monkeypatch.undo()
        assert path.read_bytes() == OLD
        assert len(list(path.parent.iterdir())) == 1

    @posix
    def test_a_full_disk_leaves_the_old_file(self, path):
        write_whole(path, OLD)
        code = (
            "import resource, signal, sys; from pathlib import Path\n"
            "from pytest_irmetrics.base.atomic_write import WriteError, write_whole\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            "try: write_whole(Path(sys.argv[1]), b'x' * 1_000_000)\n"
            "except WriteError as error: print(error)\n"
        )
        said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
        assert "cannot be written: File too large" in said.stdout
        assert path.read_bytes() == OLD
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_many_writers_of_one_file_leave_one_of_theirs(self, path):
        texts = [f"{number}\n".encode() * 5000 for number in range(8)]
        failed = []

        def write(text):
            try:
                for _ in range(10):
                    write_whole(path, text)
                    assert path.read_bytes() in texts
            except Exception as error:  # noqa: BLE001 - shown by the test's own thread
                failed.append(error)

        threads = [threading.Thread(target=write, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert path.read_bytes() in texts
        assert len(list(path.parent.iterdir())) == 1

    def test_where_sweepers_take_every_temporary_file_it_says_so(self, path, monkeypatch):
        monkeypatch.setattr(writing, "_lock", lambda *_: False)
        with pytest.raises(WriteError, match="keeps removing"):
            write_whole(path, NEW)
        assert not list(path.parent.iterdir())

    def test_a_temporary_file_that_was_swept_is_made_again(self, path, monkeypatch):
        lock, swept = writing._lock, []

        def sweep_once(descriptor, temporary):
            if not swept:
                temporary.unlink()
                swept.append(temporary)
            return lock(descriptor, temporary)

        monkeypatch.setattr(writing, "_lock", sweep_once)
        assert write_whole(path, NEW)
        assert swept
        assert path.read_bytes() == NEW

    @posix
    @pytest.mark.parametrize(("problem", "is_held"), [(errno.EWOULDBLOCK, False), (errno.ENOLCK, True)])
    def test_a_lock_that_a_sweeper_has_is_no_lock_of_ours(self, path, monkeypatch, problem, is_held):
        flock, refused = writing.fcntl.flock, []

        def refuse_once(descriptor, operation):
            if not refused:
                refused.append(descriptor)
                raise OSError(problem, os.strerror(problem))
            flock(descriptor, operation)

        monkeypatch.setattr(writing.fcntl, "flock", refuse_once)
        opened = []
        monkeypatch.setattr(writing.secrets, "token_hex", lambda _: opened.append(1) or f"{len(opened):016x}")
        assert write_whole(path, NEW)
        assert len(opened) == (1 if is_held else 2)
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_works_without_locks(self, path, monkeypatch):
        monkeypatch.setattr(writing, "fcntl", None)
        write_whole(path, OLD)
        (path.parent / DEAD).touch()
        write_whole(path, NEW)
        assert path.read_bytes() == NEW
        assert len(list(path.parent.iterdir())) == 1


class Broken:
    """A file of which only the first bytes can be written."""

    def __init__(self, fail, descriptor, _mode):
        self._fail = fail
        self._descriptor = descriptor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._descriptor)

    def fileno(self):
        return self._descriptor

    def write(self, data):
        os.write(self._descriptor, data[:3])
        self._fail()


class TestWriteOutput:
    def test_a_failure_leaves_what_was_there(self, tmp_path, monkeypatch):
        path = tmp_path / "report.md"
        path.write_text("old", encoding="utf-8")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_output(path, b"new")
        assert path.read_text(encoding="utf-8") == "old"
        assert list(tmp_path.iterdir()) == [path]

    @posix
    def test_links_are_followed_and_modes_kept(self, tmp_path):
        real, link = tmp_path / "real.md", tmp_path / "link.md"
        real.write_text("old", encoding="utf-8")
        real.chmod(0o640)
        link.symlink_to(real)
        write_output(link, b"new")
        assert link.is_symlink()
        assert real.read_text(encoding="utf-8") == "new"
        assert stat.S_IMODE(real.stat().st_mode) == 0o640

    @posix
    def test_a_new_file_has_the_mode_of_any_new_file(self, tmp_path):
        (tmp_path / "other").touch()
        write_output(tmp_path / "report.md", b"new")
        assert (tmp_path / "report.md").stat().st_mode == (tmp_path / "other").stat().st_mode

    @posix
    def test_what_is_no_file_is_written_to_and_stays(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_output(pipe, b"new")
            assert stat.S_ISFIFO(pipe.stat().st_mode)
            assert os.read(reader, 10) == b"new"
        finally:
            os.close(reader)


class TestAbandonedFiles:
    def test_what_a_dead_writer_left_goes_with_the_next_one(self, path):
        write_whole(path, OLD)
        (path.parent / DEAD).write_text("half")
        write_whole(path, NEW)
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_looks_below_a_folder_and_tells_what_went(self, path, tmp_path):
        write_whole(path, OLD)
        dead = path.parent / DEAD
        dead.write_text("half")
        assert remove_abandoned(tmp_path) == [dead]
        assert remove_abandoned(tmp_path) == []
        assert remove_abandoned(tmp_path / "none") == []

    @posix
    def test_a_writer_that_lives_keeps_its_file(self, tmp_path):
        import fcntl

        live = tmp_path / DEAD
        with live.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert remove_abandoned(tmp_path) == []
        assert remove_abandoned(tmp_path) == [live]

    @posix
    def test_without_locks_on_the_file_system_age_decides(self, tmp_path, monkeypatch):
        def no_locks(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(writing.fcntl, "flock", no_locks)
        young, old = tmp_path / DEAD, tmp_path / DEAD.replace("0", "1")
        young.touch()
        old.touch()
        os.utime(old, (1, 1))
        assert remove_abandoned(tmp_path) == [old]
        write_whole(tmp_path / "x.json", OLD)
        assert young.exists()

    def test_what_cannot_be_removed_or_listed_stays_without_a_word(self, tmp_path, monkeypatch):
        (tmp_path / DEAD).touch()

        def fail(*_):
            raise PermissionError

        monkeypatch.setattr(Path, "unlink", fail)
        assert remove_abandoned(tmp_path) == []
        monkeypatch.setattr(Path, "iterdir", fail)
        assert remove_abandoned(tmp_path) == []

    def test_strangers_stay(self, tmp_path):
        for name in (".ir-writing-x.tmp", "x.tmp", f"{DEAD}.bak", ".ir-writing-0123456789ABCDEF.tmp"):
            (tmp_path / name).touch()
        (tmp_path / DEAD).mkdir()
        assert remove_abandoned(tmp_path) == []

    def test_a_link_is_not_followed(self, tmp_path):
        (tmp_path / "precious").write_text("x")
        (tmp_path / DEAD).symlink_to(tmp_path / "precious")
        assert remove_abandoned(tmp_path) == []
        assert (tmp_path / "precious").read_text() == "x"
