"""Name and find the baseline of a test: the run that its later runs are compared with.

A baseline is one JSON file for each test and parameter, below a folder beside the test file. Its name depends on the
test's name alone, never on what else the folder holds, so that it stays the same on any file system.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from operator import attrgetter
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

SUFFIX = ".json"
"""The end of the name of every baseline."""

_MAX_LENGTH = 100  # characters of a part of a name
_SAFE_MODULE = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_SAFE_TEST = re.compile(r"(?:[A-Za-z0-9_]+\.)*[a-z0-9_]+")
_SAFE_IDS = re.compile(r"(?:\[[a-z0-9_.,=+@\-\[\]]*\])?")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.,=+@\-\[\]]+")
_HASHED = re.compile(r"_[0-9a-f]{8}(?=\[|\Z)")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|\[|\Z)", re.IGNORECASE)


# Names.


def baseline_path(test_file: Path, test_name: str, directory: str) -> Path:
    """Return the path of a test's baseline: ``<folder>/<directory>/<module>/<Class.><test>[<ids>].json``.

    `directory` is relative to the test file's folder. What is unsafe or ambiguous on some file system becomes `_`
    and a short hash: characters other than ASCII letters, digits and ``_.,=+@-[]``, upper case in anything but the
    names of modules and classes (``FAQ`` beside ``faq``), names that Windows reserves, long ones and empty ones.
    """
    name, bracket, ids = test_name.partition("[")
    file = _safe(name, _SAFE_TEST) + _safe(bracket + ids, _SAFE_IDS)
    return test_file.parent / directory / _safe(test_file.stem, _SAFE_MODULE) / f"{file}{SUFFIX}"


def _safe(name: str, allowed: re.Pattern[str]) -> str:
    """Return a name as it is where it is allowed and neither long nor reserved, else a safe one that is different for different names.

    Also of a name that looks like such a safe one, so that no two tests share one.
    """
    is_odd = len(name) > _MAX_LENGTH or _RESERVED.match(name) or _HASHED.search(name)
    if allowed.fullmatch(name) and not is_odd:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_UNSAFE.sub('_', name)[:_MAX_LENGTH].strip('.')}_{digest}"


class BaselineName(NamedTuple):
    """What the path of a baseline tells of its test."""

    module: PurePath
    """The folder of the baselines of its module."""
    function: str
    """The test function, with its class."""
    ids: str
    """The parameter ids, from the bracket on."""

    @classmethod
    def of(cls, path: PurePath | str) -> BaselineName:
        """Read the path of a baseline."""
        path = PurePath(path)
        function, bracket, ids = path.name.removesuffix(SUFFIX).partition("[")
        return cls(path.parent, function, bracket + ids)

    @property
    def parts(self) -> set[str]:
        """The parts of the parameter ids, between the `-` of them."""
        return {*self.ids.strip("[]").split("-")} - {""}

    def likeness(self, other: BaselineName) -> int:
        """Count the parts that the parameters of two tests share, and one more where they are one function."""
        return len(self.parts & other.parts) + (self.function == other.function)

    def may_be_in(self, file: Path, module: object) -> bool:
        """Tell whether a test file has the function: by its module, or where that was not imported (None) by whether its text names it.

        True where only a safe name of the function is known, or the file cannot be read.
        """
        if _HASHED.search(self.function):
            return True
        with suppress(AttributeError, OSError):
            if module is not None:
                attrgetter(self.function)(module)
                return True
            named = rf"\b{re.escape(self.function.partition('.')[0])}\b|import\s*\(?\s*\*"
            return re.search(named, file.read_text(encoding="utf-8", errors="replace")) is not None
        return module is None  # of a file that cannot be read


def is_baseline(path: str, directory: str) -> bool:
    """Tell whether a path, with `/`, is one that `baseline_path` makes, of a test in any folder."""
    return path.endswith(SUFFIX) and f"/{path}".rsplit("/", 2)[0].endswith(f"/{directory}")


def folder_of_test(path: str, directory: str) -> PurePosixPath:
    """Return the folder of the test that a baseline is of."""
    return PurePosixPath(path).parents[directory.count("/") + 2]


# Finding.


def find_baselines(top: Path, directory: str, skipped: Iterable[str]) -> Iterator[tuple[Path, Path]]:
    """Yield the baselines in folders called `directory` at `top` and below, each with the folder of its test.

    Virtual environments, and folders whose names match a pattern in `skipped`, are left out.
    """
    for folder, names, files in os.walk(top):
        if "pyvenv.cfg" in files:
            names.clear()
        elif os.path.isdir(os.path.join(folder, directory)):  # noqa: PTH112, PTH118 - a name costs less than a Path
            yield from ((path, Path(folder)) for path in Path(folder, directory).glob(f"*/*{SUFFIX}"))
        names[:] = [name for name in names if not any(fnmatch(name, pattern) for pattern in skipped)]
