"""What the public names say of themselves: signatures, annotations, and the first paragraphs of their texts."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path


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
    return lines
