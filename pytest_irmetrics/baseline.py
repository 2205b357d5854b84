"""Where a test's baseline lives, and how it is read with care and written whole.

A file is written under another name in the same folder, flushed to the disk and moved into place: at any moment the
baseline is the old one or the new one. The writer holds a lock on its temporary file, which ends with its process,
however that ends: a temporary file without a lock is a dead writer's, and is swept away by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.run import Run, RunError, printable

try:
    import fcntl
except ImportError:  # Windows, where nobody can delete a file that a writer has open: no lock is needed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_SUFFIX = ".json"
_TEMPORARY = re.compile(r"\.ir-baseline-[0-9a-f]{16}\.tmp")
_DAY = 24 * 60 * 60.0
_ATTEMPTS = 5

_LONGEST = 100
_SAFE_WORDS = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_SAFE_IDS = re.compile(r"\[[a-z0-9_.,=+@\-\[\]]*\]")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.,=+@\-\[\]]+")
_HASHED = re.compile(r"_[0-9a-f]{8}(?=\[|\Z)")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|\[|\Z)", re.IGNORECASE)


class BaselineError(ValueError):
    """A baseline that cannot be read or written; says what is wrong with which file and what to do."""


# Names. A name is decided by itself alone, never by its siblings: whatever else a folder holds, on any file system,
# a test's baseline stays where it is.


def baseline_path(test_file: Path, test_name: str, directory: str) -> Path:
    """Return where the baseline of a test lives: ``<folder>/<directory>/<module>/<Class.><test>[<ids>].json``.

    `directory` is relative to the test file's folder. What is unsafe or ambiguous on some file system becomes `_`
    and a short hash: characters other than ASCII letters, digits and ``_.,=+@-[]``, upper case in anything but the
    names of modules and classes (``FAQ`` beside ``faq``), names that Windows reserves, long ones and empty ones.
    """
    return test_file.parent / directory / _safe_module(test_file.stem) / f"{_safe_test(test_name)}{_SUFFIX}"


def _safe_module(stem: str) -> str:
    return stem if _SAFE_WORDS.fullmatch(stem) and _is_plain(stem) else _hashed(stem)


def _safe_test(test_name: str) -> str:
    """Name a test's file. The part before the ids is safe by itself, so that a test's files can be told by it."""
    name, bracket, rest = test_name.partition("[")
    ids = bracket + rest
    function = name.rpartition(".")[2]
    plain = _SAFE_WORDS.fullmatch(name) and function == function.lower() and _is_plain(name)
    safe_ids = not ids or (_SAFE_IDS.fullmatch(ids) and _is_plain(ids))
    return (name if plain else _hashed(name)) + (ids if safe_ids else _hashed(ids))


def _is_plain(name: str) -> bool:
    return len(name) <= _LONGEST and not _RESERVED.match(name) and not _HASHED.search(name)


def _hashed(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_UNSAFE.sub('_', name)[:_LONGEST].strip('.')}_{digest}"


# Reading.


def read_baseline(path: Path) -> Run:
    """Read a baseline. Raises BaselineError; each cause has its own words."""
    where = printable(str(path))
    try:
        path.stat()
    except FileNotFoundError:
        if not os.path.lexists(path):
            raise BaselineError(
                f"{where}: is not there. Store a baseline, and commit it: `pytest --ir-baseline-update`."
            ) from None
        raise BaselineError(
            f"{where}: links to {printable(os.path.realpath(path))}, which is not there. Mend the link, or delete it and "
            "store the baseline anew (`pytest --ir-baseline-update`)."
        ) from None
    except OSError as error:
        raise BaselineError(f"{where}: cannot be read: {error.strerror}. Mend that.") from None
    _require_own_name(path)
    try:
        return Run.load(path)
    except RunError as error:
        raise BaselineError(str(error)) from None


def _require_own_name(path: Path) -> None:
    """Refuse the file of a test whose class has the same name but for its case, where the file system cannot tell."""
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return
    if path.name in names or not os.path.lexists(path):
        return
    for name in names:
        if name.lower() == path.name.lower():
            raise BaselineError(
                f"{printable(str(path))}: is the baseline of another test on this file system, {printable(name)}. "
                "Rename one of the two classes: their names differ by case alone."
            )


def list_baselines(directory: Path) -> list[Path]:
    """Return the baselines below a folder such as ``ir_baselines``, in order of their names."""
    return sorted(path for path in directory.glob(f"*/*{_SUFFIX}") if not path.name.startswith("."))


def golden_sets_of(test_file: Path, test_name: str, directory: str) -> list[tuple[Path, str]]:
    """Return the baselines of a test, whatever its ids, with the golden set that each names.

    A baseline that cannot be read is left out: whoever needs it says so.
    """
    bare = baseline_path(test_file, test_name, directory)
    stem = bare.name.removesuffix(_SUFFIX)
    found = []
    for path in sorted(bare.parent.glob(f"*{_SUFFIX}")):
        if path == bare or path.name.startswith(f"{stem}["):
            golden_set = _golden_set(path)
            if golden_set is not None:
                found.append((path, golden_set))
    return found


def _golden_set(path: Path) -> str | None:
    """Read the golden set out of a baseline's head; out of the whole, where somebody reformatted it."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line.startswith('"golden_set": '):
                    return str(json.loads(line.removeprefix('"golden_set": ').rstrip().rstrip(",")))
                if line.startswith('"queries"'):
                    return None
        return Run.load(path).golden_set
    except (OSError, ValueError):
        return None


