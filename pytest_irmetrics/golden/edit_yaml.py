"""Append judgments to a golden set in YAML by splicing one value of each query; every other byte stays as it is.

Where a judgment is written depends on the form of the query's `relevant`:

- a single id becomes a list, ``[doc-1, doc-2]``, or where a new grade is not 1 a mapping, ``{doc-1: 1, doc-2: 3}``;
- a list gets an item. For a grade other than 1 it is written anew as a mapping, in which the ids that were there have grade 1;
- a mapping gets a key.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pytest_irmetrics.base.atomic_write import content_digest, lock_file, write_whole
from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.format_yaml import parse_yaml, write_id
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Passage, Query, query_as_dict
from pytest_irmetrics.golden.source import GoldenSetError, Problem, Source, Wrong, decode_strictly
from pytest_irmetrics.golden.yaml_nodes import PARSER
from pytest_irmetrics.metrics import Grade


class Judgment(NamedTuple):
    """A judgment to append to a golden set."""

    query_id: str
    doc_id: str
    grade: Grade
    where: str
    """Where it was given, for messages: a line of a list, or words of the command line."""
    text: str | None = None
    """What is judged of the document; None for all of it."""

    @property
    def key(self) -> str:
        """The name of the document or passage among the judgments of its query."""
        return self.doc_id if self.text is None else Passage(self.doc_id, self.text, self.grade).key


class FileEdit(NamedTuple):
    """Judgments that were appended to the file of a golden set."""

    path: Path
    before: bytes
    after: bytes
    """The content of the file before and after."""
    golden: GoldenSet
    """The golden set with them."""
    new: Sequence[Judgment]
    """Those that it lacked."""
    held_back: Sequence[Judgment]
    """Those that were not written: their queries have no relevant document, without which none may be graded."""

    def places(self) -> list[str]:
        """Return the new judgments with their places: ``golden/faq.yaml:5: refund: doc-8 1``."""
        where = self.golden.where_judged
        return [
            f"{where(one.query_id, one.key)}: {one.query_id}: {one.key} {one.grade:g}" for one in self.new
        ]

    def undo(self) -> None:
        """Write the file as it was before. Raises WriteError, also where somebody else has changed it since."""
        write_whole(self.path, self.before, digest_when_read=content_digest(self.after))


def append_judgments(
    path: Path, judgments: Iterable[Judgment], shown: str, custom_metrics: Collection[str]
) -> FileEdit:
    """Append the judgments that a golden set lacks to its file, all or none of them; but for those that are held back.

    `shown` is the path in messages. The file is read first, and its new content before that is written: it holds the golden
    set as before plus the new judgments. Raises GoldenSetError, also for what the golden set grades otherwise, and
    WriteError; then the file is as it was.
    """
    source = Source(path, shown, custom_metrics)
    with lock_file(path):
        data = source.attempt(source.content) or b""
        before = parse_yaml(source.attempt(decode_strictly, data) or "", source)
        new = _lacking(before, judgments)
        unjudged = [query_id for query_id in new if before.queries[query_id].is_unjudged]
        waiting = [i for i in unjudged if all(one.grade < before.relevance_level for one in new[i].values())]
        held_back = [one for query_id in waiting for one in new.pop(query_id).values()]
        edited = _spliced(data, before, new, source)
        again, after = Source(path, shown, custom_metrics), None
        with suppress(GoldenSetError):  # which is said below
            after = parse_yaml(decode_strictly(edited), again)
        wanted = [_with(query, new.get(query.id, {})) for query in before.queries.values()]
        if after is None or [*map(query_as_dict, after.queries.values())] != [*map(query_as_dict, wanted)]:
            said = again.problems[0].message if again.problems else "They would change more than they should."
            by_hand = "" if again.problems else "; append them by hand"
            message = f"The new judgments do not fit: {said} Nothing was written{by_hand}."
            raise GoldenSetError([Problem(shown, 1, 1, message)])
        write_whole(path, edited, shown=shown, digest_when_read=content_digest(data))
    appended = [one for added in new.values() for one in added.values()]
    return FileEdit(path, data, edited, after, appended, held_back)


def _lacking(golden: GoldenSet, judgments: Iterable[Judgment]) -> dict[str, dict[str, Judgment]]:
    """Return the judgments that a golden set lacks, by query and key. Raises GoldenSetError with all that give another grade.

    What else contradicts the set (a forbidden document, a query without an answer) is refused where it is read again.
    """
    said: list[Problem] = []
    new: dict[str, dict[str, Judgment]] = {}
    for one in judgments:
        query, earlier = golden.queries.get(one.query_id), new.get(one.query_id, {}).get(one.key)
        grade = earlier.grade if earlier else query.judgments.get(one.key) if query else None
        if query is None:
            said.append(Problem(one.where, None, None, f"There is no query {quote(one.query_id)}."))
        elif grade is None:
            new.setdefault(query.id, {})[one.key] = one
        elif grade != one.grade:
            where = earlier.where if earlier else golden.where_judged(query.id, one.key)
            message = f"{quote(query.id)} grades {quote(one.key)} {grade:g} already ({where}), and here it is {one.grade:g}. Change it there, or leave it out here."
            said.append(Problem(one.where, None, None, message))
    if said:
        raise GoldenSetError(said)
    return new


def _with(query: Query, new: Mapping[str, Judgment]) -> Query:
    """Return a query with new judgments, by their keys."""
    passages = [Passage(one.doc_id, one.text, one.grade) for one in new.values() if one.text is not None]
    grades = {**query.judgments, **{key: one.grade for key, one in new.items()}}
    return replace(query, judgments=grades, passages=(*query.passages, *passages))


def _spliced(
    data: bytes, before: GoldenSet, new: Mapping[str, Mapping[str, Judgment]], source: Source
) -> bytes:
    """Return a file's content with new judgments, by query and key. Raises GoldenSetError."""
    bom = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    text = data.removeprefix(bom).decode()
    root: Any = yaml.compose(text, Loader=PARSER)
    (queries,) = [value for key, value in root.value if key.value == "queries"]
    changes = [
        source.attempt(_change, text, node, query, [*new[query.id].values()])
        for node, query in zip(queries.value, before.queries.values(), strict=True)
        if query.id in new
    ]
    source.raise_any()
    for start, end, written in sorted(filter(None, changes), reverse=True):
        text = text[:start] + written + text[end:]
    return bom + text.encode()


