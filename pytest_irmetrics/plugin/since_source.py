"""Find edits of marks and settings by reading their files: what is in force then and now, without running any of it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.plugin.marks import class_names, read_threshold
from pytest_irmetrics.reports.since_report import EditSince
from pytest_irmetrics.thresholds import Limit, ThresholdError, holds_less, read_limit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pytest_irmetrics.thresholds import Threshold

_MAX_DROP = re.compile(r"\bmax_drop\s*=\s*['\"]?([\d.]+%?)")
_DEFAULT_MAX_DROP = Limit(0.01)

_MARKS = ("ir_threshold", "ir_golden")


def edited_marks(then: bytes, now: bytes, node: pytest.Item, custom: Collection[str] = ()) -> list[EditSince]:
    """Return the marks of a test (its own, those of its classes and its module) that its file has on one side only.

    ``custom`` are the names of custom metrics.
    """
    if then == now:
        return []
    names = [*class_names(node), getattr(node, "originalname", node.name)]
    try:
        before, today = Counter(_marks(ast.parse(then), names)), Counter(_marks(ast.parse(now), names))
    except (SyntaxError, ValueError, RecursionError):
        return []
    removed, added = list((before - today).elements()), list((today - before).elements())
    edits = []
    for mark in removed:
        # The mark on the same metric in today's file is what it became.
        new = next((one for one in added if _first_argument(one) == _first_argument(mark)), None)
        if new is not None:
            added.remove(new)
        edits.append(EditSince("mark", node.path.name, mark, new, weaker=_holds_less(mark, new, custom)))
    return [*edits, *(EditSince("mark", node.path.name, None, mark) for mark in added)]


def _first_argument(mark: str) -> str:
    return mark.partition(",")[0].rstrip(")")


def _holds_less(mark: str, new: str | None, custom: Collection[str]) -> bool:
    """Say whether a limit of a mark ``ir_threshold`` is lower or gone in what it became; False where either cannot be read."""
    then = _read_mark(mark, custom)
    if then is None or new is None:
        return then is not None
    today = _read_mark(new, custom)
    if today is None or then.tag != today.tag:
        return False
    # Without a `max_drop` of its own a mark has the setting's.
    before, now = ({"max_drop": _DEFAULT_MAX_DROP, **threshold.limits} for threshold in (then, today))
    for word, was in before.items():
        is_now = now.get(word)
        if was is not None and (is_now is None or holds_less(word, was, is_now)):
            return True
    return False


def _read_mark(text: str, custom: Collection[str]) -> Threshold | None:
    """Return what the source text of a mark ``ir_threshold`` sets; None for another mark, or where only running it would tell."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not text.startswith("ir_threshold"):
        return None
    try:
        arguments = [ast.literal_eval(value) for value in call.args]
        words = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        return read_threshold(pytest.mark.ir_threshold.with_args(*arguments, **words).mark, "", custom)
    except (ValueError, TypeError):
        return None


def _marks(tree: ast.AST, names: list[str]) -> Iterator[str]:
    """Yield the marks that apply to a function, given as the names of its classes and its own, as source text."""
    body = getattr(tree, "body", [])
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets):
                yield from _calls(statement)
        elif (
            isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and names
            and statement.name == names[0]
        ):
            for decorator in statement.decorator_list:
                yield from _calls(decorator)
            yield from _marks(statement, names[1:]) if isinstance(statement, ast.ClassDef) else ()


def _calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MARKS:
            arguments = [*map(ast.unparse, node.args)]
            arguments += [f"{one.arg}={ast.unparse(one.value)}" for one in node.keywords]
            yield f"{node.func.attr}({', '.join(arguments)})"


def edited_settings(then: bytes | None, now: bytes, name: str) -> list[EditSince]:
    """Return the settings of pytest-irmetrics, and the options in addopts, that differ in two versions of pytest's settings file."""
    if then == now:
        return []
    try:
        before = {} if then is None else _settings(then.decode("utf-8-sig"), name)
        today = _settings(now.decode("utf-8-sig"), name)
    except Exception:  # noqa: BLE001 - a file of then that no parser reads has no settings to tell
        return []
    keys = [key for key in dict.fromkeys((*before, *today)) if before.get(key) != today.get(key)]
    return [EditSince("setting", key, before.get(key), today.get(key)) for key in keys]


def _settings(text: str, name: str) -> dict[str, str]:
    if name.endswith(".toml"):
        found = _toml(text)
    else:
        import iniconfig  # noqa: PLC0415 - pytest's own; only where a file of settings was edited

        sections = iniconfig.IniConfig(name, data=text)
        found = {}
        for section in ("pytest", "tool:pytest"):
            found.update(sections[section].items() if section in sections else ())
    shown = {
        key: " ; ".join(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in found.items()
    }
    return {
        key: " ; ".join(value.split("\n")).strip(" ;")
        for key, value in shown.items()
        if key.startswith("ir_")
    }


def _toml(text: str) -> Mapping[str, Any]:
    document: dict[str, Any] = tomllib.loads(text)
    tool = document.get("tool", {}).get("pytest", {})
    return {**document.get("pytest", {}), **tool, **tool.get("ini_options", {})}


def max_drop_then(edits: Iterable[EditSince]) -> Limit | None:
    """Return the strictest `max_drop` that the edited marks and settings had; None where no edit is about one.

    Where one had none, the setting's default counts, which it may have had.
    """
    found = []
    for edit in edits:
        texts = [edit.before or "", edit.now or ""]
        if edit.what == "ir_max_drop":
            found.append(_limit(edit.before))
        elif any("max_drop" in text for text in texts):
            values = _MAX_DROP.findall(texts[0])
            found += map(_limit, values or [None])
    return min(found, key=lambda limit: limit.absolute(1.0), default=None)


def _limit(text: str | None) -> Limit:
    """Read a limit as it was written; the default where it is none, or `off`."""
    try:
        return read_limit(Metric("mrr"), "max_drop", text) or _DEFAULT_MAX_DROP
    except ThresholdError:
        return _DEFAULT_MAX_DROP
