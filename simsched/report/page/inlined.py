"""A page as one text: its template with style, scripts, data and Plotly inlined."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from plotly.offline import get_plotlyjs


def page_text(template: str, *, data: Any, styles: Sequence[str], scripts: Sequence[str], **values: Any) -> str:
    """The page as text; nothing in it is loaded from elsewhere.

    Args:
        template: file in assets/ that extends base.html.j2.
        data: plain values for the page's scripts.
        styles: files in assets/, one after the other.
        scripts: the same, run when the page has been read.
        values: the template's other names.
    """
    environment = Environment(
        loader=PackageLoader("simsched.report.page", "assets"), autoescape=True, undefined=StrictUndefined
    )
    assets = files("simsched.report.page") / "assets"

    def joined(names: Sequence[str]) -> str:
        return "\n".join((assets / name).read_text(encoding="utf-8") for name in names)

    return environment.get_template(template).render(
        data=_script_json(data),
        style=joined(styles),
        script=joined(scripts),
        plotly=get_plotlyjs().replace("</script", "<\\/script"),
        **values,
    )


def _script_json(values: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
