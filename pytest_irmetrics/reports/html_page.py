"""Make HTML pages of the package's templates: escaping, and a policy that lets a browser run nothing else. Needs Jinja2."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import Any

from pytest_irmetrics.base.escape import escape_html
from pytest_irmetrics.reports import plots

try:
    import jinja2
    from markupsafe import Markup  # which Jinja2 brings
except ImportError:
    raise ImportError('The HTML report needs Jinja2: pip install "pytest-irmetrics[html]"') from None


def page(template: str, *, script: str = "", **values: Any) -> str:
    """Return a page made of a template, with the style sheet and a script, both files of this folder; it loads nothing else.

    The template has the module `plots`, and the style sheet the sizes of what that draws.
    """
    sizes = f"--plot: {plots.WIDTH}px; --rank: {plots.ROW_HEIGHT}px; --between: {plots.LINES_WIDTH}px"
    style, code = f":root {{ {sizes} }}\n{_resource('report.css')}", _resource(script) if script else ""
    script_source = f"script-src '{_hash(code)}'; " if script else ""
    policy = f"default-src 'none'; style-src '{_hash(style)}'; {script_source}img-src data:; base-uri 'none'; form-action 'none'"
    trusted = {"style": Markup(style), "script": Markup(code), "policy": Markup(policy), "plots": plots}
    return _ENVIRONMENT.get_template(template).render(values | trusted)


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_bytes().decode()


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _escaped(value: Any) -> Any:
    """Escape text as autoescape does, and write out what cannot be seen (controls, bidi, lone surrogates)."""
    return value if not isinstance(value, str) or hasattr(value, "__html__") else Markup(escape_html(value))


_ENVIRONMENT = jinja2.Environment(
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    loader=jinja2.FunctionLoader(_resource),
    finalize=_escaped,
)
_ENVIRONMENT.filters["kind"] = lambda block: type(block).__name__  # what report_blocks.jinja tells blocks by