def stale(folder: Path, directory: str, tests: Mapping[Path, Collection[str]]) -> list[Path]:
    """Return the baselines beside a folder's test files whose test file, or test, is gone.

    `tests` has the names, with ids, of the tests in each file that was collected as a whole. Of a test file that is
    there but was not collected nothing is known, and nothing returned.
    """
    collected = {
        baseline_path(file, "", directory).parent: {baseline_path(file, name, directory) for name in names}
        for file, names in tests.items()
        if file.parent == folder
    }
    present = {baseline_path(file, "", directory).parent for file in folder.glob("*.py")}
    return [
        path
        for path in list_baselines(folder / directory)
        if (path not in collected[path.parent] if path.parent in collected else path.parent not in present)
    ]


# Writing.


def write_baseline(path: Path, text: str) -> bool:
    """Write a baseline, whole or not at all, and return whether that changed anything.

    Makes the folders that it takes, follows links and keeps the file's mode. Raises BaselineError, and then the
    file is as it was.
    """
    _require_own_name(path)
    real = Path(os.path.realpath(path))
    data = text.encode("utf-8")
    where = printable(str(path))
    try:
        mode = _mode(real)
        if mode is not None:
            if not stat.S_ISREG(mode):
                raise BaselineError(
                    f"{where}: is not a file. Move it out of the way, and store the baseline again."
                )
            if real.read_bytes() == data:
                return False
            if not mode & 0o222 or not os.access(real, os.W_OK):
                raise BaselineError(
                    f"{where}: is read-only. Make it writable (`chmod u+w`), and store the baseline again."
                )
        real.parent.mkdir(parents=True, exist_ok=True)
        _sweep(real.parent)
        _replace(real, data, mode)
    except OSError as error:
        raise BaselineError(
            f"{where}: cannot be written: {error.strerror or error}. What was there is as it was. Mend that, and store "
            "the baseline again."
        ) from None
    return True


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(real: Path, data: bytes, mode: int | None) -> None:
    for _ in range(_ATTEMPTS):
        temporary = real.with_name(f".ir-baseline-{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666)
        moved = False
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                if not _hold(file.fileno(), temporary):
                    continue
                file.write(data)
                file.flush()
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                os.fsync(file.fileno())
                if fcntl is not None:  # as long as the lock is held; Windows moves closed files only
                    temporary.replace(real)
                    moved = True
            if not moved:
                temporary.replace(real)
                moved = True
        finally:
            if not moved:
                with contextlib.suppress(OSError):
                    temporary.unlink()
        _flush_folder(real.parent)
        return
    raise OSError(errno.EBUSY, "another process keeps removing the temporary file")


def _hold(descriptor: int, temporary: Path) -> bool:
    """Lock a temporary file, as the sign that its writer lives. Says whether it is still there to be written."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # a sweeper was between us and the lock
        return False
    except OSError:  # a file system without locks, on which sweepers go by age
        return True
    try:
        return os.path.samestat(os.stat(temporary), os.fstat(descriptor))  # noqa: PTH116 - beside fstat
    except FileNotFoundError:
        return False


def _flush_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sweep(directory: Path) -> list[Path]:
    """Remove the temporary files of dead writers from a folder and those below it; return what was removed."""
    return [path for folder, _, _ in os.walk(directory) for path in _sweep(Path(folder))]


def _sweep(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name))
    except OSError:
        return []
    return [path for path in found if _remove_abandoned(path)]


def _remove_abandoned(path: Path) -> bool:
    """Remove a temporary file unless somebody is writing to it. It is ours to remove while we hold its lock.

    A writer that has made its file, and not locked it yet, notices afterwards that it is gone, and makes another.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        if fcntl is None:
            path.unlink()  # fails if it is open
            return True
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if not _is_free(descriptor):
                return False
            path.unlink()
            return True
        finally:
            os.close(descriptor)
    except OSError:
        return False


def _is_free(descriptor: int) -> bool:
    """Take the lock if nobody has it. Where the file system knows no locks, what is a day old counts as free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return time.time() - os.fstat(descriptor).st_mtime > _DAY
    return True
