"""YAML golden sets: syntax errors, unsupported and hostile YAML, invisible characters."""

from __future__ import annotations

import pytest

from pytest_irmetrics.golden import files
from pytest_irmetrics.golden.errors import MAX_PROBLEMS
from pytest_irmetrics.golden.nodes import MAX_DEPTH
from tests.unit.golden.golden_files import FULL, one_query


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            "queries:\n- {query: a, relevant: b}\n---\nqueries:\n",
            "3:1: A second YAML document begins here.",
        ),
        ("queries:\n- {query: a, relevant: b}\n...\nmore\n", "4:1: The document has ended before this."),
        (one_query("relevant: &tv stands"), "3:13: `&tv` is read as an anchor, and nothing refers to it."),
        (one_query("relevant: *nobody"), "3:13: `*nobody` refers to no anchor before it."),
        (one_query("relevant: &self [*self]"), "3:20: `*self` refers to no anchor before it."),
        (
            "x-a: &a 1\nx-b: &a 2\nx-c: *a\n" + one_query("relevant: b"),
            "2:6: The anchor `&a` is already on line 1.",
        ),
        (one_query("relevant: !!str b"), "3:13: `!!str` is read as a tag, which has no meaning"),
        (one_query("relevant: [!!int foo]"), "3:14: `!!int` is read as a tag"),
        (one_query("relevant: !urgent b"), "3:13: `!urgent` is read as a tag"),
        (one_query("relevant: ! b"), "3:13: `!` is read as a tag"),
        (one_query("relevant: !e!x b"), "3:13: A text that begins with `!` must be in quotes."),
        (one_query("relevant: &a !e!x b"), "3:16: A text that begins with `!` must be in quotes."),
        ("!!map\n" + one_query("relevant: b"), "1:1: The golden set as a whole takes no anchor and no tag."),
        ("&all\n" + one_query("relevant: b"), "1:1: The golden set as a whole takes no anchor and no tag."),
        (
            "queries: !!seq\n- {query: a, relevant: b}\n",
            "1:10: The list of queries takes no anchor and no tag.",
        ),
        (
            "queries: &q\n- {query: a, relevant: b}\n",
            "1:10: The list of queries takes no anchor and no tag.",
        ),
        (
            "x-a: &a {}\nqueries:\n- {<<: *a, query: a, relevant: b}\n",
            "3:4: Merge keys (`<<`) are not read.",
        ),
        (
            "x-a: &a {b: 1}\nqueries:\n- {query: a, relevant: {<<: *a}}\n",
            "3:25: Merge keys (`<<`) are not read.",
        ),
        ("%TAG ! tag:x\n---\n" + one_query("relevant: b"), "1:1: A `%TAG` line has no meaning"),
        ("%YAML 2.0\n---\n" + one_query("relevant: b"), "1:1: This asks for another version of YAML."),
        ("queries:\n- query: what: no\n", "2:14: A `: ` makes no sense here."),
        ("queries:\n\t- query: a\n", "2:1: A tab cannot indent. Use spaces."),
        ("queries:\n- query: a\n\trelevant: b\n", "3:"),
        ("queries:\n- query: @me\n", "2:10: No text can begin with '@' unless it is in quotes."),
        ("queries:\n- query: `me\n", "2:10: No text can begin with '`' unless it is in quotes."),
        ("queries:\n- query: 'a\n  relevant: b\n", "2:10: The quote that opens here is never closed."),
        (
            "queries:\n- query: 'it's'\n",
            "2:14: This does not continue",
        ),
        ('queries:\n- query: "C:\\dir"\n', "2:1"),
        ('queries:\n- query: "\\ud800"\n', "2:1"),
        ('queries:\n- query: "\\U00110000"\n', "2:"),
        ('queries:\n- query: "\\UFFFFFFFF"\n', "2:"),
        ('queries:\n- query: "\\u12"\n', "2:13: This escape is cut short."),
        (
            "queries:\n- query: a\n  relevant: [b\n- query: c\n",
            "4:8: The list that opens on line 3 wants",
        ),
        ("queries:\n- query: a\n  relevant: {b: 1\n- query: c\n", "4:"),
        ("queries:\n- query: a\n  relevant: [b, , c]\n", "3:17: A value is missing here."),
        ("queries:\n- query: * a\n", "2:10: A text that begins with `*` must be in quotes."),
        ("queries:\n- query: & a\n", "2:10: A text that begins with `&` must be in quotes."),
        ("queries:\n- query: |a\n", "2:10: A text that begins with `|` or `>` must be in quotes"),
        ("queries:\n- query: a\nb\n", "3:1: This is neither `key: value` nor part of the text above."),
        ("queries:\n  - query: a\n    relevant: b\n  name: c\n", "4:3: This does not continue"),
        ("queries: - a\n", "1:10: A list cannot begin here."),
    ],
)
@pytest.mark.usefixtures("parser")
def test_unsupported_yaml_is_refused_in_plain_words(yaml_problems, text, start):
    found = yaml_problems(text)
    assert any(problem.startswith(start) for problem in found), found
    assert not any("token" in problem or "scalar" in problem for problem in found)


