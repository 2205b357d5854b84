"""How a file is named: to a reader of pytest's output, and to another process of the same run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def relative_path(path: Path, start: Path) -> str:
    """Return a path relative to a folder, with ``/`` on every system; whole where it is on another drive."""
    try:
        return os.path.relpath(path, start).replace(os.sep, "/")
    except ValueError:
        return str(path)


def shown_path(config: pytest.Config, path: Path) -> str:
    """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
    found = relative_path(path, config.invocation_params.dir)
    return os.path.normpath(path) if found.startswith("..") else found


def path_in_root(config: pytest.Config, path: Path) -> str:
    """Return a path as another process of the run finds it, perhaps on another machine: relative to its rootdir."""
    return relative_path(path, config.rootpath)
