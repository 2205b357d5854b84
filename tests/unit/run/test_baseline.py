"""Baselines: where they live, that they are written whole or not at all, and what is said of a bad one."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import unicodedata
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.base import atomic_write as writing
from pytest_irmetrics.base.atomic_write import sweep
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import (
    BaselineError,
    baseline_path,
    golden_sets_of,
    list_baselines,
    read_baseline,
    stale,
    write_baseline,
)

RUN = Run({"q": ["a", "b"]})
OLD = RUN.dumps()
NEW = Run({"q": ["b", "a"]}).dumps()
DEAD = ".ir-writing-0123456789abcdef.tmp"
WINDOWS = sys.platform == "win32"

posix = pytest.mark.skipif(WINDOWS, reason="modes and locks of POSIX")


def name_of(test_name, test_file="tests/test_x.py"):
    path = baseline_path(Path(test_file), test_name, "ir_baselines")
    assert path.parent.parent == Path(test_file).parent / "ir_baselines"
    return path.name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ir_baselines" / "test_x" / "test_a[faq].json"


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "test_search",
            "TestFaq.test_search",
            "TestFAQ.TestInner.test_search[faq]",
            "test_search[de-faq_1.5-a=b,c+d@e]",
            "test_search[x[0]]",
            "test_search[]",
        ],
    )
    def test_what_is_safe_stays(self, name):
        assert name_of(name) == f"{name}.json"

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("test_search[FAQ]", "test_search[FAQ]_"),
            ("test_search[Faq]", "test_search[Faq]_"),
            ("test_FAQ[faq]", "test_FAQ_"),
            ("test_search[a/b]", "test_search[a_b]_"),
            ("test_search[../../b]", "test_search[.._.._b]_"),
            ('test_search[a\\b:c*?"<>|\0\n]', "test_search[a_b_c_]_"),
            ("test_search[a b]", "test_search[a_b]_"),
            ("test_search[质量]", "test_search[_]_"),
            ("test_søk", "test_s_k_"),
            ("", "_"),
            ("nul", "nul_"),
            ("con[x]", "con_"),
            ("COM1.test_x", "COM1.test_x_"),
            ("test_a.", "test_a_"),
            (".test_a", "test_a_"),
            ("test_a[x] ", "test_a[x]_"),
            ("test_a[x].", "test_a[x]_"),
            ("test_a[\udcff]", "test_a[_]_"),
            ("test_a[x]_0123abcd", "test_a[x]_0123abcd_"),
            ("test_a_0123abcd", "test_a_0123abcd_"),
        ],
    )
    def test_what_is_unsafe_or_ambiguous_gets_a_hash(self, name, start):
        stem = name_of(name).removesuffix(".json")
        assert stem.startswith(start)
        assert len(stem.replace("[faq]", "").replace("[x]", "")) >= 9
        assert stem != name

    def test_names_that_differ_have_files_that_differ_on_any_file_system(self):
        names = [
            "faq",
            "FAQ",
            "Faq",
            "fAq",
            "faq.",
            "faq ",
            "faq/",
            "faq\\",
            "f/aq",
            "f_aq",
            "é",
            "e\u0301",
            "x" * 300,
            "x" * 301,
        ]
        files = [name_of(f"test_a[{name}]") for name in names] + [
            name_of(name) for name in ("a", "A", "a ", "")
        ]
        assert len({unicodedata.normalize("NFC", file).casefold() for file in files}) == len(files)

    def test_a_module_of_any_name_has_a_safe_folder(self):
        folders = [
            baseline_path(Path(f"{stem}.py"), "t", "ir_baselines").parent.name
            for stem in ("test_x", "test-x", "test ü", "nul", "TestX")
        ]
        assert folders[0] == "test_x"
        assert folders[4] == "TestX"
        assert all(folder.isascii() and " " not in folder and folder != "nul" for folder in folders)
        assert len(set(folders)) == 5

    @given(st.text(max_size=300), st.text(max_size=300))
    @settings(max_examples=300, deadline=None)
    def test_any_name_is_a_file_of_its_own(self, one, other):
        for name in (one, f"test_a[{one}]"):
            file = name_of(name)
            assert file.isascii()
            assert len(file) <= 230
            assert not set(file) & set('<>:"/\\|?* \0\n')
            assert file.removesuffix(".json").split(".")[0].lower() not in {
                "con",
                "nul",
                "aux",
                "prn",
                "com1",
            }
            assert file not in {".json", "..json"}
        if one != other:
            assert name_of(f"test_a[{one}]").lower() != name_of(f"test_a[{other}]").lower()

    def test_the_folder_may_have_any_name_and_depth(self):
        assert baseline_path(Path("/r/t/test_x.py"), "a", "x/y") == Path("/r/t/x/y/test_x/a.json")


class TestWriting:
    def test_makes_folders_and_tells_whether_anything_changed(self, path):
        assert write_baseline(path, OLD) is True
        assert write_baseline(path, OLD) is False
        assert write_baseline(path, NEW) is True
        assert path.read_text() == NEW
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
        write_baseline(path, OLD)
        assert done == ["file", "replace", "folder"]

    def test_an_unchanged_file_is_not_touched(self, path):
        write_baseline(path, OLD)
        before = path.stat()
        write_baseline(path, OLD)
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_a_link_stays_a_link(self, path, tmp_path):
        real = tmp_path / "shared" / "real.json"
        real.parent.mkdir()
        real.write_text(OLD)
        path.parent.mkdir(parents=True)
        path.symlink_to(real)
        write_baseline(path, NEW)
        assert path.is_symlink()
        assert real.read_text() == NEW
        assert list(real.parent.iterdir()) == [real]

    def test_a_link_to_nothing_is_written_through(self, path, tmp_path):
        path.parent.mkdir(parents=True)
        path.symlink_to(tmp_path / "shared" / "real.json")
        write_baseline(path, NEW)
        assert (tmp_path / "shared" / "real.json").read_text() == NEW

    def test_a_link_to_itself_is_said(self, path):
        path.parent.mkdir(parents=True)
        path.symlink_to(path)
        with pytest.raises(BaselineError, match="cannot be written"):
            write_baseline(path, NEW)
        assert path.is_symlink()

    @posix
    @pytest.mark.parametrize("mode", [0o640, 0o600, 0o755, 0o664])
    def test_the_mode_is_kept(self, path, mode):
        write_baseline(path, OLD)
        path.chmod(mode)
        write_baseline(path, NEW)
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @posix
    def test_a_new_file_has_the_mode_that_the_umask_gives(self, path):
        write_baseline(path, OLD)
        other = path.with_name("other")
        other.touch()
        assert path.stat().st_mode == other.stat().st_mode

    def test_a_read_only_file_is_refused_and_stays(self, path):
        write_baseline(path, OLD)
        path.chmod(0o444)
        assert write_baseline(path, OLD) is False
        with pytest.raises(BaselineError, match=r"test_a\[faq\]\.json: is read-only"):
            write_baseline(path, NEW)
        assert path.read_text() == OLD
        assert len(list(path.parent.iterdir())) == 1

    def test_a_folder_in_its_place_is_said(self, path):
        path.mkdir(parents=True)
        with pytest.raises(BaselineError, match="is not a file"):
            write_baseline(path, NEW)

    def test_a_file_in_the_folders_place_is_said(self, path, tmp_path):
        (tmp_path / "ir_baselines").touch()
        with pytest.raises(BaselineError, match="cannot be written"):
            write_baseline(path, NEW)

    @posix
    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_read_only_folder_is_said(self, path):
        write_baseline(path, OLD)
        path.parent.chmod(0o555)
        try:
            with pytest.raises(BaselineError, match="cannot be written: Permission denied"):
                write_baseline(path, NEW)
        finally:
            path.parent.chmod(0o755)
        assert path.read_text() == OLD

    @pytest.mark.parametrize(
        ("owner", "call"),
        [(os, "fsync"), (os, "open"), (Path, "replace"), (Path, "chmod"), (writing, "open")],
    )
    @pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EIO])
    def test_whatever_fails_the_old_file_stays_and_nothing_is_left(
        self, path, monkeypatch, owner, call, problem
    ):
        write_baseline(path, OLD)

        def fail(*_args, **_kwargs):
            raise OSError(problem, os.strerror(problem))

        stand_in = partial(Broken, fail) if owner is writing else fail
        monkeypatch.setattr(owner, call, stand_in, raising=owner is not writing)
        with pytest.raises(BaselineError, match=os.strerror(problem)):
            write_baseline(path, NEW)
        monkeypatch.undo()
        assert path.read_text() == OLD
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    @pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit])
    def test_an_interrupt_leaves_nothing(self, path, monkeypatch, problem):
        write_baseline(path, OLD)

        def interrupt(_):
            raise problem

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(problem):
            write_baseline(path, NEW)
        monkeypatch.undo()
        assert path.read_text() == OLD
        assert len(list(path.parent.iterdir())) == 1

    @posix
    def test_a_full_disk_leaves_the_old_file(self, path):
        write_baseline(path, OLD)
        code = (
            "import resource, signal, sys; from pathlib import Path\n"
            "from pytest_irmetrics.run.baseline import BaselineError, write_baseline\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            "try: write_baseline(Path(sys.argv[1]), 'x' * 1_000_000)\n"
            "except BaselineError as error: print(error)\n"
        )
        said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
        assert "cannot be written: File too large" in said.stdout
        assert path.read_text() == OLD
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_many_writers_of_one_file_leave_one_of_theirs(self, path):
        texts = [Run({"q": [f"d{number}"] * 1}).dumps() * 50 for number in range(8)]
        failed = []

        def write(text):
            try:
                for _ in range(10):
                    write_baseline(path, text)
                    assert path.read_text() in texts
            except Exception as error:  # noqa: BLE001 - shown by the test's own thread
                failed.append(error)

        threads = [threading.Thread(target=write, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert path.read_text() in texts
        assert len(list(path.parent.iterdir())) == 1

    def test_where_sweepers_take_every_temporary_file_it_says_so(self, path, monkeypatch):
        monkeypatch.setattr(writing, "_hold", lambda *_: False)
        with pytest.raises(BaselineError, match="keeps removing"):
            write_baseline(path, NEW)
        assert not list(path.parent.iterdir())

    def test_a_temporary_file_that_was_swept_is_made_again(self, path, monkeypatch):
        hold, swept = writing._hold, []

        def sweep_once(descriptor, temporary):
            if not swept:
                temporary.unlink()
                swept.append(temporary)
            return hold(descriptor, temporary)

        monkeypatch.setattr(writing, "_hold", sweep_once)
        assert write_baseline(path, NEW)
        assert swept
        assert path.read_text() == NEW

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
        assert write_baseline(path, NEW)
        assert len(opened) == (1 if is_held else 2)
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_works_without_locks(self, path, monkeypatch):
        monkeypatch.setattr(writing, "fcntl", None)
        write_baseline(path, OLD)
        (path.parent / DEAD).touch()
        write_baseline(path, NEW)
        assert path.read_text() == NEW
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


class TestSweeping:
    def test_what_a_dead_writer_left_goes_with_the_next_one(self, path):
        write_baseline(path, OLD)
        (path.parent / DEAD).write_text("half")
        write_baseline(path, NEW)
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_looks_below_a_folder_and_tells_what_went(self, path, tmp_path):
        write_baseline(path, OLD)
        dead = path.parent / DEAD
        dead.write_text("half")
        assert sweep(tmp_path) == [dead]
        assert sweep(tmp_path) == []
        assert sweep(tmp_path / "none") == []

    @posix
    def test_a_writer_that_lives_keeps_its_file(self, tmp_path):
        import fcntl

        live = tmp_path / DEAD
        with live.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert sweep(tmp_path) == []
        assert sweep(tmp_path) == [live]

    @posix
    def test_without_locks_on_the_file_system_age_decides(self, tmp_path, monkeypatch):
        def no_locks(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(writing.fcntl, "flock", no_locks)
        young, old = tmp_path / DEAD, tmp_path / DEAD.replace("0", "1")
        young.touch()
        old.touch()
        os.utime(old, (1, 1))
        assert sweep(tmp_path) == [old]
        write_baseline(tmp_path / "x.json", OLD)
        assert young.exists()

    def test_what_cannot_be_removed_or_listed_stays_without_a_word(self, tmp_path, monkeypatch):
        (tmp_path / DEAD).touch()

        def fail(*_):
            raise PermissionError

        monkeypatch.setattr(Path, "unlink", fail)
        assert sweep(tmp_path) == []
        monkeypatch.setattr(Path, "iterdir", fail)
        assert sweep(tmp_path) == []

    def test_strangers_stay(self, tmp_path):
        for name in (".ir-writing-x.tmp", "x.tmp", f"{DEAD}.bak", ".ir-writing-0123456789ABCDEF.tmp"):
            (tmp_path / name).touch()
        (tmp_path / DEAD).mkdir()
        assert sweep(tmp_path) == []

    def test_a_link_is_not_followed(self, tmp_path):
        (tmp_path / "precious").write_text("x")
        (tmp_path / DEAD).symlink_to(tmp_path / "precious")
        assert sweep(tmp_path) == []
        assert (tmp_path / "precious").read_text() == "x"


class TestReading:
    def test_reads_what_was_written(self, path):
        write_baseline(path, OLD)
        assert read_baseline(path) == RUN

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (OLD.encode()[:50], "was cut short"),
            (b"", "is empty"),
            (b"<<<<<<< HEAD\n" + OLD.encode(), "conflict's marker"),
            (OLD.replace('"version": 1', '"version": 99').encode(), "Upgrade pytest-irmetrics"),
            (OLD.replace('"version": 1', '"version": NaN').encode(), "NaN is not a finite number"),
            (OLD.encode("utf-16"), "is not UTF-8"),
        ],
    )
    def test_a_damaged_file_is_an_error_of_its_own_kind(self, path, data, words):
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with pytest.raises(BaselineError, match=words) as caught:
            read_baseline(path)
        assert str(path) in str(caught.value)
        assert "--ir-baseline-update" in str(caught.value)

    def test_a_missing_file_names_the_command(self, path):
        with pytest.raises(
            BaselineError, match=r"is not there\. Store a baseline, and commit it: `pytest --ir-base"
        ):
            read_baseline(path)
        assert not path.parent.exists()

    def test_a_link_to_nothing_is_said(self, path):
        path.parent.mkdir(parents=True)
        path.symlink_to(path.parent / "none")
        with pytest.raises(BaselineError, match=r"links to .*none, which is not there"):
            read_baseline(path)

    def test_what_is_no_file_is_said(self, path):
        path.mkdir(parents=True)
        with pytest.raises(BaselineError, match="cannot be read"):
            read_baseline(path)
        with pytest.raises(BaselineError, match="cannot be read"):
            read_baseline(path / ("x" * 5000))

    def test_the_file_of_a_class_that_differs_by_case_is_not_taken(self, tmp_path, monkeypatch):
        ours, theirs = tmp_path / "TestFaq.test_a.json", tmp_path / "TestFAQ.test_a.json"
        theirs.write_text(OLD)
        if not ours.exists():  # make this file system one that cannot tell
            ours.symlink_to(theirs)
            monkeypatch.setattr(Path, "iterdir", lambda _: iter([theirs]))
        for use in (read_baseline, lambda path: write_baseline(path, NEW)):
            with pytest.raises(BaselineError, match=r"baseline of another test .* TestFAQ\.test_a\.json"):
                use(ours)
        assert theirs.read_text() == OLD

    def test_a_folder_that_spells_a_name_in_its_own_way_minds_nobody(self, path, monkeypatch):
        write_baseline(path, OLD)
        monkeypatch.setattr(Path, "iterdir", lambda _: iter([Path("another.json")]))
        assert read_baseline(path) == RUN


class TestListing:
    @pytest.fixture
    def file(self, tmp_path):
        file = tmp_path / "test_x.py"
        file.touch()
        return file

    @staticmethod
    def store(file, name, golden_set="golden/faq.yaml", directory="ir_baselines"):
        path = baseline_path(file, name, directory)
        write_baseline(path, Run.of({}, golden_set=golden_set).dumps())
        return path

    def test_finds_the_golden_sets_of_a_test_whatever_its_ids(self, file):
        one = self.store(file, "test_a[faq]", "golden/faq.yaml")
        two = self.store(file, "test_a[FAQ]", "golden/FAQ.yaml")
        three = self.store(file, "test_a", "golden/bl\u00e5.yaml")
        self.store(file, "test_ab[faq]")
        self.store(file, "Test.test_a[faq]")
        (one.parent / "test_a[broken].json").write_text('{"golden')
        (one.parent / "test_a[none].json").write_text(OLD)
        found = [(one, "golden/faq.yaml"), (two, "golden/FAQ.yaml"), (three, "golden/bl\u00e5.yaml")]
        assert sorted(golden_sets_of(file, "test_a", "ir_baselines")) == sorted(found)
        assert golden_sets_of(file.with_name("test_y.py"), "test_a", "ir_baselines") == []

    def test_finds_the_golden_sets_of_a_test_with_an_odd_name(self, file):
        path = self.store(file, "test_SØK[faq]")
        self.store(file, "test_SÆK[faq]")
        assert golden_sets_of(file, "test_SØK", "ir_baselines") == [(path, "golden/faq.yaml")]

    def test_reads_the_golden_set_of_a_reformatted_baseline(self, file):
        import json

        path = self.store(file, "test_a[faq]")
        path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
        assert golden_sets_of(file, "test_a", "ir_baselines") == [(path, "golden/faq.yaml")]

    def test_names_baselines_whose_test_or_file_is_gone(self, file):
        self.store(file, "test_a[faq]")
        gone = self.store(file, "test_b[faq]")
        file_gone = self.store(file.with_name("test_gone.py"), "test_a[faq]")
        file.with_name("test_z.py").touch()
        self.store(file.with_name("test_z.py"), "test_unknown")
        tests = {file: ["test_a[faq]"], Path("/elsewhere/test_x.py"): ["test_b[faq]"]}
        assert stale(file.parent, "ir_baselines", tests) == [file_gone, gone]
        assert stale(file.parent, "ir_baselines", {}) == [file_gone]
        assert stale(file.parent, "other", tests) == []

    def test_lists_baselines_alone(self, file):
        path = self.store(file, "test_a[faq]")
        (path.parent / DEAD).touch()
        (path.parent / "README.md").touch()
        assert list_baselines(file.parent / "ir_baselines") == [path]
        assert list_baselines(file.parent / "none") == []
