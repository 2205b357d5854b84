from __future__ import annotations

import pytest
import yaml

from pytest_irmetrics.golden import GoldenSet, GoldenSetError, yaml_nodes

PARSERS = {"libyaml": getattr(yaml, "CBaseLoader", None), "python": yaml.BaseLoader}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory of each test, so that files go by their names alone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=[name for name, parser in PARSERS.items() if parser])
def parser(request, monkeypatch):
    """Both of PyYAML's parsers: the one written in Python stands in where there is no libyaml."""
    monkeypatch.setattr(yaml_nodes, "PARSER", PARSERS[request.param])
    return request.param


@pytest.fixture
def load_yaml(tmp_path):
    def load_text(text: str | bytes, **options) -> GoldenSet:
        path = tmp_path / "faq.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return GoldenSet.load(path, shown="faq.yaml", **options)

    return load_text


@pytest.fixture
def yaml_problems(load_yaml):
    def problems_of(text: str | bytes, **options) -> list[str]:
        with pytest.raises(GoldenSetError) as caught:
            load_yaml(text, **options)
        lines = str(caught.value).splitlines()
        assert lines == [str(problem) for problem in caught.value.problems]
        return [line.removeprefix("faq.yaml:") for line in lines]

    return problems_of
