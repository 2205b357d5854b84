"""Pausing garbage collection."""

from __future__ import annotations

import gc

import pytest

from pytest_irmetrics.base.gc_pause import pause_gc


def test_the_collector_is_left_as_it_was():
    assert gc.isenabled()
    with pause_gc():
        assert not gc.isenabled()
        with pause_gc():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), pause_gc():
        raise KeyError
    assert gc.isenabled()
