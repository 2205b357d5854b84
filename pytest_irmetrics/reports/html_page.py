"""Make HTML pages of the package's templates: escaping, and a policy that lets a browser run nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import Any

from pytest_irmetrics.base.escape import escape_html

INSTALL = 'The HTML report needs Jinja2: pip install "pytest-irmetrics[html]"'


class Trusted(str):
    """Text that is not escaped: it comes from the package, or has been escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def templates() -> Any:
    """Return Jinja's environment for the templates of this folder. Raises ImportError saying what to install where Jinja2 is missing."""
    try:
        import jinja2  # noqa: PLC0415 - an extra, and only HTML needs it
    except ImportError:
        raise ImportError(INSTALL) from None
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(read_resource),
        # Beyond what autoescape does, what cannot be seen (controls, bidi, lone surrogates) is written out.
        finalize=lambda value: (
            Trusted(escape_html(value))
            if isinstance(value, str) and not hasattr(value, "__html__")
            else value
        ),
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment


def read_resource(name: str) -> str:
    """Return the text of a file of this folder."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def content_policy(style: str, script: str = "") -> Trusted:
    """Return the Content-Security-Policy of a page that has one style sheet and at most one script, and loads nothing."""
    script_source = f"script-src '{_hash(script)}'; " if script else ""
    return Trusted(
        f"default-src 'none'; style-src '{_hash(style)}'; {script_source}img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