@pytest.mark.parametrize("text", ["a !important b", "R&D & more", "2 * 3 *", "a & b!", "<< a", "a << b"])
@pytest.mark.usefixtures("parser")
def test_signs_of_yaml_within_a_text_are_text(load_yaml, text):
    assert text in load_yaml(f"queries:\n- {{query: {text}, relevant: b}}\n").queries


@pytest.mark.parametrize(
    "text",
    [
        "queries: " + "[" * 100_000,
        "queries: " + "[\n" * 100_000,
        "queries: " + "{a: " * 100_000,
        "queries: " + "{a:\n" * 100_000,
        "queries: [{params: " + "[" * 1000,
        "queries:\n- " + "- " * 100_000,
        "queries:\n  ? " + "? " * 100_000,
        "? " * 100_000,
        "".join(" " * depth + "x-a:\n" for depth in range(1000)),
        "queries:\n- params:\n" + "".join(" " * (depth + 4) + "a:\n" for depth in range(1000)),
    ],
)
@pytest.mark.usefixtures("parser")
def test_deep_nesting_is_refused_without_recursion(yaml_problems, text):
    (problem,) = yaml_problems(text)
    assert "deep here" in problem


@pytest.mark.usefixtures("parser")
def test_depth_counts_through_aliases(yaml_problems):
    lines = ["x-0: &a0 [1]"] + [f"x-{n}: &a{n} [[[[[[[[*a{n - 1}]]]]]]]]" for n in range(1, 6)]
    (problem,) = yaml_problems("\n".join(lines))
    assert problem.startswith("5:")
    assert "deep here" in problem


@pytest.mark.usefixtures("parser")
def test_aliases_that_multiply_are_refused_at_once(yaml_problems):
    lines = ["x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (problem,) = yaml_problems("\n".join(lines))
    assert problem.startswith("6:")
    assert "stand for too much text" in problem


@pytest.mark.usefixtures("parser")
def test_merge_keys_that_multiply_are_refused_at_once(yaml_problems):
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    found = yaml_problems("\n".join(lines))
    assert len(found) == 1
    assert "stand for too much text" in found[0]


@pytest.mark.usefixtures("parser")
def test_many_aliases_of_a_long_text_are_refused(yaml_problems):
    text = "x-long: &a " + "long " * 20_000 + "\nx-all: [" + "*a, " * 20 + "]\n"
    assert "stand for too much text" in yaml_problems(text)[0]


@pytest.mark.usefixtures("parser")
def test_many_tag_directives_are_refused_at_the_first(yaml_problems):
    (problem,) = yaml_problems("%TAG !a! b\n" * 100_000)
    assert problem.startswith("1:1: A `%TAG` line")


def test_a_second_document_is_not_read(yaml_problems):
    assert len(yaml_problems(one_query("relevant: b") + "---\n" + "- \n" * 10)) == 1


@pytest.mark.usefixtures("parser")
def test_the_greatest_depth_is_read(load_yaml, yaml_problems):
    depth = MAX_DEPTH
    load_yaml(one_query("relevant: b") + "x-deep: " + "[" * depth + "]" * depth)
    assert "deep here" in yaml_problems(one_query("relevant: b") + "x-deep: " + "[" * (depth + 1))[0]
    lines = f"x-a: &a {'[' * (depth - 1)}1{']' * (depth - 1)}\nx-b: [*a]\n"
    load_yaml(lines + one_query("relevant: b"))
    assert "deep here" in yaml_problems(lines.replace("[*a]", "[[*a]]") + one_query("relevant: b"))[0]


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        ("\x85", "U+0085 (next line)"),
        ("\u2028", "U+2028 (line separator)"),
        ("\u2029", "U+2029 (paragraph separator)"),
        ("\ufeff", "U+FEFF (byte order mark)"),
        ("\x00", "U+0000 (control character)"),
        ("\x1b", "U+001B (control character)"),
        ("\x7f", "U+007F (control character)"),
        ("\x9b", "U+009B (control character)"),
        ("\uffff", "U+FFFF (no character)"),
    ],
)
@pytest.mark.usefixtures("parser")
def test_an_invisible_character_is_reported_with_its_name_and_place(yaml_problems, sign, name):
    found = yaml_problems(f"queries:\n- {{query: é{sign}a, relevant: b, weight: 0}}\n")
    escape = f'"\\u{ord(sign):04x}"'
    assert (
        found[0]
        == f"2:12: Here is the invisible sign {name}. Remove it, or write {escape} within double quotes."
    )
    assert found[1].startswith("2:37: `weight`")
    assert len(found) == 2


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\ufeff", "\x00", "\x1b", "\x9b"])
@pytest.mark.usefixtures("parser")
def test_an_escaped_invisible_character_is_text(load_yaml, sign):
    assert f"a{sign}" in load_yaml(f'queries:\n- {{query: "a\\u{ord(sign):04x}", relevant: b}}\n').queries


