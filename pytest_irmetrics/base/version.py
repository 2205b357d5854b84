"""The version of this package, for `--version` and report files."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Return the version that is installed; `unknown` where the package is on the path and not installed."""
    try:
        return version("pytest-irmetrics")
    except PackageNotFoundError:
        return "unknown"
