"""Name a file relative to where pytest was called, or to its root directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_irmetrics.base.paths import path_below, relative_path

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def shown_path(config: pytest.Config, path: Path) -> str:
    """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
    return path_below(os.path.normpath(path), config.invocation_params.dir)


def path_in_root(config: pytest.Config, path: Path) -> str:
    """Return a path as another process of the run finds it, perhaps on another machine: relative to its rootdir."""
    return relative_path(path, config.rootpath)
