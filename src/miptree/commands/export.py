"""``miptree export``."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from miptree.commands._app import app, console, plain_errors
from miptree.commands.model import Force, ModelFile
from miptree.export import (
    export_c,
    export_dot,
    export_onnx,
    export_python,
    export_sql,
    export_text,
    load_json,
)
from miptree.utils.files import refuse_overwriting, write_atomic


class Form(str, Enum):
    """What a model can be exported to."""

    sql = "sql"
    python = "python"
    c = "c"
    onnx = "onnx"
    dot = "dot"
    text = "text"
    json = "json"


_WRITERS: dict[Form, Callable[[Any], str]] = {
    Form.sql: export_sql,
    Form.python: export_python,
    Form.c: export_c,
    Form.dot: export_dot,
    Form.text: export_text,
}


@app.command()
@plain_errors
def export(
    model: ModelFile,
    to: Annotated[Form, typer.Option(help="Form to write.")],
    out: Annotated[Path | None, typer.Option(help="File to write.")] = None,
    force: Force = False,
) -> None:
    """Write a model in another form that predicts the same, to the last bit.

    Without --out it goes to standard output. `--to onnx` needs miptree[onnx].

    Example: miptree export model.json --to sql --out model.sql
    """
    if out is not None:
        refuse_overwriting(out, force)
    content = _content(model, to)
    if out is not None:
        write_atomic(out, content, force)
        console.print(f"Saved as {out}.", markup=False, soft_wrap=True)
    else:
        typer.echo(content, nl=False)


def _content(model: Path, to: Form) -> bytes:
    clf = load_json(model)
    if to is Form.json:
        return model.read_bytes()  # checked by loading it
    if to is Form.onnx:
        content: bytes = export_onnx(clf).SerializeToString()
        return content
    return (_WRITERS[to](clf).rstrip("\n") + "\n").encode()
