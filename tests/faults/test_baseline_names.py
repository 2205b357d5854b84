"""Where the baseline of a test lives: names that any file system tells apart, and that stay."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from tests.projects import printed

TESTS = """
import pytest

gated = pytest.mark.ir_golden("golden/faq.yaml")


@gated
@pytest.mark.parametrize("x", {ids}, ids={ids})
def test_a(irmetrics, x):
    irmetrics.check()


@gated
def test_FAQ(irmetrics):
    irmetrics.check()


@gated
def test_søk(irmetrics):
    irmetrics.check()


@gated
def test_{long}(irmetrics):
    irmetrics.check()


@gated
def test_{longer}(irmetrics):
    irmetrics.check()


@gated
def test_a_0123abcd(irmetrics):
    irmetrics.check()


class TestFAQ:
    class TestInner:
        @gated
        def test_b(self, irmetrics):
            irmetrics.check()


class Test_COM1:
    @gated
    def test_b(self, irmetrics):
        irmetrics.check()


def test_of_no_golden_set(irmetrics):
    irmetrics.check(golden="golden/faq.yaml")
"""
FILES = {  # the id of a parameter, and the baseline's name; these are committed, so they stay for ever
    "de": "test_a[faq-de].json",
    "de-1.5_a=b,c+d@e": "test_a[faq-de-1.5_a=b,c+d@e].json",
    "x[0]": "test_a[faq-x[0]].json",
    "DE": "test_a[faq-DE]_5cbf47ed.json",
    "De": "test_a[faq-De]_8302eb76.json",
    "a/b": "test_a[faq-a_b]_",
    "a_b": "test_a[faq-a_b].json",
    "../../b": "test_a[faq-.._.._b]_",
    'a\\b:c*?"<>|': "test_a[faq-a_b_c_]_",
    "a b": "test_a[faq-a_b]_",
    "a  b": "test_a[faq-a_b]_",
    "质量": "test_a[faq-_u8d28_u91cf]_",
    "a.": "test_a[faq-a.].json",
    "a_0123abcd": "test_a[faq-a_0123abcd].json",
    "x" * 94: f"test_a[faq-{'x' * 94}].json",
    "x" * 95: f"test_a[faq-{'x' * 95}_",
    f"{'x' * 94}.y": f"test_a[faq-{'x' * 94}_",
}
NAMES = {
    *FILES.values(),
    *(
        "test_FAQ_3c9c16b4[faq].json",
        "test_s_k_",
        f"test_{'t' * 95}[faq].json",
        f"test_{'t' * 95}_",
        "test_a_0123abcd_",
    ),
    *("TestFAQ.TestInner.test_b[faq].json", "Test_COM1.test_b[faq].json", "test_of_no_golden_set.json"),
}


def stored(project):
    return sorted(
        path.relative_to(project.path).as_posix() for path in project.path.rglob("ir_baselines/*/*")
    )


def test_each_test_has_a_file_of_its_own_on_any_file_system(project):
    code = TESTS.format(ids=repr(list(FILES)), long="t" * 95, longer="t" * 96)
    project.write("test_search.py", code)
    project.run("--ir-baseline-update").assert_outcomes(passed=len(FILES) + 8)
    names = [path.removeprefix("ir_baselines/test_search/") for path in stored(project)]
    assert len(names) == len(FILES) + 8
    assert [name for name in NAMES if not any(one.startswith(name) for one in names)] == [], names
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(names)
    assert all(name.isascii() and len(name) < 230 and not set(name) & set('<>:"/\\|?* \n') for name in names)
    project.run("--ir-baseline").assert_outcomes(passed=len(names))


@pytest.mark.parametrize(
    ("module", "folder"),
    [
        ("test_x", "test_x"),
        ("TestX", "TestX"),
        ("test-x", "test-x_74dcf30f"),
        ("test ü", "test_"),
        ("nul", "nul_"),
        ("lpt1", "lpt1_"),
        ("x" * 101, "x" * 100 + "_"),
    ],
)
def test_a_module_of_any_name_has_a_safe_folder(project, module, folder):
    (project.path / "test_search.py").rename(project.path / f"{module}.py")
    project.run(f"{module}.py", "--ir-baseline-update").assert_outcomes(passed=1)
    (path,) = stored(project)
    assert path.split("/")[1].startswith(folder)
    assert path.split("/")[1].isascii()
    project.run(f"{module}.py", "--ir-baseline").assert_outcomes(passed=1)


def test_the_folder_may_have_any_name_and_depth_and_what_else_is_in_it_stays(project):
    project.write("pytest.ini", "[pytest]\nir_baseline_dir = x/y\nir_baseline = true\n")
    project.write("x/y/test_search/README.md", "Do not edit.")
    project.store()
    assert (project.path / "x/y/test_search/test_search_quality[faq].json").exists()
    project.run().assert_outcomes(passed=1)
    assert "README" not in printed(project.run("-v"))


def test_a_run_may_be_stored_through_a_link_that_leads_elsewhere(project):
    project.baseline.parent.mkdir(parents=True)
    project.baseline.symlink_to(project.path / "kept" / "faq.json")
    project.store()
    assert project.baseline.is_symlink()
    assert (project.path / "kept" / "faq.json").read_text().startswith('{\n"format"')
    project.run("--ir-baseline").assert_outcomes(passed=1)


def in_its_place(path):
    path.mkdir(parents=True)


def for_its_folder(path):
    path.parent.parent.write_text("x")


def read_only(path):
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    path.chmod(0o444)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.parametrize(
    ("make", "key"),
    [(in_its_place, "is not a file"), (for_its_folder, "cannot be written"), (read_only, "is read-only")],
)
def test_a_baseline_that_cannot_be_written_is_an_error_of_the_session(project, make, key):
    make(project.baseline)
    result = project.run("--ir-baseline-update")
    assert result.ret == 1
    assert key in printed(result)
    assert "and store the baseline again." in printed(result)
