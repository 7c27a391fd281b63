"""Show the cross-references of docstrings, :class:`~miptree.ObliqueTree`, as code.

Editors know such roles, Markdown does not. mkdocs calls this for every page.
"""

import re
from typing import Any

_ROLE = re.compile(
    r":(?:attr|class|data|func|meth|mod):<code>(?:~(?:\w+\.)*)?([\w.]+)</code>"
)


def on_page_content(html: str, **_: Any) -> str:
    """Leave the last part of a name with a tilde, and all of any other name."""
    return _ROLE.sub(r"<code>\1</code>", html)
