"""``miptree export``."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from miptree import export as writers
from miptree.commands._app import app, plain_errors, say
from miptree.commands._model_rows import Force, ModelFile
from miptree.commands._outputs import refuse_outputs
from miptree.export.answers import OUTPUTS
from miptree.utils.files import write_atomic


class Form(str, Enum):
    """What a model can be exported to: x by ``export_x``, or the model file itself."""

    sql = "sql"
    python = "python"
    c = "c"
    onnx = "onnx"
    dot = "dot"
    text = "text"
    rules = "rules"
    json = "json"


_EXPLAINING = (Form.sql, Form.python, Form.c)
"""Forms that can tell more of a row than its class."""


@app.command()
@plain_errors
def export(
    model: ModelFile,
    to: Annotated[Form, typer.Option(help="Form to write.")],
    explain: Annotated[
        bool,
        typer.Option(
            help="Give leaf, probability and reason of a row as well as its class; "
            "with sql, python and c."
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="File to write.")] = None,
    force: Force = False,
) -> None:
    r"""Write a model in another form that predicts the same, to the last bit.

    Without --out it goes to standard output. `--to onnx` needs the extra
    miptree\[onnx].

    Example: miptree export model.json --to sql --explain --out model.sql
    """
    refuse_outputs({"--out": out}, [model], force)
    if out is None and to is Form.onnx and _is_terminal():
        raise ValueError(
            "--to onnx writes bytes that a terminal cannot show: give --out, such as "
            "--out model.onnx, or send standard output to a file."
        )
    if explain and to not in _EXPLAINING:
        forms = ", ".join(form.value for form in _EXPLAINING)
        raise ValueError(
            f"--explain goes with --to {forms}, not with --to {to.value}. Leave it out."
        )
    content = _content(model, to, explain)
    if out is not None:
        write_atomic(out, content, force)
        say(f"Saved as {out}.")
    else:
        typer.echo(content, nl=False)


def _is_terminal() -> bool:
    """Tell whether people, and no file or program, read standard output."""
    return sys.stdout.isatty()


def _content(model: Path, to: Form, explain: bool) -> bytes:
    clf = writers.load_json(model)
    if to is Form.json:
        return model.read_bytes()  # checked by loading it
    options = {"output": OUTPUTS} if explain else {}
    written = getattr(writers, f"export_{to.value}")(clf, **options)
    if to is Form.onnx:
        content: bytes = written.SerializeToString()
        return content
    return (written.rstrip("\n") + "\n").encode()
