"""Baselines that no test of a run can speak for: their test file is gone, or nothing in the run gates any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.plugin import ini
from pytest_irmetrics.run.baseline import folders_below, list_baselines, stale

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

_NARROWING = ("keyword", "markexpr", "deselect", "lf", "maxfail", "stepwise")
"""Options under which the tests that gate may be there and not run."""


def without_file(config: pytest.Config) -> list[Path]:
    """Return the baselines in the folders that a run collects whose test file is gone; none where it does not gate."""
    gates = ini.gates_on_baseline(config) or config.getoption("ir_baseline_update")
    if not gates or not ini.runs_tests(config):
        return []
    directory = ini.baseline_dir(config)
    return [path for folder in _folders(config, directory) for path in stale(folder, directory, {})]


def unused(config: pytest.Config, *, interrupted: bool) -> str | None:
    """Say that a run in which no test used irmetrics was meant to gate; None where it need not have, or did not come to it."""
    if interrupted or not ini.runs_tests(config):
        return None
    for option in ("--ir-baseline", "--ir-baseline-update", "--ir-selftest"):
        if config.getoption(option):
            return f"{option} was given, and no test of this run used irmetrics."
    if not ini.gates_on_baseline(config) or any(config.getoption(name, None) for name in _NARROWING):
        return None
    directory = ini.baseline_dir(config)
    if not any(list_baselines(folder / directory) for folder in _folders(config, directory)):
        return None
    return "the setting ir_baseline is true, and no test of this run used irmetrics."


def _folders(config: pytest.Config, directory: str) -> Iterator[Path]:
    """Yield the folders with baselines below those that pytest was told to collect as a whole."""
    tops = {config.invocation_params.dir / argument for argument in config.args if "::" not in argument}
    seen = set()
    for top in sorted(tops):
        for folder in folders_below(top, directory, config.getini("norecursedirs")):
            if folder not in seen:
                seen.add(folder)
                yield folder
