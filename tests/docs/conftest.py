"""The projects in which pages' commands and examples are run."""

from tests.plugin.conftest import branch, committed, stored  # noqa: F401
