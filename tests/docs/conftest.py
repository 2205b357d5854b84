"""The projects in which pages' commands and examples are run."""

from tests.plugin.conftest import branch, committed  # noqa: F401
