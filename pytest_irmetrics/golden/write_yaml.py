"""Write a golden set as YAML the way people do, quoting every text that a YAML reader would take for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from pytest_irmetrics.base.numbers import JSON_NUMBER, as_whole_number
from pytest_irmetrics.golden.query import limits_as_dict, query_as_dict

if TYPE_CHECKING:
    from pytest_irmetrics.golden.golden_set import GoldenSet


_TEXT = "tag:yaml.org,2002:str"


class _Block(dict[str, Any]):
    """A mapping that is written a key a line; other mappings, and lists, are written in brackets."""


class _Dumper(yaml.SafeDumper):
    """Writes the golden set in blocks, the values of a query in brackets, and each text so that it is read as that text."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - as PyYAML has it
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - as above
        super().increase_indent(flow, False)  # noqa: FBT003 - indent lists, too

    def represent_text(self, text: str) -> yaml.Node:
        # In double quotes is what a reader takes for a number, a date, a constant, or cannot be seen.
        resolved = self.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        quoted = resolved != _TEXT or JSON_NUMBER.fullmatch(text) or not text.isprintable()
        return self.represent_scalar(_TEXT, text, style='"' if quoted else None)

    def represent_pairs(self, data: dict[str, Any]) -> yaml.Node:
        in_block = isinstance(data, _Block)
        return self.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=not in_block)

    def represent_items(self, data: list[Any]) -> yaml.Node:
        in_block = bool(data) and isinstance(data[0], _Block)
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=not in_block)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(_Block, _Dumper.represent_pairs)
_Dumper.add_representer(dict, _Dumper.represent_pairs)
_Dumper.add_representer(list, _Dumper.represent_items)


def write_yaml(golden: GoldenSet, name: str | None) -> str:
    """Return the YAML of a golden set, with `name` as the set's name, if given."""
    document = _Block()
    if name is not None:
        document["name"] = name
    if golden.relevance_level != 1:
        document["relevance_level"] = as_whole_number(golden.relevance_level)
    for tag in dict.fromkeys(threshold.tag for threshold in golden.thresholds):
        of_tag = [threshold for threshold in golden.thresholds if threshold.tag == tag]
        limits = _Block(limits_as_dict(of_tag, short=True))
        if tag is None:
            document["thresholds"] = limits
        else:
            document.setdefault("slices", _Block())[tag] = limits
    document["queries"] = [_Block(query_as_dict(query, short=True)) for query in golden.queries.values()]
    return dump(document)


def dump(value: object) -> str:
    """Return a value as YAML, in lines of 100 characters where its texts allow it."""
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return written


def write_id(text: str) -> str:
    """Write an id as it may stand in a list or mapping in brackets, or as a key, on one line."""
    return yaml.dump([text], Dumper=_Dumper, allow_unicode=True, width=float("inf")).strip()[1:-1]
