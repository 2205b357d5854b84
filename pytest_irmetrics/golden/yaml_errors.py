"""What the parser says of a text that is no YAML, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.node import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import yaml

__all__ = ["explained"]

_LONGEST = 60

# Part of what libyaml or PyYAML says, whether of the problem or of its context; whether the place to show is the
# context's; and what to say instead. {line} is the context's line.
_WORDS: Sequence[tuple[str, bool, str]] = (
    ("tab character", False, "A tab cannot indent. Use spaces."),
    ("mapping values are not allowed", False, "A `: ` makes no sense here. Put a text that contains it in quotes, or check the indentation."),
    ("could not find expected ':'", True, "This is neither `key: value` nor part of the text above. Check the indentation."),
    ("unknown escape character", False, "A backslash in double quotes begins an escape, and this is none. Use single quotes, or double the backslash."),
    ("found invalid Unicode", False, "This escape stands for no character (half of a surrogate pair, or beyond Unicode). Write the character itself."),
    ("expected hexdecimal number", False, "This escape is cut short. Write all its digits, or use single quotes."),
    ("expected escape sequence of", False, "This escape is cut short. Write all its digits, or use single quotes."),
    ("scanning a quoted scalar", True, "The quote that opens here is never closed. Close it, or put the whole text in quotes."),
    ("expected ',' or ']'", False, "The list that opens on line {line} wants a `,` or its `]` before this. Put a text that contains `[`, `]`, `,` or quotes in quotes."),
    ("expected ',' or '}'", False, "The mapping that opens on line {line} wants a `,` or its `}}` before this. Put a text that contains `{{`, `}}`, `,` or quotes in quotes."),
    ("sequence entries are not allowed", False, "A list cannot begin here. Begin it on a line of its own."),
    ("mapping keys are not allowed", False, "A key cannot stand here. Write `key: value`, a line each."),
    ("expected node content", False, "A value is missing here. Write one, or remove the sign that announces it."),
    ("expected the node content", False, "A value is missing here. Write one, or remove the sign that announces it."),
    ("<document start>", False, "The document has ended before this. Check the indentation, and keep one document in a file."),
    ("scanning an alias", True, "A text that begins with `*` must be in quotes."),
    ("scanning an anchor", True, "A text that begins with `&` must be in quotes."),
    ("a tag", True, "A text that begins with `!` must be in quotes."),
    ("tag handle", False, "A text that begins with `!` must be in quotes."),
    ("scanning a block scalar", True, "A text that begins with `|` or `>` must be in quotes; after a `|` or `>` that begins a block of text, the line ends."),
    ("directive", False, "A line that begins with `%` is a YAML directive. Remove it, or put the text in quotes."),
    ("incompatible YAML document", False, "This asks for another version of YAML. Remove the line."),
    ("expected key", False, "This does not continue the mapping that begins on line {line}. Check its indentation; put a text that contains quotes in quotes."),
    ("expected '-' indicator", False, "This does not continue the list that begins on line {line}. Check its indentation."),
    ("expected <block end>", False, "This does not continue what begins on line {line}. Check its indentation; put a text that contains quotes in quotes."),
)  # fmt: skip


def explained(error: yaml.MarkedYAMLError, sign_at: Callable[[int, int], str]) -> tuple[int, int, str]:
    """Return the line and column to show, both from 1, and what is wrong there; `sign_at` gives the sign at a place."""
    mark: Any = error.problem_mark
    context_mark: Any = error.context_mark or mark
    line, column = mark.line + 1, mark.column + 1
    said = f"{error.context or ''}; {error.problem or ''}"
    if "cannot start any token" in said:
        sign = sign_at(line, column)
        if sign == "\t":
            return line, column, "A tab cannot indent. Use spaces."
        return (
            line,
            column,
            f"No text can begin with {quote(sign)} unless it is in quotes. Put it in quotes.",
        )
    for part, at_context, words in _WORDS:
        if part in said:
            message = words.format(line=context_mark.line + 1)
            return (
                (context_mark.line + 1, context_mark.column + 1, message)
                if at_context
                else (line, column, message)
            )
    return (
        line,
        column,
        f"This is not YAML ({cut(said.strip('; '), _LONGEST)}). Check the indentation and the quotes.",
    )
