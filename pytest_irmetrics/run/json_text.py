"""JSON as runs are written in it: read strictly, written so that nothing hides, breaks a line or has two spellings."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.run.faults import CONFLICT, CURE, RunError
from pytest_irmetrics.run.json_places import LEXEME, line_at, survey

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

# What would end a line for some reader, hide, reorder its neighbours, or has no UTF-8: C1 controls, soft hyphen,
# zero-width and bidi characters, separators, surrogates, byte order mark, interlinear marks, tags.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)


class FlawError(IRMetricsError):
    """What is wrong in a part of the file; whoever knows the place words the error."""


def refuse(what: str) -> NoReturn:
    """Raise FlawError."""
    raise FlawError(what)


def parse(text: str, where: str) -> dict[str, Any]:
    """Read the JSON, with all that the standard reader lets pass refused."""
    conflict = CONFLICT.search(text)
    if conflict:
        line = line_at(text, conflict.start())
        raise RunError(
            f"{where}:{line}: a conflict's marker, left by a merge. Take one side whole (`git checkout --ours` or `--theirs`), "
            "or store it anew (a baseline: `pytest --ir-baseline-update`)."
        )
    body = text.rstrip()
    if not body:
        raise RunError(f"{where}:1: the file is empty. {CURE}")
    try:
        document = DECODER.decode(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        if error.pos >= len(body) or not body.endswith("}"):
            raise RunError(f"{where}:{line_at(text, len(body))}: the file was cut short. {CURE}") from None
        raise RunError(
            f"{where}:{error.lineno}: is not JSON: {error.msg}, column {error.colno}. {CURE}"
        ) from None
    except FlawError as flaw:
        duplicate = survey(text)[0]
        if duplicate is None:
            # It may run into what follows, as `NaN.0` does.
            lexemes = (found for found in LEXEME.finditer(text) if found[0].startswith(str(flaw)))
            line = line_at(text, next(lexemes).start())
            raise RunError(f"{where}:{line}: {flaw} is not a finite number. {CURE}") from None
        key, first, second = duplicate
        raise RunError(
            f"{where}:{second}: the key {quote(key)} is there twice, first in line {first}. {CURE}"
        ) from None
    except RecursionError:
        raise RunError(f"{where}:1: is nested too deeply to be a run. {CURE}") from None
    except ValueError:  # an integer of more digits than Python converts
        raise RunError(f"{where}:1: holds a number of thousands of digits. {CURE}") from None
    if not isinstance(document, dict):
        raise RunError(f"{where}:1: is not a run: expected an object with the key `format`. {CURE}")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("a key is there twice")
    return found


def _constant(text: str) -> NoReturn:
    refuse(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        refuse(text)
    return value


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
encode_sorted = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def encode_or_refuse(value: object, what: str, encode: Any = encode) -> str:
    """Encode a value from outside, called `what`. Raises RunError for what JSON cannot hold."""
    try:
        text: str = encode(dict(value) if isinstance(value, Mapping) else value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{what} cannot be stored: {printable(str(error))}. Use text, finite numbers, lists and mappings."
        ) from None
    return text


def safe(line: str) -> str:
    """Escape, in a line of JSON, what would not stand there as itself."""
    if line.isascii() and "\x7f" not in line:
        return line
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], line)


def plain_number(value: Grade) -> Grade:
    """Two equal numbers are one text: 2.0 is written as 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_number(value: object) -> bool:
    """Say whether a value was a number in JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_keys(found: Mapping[str, Any], known: Sequence[str], bad: Any) -> None:
    """Call `bad` with what is wrong with the first key that is unknown."""
    for key in found:
        if key not in known:
            near = get_close_matches(key, known, 1)
            bad(f"the key {quote(key)} is unknown" + (f" (meant: `{near[0]}`?)" if near else ""))
