"""List the files of a folder that is read as one file in parts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def parts_of(folder: Path) -> list[Path]:
    """Return the regular files in a folder by name, without hidden ones. Raises OSError where it cannot be read."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_file())
    return [folder / name for name in names]
