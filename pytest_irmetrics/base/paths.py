"""Show paths relative to a folder, with `/` on every system; make test ids of them; find the repository around a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import break_ci_commands
from pytest_irmetrics.base.files import without_gz

if TYPE_CHECKING:
    from pathlib import Path


def relative_path(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
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
    return os.fspath(path) if relative.startswith("..") else relative


def parameter_id(path: Path, fixed: Path) -> str:
    """Return the id of a golden set's test item: its path below the pattern's fixed folder, without suffix, `-` for `/`."""
    whole = path if os.path.isdir(path) else without_gz(path).with_suffix("")  # noqa: PTH112 - Path.is_dir raises
    below = relative_path(whole, fixed)
    # pytest prints it as it is, but for what it escapes itself: whatever is not printable ASCII.
    return break_ci_commands(below.replace("../", "").replace("/", "-"))
