"""Ways in which a search that got worse might pass, by how pytest is called and by what surrounds the test: none does."""

from __future__ import annotations

import unicodedata

import pytest

from tests.plugin.conftest import ANSWERS, GOLDEN, TEST, make_ranking_worse, printed, text_of

WORSE = {**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]}


def fails(result, *words):
    """The run failed, in words of ours and not for an error of ours."""
    text = text_of(result)
    assert result.ret == 1, text
    for word in words:
        assert word in text, text


class TestHowPytestIsCalled:
    """The same worse search, run in other ways."""

    @pytest.fixture(autouse=True)
    def worse(self, stored):
        make_ranking_worse(stored)
        return stored

    @pytest.mark.parametrize(
        "options",
        [
            ["-q"],
            ["-qq"],
            ["-p", "no:terminal"],
            ["--tb=no", "--no-header", "--no-summary"],
            ["-s"],
            ["--import-mode=importlib"],
            ["--import-mode=append"],
            ["-x"],
            ["--maxfail=9"],
            ["-W", "error"],
            ["--strict-markers", "--strict-config"],
            ["-k", "quality and faq"],
            ["-m", "ir_golden"],
            ["test_search.py::test_search_quality"],
            ["test_search.py::test_search_quality[faq]"],
            ["./test_search.py"],
            ["--rootdir=/"],
            ["--setup-show"],
            ["-o", "ir_concurrency=3"],
            ["-o", "ir_repeat=3"],
            ["--ir-repeat=2"],
            ["-o", "ir_duplicates=collapse"],
            ["-o", "ir_metrics=recall@10"],
            ["-o", "ir_thresholds=hit@10 0.1"],
            ["--no-ir-baseline", "--ir-baseline"],
            ["-o", "ir_baseline=false"],
            ["-o", "ir_timeout=60"],
        ],
        ids=" ".join,
    )
    def test_fails(self, worse, options):
        fails(worse.run("--ir-baseline", *options))

    def test_fails_with_workers_and_reruns(self, worse):
        fails(worse.run_apart("--ir-baseline", "-n", "2", "--reruns", "1"))

    def test_fails_where_each_worker_runs_all_tests(self, worse):
        fails(worse.run_apart("--ir-baseline", "-n", "2", "--dist", "each"))

    def test_fails_without_docstrings_and_asserts(self, worse, monkeypatch):
        monkeypatch.setenv("PYTHONOPTIMIZE", "2")
        fails(worse.run_apart("--ir-baseline"), "test_search_quality")

    @pytest.mark.parametrize("seed", ["0", "1"])
    def test_fails_in_an_ascii_locale(self, worse, monkeypatch, seed):
        for name, value in {
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONHASHSEED": seed,
        }.items():
            monkeypatch.setenv(name, value)
        fails(worse.run_apart("--ir-baseline"))

    def test_fails_where_the_environment_turns_the_gate_off_and_the_command_line_on(self, worse, monkeypatch):
        monkeypatch.setenv("PYTEST_ADDOPTS", "--no-ir-baseline")
        fails(worse.run("--ir-baseline"))
        worse.write("pytest.ini", "[pytest]\naddopts = --no-ir-baseline\n")
        monkeypatch.delenv("PYTEST_ADDOPTS")
        fails(worse.run("--ir-baseline"))

    def test_fails_from_another_folder(self, worse, monkeypatch):
        (worse.path / "elsewhere").mkdir()
        monkeypatch.chdir(worse.path / "elsewhere")
        fails(worse.run("--ir-baseline", "../test_search.py"))

    def test_fails_by_the_name_of_its_package(self, worse, monkeypatch):
        package = worse.path / "shop"
        package.mkdir()
        for name in ("conftest.py", "test_search.py", "golden", "ir_baselines", "answers.json"):
            (worse.path / name).rename(package / name)
        (package / "__init__.py").touch()
        monkeypatch.syspath_prepend(worse.path)
        fails(worse.run("--ir-baseline", "--pyargs", "shop.test_search"))
        fails(worse.run("--ir-baseline", "--pyargs", "shop"))

    def test_fails_in_a_folder_that_is_linked_to(self, worse):
        real = worse.path / "real"
        real.mkdir()
        for name in ("conftest.py", "test_search.py", "golden", "ir_baselines", "answers.json"):
            (worse.path / name).rename(real / name)
        (worse.path / "link").symlink_to(real)
        fails(worse.run("--ir-baseline", "link"))
        fails(worse.run("--ir-baseline", "link/test_search.py::test_search_quality"))

    def test_fails_with_baselines_in_a_folder_that_is_linked_to(self, worse):
        (worse.path / "ir_baselines").rename(worse.path / "kept")
        (worse.path / "ir_baselines").symlink_to(worse.path / "kept")
        fails(worse.run("--ir-baseline"))

    def test_a_worse_query_that_was_not_asked_for_is_said_to_be_unjudged(self, worse):
        result = worse.run("--ir-baseline", "--ir-query=reset")
        assert result.ret == 0
        assert "no mean" in text_of(result)

    def test_a_depth_that_hides_a_lost_document_is_told(self, worse):
        worse.answers({**ANSWERS, "opening hours": ["doc-2", "doc-3"]})  # of which rank 2 was right
        result = worse.run("--ir-baseline", "-q", "-o", "ir_depth=1", "-o", "ir_metrics=mrr")
        assert result.ret == 0
        assert "The depths differ, 1 today and 10 in the baseline; both are cut at 1." in text_of(result)


