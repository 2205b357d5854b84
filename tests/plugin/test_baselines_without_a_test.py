"""Name the stored baselines that no test of a run gated on."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import printed


class TestBaselinesWithoutATest:
    """Under the folders that pytest was asked to collect, every stored baseline gated or is named."""

    @pytest.fixture
    def two(self, project):
        """A project with two folders that gate; the second is about to lose its test."""
        for folder in ("a", "b"):
            project.write(f"{folder}/test_{folder}.py", (project.path / "test_search.py").read_text())
            project.write(f"{folder}/golden/faq.yaml", (project.path / "golden" / "faq.yaml").read_text())
        (project.path / "test_search.py").unlink()
        project.run("--ir-baseline-update").assert_outcomes(passed=2)
        return project

    def named(self, project, *options):
        result = project.run("--ir-baseline", *options)
        return "b/ir_baselines/test_b/test_search_quality" in result.stdout.str()

    def test_are_named_after_the_file_was_emptied(self, two):
        two.write("b/test_b.py", "")
        assert self.named(two)

    def test_are_named_after_the_test_was_renamed_out_of_collection(self, two):
        path = two.path / "b" / "test_b.py"
        path.write_text(path.read_text().replace("def test_search_quality", "def check_search_quality"))
        assert self.named(two)

    def test_are_named_after_the_test_lost_the_fixture(self, two):
        two.write("b/test_b.py", "def test_search_quality():\n    pass\n")
        assert self.named(two)

    def test_are_named_under_dunder_test_false(self, two):
        path = two.path / "b" / "test_b.py"
        path.write_text(path.read_text() + "\n\ntest_search_quality.__test__ = False\n")
        assert self.named(two)

    def test_are_named_after_a_second_def_of_the_name(self, two):
        path = two.path / "b" / "test_b.py"
        path.write_text(path.read_text() + "\n\ndef test_search_quality():\n    pass\n")
        assert self.named(two)

    def test_are_named_where_collect_ignore_leaves_the_file_out(self, two):
        two.write("b/conftest.py", 'collect_ignore = ["test_b.py"]\n')
        assert self.named(two)

    def test_are_named_where_an_option_ignores_the_file(self, two):
        assert self.named(two, "--ignore=b/test_b.py")
        assert self.named(two, "--ignore=b")

    def test_are_named_where_a_setting_leaves_the_folder_out(self, two):
        two.write("pytest.ini", "[pytest]\nnorecursedirs = b\n")
        assert self.named(two)

    def test_are_named_where_a_conftest_hook_leaves_the_file_out(self, two):
        two.write(
            "b/conftest.py",
            "def pytest_ignore_collect(collection_path):\n    return collection_path.name == 'test_b.py' or None\n",
        )
        assert self.named(two)

    def test_are_named_where_a_conftest_hook_takes_the_test_out_without_telling(self, two):
        two.write(
            "conftest.py",
            (two.path / "conftest.py").read_text()
            + "\n@pytest.hookimpl(tryfirst=True, wrapper=True)\ndef pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'test_a' in item.nodeid]\n    return (yield)\n",
        )
        result = two.run("--ir-baseline")
        assert "test_b/test_search_quality[faq].json was not used" in printed(result)
        assert "delete it" not in result.stdout.str()

    @pytest.mark.parametrize("hook", ["pytest_runtest_protocol(item)", "pytest_runtestloop(session)"])
    def test_are_named_where_a_conftest_hook_runs_no_test(self, two, hook):
        two.write("b/conftest.py", f"def {hook}:\n    return True\n")
        result = two.run("--ir-baseline")
        assert "test_b/test_search_quality[faq].json was not used: a hook" in printed(result)

    def test_are_named_where_another_fixture_has_the_name_of_ours(self, two):
        two.write(
            "b/conftest.py",
            """
            import types, pytest

            @pytest.fixture
            def irmetrics():
                return types.SimpleNamespace(check=lambda: None)
            """,
        )
        path = two.path / "b" / "test_b.py"
        path.write_text(path.read_text().replace('@pytest.mark.ir_threshold("mrr", 0.5)\n', ""))
        assert self.named(two)

    def test_are_not_named_where_another_fixture_wraps_ours(self, two):
        two.write(
            "b/conftest.py",
            "import pytest\n\n@pytest.fixture\ndef irmetrics(irmetrics):\n    return irmetrics\n",
        )
        assert not self.named(two)

    @pytest.mark.parametrize("where", ["mark", "module", "body", "package"])
    def test_are_named_where_the_test_was_skipped(self, two, where):
        path = two.path / "b" / "test_b.py"
        text = path.read_text()
        if where == "package":
            two.write("b/__init__.py", "import pytest\npytest.skip('not here', allow_module_level=True)\n")
        elif where == "module":
            text += "\npytest.skip('not here', allow_module_level=True)\n"
        elif where == "mark":
            text = text.replace("@pytest.mark.ir_golden", "@pytest.mark.skip\n@pytest.mark.ir_golden")
        else:
            text = text.replace("    irmetrics.check()", "    pytest.skip('not here')")
        path.write_text(text)
        result = two.run("--ir-baseline")
        assert "test_b/test_search_quality[faq].json was not used: its test was skipped" in printed(result)
        assert "delete it" not in result.stdout.str()

    def test_are_named_where_the_class_is_gone_or_cannot_be_collected(self, two):
        path = two.path / "b" / "test_b.py"
        path.write_text(
            path.read_text().replace("def test", "class TestB:\n  def __init__(self): pass\n  def test")
        )
        assert self.named(two, "-W", "default")

    def test_are_named_where_python_files_leaves_the_file_out(self, two):
        two.write("pytest.ini", "[pytest]\npython_files = test_a.py\n")
        result = two.run("--ir-baseline")
        assert "test_search_quality[faq].json was not used: pytest did not collect" in printed(result)

    def test_are_not_named_where_a_file_that_python_files_leaves_out_failed_as_doctests(self, two):
        two.write("pytest.ini", "[pytest]\npython_files = test_a.py\n")
        assert self.named(two, "--doctest-modules")
        two.write("b/test_b.py", "import no_such_module\n")
        assert not self.named(two, "--doctest-modules", "--continue-on-collection-errors")

    def test_are_named_where_the_file_is_gone(self, two):
        (two.path / "b" / "test_b.py").unlink()
        assert self.named(two)
        assert self.named(two, "a", "b")
        assert not self.named(two, "a")

    def test_are_named_where_no_test_is_left_at_all(self, two):
        two.write("a/test_a.py", "")
        two.write("b/test_b.py", "def test_b(): pass\n")
        result = two.run("--ir-baseline")
        assert "a/ir_baselines/test_a/test_search_quality" in result.stdout.str()
        assert self.named(two)
        two.write("pytest.ini", "[pytest]\nir_baseline = true\n")
        assert "b/ir_baselines/test_b/test_search_quality" in two.run().stdout.str()

    @pytest.mark.parametrize("asked", ["{}", "{}/test_b.py"])
    def test_are_named_once_by_the_first_of_their_paths(self, two, asked):
        two.write("b/test_b.py", "def test_search_quality(): pass")
        folders = ["bf", "bd", "bc", "be", "bg"]
        for folder in folders:
            (two.path / folder).symlink_to("b")
        lines = two.run("--ir-baseline", *(asked.format(folder) for folder in [*folders, "b"])).outlines
        (named,) = (line for line in lines if "/ir_baselines/" in line)
        assert " b/ir_baselines/test_b/" in named

    def test_are_named_by_an_update_too(self, two):
        two.write("b/test_b.py", "")
        assert "b/ir_baselines/test_b/" in two.run("--ir-baseline-update", "-q").stdout.str()

    def test_are_named_in_every_report(self, two):
        two.write("b/test_b.py", "")
        reports = [f"--ir-report={name}" for name in ("r.md", "r.html", "r.json")]
        two.run("--ir-baseline", *reports)
        for name in ("r.md", "r.html", "r.json"):
            assert "b/ir_baselines/test_b/test_search_quality" in (two.path / name).read_text()

    def test_are_named_by_workers(self, two):
        two.write("b/test_b.py", "def test_search_quality():\n    pass\n")
        result = two.run_apart("--ir-baseline", "-n", "2")
        assert "b/ir_baselines/test_b/test_search_quality" in result.stdout.str()
        two.write("a/test_a.py", "")
        result = two.run_apart("--ir-baseline", "-n", "2")
        assert "b/ir_baselines/test_b/test_search_quality" in result.stdout.str()

    def test_are_named_where_the_folder_was_asked_for_in_another_way(self, two):
        two.write("b/test_b.py", "")
        assert self.named(two, "a/../b")
        assert self.named(two, "b", "a/test_a.py::test_search_quality[faq]")
        assert self.named(two, "b/test_b.py")
        two.write("pytest.ini", "[pytest]\ntestpaths = b\n")
        assert self.named(two)

    def test_are_not_named_where_another_folder_was_asked_for(self, two):
        result = two.run("--ir-baseline", "a")
        assert "b/ir_baselines" not in result.stdout.str()

    def test_are_not_named_where_tests_were_deselected(self, two):
        for options in (
            ["-k", "test_a"],
            ["a/test_a.py::test_search_quality"],
            ["--deselect", "b/test_b.py"],
        ):
            result = two.run("--ir-baseline", *options)
            assert "b/ir_baselines" not in result.stdout.str(), options

    def test_are_not_named_where_a_file_is_asked_for_beside_a_node_id(self, two):
        result = two.run("--ir-baseline", "a/test_a.py", "b/test_b.py::test_search_quality[faq]")
        result.assert_outcomes(passed=2)
        assert "is gone" not in result.stdout.str()
        assert "git rm" not in result.stdout.str()

    def test_are_not_named_where_the_run_stopped_before(self, two):
        two.write("a/test_a.py", (two.path / "a/test_a.py").read_text() + "    assert 0\n")
        result = two.run("--ir-baseline", "-x")
        result.assert_outcomes(failed=1)
        assert "ir_baselines/" not in result.stdout.str()

    def test_are_not_named_where_the_file_cannot_be_collected(self, two):
        two.write("b/test_b.py", "raise OSError\n")
        for options in ([], ["--continue-on-collection-errors"], ["-x"]):
            assert not self.named(two, *options)

    def test_are_not_named_where_the_last_failed_tests_run(self, two):
        two.write("a/test_a.py", (two.path / "a/test_a.py").read_text() + "    assert 0\n")
        options = ["-p", "pytest_irmetrics.plugin", "--ir-baseline"]
        two.pytester.runpytest_inprocess(*options).assert_outcomes(failed=1, passed=1)
        result = two.pytester.runpytest_inprocess(*options, "--lf")
        result.assert_outcomes(failed=1)
        assert "b/ir_baselines" not in result.stdout.str()

    def test_are_not_named_where_a_test_asks_for_the_fixture_as_it_runs(self, two):
        code = """
            import unittest, pytest

            class TestB(unittest.TestCase):
                @pytest.fixture(autouse=True)
                def metrics(self, request):
                    self.irmetrics = request.getfixturevalue("irmetrics")

                def test_it(self):
                    self.irmetrics.check(golden="golden/faq.yaml")

            def test_dynamic(request):
                request.getfixturevalue("irmetrics").check(golden="golden/faq.yaml")
            """
        (two.path / "b/ir_baselines/test_b/test_search_quality[faq].json").unlink()
        two.write("b/test_b.py", code)
        two.run("--ir-baseline-update").assert_outcomes(passed=3)
        assert len(list((two.path / "b").glob("ir_baselines/*/*.json"))) == 2
        for options in ([], ["-k", "dynamic"], ["b/test_b.py::test_dynamic"], ["--deselect", "b"]):
            result = two.run("--ir-baseline", *options)
            assert "b/ir_baselines" not in result.stdout.str(), options
        assert "b/ir_baselines" not in two.run_apart("--ir-baseline", "-n", "2").stdout.str()

    def test_are_not_named_where_a_plugin_skips_what_was_not_asked_for(self, two):
        two.write("b/golden/faq.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
        assert not self.named(two, "--ir-query=refund")

    def test_are_not_named_in_a_copy_of_the_tests_that_pytest_never_enters(self, two):
        (two.path / "b").rename(two.path / "build")
        assert "build/ir_baselines" not in two.run("--ir-baseline").stdout.str()
        assert (
            "build/ir_baselines" not in two.run("--ir-baseline", "-o", "norecursedirs=build x").stdout.str()
        )


class TestAskedByNodeId:
    """A run of some tests of a file says nothing of the others' baselines."""

    @pytest.fixture
    def two(self, project):
        for name in ("a", "b"):
            text = (project.path / "test_search.py").read_text()
            project.write(
                f"test_{name}.py",
                text.replace("search_quality", "one") + text.replace("search_quality", "two"),
            )
        (project.path / "test_search.py").unlink()
        project.run("--ir-baseline-update").assert_outcomes(passed=4)
        return project

    @pytest.mark.parametrize(
        "asked",
        [
            ["test_a.py", "test_b.py::test_one"],
            ["test_b.py::test_one", "test_a.py"],
            ["test_b.py::test_one"],
            ["test_b.py::test_one[faq]", "test_a.py::test_two"],
        ],
    )
    def test_a_valid_baseline_is_not_called_unused(self, two, asked):
        result = two.run("--ir-baseline", *asked)
        assert result.ret == 0
        assert "was not used" not in printed(result)
        assert "delete" not in printed(result)

    @pytest.mark.parametrize(
        "asked", [["test_b.py"], ["test_b.py::test_one", "."], ["test_a.py", "test_b.py"]]
    )
    def test_that_of_a_test_that_is_gone_is(self, two, asked):
        path = two.path / "test_b.py"
        path.write_text(path.read_text().replace("def test_two", "def check_two"))
        assert "test_b/test_two[faq].json" in printed(two.run("--ir-baseline", *asked))

    def test_that_of_a_test_that_is_gone_from_a_package_that_was_asked_for_by_name_is(self, two, monkeypatch):
        package = two.path / "src" / "shop"
        package.mkdir(parents=True)
        for path in list(two.path.iterdir()):
            if path != package.parent:
                path.rename(package / path.name)
        (package / "__init__.py").touch()
        monkeypatch.syspath_prepend(package.parent)
        assert "was not used" not in printed(two.run("--ir-baseline", "--pyargs", "shop.test_b"))
        path = package / "test_a.py"
        path.write_text(path.read_text().replace("def test_two", "def check_two"))
        assert "was not used" not in printed(two.run("--ir-baseline", "--pyargs", "shop.test_b"))
        assert "test_a/test_two[faq].json" in printed(two.run("--ir-baseline", "--pyargs", "shop"))