def _change(text: str, query_node: Any, query: Query, new: Sequence[Judgment]) -> tuple[int, int, str]:
    """Return the change that adds judgments to a query's `relevant`: its start, its end and the new text. Raises Wrong."""
    place = query.line, query.column
    pairs: list[tuple[Any, Any]] = [pair for pair in query_node.value if pair[0].value == "relevant"]
    if not pairs:
        advice = "If it has an answer, write `relevant` in place of `no_answer`, and label again."
        raise Wrong(place, f"{quote(query.id)} is to find nothing. {advice}")
    ((key, node),) = pairs
    start = node.start_mark.index
    end = start + len(text[start : _end(node)].rstrip())  # that of `>-` ends with its line
    if text[start] in "&*":
        raise Wrong(place, "`relevant` is shared by an anchor. Write it out here, and label again.")
    is_mapping, is_single = isinstance(node, yaml.MappingNode), isinstance(node, yaml.ScalarNode)
    by_text = any(one.text is not None for one in new)
    graded = is_mapping or any(one.text is None and one.grade != 1 for one in new)
    entries = [_entry(one.doc_id, one.grade, graded=graded, text=one.text) for one in new]
    keeps_form = not is_single and graded == is_mapping
    items = [node] if is_single else node.value
    is_plain = "#" not in text[key.end_mark.index : end] and {*map(type, items)} <= {yaml.ScalarNode}
    if (graded and by_text) or not (keeps_form or is_plain):
        form = "as a list" if by_text else "as grades by hand"
        message = f"`relevant` has another form, passages or comments. Write it {form}, and add: {', '.join(entries)}."
        raise Wrong(place, message)
    if keeps_form:
        return _addition(text, node, end, entries)
    # A single id, or a list that becomes a mapping, is written anew.
    entries = [*(_entry(item.value, 1, graded=graded) for item in items), *entries]
    opening, closing = "{}" if graded else "[]"
    return key.end_mark.index, end, f": {opening}{', '.join(entries)}{closing}"


def _addition(text: str, node: Any, end: int, entries: Sequence[str]) -> tuple[int, int, str]:
    """Return the change that adds entries after those of a list or a mapping, whose text stops at `end`."""
    if node.flow_style:  # in brackets: before the closing one
        at = _end(_last(node)) if node.value else node.start_mark.index + 1
        return at, at, ", ".join(["", *entries] if node.value else entries)
    # Else on lines of its own: after the last one.
    at = text.find("\n", end)
    at = len(text) if at < 0 else at - (text[at - 1] == "\r")
    indent = " " * node.start_mark.column + ("" if isinstance(node, yaml.MappingNode) else "- ")
    line_end = "\r\n" if "\r\n" in text else "\n"
    return at, at, "".join(f"{line_end}{indent}{entry}" for entry in entries)


def _last(node: Any) -> Any:
    """Return the last item of a list, or the last value of a mapping."""
    last = node.value[-1]
    return last[1] if isinstance(last, tuple) else last


def _end(node: Any) -> int:
    """Return where a node's text ends; the end mark of a block collection is that of what follows it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = _last(node)
    return int(node.end_mark.index)


def _entry(doc_id: str, grade: Grade, *, graded: bool, text: str | None = None) -> str:
    """Write a judgment as an item of a list, or where `graded` as a key of a mapping; with a `text` as a passage."""
    if text is not None:
        return f"{{doc: {write_id(doc_id)}, text: {write_id(text)}, grade: {as_whole_number(grade)}}}"
    return write_id(doc_id) + (f": {as_whole_number(grade)}" if graded else "")
