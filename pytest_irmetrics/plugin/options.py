"""Read one setting or option of pytest's configuration at a time, without the imports that `Settings` needs."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from pytest_irmetrics.base.errors import IRMetricsError

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}

_OPTIONS_WITHOUT_TESTS = ("collectonly", "setuponly", "showfixtures", "show_fixtures_per_test", "cacheshow")
"""Names in ``config.option`` of the options with which pytest calls no test; ``--setup-plan`` sets the second."""


class SettingsError(IRMetricsError, ValueError):
    """Raised for a setting or option that cannot be used; the message names it."""


def read_ini(config: pytest.Config, name: str) -> Any:
    """Read a setting that pytest may hand over as text or, from a native TOML table, as a value of its own type."""
    try:
        return config.getini(name)
    except (TypeError, pytest.UsageError):
        # pytest 9.0 and 9.1 accept only a value of the declared type, and none is "a number, quoted or not".
        raw = getattr(config, "_inicfg", {}).get(name)
        value = getattr(raw, "value", raw)
        if isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return [value]
        raise SettingsError(f"{name} has the value {value!r}, which it cannot be.") from None


def read_boolean(config: pytest.Config, name: str) -> bool:
    """Read a setting that is `true` or `false`, as text or as a boolean. Raises SettingsError."""
    text = str(read_ini(config, name)).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise SettingsError(f"{name} is {text!r}; it is `true` or `false`.")


def read_folder(config: pytest.Config, name: str) -> str:
    """Read the name of a folder below that of each test file. Raises SettingsError for any other path.

    Elsewhere the tests of two folders would share their files.
    """
    text = str(read_ini(config, name)).strip() or "ir_baselines"
    path = PurePath(text)
    if path.anchor or ".." in path.parts or not path.parts:
        raise SettingsError(
            f"{name} is {text!r}; it is a folder below that of each test file: `ir_baselines`."
        )
    return text


def since_ref(config: pytest.Config) -> str:
    """Return the branch, tag or commit of ``--ir-since``, or of the setting ``ir_since``; empty where neither is given."""
    given = config.getoption("ir_since")
    return str(read_ini(config, "ir_since") if given is None else given).strip()


def runs_tests(config: pytest.Config) -> bool:
    """Whether a run calls its tests, and is not one that only collects, sets up or lists."""
    return not any(config.getoption(name, None) for name in _OPTIONS_WITHOUT_TESTS)


def gates_on_baseline(config: pytest.Config) -> bool:
    """Whether a run compares with stored baselines; False where a setting that decides it cannot be read."""
    if config.getoption("ir_selftest"):
        return True
    option = config.getoption("ir_baseline")
    if option is not None:
        return bool(option)
    try:
        return gating_setting(config) is not None
    except SettingsError:  # reported by every test that has a gate
        return False


def gating_setting(config: pytest.Config) -> str | None:
    """Return the name of the setting that makes every run compare with stored baselines; None for none. Raises SettingsError.

    ``ir_since`` does so but in a run that replaces them.
    """
    if read_boolean(config, "ir_baseline"):
        return "ir_baseline"
    return "ir_since" if since_ref(config) and not config.getoption("ir_baseline_update") else None


def baseline_dir(config: pytest.Config) -> str:
    """Return the name of the folder of baselines; the default where the setting ``ir_baseline_dir`` is wrong."""
    try:
        return read_folder(config, "ir_baseline_dir")
    except SettingsError:
        return "ir_baselines"