class TestWhereTheBaselineStands:
    """A baseline that a rename leaves behind is no pass."""

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("def test_search_quality", "def test_quality"),
            ("@pytest.mark.ir_golden", "@pytest.mark.parametrize('x', [1])\n@pytest.mark.ir_golden"),
            ("golden/*.yaml", "*/*.yaml"),
            ("golden/*.yaml", "**/*.y*ml"),
        ],
    )
    def test_a_renamed_test_has_no_baseline(self, stored, old, new):
        make_ranking_worse(stored)
        path = stored.path / "test_search.py"
        text = path.read_text().replace(old, new)
        path.write_text(text.replace("(irmetrics)", "(irmetrics, x)") if "parametrize" in new else text)
        fails(stored.run("--ir-baseline"), "--ir-baseline-update")

    def test_a_test_in_a_class_has_no_baseline_of_one_without(self, stored):
        make_ranking_worse(stored)
        text = TEST.replace("def test_search_quality(irmetrics)", "def test_search_quality(self, irmetrics)")
        head, _, body = text.partition("@pytest")
        stored.write(
            "test_search.py",
            f"{head}class TestSearch:\n        @pytest{body.replace('        ', '            ', 1)}".replace(
                "\n    @pytest.mark.ir_th", "\n        @pytest.mark.ir_th"
            ).replace("\n    def test", "\n        def test"),
        )
        fails(stored.run("--ir-baseline"), "--ir-baseline-update", "test_search_quality[faq].json")

    def test_another_folder_of_baselines_is_empty(self, stored):
        make_ranking_worse(stored)
        fails(stored.run("--ir-baseline", "-o", "ir_baseline_dir=baselines"), "--ir-baseline-update")

    def test_a_baseline_of_another_golden_set_pairs_with_nothing(self, stored):
        stored.write("golden/other.yaml", "queries: [{query: other, relevant: doc-1}]\n")
        stored.run("--ir-baseline-update").assert_outcomes(passed=1, failed=1)
        other = stored.baseline.with_name("test_search_quality[other].json")
        other.write_bytes(stored.baseline.read_bytes())
        stored.answers({**ANSWERS, "other": ["doc-1"]})
        fails(stored.run("--ir-baseline"))

    def test_one_renamed_of_several_golden_sets_fails(self, project):
        for name in ("a", "b", "c"):
            project.write(f"golden/{name}.yaml", GOLDEN)
        project.run("--ir-baseline-update").assert_outcomes(passed=4)
        (project.path / "golden/b.yaml").rename(project.path / "golden/d.yaml")
        fails(project.run("--ir-baseline"), "golden/b.yaml is gone", "golden/d.yaml")

    def test_a_golden_set_in_another_unicode_form_is_another(self, project):
        composed = unicodedata.normalize("NFC", "größe")
        (project.path / "golden/faq.yaml").rename(project.path / f"golden/{composed}.yaml")
        project.run("--ir-baseline-update").assert_outcomes(passed=1)
        decomposed = unicodedata.normalize("NFD", composed)
        (project.path / f"golden/{composed}.yaml").rename(project.path / f"golden/{decomposed}.yaml")
        project.answers(WORSE)
        fails(project.run("--ir-baseline"))

    def test_names_that_differ_in_case_have_files_that_no_file_system_mixes_up(self, project):
        for name in ("FAQ", "Faq"):
            project.write(f"golden/{name}.yaml", GOLDEN)
        body = TEST.replace("test_search_quality", "test_Search_quality").partition("import pytest\n")[2]
        project.write("test_search.py", TEST + body)
        project.run("--ir-baseline-update").assert_outcomes(passed=6)
        names = [path.name for path in project.baseline.parent.iterdir()]
        assert len({name.casefold() for name in names}) == len(names) == 6
        project.answers(WORSE)
        fails(project.run("--ir-baseline"), "6 failed")

    def test_files_of_one_name_in_two_folders_have_a_baseline_each(self, project):
        for folder in ("a", "b"):
            for name in ("conftest.py", "test_search.py", "golden/faq.yaml", "answers.json"):
                project.write(f"{folder}/{name}", (project.path / name).read_text())
        (project.path / "test_search.py").unlink()
        project.run("--import-mode=importlib", "--ir-baseline-update").assert_outcomes(passed=2)
        project.write("b/answers.json", __import__("json").dumps(WORSE))
        result = project.run("--import-mode=importlib", "--ir-baseline")
        result.assert_outcomes(passed=1, failed=1)
        assert "b/test_search.py" in text_of(result)

    def test_tests_with_names_of_any_script(self, project):
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_søk_検索")
        (project.path / "golden/faq.yaml").rename(project.path / "golden/よくある質問.yaml")
        project.run("--ir-baseline-update").assert_outcomes(passed=1)
        project.run("--ir-baseline").assert_outcomes(passed=1)
        project.answers(WORSE)
        fails(project.run("--ir-baseline"))


