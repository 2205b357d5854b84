"""The name of each test in the terminal's summary, cut so that what tells it from the others is left."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.layout import display_width, shorten
from pytest_irmetrics.reports.session_report import titles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport

_SHORTEST_PATH = 6
"""Cells that a golden set keeps beside the parameters of its test."""


class Heading(NamedTuple):
    """What a test is called where it has one line."""

    golden_set: str
    """Its golden set; with the test's name where tests of several names check it."""
    distinct: str = ""
    """What tells it from the others: the golden set's path without the folder and the suffix that all have; the test's name
    where tests of several names check the golden set."""
    label: str = ""
    """The test's parameters besides the golden set, where several tests check it."""

    @property
    def tail(self) -> str:
        """What stands after the golden set."""
        return f" [{self.label}]" if self.label else ""

    def fit(self, width: int, screen: Screen) -> str:
        """Return the heading in at most so many cells: of a long path what it has of its own, cut in the middle."""
        tail = screen.line(self.tail)
        for name in (self.golden_set, self.distinct or self.golden_set):
            whole = f"{screen.line(name)}{tail}"
            if display_width(whole) <= width:
                return whole
        room = width - display_width(tail)
        if room < _SHORTEST_PATH:
            return shorten(whole, width, ascii_only=screen.ascii_only, middle=True)
        return shorten(screen.line(name), room, ascii_only=screen.ascii_only, middle=True) + tail


def headings(items: Sequence[ItemReport]) -> dict[str, Heading]:
    """Map node ids to headings."""
    sets = list(dict.fromkeys(item.golden_set for item in items))
    distinct = dict(zip(sets, _own_parts(sets), strict=True))
    names = titles(items)
    test_names = Counter(map(_test_name, items))
    groups: dict[str, list[ItemReport]] = {}
    for item in items:
        groups.setdefault(item.golden_set, []).append(item)
    found = {}
    for golden_set, group in groups.items():
        tests = {item.nodeid.partition("[")[0] for item in group}
        if len(group) == 1:
            found[group[0].nodeid] = Heading(golden_set, distinct[golden_set])
        elif len(tests) == 1:
            for item, label in zip(group, _labels(group), strict=True):
                found[item.nodeid] = Heading(golden_set, distinct[golden_set], label)
        else:
            for item in group:
                own = _test_name(item)
                found[item.nodeid] = Heading(names[item.nodeid], own if test_names[own] == 1 else "")
    return found


def _test_name(item: ItemReport) -> str:
    return item.nodeid.rpartition("::")[2]


def _labels(group: Sequence[ItemReport]) -> list[str]:
    """Return the parameters of tests over one golden set, without the golden set's own and without those that all have."""
    texts = [item.nodeid.partition("[")[2].removesuffix("]") for item in group]
    folders = posixpath.splitext(group[0].golden_set)[0].split("/")
    for start in range(len(folders)):  # a set's parameter is its path below the pattern's fixed folder
        own = f"-{'-'.join(folders[start:])}-"
        without = [f"-{text}-".replace(own, "-").strip("-") for text in texts]
        if without != texts and len({*without}) == len(texts):
            return labels(without)
    return labels(texts)


def labels(ids: Sequence[str]) -> list[str]:
    """Return parameter ids without the parts at their ends that all of them have, such as the golden set's."""
    parts = [text.split("-") for text in ids]
    for end in (0, -1):
        while min(map(len, parts)) > 1 and len({part[end] for part in parts}) == 1:
            for part in parts:
                part.pop(end)
    return ["-".join(part) for part in parts]


def _own_parts(paths: Sequence[str]) -> list[str]:
    """Return paths without the folder and the suffix that all have; a single one as it is."""
    if len(paths) < 2:
        return list(paths)
    folders = {posixpath.dirname(path) for path in paths}
    suffixes = {posixpath.splitext(path)[1] for path in paths}
    found = [posixpath.basename(path) if len(folders) == 1 else path for path in paths]
    found = [posixpath.splitext(path)[0] if len(suffixes) == 1 else path for path in found]
    return found if len({*found}) == len(paths) else list(paths)
