"""The fixture `ir_provenance`: stored with the baseline, said where it differs, and gating nothing."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import Run
from tests.projects import ANSWERS, RETRIEVER, WITHOUT_RESET, text_of

MINILM = {"model": "minilm", "docs": 973}
SMALL = {"model": "bge-small", "docs": 973}


def made_with(project, provenance):
    fixture = f"\n    @pytest.fixture\n    def ir_provenance():\n        return {provenance!s}\n"
    project.write("conftest.py", f"{RETRIEVER}{fixture}")


def judged(project, *options):
    result = project.run("--ir-baseline", "--ir-report=r.json", *options)
    (test,) = json.loads((project.path / "r.json").read_text(encoding="utf-8"))["tests"]
    return text_of(result), test


def test_it_is_stored_sorted_beside_the_means_and_without_it_nothing_is(project):
    project.store()
    without = project.baseline.read_text(encoding="utf-8")
    made_with(project, "{}")
    project.store()
    assert project.baseline.read_text(encoding="utf-8") == without
    made_with(project, MINILM)
    project.store()
    line = '"provenance": {"docs": 973, "model": "minilm"},\n'
    assert project.baseline.read_text(encoding="utf-8") == without.replace('"limits"', f'{line}"limits"', 1)
    run = Run.load(project.baseline)
    assert run.dumps() == project.baseline.read_text(encoding="utf-8")


def test_what_differs_is_the_second_line_of_a_failure_in_every_output(project):
    made_with(project, MINILM)
    project.store()
    made_with(project, SMALL)
    project.answers(WITHOUT_RESET)
    said, test = judged(project, "--ir-report=r.md", "--ir-report=r.html")
    sentence = "model minilm → bge-small; docs 973, as before."
    assert test["provenance"] == sentence
    first = test["gates"][0]["text"]
    assert f"{first} {sentence} " in said
    for suffix in ("md", "html"):
        text = (project.path / f"r.{suffix}").read_text(encoding="utf-8")
        assert text.count(sentence) == 1


def test_a_pass_notes_it_and_a_run_made_as_before_says_nothing(project):
    made_with(project, MINILM)
    project.store()
    said, test = judged(project)
    assert "minilm" not in said
    assert "provenance" not in test
    made_with(project, SMALL)
    project.answers({**ANSWERS, "opening hours": ["doc-1"]})
    said, test = judged(project)
    assert "note: Provenance: model minilm → bge-small; docs 973, as before." in said
    assert "passes" in said
    assert "provenance" not in test


def test_names_that_one_side_lacks_are_said(project):
    made_with(project, {"model": "m", "index": 7})
    project.store()
    made_with(project, {"model": "m", "docs": 0.5})
    said, _ = judged(project)
    assert "docs (not given) → 0.5, index 7 → (not given); model m, as before." in said


def test_ten_names_of_a_kind_are_said_and_eighty_characters_of_a_value(project):
    long, same = {"a": "x" * 80, "b": "x" * 81}, {f"s{n:02}": 7 for n in range(9)}
    made_with(project, {**long, **same, **{f"t{n:02}": 1 for n in range(11)}})
    project.store()
    made_with(project, {**long, **same, **{f"t{n:02}": 2 for n in range(11)}})
    said, _ = judged(project)
    differ = ", ".join(f"t{n:02} 1 → 2" for n in range(10))
    held = ", ".join([f"a {'x' * 80}", f"b {'x' * 79}…", *(f"s{n:02} 7" for n in range(8))])
    assert f"Provenance: {differ} and 1 more; {held} and 1 more, as before." in said


@pytest.mark.parametrize("now", [None, "{}"])
def test_where_one_side_does_not_say_nothing_is_accused(project, now):
    made_with(project, MINILM)
    project.store()
    made_with(project, now)
    said, _ = judged(project)
    assert "Provenance" not in said
    project.store()
    made_with(project, MINILM)
    said, _ = judged(project)
    assert "Provenance" not in said


def test_what_changes_while_no_answer_does_is_doubted(project):
    made_with(project, {"built": "10:01", "docs": 3})
    project.store()
    made_with(project, {"built": "10:02", "docs": 3})
    advice = "No answer differs: leave what changes in every run, such as a time, out of ir_provenance."
    said, _ = judged(project)
    assert f"built 10:01 → 10:02; docs 3, as before. {advice}" in said
    said = text_of(project.run("--ir-baseline-update"))
    assert advice in said
    made_with(project, {"built": "10:03", "docs": 3})
    project.answers({**ANSWERS, "opening hours": ["doc-1"]})
    said, _ = judged(project)
    assert "built 10:02 → 10:03" in said
    assert advice not in said


def test_an_update_of_single_queries_keeps_what_is_stored_and_notes_what_differs(project):
    made_with(project, MINILM)
    project.store()
    made_with(project, SMALL)
    project.answers({**ANSWERS, "opening hours": ["doc-1"]})
    said = text_of(project.run("--ir-baseline-update", "--ir-query=hours"))
    assert "Provenance: model minilm → bge-small; docs 973, as before." in said
    assert '"provenance": {"docs": 973, "model": "minilm"}' in project.baseline.read_text(encoding="utf-8")


def test_a_stored_run_that_stands_in_keeps_its_own(project):
    made_with(project, MINILM)
    project.store()
    project.write(
        "conftest.py",
        f"""
        import pytest
        from pytest_irmetrics import Run

        @pytest.fixture
        def retriever():
            return Run.load({str(project.path / "stored.json")!r})
        """,
    )
    text = project.baseline.read_text(encoding="utf-8")
    project.write("stored.json", text.replace('"model": "minilm"', '"model": "bge-small"'))
    said, _ = judged(project)
    assert "model minilm → bge-small; docs 973, as before." in said


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            "['minilm']",
            "The fixture ir_provenance gave list ['minilm']. Give a mapping of names to text or numbers: {",
        ),
        (
            "{'docs': [1, 2]}",
            "gave list [1, 2] for 'docs', which is neither a text nor a finite number. Write it as text, or leave it out.",
        ),
        ("{'docs': None}", "gave None for 'docs'"),
        ("{'docs': True}", "gave bool True for 'docs'"),
        ("{'docs': float('nan')}", "gave float nan for 'docs'"),
        ("{'docs': 10 ** 400}", "for 'docs'"),
        ("{'built': __import__('datetime').date(2026, 1, 2)}", "for 'built', which is neither"),
        ("{7: 'x'}", "The fixture ir_provenance has the name int 7. A name is a text"),
        ("{'': 'x'}", "A name is a text that is not empty."),
    ],
)
def test_what_cannot_be_stored_fails_before_any_query_is_asked(project, given, says):
    made_with(project, given)
    project.retrieve("pathlib.Path('asked').touch()")
    said = text_of(project.run())
    assert says in said
    assert not (project.path / "asked").exists()


def test_numbers_of_numpy_and_texts_of_enums_are_stored_as_plain_ones(project):
    made_with(
        project,
        "{'docs': __import__('numpy').int64(2**60), 'rate': __import__('decimal').Decimal('0.5'), 'n': 3.0}",
    )
    project.store()
    assert f'"provenance": {{"docs": {2**60}, "n": 3, "rate": 0.5}}' in project.baseline.read_text(
        encoding="utf-8"
    )


def test_hostile_texts_do_no_harm(project):
    made_with(project, {"a\n::error::b": "x", "c": "<script>", "long": "y" * 500})
    project.store()
    made_with(project, {"a\n::error::b": "\x1b[31m", "c": "</p>", "long": "z" * 500})
    project.answers(WITHOUT_RESET)
    result = project.run("--ir-baseline", "--ir-report=r.html", "--ir-report=r.md")
    output = result.stdout.str()
    assert "\x1b[31m" not in output
    assert not any(line.lstrip().startswith("::error") for line in output.splitlines())
    assert "z" * 100 not in output
    assert "c &lt;script&gt; → &lt;/p&gt;" in (project.path / "r.html").read_text(encoding="utf-8")


def test_a_stored_value_that_is_none_is_refused(project):
    made_with(project, MINILM)
    project.store()
    project.edit(project.baseline.relative_to(project.path), '"docs": 973', '"docs": [973]')
    assert ":1: `provenance` is not an object of texts and numbers." in text_of(project.run("--ir-baseline"))
