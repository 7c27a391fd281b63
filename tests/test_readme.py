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
    assert "to be the best" in shown or "Proved" in shown
    tree, card = re.findall(r"```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert " ".join(card.split()) in " ".join(shown.split())
    # Seconds decide, so that the tree may be another one; it is written in this way.
    assert re.search(r"^├─ yes: class class_\d \(leaf \d, \d+ rows", tree, re.MULTILINE)
    assert re.search(r"─ yes: class class_\d \(leaf \d, \d+ rows", shown)
    accuracy = re.search(r"test accuracy ([\d.]+)", shown)
    assert accuracy is not None
    assert float(accuracy.group(1)) > 0.85
