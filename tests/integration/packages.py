"""Packages that only the integration tests need."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import warnings

import pytest

# Before all others: imported late in a process, after theirs, its native code crashes now and then.
with contextlib.suppress(ModuleNotFoundError):
    importlib.import_module("torch")


def need(name):
    """Import a package; where it is not installed, skip and say what installs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a package says of its own imports is none of ours
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            _skip(error.name)


def need_there(*names):
    """Skip where a package is not installed that another process imports, and say what installs it."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            _skip(name)


# What brings too much for each run.
_BY_HAND = {"chromadb": "chromadb", "vespa": "pyvespa", "weaviate": "weaviate-client"}


def _skip(name):
    cure = f"pip install {_BY_HAND[name]}" if name in _BY_HAND else "make integration"
    pytest.skip(f"there is no {name} here: {cure}", allow_module_level=True)
