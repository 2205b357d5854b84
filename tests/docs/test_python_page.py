"""docs/reference/python.md: every public name and attribute, as the code says it, and examples that run.

The lists come from signatures and docstrings. After a change, `make expected` writes them anew.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import pytest_irmetrics
from tests.expected import RENEWING

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
_RUN = pytest_irmetrics.Run({"q": ["d"]})
_SCORED = pytest_irmetrics.evaluate(pytest_irmetrics.GoldenSet.from_judgments({"q": {"d": 1}}), _RUN, ["mrr"])
DOCUMENTED = {
    **{name: getattr(pytest_irmetrics, name) for name in pytest_irmetrics.__all__},
    "MetricChange": type(pytest_irmetrics.compare(_SCORED, _SCORED)["mrr"]),
}
SETTLED = {
    "GoldenSet": "load from_judgments queries name path relevance_level thresholds tags left_out",
    "Query": "id text judgments forbidden tags weight params thresholds no_answer xfail note",
    "Run": "load save loads dumps depth golden_set relevance_level means",
    "Evaluation": "mean scores score errors golden run metrics depth",
    "Comparison": "change paired new removed reworded now baseline depth",
    "MetricChange": "metric tag now baseline delta worse better same lost p_value interval detectable n",
    "IRMetrics": "golden check acheck evaluate aevaluate",
    "GoldenSetError": "problems",
    "RetrievalError": "problem query_id",
}
"""The attributes that do not change, in the order of the page."""

FOR_THE_PLUGIN = {
    "send_report",
    "has_unsent_report",
    "require_checked",
    "require_checked_in_teardown",
    "require_async_plugin",
}
"""What the plugin itself calls of the fixture."""


def first_paragraph(text):
    return " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split()).replace("``", "`")


def signature(name, function):
    """Names and defaults, without annotations, and what comes back."""
    found = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    shown = str(found.replace(parameters=parameters, return_annotation=found.empty)).replace(
        "mappingproxy({})", "{}"
    )
    return f"`{name}{shown}` → {returned(found.return_annotation)}"


def returned(annotation):
    return f"`{annotation}`" if annotation not in (inspect.Signature.empty, None, "None") else "nothing"


def class_body(cls):
    """The class's statements, from the file of one of its functions: public classes name another module than their own."""
    functions = [getattr(member, "__func__", member) for member in vars(cls).values()]
    getters = [getattr(member, "fget", None) for member in vars(cls).values()]
    files = [
        function.__code__.co_filename for function in [*functions, *getters] if inspect.isfunction(function)
    ]
    (file,) = {file for file in files if "pytest_irmetrics" in file}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return next(node.body for node in tree.body if getattr(node, "name", "") == cls.__name__)


def described_fields(cls):
    """Attribute → annotation and text, of what the class body, or `__init__`, sets and explains with a text below it."""
    body = class_body(cls)
    made = [function.body for function in body if getattr(function, "name", "") == "__init__"]
    for statements in [body, *made]:
        for statement, after in zip(statements, [*statements[1:], None], strict=True):
            target = getattr(statement, "target", None) or getattr(statement, "targets", [None])[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                name = target.attr
            elif isinstance(target, ast.Name) and statements is body:
                name = target.id
            else:
                continue
            annotation = getattr(statement, "annotation", None)
            text = (
                after.value.value
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                else ""
            )
            yield name, ("" if annotation is None else ast.unparse(annotation), first_paragraph(text))


def attributes(cls):
    """Every public attribute → its line on the page."""
    lines = {}
    for name, (annotation, text) in described_fields(cls):
        kind = f", `{annotation}`" if annotation else ""
        lines.setdefault(name, f"`{name}`{kind}: {text}")
    for name, member in vars(cls).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            lines[name] = f"{signature(name, function)}: {first_paragraph(function.__doc__)}"
        elif hasattr(member, "fget") or hasattr(member, "func"):
            getter = getattr(member, "fget", None) or member.func
            kind = inspect.signature(getter).return_annotation
            lines[name] = f"`{name}`, `{kind}`: {first_paragraph(getter.__doc__)}"
    hidden = FOR_THE_PLUGIN if cls is pytest_irmetrics.IRMetrics else ()
    return {name: line for name, line in lines.items() if not name.startswith("_") and name not in hidden}


def rendered(name):
    """What the page says of a name, between its two comments."""
    documented = DOCUMENTED[name]
    if not inspect.isclass(documented):
        return f"{signature(name, documented)}: {first_paragraph(documented.__doc__)}\n"
    lines = attributes(documented)
    settled = SETTLED[name].split()
    also = [attribute for attribute in lines if attribute not in settled]
    text = "\n**Attributes and methods**\n\n" + "".join(f"- {lines[attribute]}\n" for attribute in settled)
    return text + (
        "\n**Also there**\n\n" + "".join(f"- {lines[attribute]}\n" for attribute in also) if also else ""
    )


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_page_has_every_public_name_and_attribute(name):
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(
        rf"^##+ `{name}`\n.*?^<!-- {name} -->\n(.*?)^<!-- end -->$", page, re.MULTILINE | re.DOTALL
    )
    assert shown, f"{PAGE.name} has no section for {name}"
    if RENEWING:
        PAGE.write_text(page[: shown.start(1)] + rendered(name) + page[shown.end(1) :], encoding="utf-8")
        return
    assert shown[1] == rendered(name), "differs: run `make expected` and read the difference"


@pytest.mark.parametrize("name", [name for name in DOCUMENTED if inspect.isclass(DOCUMENTED[name])])
def test_every_public_attribute_is_explained(name):
    for line in attributes(DOCUMENTED[name]).values():
        explained = line.rpartition(": ")[2].strip()
        assert explained.endswith((".", ")")), line


def test_the_page_has_a_section_for_nothing_else():
    headings = re.findall(r"^##+ `(\w+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(DOCUMENTED)


def test_the_arguments_of_evaluate_are_all_on_the_page():
    table = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert table == list(inspect.signature(pytest_irmetrics.evaluate).parameters)


def show(value):
    return f"{value:.4f}" if isinstance(value, float) else repr(value)


def test_the_examples_give_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/faq.yaml").write_text(
        "queries:\n- {id: reset, query: how do I reset my password, relevant: [doc-12, doc-40]}\n"
        "- {id: refund, query: refund policy, relevant: {doc-9: 3, doc-4: 1, doc-7: 0}}\n"
    )
    compared: list[tuple[str, str]] = []
    names = {"_compare": lambda value, shown: compared.append((show(value), show(shown)))}
    found = 0
    for code in re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        # What a comment shows of an expression is compared where the expression stands.
        shown = re.compile(r"^( *)(\S.*?)  # ([^;\n]+)$", re.MULTILINE)
        found += len(shown.findall(code))
        exec(shown.sub(r"\1_compare(\2, \3)", code), names)
    assert [value for value, _ in compared] == [value for _, value in compared]
    assert len(compared) == found > 15