def test_latin_1_is_refused(yaml_problems):
    assert yaml_problems("queries:\n- {query: caf\xe9, relevant: b}\n".encode("latin-1")) == [
        "2:14: The byte 0xE9 is not UTF-8. In Latin-1 it would be 'é'. Save the file as UTF-8."
    ]
    assert (
        yaml_problems(b"queries:\n- {query: caf\x81}")[0]
        == "2:14: The byte 0x81 is not UTF-8. Save the file as UTF-8."
    )


@pytest.mark.usefixtures("parser")
def test_an_escape_of_half_a_character_is_refused(yaml_problems):
    (problem,) = yaml_problems('queries:\n- {query: "\\ud800", relevant: b}\n')
    assert problem.endswith(
        "This escape stands for no character (half of a surrogate pair, or beyond Unicode). Write the character itself."
    )


def test_surrogates_in_utf_8_are_refused(yaml_problems):
    assert "is not UTF-8" in yaml_problems(b"queries: \xed\xa0\x80")[0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_and_utf_32_are_refused(yaml_problems, encoding):
    assert yaml_problems(FULL.encode(encoding)) == ["1:1: The file is in UTF-16 or UTF-32. Save it as UTF-8."]


def test_markers_of_a_merge_conflict_are_reported(yaml_problems):
    text = "queries:\n<<<<<<< HEAD\n- {query: a, relevant: b}\n=======\n- {query: a, relevant: c}\n>>>>>>> other\n"
    message = "A marker of an unresolved merge. Keep one side and remove the markers."
    assert yaml_problems(text) == [f"2:1: {message}", f"6:1: {message}"]
    assert yaml_problems(text.replace("\n", "\r\n")) == [f"2:1: {message}", f"6:1: {message}"]
    quoted = 'queries:\n- query: "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"\n  relevant: d\n'
    assert yaml_problems(quoted) == [f"3:1: {message}", f"7:1: {message}"]


def test_what_only_looks_like_a_conflict_marker_is_text(load_yaml):
    load_yaml("queries:\n- query: |\n    <<<<<<< HEAD\n    >>>>>>> other\n  relevant: <<<<<<<<<<\n")


def test_places_count_characters_and_every_kind_of_line_end():
    data = "aé\r\n\né€b\rc".encode()
    offsets = [data.index(sign.encode()) for sign in ("a", "é", "€", "b", "c")]
    assert list(files.iter_places(data, offsets)) == [(1, 1), (1, 2), (3, 2), (3, 3), (4, 1)]


def test_reports_of_invisible_characters_are_capped(yaml_problems):
    assert len(yaml_problems(b"\x01" * 1_000_000)) == MAX_PROBLEMS + 1
