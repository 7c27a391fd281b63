"""``miptree compile``."""

from __future__ import annotations

from miptree.commands._app import app, console, say
from miptree.fit.compiling import compile_kernels


@app.command("compile")
def compile_command() -> None:
    """Compile what searches and proofs need, once on a machine.

    Example: miptree compile

    It takes some minutes the first time, and seconds later on. A fit compiles what
    it needs by itself; where its time limit is too short for that, nothing is proved.
    """
    with console.status("Compiling, once on a machine"):
        compile_kernels()
    say("Searches and proofs are compiled.")
