"""Packages that only the integration tests need."""

from __future__ import annotations

import importlib
import warnings

import pytest


def need(name):
    """Import a package; where it is not installed, skip and say what installs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a package says of its own imports is none of ours
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            pytest.skip(f"there is no {error.name} here: make integration", allow_module_level=True)
