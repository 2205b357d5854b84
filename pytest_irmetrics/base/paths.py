"""Write a path for a reader: relative to a folder, with `/` on every system."""

from __future__ import annotations

import os


def relative_path(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
    """Return a path relative to a folder; whole where it is on another drive, no path at all or the folder is gone."""
    try:
        return os.path.relpath(path, start).replace(os.sep, "/")
    except (OSError, ValueError):
        return os.fspath(path)


def path_below(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
    """Return a path relative to a folder where it is inside that, else whole."""
    relative = relative_path(path, start)
    return os.fspath(path) if relative.startswith("..") else relative
