"""docs/speed.md: what a user copies from it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "speed.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
BLOCK = re.compile(r"^```(?:python|ini)\n# (?P<name>[^\n]+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
GOLDEN = "queries:\n" + "".join(f"  - {{query: text {n}, relevant: [doc-{n}]}}\n" for n in range(30))


def files(section):
    return {found["name"]: found["code"] for found in BLOCK.finditer(SECTIONS[section])}


def use(project, *sections):
    """Write the files of some sections, the later over the earlier, beside a golden set that their search answers."""
    project.write("golden/faq.yaml", GOLDEN)
    project.write(
        "conftest.py",
        "import engine, pytest\n\n@pytest.fixture\ndef retriever():\n    return engine.search\n",
    )
    for section in ("Executors", *sections):
        for name, code in files(section).items():
            if section in sections or name == "engine.py":
                project.write(name, code)
    ini = project.path / "pytest.ini"
    text = ini.read_text() if ini.exists() else "[pytest]\n"
    ini.write_text(text + "pythonpath = .\n")


@pytest.mark.parametrize(
    ("sections", "passed"),
    [
        (["Many queries in flight"], 1),
        (["Async tests"], 1),
        (["Many queries in flight", "Async tests"], 1),
        (["Many queries in flight", "Batches"], 1),
        (["Executors"], 1),
    ],
)
def test_what_the_page_shows_runs(project, sections, passed):
    use(project, *sections)
    project.run_apart("--strict-config").assert_outcomes(passed=passed)


def test_over_workers(project):
    assert "pytest -n 4 --dist loadfile" in SECTIONS["Golden sets over workers"]
    use(project)
    project.write("golden/other.yaml", GOLDEN)
    project.run_apart("-n", "2", "--dist", "loadfile").assert_outcomes(passed=2)
