"""Hold property tests to examples that reach what they assert: text of chance is nearly always refused, and proves little."""

from __future__ import annotations

import functools

_seen: list[bool] = []


def reached(what):
    """Count an example of a test that is marked with `often`; true if something came of it that the test can look at."""
    _seen.append(bool(what))
    return bool(what)


def often(share):
    """Fail a test, marked above `given`, of which less than this share of the examples called `reached` with something."""

    def mark(test):
        @functools.wraps(test)
        def held(*args, **kwargs):
            _seen.clear()
            test(*args, **kwargs)
            count = sum(_seen)
            assert count >= share * len(_seen) > 0, f"{count} of {len(_seen)} examples reached the assertion"

        return held

    return mark
