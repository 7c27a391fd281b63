"""The README's examples run."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_examples_run(capsys):
    examples = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert examples
    for source in examples:
        exec(compile(source, str(README), "exec"), {})
    shown = capsys.readouterr().out
    assert "training rows" in shown
    card = re.findall(r"```text\n(.*?)```", README.read_text(), flags=re.DOTALL)[0]
    assert " ".join(card.split()) in " ".join(shown.split())
    accuracy = re.search(r"test accuracy ([\d.]+)", shown)
    assert accuracy is not None
    assert float(accuracy.group(1)) > 0.85
