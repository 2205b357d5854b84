"""Damaged baselines: what is said of them by pytest with `--ir-baseline`, and by `Run.load`."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml

from pytest_irmetrics import Run
from pytest_irmetrics.cli import main
from tests.projects import printed, text_of

ROWS = yaml.safe_load(Path(__file__).with_name("baselines.yaml").read_text(encoding="utf-8"))
STORED = ROWS["stored"]
LONG = {"GIANT": "1" + "0" * 400, "LONG": "9" * 5000, "DEEP": "[" * 100_000}

CONFTEST = """
    import json, pathlib, pytest

    @pytest.fixture(scope="session")
    def retriever():
        answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
        return lambda query, k, **params: answers.get(query, [])[:k]
"""
RESTORE = "Restore it from the branch that yours goes into, such as main: `git checkout main -- "
posix = pytest.mark.skipif(sys.platform == "win32", reason="files that Windows has not")


def damaged(old, new, text=STORED):
    """The stored text with its first `old` replaced; `CUT` ends the file there."""
    assert old in text
    text = text.replace(old, new, 1).partition("CUT")[0]
    for name, written in LONG.items():
        text = text.replace(name, written)
    return text


@pytest.fixture
def files(project):
    """Write baselines of as many tests as there are texts or bytes; return a function that does, and names them."""
    project.write("golden/faq.yaml", ROWS["golden"])
    project.answers(ROWS["answers"])
    project.write("pytest.ini", "[pytest]\nir_metrics = mrr\n")
    project.write("conftest.py", CONFTEST)

    def write(contents):
        numbers = f'@pytest.mark.parametrize("row", range({len(contents)}))\ndef test_it(irmetrics, row):'
        text = f'import pytest\n@pytest.mark.ir_golden("golden/*.yaml")\n@pytest.mark.ir_threshold("mrr", 0.5)\n{numbers}'
        project.write("test_search.py", text + "\n    irmetrics.check()\n")
        paths = [
            project.path / f"ir_baselines/test_search/test_it[faq-{row}].json" for row in range(len(contents))
        ]
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            )
        return [path.relative_to(project.path).as_posix() for path in paths]

    return write


def test_an_update_stores_exactly_these_bytes(project, files):
    (name,) = files([b""])
    (project.path / name).unlink()
    project.store()
    assert (project.path / name).read_text(encoding="utf-8") == STORED
    assert Run.load(project.path / name).dumps() == STORED


def test_each_is_refused_with_its_place_and_what_to_do(project, files):
    rows = ROWS["refused"]
    names = files([damaged(old, new) for old, new, *_ in rows])
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=len(rows))
    text_of(result)  # without a traceback of ours
    said = result.stdout.str()
    for name, (old, new, line, key) in zip(names, rows, strict=True):
        (found,) = re.findall(rf"^{re.escape(name)}:(.*)$", said, re.MULTILINE)
        assert found.startswith(f"{line}: "), (old, new, found)
        assert key in found, (old, new)
        assert f". {RESTORE}" in found or re.search(r"\. (Give|Upgrade) ", found), (old, new)
        assert len(found) < 500, (old, new)
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(passed=len(rows))
    assert {(project.path / name).read_text(encoding="utf-8") for name in names} == {STORED}


@pytest.mark.parametrize(
    "text",
    [
        STORED,
        json.dumps(
            {"format": "pytest-irmetrics report", "tests": [{"nodeid": "t", "run": json.loads(STORED)}]},
            indent=1,
            ensure_ascii=False,
        ),
    ],
    ids=["run", "report"],
)
def test_each_is_refused_by_run_load(tmp_path, text):
    path = tmp_path / "run.json"
    for old, new, line, key in ROWS["refused"]:
        if old not in text or "CUT" in new or "HEAD" in new:
            continue
        path.write_text(damaged(old, new, text), encoding="utf-8", errors="surrogatepass")
        with pytest.raises(ValueError, match=r"run\.json:\d+: ") as caught:
            Run.load(path)
        if text == STORED or key.startswith("query '"):
            place = line if text == STORED else 1
            assert re.search(rf"run\.json:{place}: .*{re.escape(key)}", str(caught.value)), (old, new)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + " \n\n",
        lambda text: json.dumps(json.loads(text)),
        lambda text: json.dumps(json.loads(text), indent=4, sort_keys=True),
        lambda text: json.dumps(dict(reversed(json.loads(text).items()))),
    ],
    ids=["line ends", "byte order mark", "blanks at the end", "one line", "indented", "other order"],
)
def test_any_layout_of_the_same_json_is_the_same_run(tmp_path, change):
    (tmp_path / "run.json").write_text(change(STORED), encoding="utf-8", newline="")
    read = Run.load(tmp_path / "run.json")
    assert read == Run.loads(STORED)
    assert read.dumps() == STORED


EDITS = [  # They move a mean that the header tells, so the file was edited after it was stored.
    ('"mrr": 0.875', '"mrr": 0.5'),
    ('"mrr": 0.875', '"mrr": 1e-400'),
    ('"mrr": 0.875', '"mrr": -1.7e308'),
    ('"relevance_level": 1', '"relevance_level": 2'),
    ('{"d1": 1}', '{"d7": 1}'),
    ('{"d1": 2, "d9": 0}', '{"d1": -1.7e308, "d9": 5e-324}'),
    ('"weight": 2.0', '"weight": 1e9'),
    ('"weight": 2.0', '"weight": 1e-300'),
    ('"weight": 1.0, "rankings": [["d2"', '"weight": 1.0, "xfail": true, "rankings": [["d2"'),
    (', "xfail": true', ""),
    ('[["d2", "d1"]]', '[["d2", "d1"], ["d2", "d3"]]'),
    ('[["d2", "d1"]]', "[[]]"),
    ('"judgments": {"d1": 1}, "weight": 1.0, "rankings": [["d2", "d1"]]', '"rankings": [["d3"]]'),
    (STORED.splitlines(keepends=True)[11], ""),
]


def test_an_edit_that_moves_a_mean_fails_and_says_so(project, files):
    names = files([damaged(old, new) for old, new in EDITS])
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=len(EDITS))
    said = printed(result)
    assert [
        name for name in names if f"{name} was edited after it was stored: its header says" not in said
    ] == []
    assert f"{RESTORE}'{names[0]}'`." in said


@pytest.mark.parametrize("options", [["--ir-baseline"], ["--ir-selftest"]])
def test_a_baseline_without_a_query_fails_before_anything_is_asked(project, files, options):
    (name,) = files([re.sub(r"\[\n.*\n\]", "[]", STORED, flags=re.DOTALL)])
    project.edit("conftest.py", "answers.get(query, [])[:k]", "1 / 0")
    result = project.run(*options)
    result.assert_outcomes(failed=1)
    assert f"{name}:1: this run holds no query, so there is nothing to compare with. {RESTORE}" in printed(
        result
    )


def test_what_the_file_is_made_of_may_be_other_labels_and_metrics_and_none_where_no_label_is(project, files):
    without_means = STORED.replace('"means": {"mrr": 0.875},\n', "")
    files([STORED, re.sub(r' "(judgments|weight)": [^"]*("d[^}]*}|[0-9.]+),', "", without_means)])
    project.edit("golden/faq.yaml", "d1: 2", "d1: 3")
    project.write("pytest.ini", "[pytest]\nir_metrics =\n    mrr\n    recall@5\n")
    project.run("--ir-baseline").assert_outcomes(passed=2)


def test_a_header_without_means_of_rankings_that_were_scored_fails(project, files):
    (name,) = files([STORED.replace('"means": {"mrr": 0.875},\n', "")])
    said = printed(project.run("--ir-baseline"))
    assert (
        f"{name}:1: this header tells no means, so that an edit of the rankings would not show. {RESTORE}"
        in said
    )


BINARY = {
    "utf-16": STORED.encode("utf-16"),
    "latin-1": STORED.replace("refund", "réfund").replace("蓝莓", "").encode("latin-1"),
}


def test_a_file_in_another_encoding_is_refused_with_its_line(project, files):
    names = files(list(BINARY.values()))
    said = project.run("--ir-baseline").stdout.str()
    assert f"\n{names[0]}: The file is in UTF-16, as PowerShell's `>` writes it, or UTF-32." in said
    assert f"\n{names[1]}:11: is not UTF-8. {RESTORE}" in said


def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def large(path):
    with path.open("wb") as file:
        file.truncate(2_000_000_000)  # sparse: nothing is written


def link_to_nothing(path):
    path.symlink_to(path.with_name("none"))


@posix
@pytest.mark.parametrize(
    ("make", "key"),
    [
        (fifo, "This is no regular file, but a pipe or a device"),
        (device, "This is no regular file, but a pipe or a device"),
        (Path.mkdir, "This is a folder"),
        (large, "The file is larger than 1 GB"),
        (link_to_nothing, "There is no baseline for this test"),
    ],
)
def test_what_is_no_file_to_be_read_is_refused_everywhere(project, capsys, make, key):
    path = project.baseline
    path.parent.mkdir(parents=True)
    make(path)
    shown = path.relative_to(project.path).as_posix()
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert key in printed(result)
    assert shown in printed(result)
    with pytest.raises(ValueError, match=r"This is|There is no|larger than"):
        Run.load(path)
    for command in (
        ["score", "golden/faq.yaml", shown],
        ["report", shown],
        ["label", "golden/faq.yaml", "--run", shown],
    ):
        assert main(command) == 1
        assert "Traceback" not in "".join(capsys.readouterr())


@posix
@pytest.mark.parametrize(
    "name",
    [
        "x" * 300 + ".yaml",
        "a\0b.yaml",
        "\ud800.yaml",
        "../" * 1500 + "x.yaml",
        "/dev/zero",
        "golden/fifo",
        "",
        "golden/faq.yaml/x",
    ],
)
def test_whatever_golden_set_the_header_names_the_files_name_says_whose_it_is(project, files, name):
    os.mkfifo(project.path / "golden/fifo")
    (path,) = files([STORED.replace('"golden/faq.yaml"', json.dumps(name))])
    result = project.run("--ir-baseline")
    text_of(result)
    result.assert_outcomes(passed=1)
    project.store()
    assert (project.path / path).read_text(encoding="utf-8") == STORED
    project.run("--ir-baseline").assert_outcomes(passed=1)


def test_an_edited_file_is_no_better_to_check_against(project):
    project.store()
    text = project.baseline.read_text()
    project.write("old.json", text.replace('[["doc-12", "doc-3", "doc-40"]]', '[["doc-3"]]'))
    project.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'],
        body='irmetrics.check(against="old.json")',
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "old.json was edited after it was stored" in printed(result)
    assert "--ir-baseline-update" not in printed(result)


@pytest.mark.parametrize(
    "change",
    [
        "evaluation.run.answers['reset'].rankings = (('doc-3',),)",
        "evaluation.run.answers.clear()",
        "evaluation.run.depth = 3",
    ],
)
def test_a_hook_does_not_change_what_is_stored(project, change):
    project.store()
    stored = project.baseline.read_bytes()
    conftest = (project.path / "conftest.py").read_text()
    project.write(
        "conftest.py", f"{conftest}\ndef pytest_irmetrics_evaluated(item, evaluation):\n    {change}\n"
    )
    project.store()
    assert project.baseline.read_bytes() == stored


def test_a_run_that_a_fixture_cannot_load_shows_no_code_of_the_package(project):
    project.write(
        "conftest.py",
        "import pytest, pytest_irmetrics\n@pytest.fixture\ndef retriever():\n    return pytest_irmetrics.Run.load('none.json')\n",
    )
    result = project.run()
    result.assert_outcomes(errors=1)
    assert "none.json: There is no such file. Check the path." in text_of(result)
