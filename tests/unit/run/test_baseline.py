"""Find a test's baseline, read it, write it, list what is stored."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.base.atomic_write import WriteError
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import (
    RunError,
    baseline_path,
    baselines_of_test,
    baselines_without_file,
    folders_with_baselines,
    list_baselines,
    read_baseline,
    write_baseline,
)

RUN = Run({"q": ["a", "b"]})
OLD = RUN.dumps()
NEW = Run({"q": ["b", "a"]}).dumps()
DEAD = ".ir-writing-0123456789abcdef.tmp"


def name_of(test_name, test_file="tests/test_x.py"):
    path = baseline_path(Path(test_file), test_name, "ir_baselines")
    assert path.parent.parent == Path(test_file).parent / "ir_baselines"
    return path.name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ir_baselines" / "test_x" / "test_a[faq].json"


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "test_search",
            "TestFaq.test_search",
            "TestFAQ.TestInner.test_search[faq]",
            "test_search[de-faq_1.5-a=b,c+d@e]",
            "test_search[x[0]]",
            "test_search[]",
        ],
    )
    def test_what_is_safe_stays(self, name):
        assert name_of(name) == f"{name}.json"

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("test_search[FAQ]", "test_search[FAQ]_"),
            ("test_search[Faq]", "test_search[Faq]_"),
            ("test_FAQ[faq]", "test_FAQ_"),
            ("test_search[a/b]", "test_search[a_b]_"),
            ("test_search[../../b]", "test_search[.._.._b]_"),
            ('test_search[a\\b:c*?"<>|\0\n]', "test_search[a_b_c_]_"),
            ("test_search[a b]", "test_search[a_b]_"),
            ("test_search[质量]", "test_search[_]_"),
            ("test_søk", "test_s_k_"),
            ("", "_"),
            ("nul", "nul_"),
            ("con[x]", "con_"),
            ("COM1.test_x", "COM1.test_x_"),
            ("test_a.", "test_a_"),
            (".test_a", "test_a_"),
            ("test_a[x] ", "test_a[x]_"),
            ("test_a[x].", "test_a[x]_"),
            ("test_a[\udcff]", "test_a[_]_"),
            ("test_a[x]_0123abcd", "test_a[x]_0123abcd_"),
            ("test_a_0123abcd", "test_a_0123abcd_"),
        ],
    )
    def test_what_is_unsafe_or_ambiguous_gets_a_hash(self, name, start):
        stem = name_of(name).removesuffix(".json")
        assert stem.startswith(start)
        assert len(stem.replace("[faq]", "").replace("[x]", "")) >= 9
        assert stem != name

    @pytest.mark.parametrize(
        ("name", "file"),
        [
            ("test_search[FAQ]", "test_search[FAQ]_da1341b3.json"),
            ("test_search[a b]", "test_search[a_b]_8df752f5.json"),
            ("test_FAQ[faq]", "test_FAQ_3c9c16b4[faq].json"),
            ("nul", "nul_99e62427.json"),
            ("t" * 100, "t" * 100 + ".json"),
            ("t" * 101, "t" * 100 + "_8a3a703a.json"),
            (f"test_a[{'x' * 98}]", f"test_a[{'x' * 98}].json"),
            (f"test_a[{'x' * 99}]", f"test_a[{'x' * 99}_54a634a5.json"),
        ],
    )
    def test_a_name_stays_the_same_or_stored_baselines_are_no_longer_found(self, name, file):
        assert name_of(name) == file

    def test_names_that_differ_have_files_that_differ_on_any_file_system(self):
        names = [
            "faq",
            "FAQ",
            "Faq",
            "fAq",
            "faq.",
            "faq ",
            "faq/",
            "faq\\",
            "f/aq",
            "f_aq",
            "é",
            "e\u0301",
            "x" * 300,
            "x" * 301,
        ]
        files = [name_of(f"test_a[{name}]") for name in names] + [
            name_of(name) for name in ("a", "A", "a ", "")
        ]
        assert len({unicodedata.normalize("NFC", file).casefold() for file in files}) == len(files)

    def test_a_module_of_any_name_has_a_safe_folder(self):
        folders = [
            baseline_path(Path(f"{stem}.py"), "t", "ir_baselines").parent.name
            for stem in ("test_x", "test-x", "test ü", "nul", "TestX")
        ]
        assert folders[0] == "test_x"
        assert folders[4] == "TestX"
        assert all(folder.isascii() and " " not in folder and folder != "nul" for folder in folders)
        assert len(set(folders)) == 5

    @given(st.text(max_size=300), st.text(max_size=300))
    @settings(max_examples=300, deadline=None)
    def test_any_name_is_a_file_of_its_own(self, one, other):
        for name in (one, f"test_a[{one}]"):
            file = name_of(name)
            assert file.isascii()
            assert len(file) <= 230
            assert not set(file) & set('<>:"/\\|?* \0\n')
            assert file.removesuffix(".json").split(".")[0].lower() not in {
                "con",
                "nul",
                "aux",
                "prn",
                "com1",
            }
            assert file not in {".json", "..json"}
        if one != other:
            assert name_of(f"test_a[{one}]").lower() != name_of(f"test_a[{other}]").lower()

    def test_the_folder_may_have_any_name_and_depth(self):
        assert baseline_path(Path("/r/t/test_x.py"), "a", "x/y") == Path("/r/t/x/y/test_x/a.json")


class TestWriting:
    def test_makes_folders_and_tells_whether_anything_changed(self, path):
        assert write_baseline(path, OLD) is True
        assert write_baseline(path, OLD) is False
        assert write_baseline(path, NEW) is True
        assert path.read_text() == NEW
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_what_cannot_be_written_names_the_file_and_what_to_do(self, path):
        path.mkdir(parents=True)
        with pytest.raises(WriteError, match=r"\.json: is not a file\. .*, and store the baseline again\."):
            write_baseline(path, NEW)


class TestReading:
    def test_reads_what_was_written(self, path):
        write_baseline(path, OLD)
        assert read_baseline(path) == RUN

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (OLD.encode()[:50], "was cut short"),
            (b"", "is empty"),
            (b"<<<<<<< HEAD\n" + OLD.encode(), "is in a merge conflict"),
            (OLD.replace('"version": 1', '"version": 99').encode(), "Upgrade pytest-irmetrics"),
            (OLD.replace('"version": 1', '"version": NaN').encode(), "NaN is not a finite number"),
            (OLD.encode("utf-16"), "is not UTF-8"),
        ],
    )
    def test_a_damaged_file_is_an_error_of_its_own_kind(self, path, data, words):
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with pytest.raises(RunError, match=words) as caught:
            read_baseline(path)
        assert str(path) in str(caught.value)
        assert "--ir-baseline-update" in str(caught.value)

    def test_a_missing_file_names_the_command(self, path):
        with pytest.raises(
            RunError, match=r"is not there\. Store a baseline, and commit it: `pytest --ir-base"
        ):
            read_baseline(path)
        assert not path.parent.exists()

    def test_a_link_to_nothing_is_said(self, path):
        path.parent.mkdir(parents=True)
        path.symlink_to(path.parent / "none")
        with pytest.raises(RunError) as caught:
            read_baseline(path, shown="a.json")
        assert str(caught.value) == (
            f"a.json: links to {path.parent.resolve() / 'none'}, which is not there. Mend the link, or delete it and "
            "store the baseline anew (`pytest --ir-baseline-update`)."
        )

    def test_what_is_no_file_is_said(self, path):
        path.mkdir(parents=True)
        with pytest.raises(RunError, match="cannot be read"):
            read_baseline(path)
        with pytest.raises(RunError, match="cannot be read"):
            read_baseline(path / ("x" * 5000))

    def test_the_file_of_a_class_that_differs_by_case_is_not_taken(self, tmp_path, monkeypatch):
        ours, theirs = tmp_path / "TestFaq.test_a.json", tmp_path / "TestFAQ.test_a.json"
        theirs.write_text(OLD)
        if not ours.exists():  # make this file system one that cannot tell
            ours.symlink_to(theirs)
            monkeypatch.setattr(Path, "iterdir", lambda _: iter([theirs]))
        for use in (read_baseline, lambda path: write_baseline(path, NEW)):
            with pytest.raises(RunError, match=r"baseline of another test .* TestFAQ\.test_a\.json"):
                use(ours)
        assert theirs.read_text() == OLD

    def test_a_folder_that_spells_a_name_in_its_own_way_minds_nobody(self, path, monkeypatch):
        write_baseline(path, OLD)
        monkeypatch.setattr(Path, "iterdir", lambda _: iter([Path("another.json")]))
        assert read_baseline(path) == RUN


class TestListing:
    @pytest.fixture
    def file(self, tmp_path):
        file = tmp_path / "test_x.py"
        file.touch()
        return file

    @staticmethod
    def store(file, name, golden_set="golden/faq.yaml", directory="ir_baselines"):
        path = baseline_path(file, name, directory)
        write_baseline(path, Run.of({}, golden_set=golden_set).dumps())
        return path

    def test_finds_the_baselines_of_test_a_test_whatever_its_ids(self, file):
        one = self.store(file, "test_a[faq]", "golden/faq.yaml")
        two = self.store(file, "test_a[FAQ]", "golden/FAQ.yaml")
        three = self.store(file, "test_a", "golden/bl\u00e5.yaml")
        self.store(file, "test_ab[faq]")
        self.store(file, "Test.test_a[faq]")
        (one.parent / "test_a[broken].json").write_text('{"golden')
        (one.parent / "test_a[none].json").write_text(OLD)
        found = [(one, "golden/faq.yaml"), (two, "golden/FAQ.yaml"), (three, "golden/bl\u00e5.yaml")]
        assert sorted(baselines_of_test(file, "test_a", "ir_baselines")) == sorted(found)
        assert baselines_of_test(file.with_name("test_y.py"), "test_a", "ir_baselines") == []

    def test_finds_the_baselines_of_test_a_test_with_an_odd_name(self, file):
        path = self.store(file, "test_SØK[faq]")
        self.store(file, "test_SÆK[faq]")
        assert baselines_of_test(file, "test_SØK", "ir_baselines") == [(path, "golden/faq.yaml")]

    def test_reads_the_golden_set_of_a_reformatted_baseline(self, file):
        import json

        path = self.store(file, "test_a[faq]")
        path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
        assert baselines_of_test(file, "test_a", "ir_baselines") == [(path, "golden/faq.yaml")]

    def test_names_baselines_whose_test_file_is_gone(self, file):
        self.store(file, "test_a[faq]")
        gone = self.store(file.with_name("test_gone.py"), "test_a[faq]")
        assert baselines_without_file(file.parent, "ir_baselines") == [gone]
        assert baselines_without_file(file.parent, "other") == []

    def test_lists_baselines_alone(self, file):
        path = self.store(file, "test_a[faq]")
        (path.parent / DEAD).touch()
        (path.parent / "README.md").touch()
        assert list_baselines(file.parent / "ir_baselines") == [path]
        assert list_baselines(file.parent / "none") == []

    def test_finds_the_folders_that_have_baselines_and_enters_none_of_other_people(self, tmp_path):
        inside = ["a", "b/c", "b/old", ".tox/x", "node_modules/x", "venv/lib", "b/__pycache__", "."]
        for folder in inside:
            (tmp_path / folder / "ir_baselines").mkdir(parents=True)
        (tmp_path / "venv" / "pyvenv.cfg").touch()
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "ir_baselines").touch()
        found = folders_with_baselines(tmp_path, "ir_baselines", ["old*"])
        assert list(found) == [tmp_path, tmp_path / "a", tmp_path / "b" / "c"]
