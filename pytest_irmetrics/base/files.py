"""Read regular files up to a size, packed with gzip or not; show their paths relative to a folder, with `/` on every system; read JSON.

What is no regular file is refused: a pipe would be waited for, a device read until memory ends.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.escape import break_ci_commands

MAX_RUN_BYTES = 1_000_000_000
"""Of a baseline, a run or a report: some two million queries."""
CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
"""A conflict marker that git leaves in a file it could not merge."""
_GZIP_MAGIC = b"\x1f\x8b"
"""The first two bytes of every gzip file, and of no text in UTF-8."""
TOPICS = ".topics.tsv"
"""The end of the name of a file with the texts of queries, beside qrels: no golden set by itself."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the file begins that stands for one in Git LFS where that was not fetched."""


class FileError(IRMetricsError):
    """A file that cannot be read; its text, to follow the file's name, says what is wrong and what to do."""


def read_bytes(path: Path, limit: int = MAX_RUN_BYTES) -> bytes:
    """Return the content of a regular file of at most `limit` bytes that may hold UTF-8, unpacked if it is gzip. Raises FileError.

    The corpus of the command `label` alone is read line by line, in cli/label.py.
    """
    try:
        # Before it is opened: a pipe would wait for its writer, and some devices do something.
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            if stat.S_ISDIR(status.st_mode):
                raise FileError("This is a folder. Name a file in it.")
            raise FileError("This is no regular file, but a pipe or a device. Write it to a file.")
        if status.st_size > limit:
            raise FileError(f"The file is larger than {_size(limit)}. Split it.")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileError("There is no such file. Check the path.") from None
    except (OSError, ValueError) as error:  # ValueError: no file can have such a path
        text = f"The file cannot be read: {getattr(error, 'strerror', None) or error}. Check the path and its permissions."
        raise FileError(text) from None
    if data.startswith(LFS_POINTER):
        raise FileError("The file is in Git LFS and was not fetched. Fetch it: git lfs pull.")
    data = _unpacked(data, limit) if data.startswith(_GZIP_MAGIC) else data
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\x00" in data[:2]:
        raise FileError("The file is in UTF-16, as PowerShell's `>` writes it, or UTF-32. Save it as UTF-8.")
    return data


def _unpacked(data: bytes, limit: int) -> bytes:
    import gzip  # noqa: PLC0415 - few files are packed
    import io  # noqa: PLC0415 - as above
    import zlib  # noqa: PLC0415 - as above

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise FileError("Its gzip data is cut short or damaged. Pack it again.") from None
    if len(unpacked) > limit:
        raise FileError(f"The file is larger than {_size(limit)}, once it is unpacked. Split it.")
    return unpacked


def _size(limit: int) -> str:
    return f"{limit // 1_000_000_000} GB" if limit >= 1_000_000_000 else f"{limit // 1_000_000} MB"


def packed_as_named(path: Path, data: bytes) -> bytes:
    """Return data as it is written to a path: compressed where the name ends in ``.gz``, always to the same bytes."""
    if without_gz(path) == path:
        return data
    import gzip  # noqa: PLC0415 - few files are packed

    return gzip.compress(data, mtime=0)


def without_gz(path: Path) -> Path:
    """Return a path without the suffix ``.gz``: ``faq.qrels`` for ``faq.qrels.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def relative_path(path: str | os.PathLike[str], start: str | os.PathLike[str]) -> str:
    """Return a path relative to a folder; whole where it is on another drive, no path at all or the folder is gone."""
    try:
        return os.path.relpath(path, start).replace(os.sep, "/")
    except (OSError, ValueError):
        return os.fspath(path)


def nearest_repository(folder: Path) -> Path | None:
    """Return the nearest folder at or above one that holds ``.git``, which is a folder or a file; None where none does."""
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def path_below(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
    """Return a path relative to a folder where it is inside that, else whole."""
    relative = relative_path(path, start)
    return os.fspath(path) if f"{relative}/".startswith("../") else relative


def parameter_id(path: Path, fixed: Path) -> str:
    """Return the id of a golden set's test item, also in the names of committed baselines: its path below the pattern's fixed folder, without suffix, `-` for `/`."""
    whole = path if os.path.isdir(path) else without_gz(path).with_suffix("")  # noqa: PTH112 - Path.is_dir raises
    # pytest prints it as it is, but for what it escapes itself: whatever is not printable ASCII.
    return break_ci_commands(relative_path(whole, fixed).replace("../", "").replace("/", "-"))


# JSON


def strict_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object of its keys and values. Raises ValueError for a key that is there twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def _number(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a finite number")
    return value


def read_json_strictly(text: str, make: Callable[[list[tuple[str, Any]]], Any] = strict_object) -> Any:
    """Read one JSON value, more strictly than the standard library, which takes the last of two equal keys, NaN and 1e999.

    `make` makes what stands for an object of its keys and values. Raises ValueError for a key twice, a number that is not
    finite, what is not JSON, an integer of more digits than Python converts, and lists and objects nested too deeply.
    """
    decoder = json.JSONDecoder(object_pairs_hook=make, parse_constant=_number, parse_float=_number)
    try:
        return decoder.decode(text)
    except RecursionError:  # whose own words are other ones in each version of Python
        raise ValueError("lists or objects are nested too deeply") from None