class TestWhatSurroundsTheTest:
    def conftest(self, project, text):
        path = project.path / "conftest.py"
        path.write_text(path.read_text() + text)

    def test_one_parameter_with_off_leaves_the_others_gated(self, project):
        project.write(
            "test_search.py",
            """
            import json, pathlib, pytest

            ANSWERS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))

            @pytest.fixture(params=["good", pytest.param("lax", marks=pytest.mark.ir_threshold("mrr", max_drop="off"))])
            def retriever(request):
                return lambda query, k: ANSWERS[query][:k]

            @pytest.mark.ir_golden("golden/*.yaml")
            @pytest.mark.ir_threshold("mrr", 0.1)
            def test_search_quality(irmetrics):
                irmetrics.check()
            """,
        )
        project.run("--ir-baseline-update").assert_outcomes(passed=2)
        project.answers(WORSE)
        result = project.run("--ir-baseline")
        result.assert_outcomes(passed=1, failed=1)
        assert "[faq-good]" in text_of(result) or "[good-faq]" in text_of(result)

    def test_off_on_a_class_does_not_cancel_a_threshold_of_the_golden_set(self, project):
        text = (project.path / "golden/faq.yaml").read_text()
        project.write("golden/faq.yaml", f"thresholds:\n  mrr: {{min: 0.9, max_drop: 0.01}}\n{text}")
        project.write(
            "test_search.py",
            """
            import pytest

            @pytest.mark.ir_threshold("mrr", min="off", max_drop="off")
            class TestSearch:
                @pytest.mark.ir_golden("golden/*.yaml")
                def test_search_quality(self, irmetrics):
                    irmetrics.check()
            """,
        )
        fails(project.run(), "mrr is 0.8333")

    def test_a_repeat_that_fails_is_no_average_of_the_others(self, stored):
        stored.retrieve("answers[query] if query not in seen and not seen.append(query) else 1 / 0")
        self.conftest(stored, "\nseen = []\n")
        fails(stored.run("--ir-baseline", "--ir-repeat=2"), "ZeroDivisionError")

    @pytest.mark.parametrize("golden", ["'golden/faq.yaml'", "'other.yaml'"])
    def test_a_check_of_another_golden_set_hides_no_fall(self, stored, golden):
        stored.write("other.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
        stored.test(
            ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'],
            body=f"irmetrics.check(golden={golden})",
        )
        make_ranking_worse(stored)
        fails(stored.run("--ir-baseline"))

    def test_weights_that_left_with_their_params_are_missed(self, project):
        def golden(lang):
            return (
                "queries:\n"
                f"- {{id: reset, query: how do I reset my password, relevant: [doc-12], weight: 9, params: {{lang: {lang}}}}}\n"
                "- {id: hours, query: opening hours, relevant: doc-1}\n"
            )

        project.write("golden/faq.yaml", golden("en"))
        project.retrieve("answers[query][:k]")
        path = project.path / "conftest.py"
        path.write_text(path.read_text().replace("lambda query, k:", "lambda query, k, lang=None:"))
        project.run("--ir-baseline-update").assert_outcomes(passed=1)
        project.write("golden/faq.yaml", golden("no"))
        project.answers({**ANSWERS, "how do I reset my password": ["doc-3"]})
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("hit@10", max_drop=0.01)'])
        fails(project.run("--ir-baseline"), "Only 10% of the baseline")

    def test_one_list_for_all_answers_is_copied(self, project):
        self.conftest(project, "\nshared = []\n")
        project.retrieve("(shared.clear(), shared.extend(answers[query]), shared)[2]")
        result = project.run("-v")
        assert "0.8333" in text_of(result)

    def test_params_that_a_retriever_changes_are_its_own_copy(self, project):
        project.write(
            "golden/faq.yaml",
            "queries:\n- {id: a, query: refund policy, relevant: doc-9, params: {filters: [x], deep: {y: [1]}}}\n",
        )
        path = project.path / "conftest.py"
        path.write_text(path.read_text().replace("lambda query, k:", "lambda query, k, filters, deep:"))
        project.retrieve(
            "(filters.append('z'), deep.clear(), answers[query])[2] if len(filters) == 1 and deep else 1 / 0"
        )
        project.run("--ir-repeat=3").assert_outcomes(passed=1)

    @pytest.mark.parametrize("where", ["check", "evaluated", "fixture", "teardown"])
    def test_an_error_around_the_check_fails(self, stored, where):
        if where == "evaluated":
            self.conftest(stored, "\ndef pytest_irmetrics_evaluated(item, evaluation):\n    1 / 0\n")
        elif where == "fixture":
            stored.retrieve("1 / 0")
        elif where == "teardown":
            self.conftest(stored, "\n@pytest.fixture(autouse=True)\ndef late():\n    yield\n    1 / 0\n")
        else:
            stored.test('ir_golden("golden/*.yaml")', body="irmetrics.check(); 1 / 0")
        result = stored.run("--ir-baseline")
        assert result.ret == 1

    @pytest.mark.parametrize("mark", ["pytest.mark.skip", "pytest.mark.skipif(True, reason='x')"])
    def test_a_skipped_gate_is_named(self, stored, mark):
        make_ranking_worse(stored)
        path = stored.path / "test_search.py"
        path.write_text(
            path.read_text().replace("@pytest.mark.ir_golden", f"@{mark}\n@pytest.mark.ir_golden")
        )
        assert "test_search_quality[faq].json was not used" in printed(stored.run("--ir-baseline"))

    def test_a_retriever_fixture_that_skips_is_named(self, stored):
        path = stored.path / "conftest.py"
        path.write_text(
            path.read_text().replace("def retriever():\n", "def retriever():\n    pytest.skip('down')\n")
        )
        assert "test_search_quality[faq].json was not used" in printed(stored.run("--ir-baseline"))

    def test_a_retriever_of_a_sub_folder_is_gated_as_its_own(self, stored):
        for name in ("test_search.py", "golden/faq.yaml", "answers.json"):
            stored.write(f"sub/{name}", (stored.path / name).read_text())
        stored.run("--ir-baseline-update", "--import-mode=importlib").assert_outcomes(passed=2)
        stored.write(
            "sub/conftest.py",
            "import pytest\n\n@pytest.fixture(scope='session')\ndef retriever():\n    return lambda query, k: ['doc-404', 'doc-9']\n",
        )
        result = stored.run("--ir-baseline", "--import-mode=importlib")
        result.assert_outcomes(passed=1, failed=1)

    @pytest.mark.parametrize(
        "answer", ["[True]", "[1.5]", "[['doc-9']]", "'doc-9'", "{'doc-9'}", "[b'doc-9']"]
    )
    def test_what_is_no_ranking_is_no_answer(self, stored, answer):
        stored.retrieve(answer)
        fails(stored.run("--ir-baseline"))

    def test_a_golden_set_that_links_to_another_pairs_with_nothing(self, stored):
        stored.write("other.yaml", "queries: [{query: other, relevant: doc-1}]\n")
        stored.answers({**WORSE, "other": ["doc-1"]})
        (stored.path / "golden/faq.yaml").unlink()
        (stored.path / "golden/faq.yaml").symlink_to(stored.path / "other.yaml")
        fails(stored.run("--ir-baseline"))

    def test_without_a_limit_nothing_is_called_gated(self, stored):
        make_ranking_worse(stored)
        stored.test('ir_golden("golden/*.yaml")')
        result = stored.run("--ir-baseline", "-o", "ir_max_drop=off")
        assert result.ret == 0
        assert "nothing gated" in text_of(result)

    def test_an_update_in_parallel_with_reruns_stores_the_last_attempt_and_gates_on_it(self, project):
        self.conftest(
            project,
            "\n@pytest.fixture(autouse=True)\ndef flaky(request, tmp_path_factory):\n"
            "    mark = pathlib.Path(__file__).with_name('tried')\n    yield\n"
            "    if not mark.exists():\n        mark.touch()\n        raise OSError('first attempt')\n",
        )
        result = project.run_apart("-n", "2", "--reruns", "1", "--ir-baseline-update")
        assert project.baseline.exists() == (result.ret == 0)
        project.answers(WORSE)
        if project.baseline.exists():
            fails(project.run_apart("-n", "2", "--reruns", "1", "--ir-baseline"))
