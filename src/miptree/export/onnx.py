"""The tree as an ONNX graph, in double precision and with sums in feature order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from miptree._version import __version__
from miptree.export.answers import LEAD, probabilities
from miptree.export.readable import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Missing,
    Model,
    ReadableTree,
    Steps,
    readable_tree,
)
from miptree.utils.arrays import AnyArray, FloatArray

_OPSET, _ML_OPSET, _IR_VERSION = 17, 2, 8
"""Old enough for every runtime of recent years."""


def export_onnx(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
) -> Any:
    """Write a tree as an ONNX model.

    Where every column is one of numbers, its input is a double tensor ``X`` of shape
    (n, columns). Otherwise each column that the tree reads is an input of shape (n, 1)
    of its own name: double (NaN where missing; truth values as 0 and 1) or string (""
    where missing). Outputs are ``label`` (n,) and ``probabilities`` (n, classes), equal
    to ``predict`` and, but for rounding, ``predict_proba``. Where those would refuse a
    row, probabilities are NaN, as far as the tree looks.

    Needs ``pip install 'miptree[onnx]'``.

    Parameters
    ----------
    model : fitted classifier of this package, or ObliqueTree
    feature_names, class_names : sequence, optional
        Names of the columns and the classes, by default the classifier's.

    Returns
    -------
    onnx.ModelProto
        ``.SerializeToString()`` gives the bytes of a file.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "The ONNX export needs the package onnx. Run: pip install 'miptree[onnx]'"
        ) from None
    rules = readable_tree(model, feature_names, class_names)
    graph = _Graph(rules, onnx)
    proba, blur = probabilities(model, rules)
    graph.finish(proba, blur)
    return graph.model()


class _Graph:
    """Builds the graph; every step adds nodes and gives the name of its result."""

    def __init__(self, rules: ReadableTree, onnx: Any) -> None:
        self.rules, self.onnx = rules, onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.memo: dict[object, str] = {}
        self.columns = rules.used or [0]
        self.is_matrix = not any(map(rules.is_category, range(len(rules.columns))))
        self.input_names = self._input_names()
        self.prefix = "_"
        while any(name.startswith(self.prefix) for name in self.input_names.values()):
            self.prefix += "_"
        self._declare_inputs()

    # ----------------------------------------------------------------- plumbing

    def add(self, operator: str, *inputs: str, output: str = "", **options: Any) -> str:
        """Add a node, unless there is the same one; give the name of its result."""
        key = (operator, inputs, output, repr(options))
        if key not in self.memo:
            name = output or f"{self.prefix}{operator}{len(self.nodes)}"
            make = self.onnx.helper.make_node
            self.nodes.append(make(operator, inputs, [name], **options))
            self.memo[key] = name
        return self.memo[key]

    def constant(self, value: AnyArray) -> str:
        key = (value.dtype.str, value.shape, value.tobytes())
        if value.dtype == object or key not in self.memo:
            name = f"{self.prefix}constant{len(self.constants)}"
            array = self.onnx.numpy_helper.from_array(value, name)
            self.constants.append(array)
            self.memo[key] = name
        return self.memo[key]

    def double(self, value: float) -> str:
        return self.constant(np.array([[value]], dtype=np.float64))

    def to_double(self, name: str) -> str:
        return self.add("Cast", name, to=self.onnx.TensorProto.DOUBLE)

    # ------------------------------------------------------------------- inputs

    def _input_names(self) -> dict[int, str]:
        """Name each input; by position where column names repeat."""
        names = {j: self.rules.name(j) for j in self.columns}
        if len(set(names.values())) < len(names) or "" in names.values():
            return {j: f"x[{j}]" for j in names}
        return names

    def _declare_inputs(self) -> None:
        kinds = self.onnx.TensorProto
        declare = self.onnx.helper.make_tensor_value_info
        if self.is_matrix:
            shape = ["n", len(self.rules.columns)]
            self.inputs = [declare("X", kinds.DOUBLE, shape)]
            return
        for j, name in self.input_names.items():
            kind = kinds.STRING if self.rules.is_text(j) else kinds.DOUBLE
            self.inputs.append(declare(name, kind, ["n", 1]))

    def cell(self, column: int) -> str:
        """Read a column (n, 1)."""
        if not self.is_matrix:
            return self.input_names[column]
        return self.add("Gather", "X", self.constant(np.array([column])), axis=1)

    # -------------------------------------------------------------------- atoms

    def atom(self, atom: Atom) -> str:
        """Compute an atom: (n, 1) of doubles."""
        if isinstance(atom, Member):
            return self._member(atom)
        cell = self.cell(atom.column)
        missing = self.add("IsNaN", cell)
        if isinstance(atom, Missing):
            return self.to_double(missing)
        if isinstance(atom, Steps):
            cuts = self.constant(np.array([atom.cuts]))
            reached = self.to_double(self.add("GreaterOrEqual", cell, cuts))
            steps = self._row_sums(reached)
            return self.add("Where", missing, self.double(atom.of_missing), steps)
        return self.add("Where", missing, self.double(atom.fill), cell)

    def _member(self, member: Member) -> str:
        cell = self.cell(member.column)
        values = member.present
        if self.rules.is_text(member.column):
            # The empty text is the missing one, unless it is a value itself.
            known = self.rules.known_values(member.column)
            if member.has_missing and "" not in known:
                values.append("")
            return self.to_double(self._text_in(cell, values))
        tests = [self.add("IsNaN", cell)] if member.has_missing else []
        if values:
            row = self.constant(np.array([values], dtype=np.float64))
            equal = self.to_double(self.add("Equal", cell, row))
            tests.append(self.add("Greater", self._row_sums(equal), self.double(0.0)))
        return self.to_double(tests[0] if len(tests) == 1 else self.add("Or", *tests))

    def _row_sums(self, name: str) -> str:
        return self.add("ReduceSum", name, self.constant(np.array([1])))

    def _text_in(self, cell: str, values: Sequence[object]) -> str:
        """Give (n, 1) of int64: 1 where the text is one of the values."""
        return self.add(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=[str(value) for value in values] or ["\0"],
            values_int64s=[1] * max(1, len(values)),
            default_int64=0,
        )

    # --------------------------------------------------------------------- tree

    def leaf(self, node: Branch | Leaf) -> str:
        """Find the index of the leaf below a node: (n, 1) or (1, 1)."""
        if isinstance(node, Leaf):
            return self.constant(np.array([[node.node]]))
        left, right = self.leaf(node.left), self.leaf(node.right)
        if node.bound is not None:
            return self.add("Where", self._is_within(node.bound), left, right)
        return self.add("Where", self._goes_right(node), right, left)

    def _goes_right(self, node: Branch) -> str:
        """Tell which rows (n, 1) go right at a split by a score."""
        return self.add("Greater", self._score(node), self.double(node.threshold))

    def _score(self, node: Branch) -> str:
        """Sum the terms of a split in their order: (n, 1)."""
        score = self.double(0.0)
        for coef, atom in node.terms:
            term = self.add("Mul", self.atom(atom), self.double(coef))
            score = self.add("Add", score, term)
        return score

    def _is_within(self, bound: Bound) -> str:
        """Tell which rows (n, 1) go left of a cut point."""
        cell = self.cell(bound.column)
        operator = "Less" if bound.is_below else "GreaterOrEqual"
        within = self.add(operator, cell, self.double(bound.cut))
        if bound.missing_too:  # NaN is neither less nor greater
            return self.add("Or", within, self.add("IsNaN", cell))
        return within

    def finish(self, probabilities: FloatArray, blur: FloatArray) -> None:
        """Gather what the leaves say, and NaN where ``predict`` would refuse."""
        n_nodes, n_classes = probabilities.shape
        refused = np.full((1, n_classes), np.nan)
        table = self.constant(np.concatenate([probabilities, refused]))
        labels = {leaf.node: leaf.label for leaf in self.rules.leaves}
        codes = np.array([labels.get(node, 0) for node in range(n_nodes + 1)])
        leaf = self.leaf(self.rules.root)
        for refusal in self._refusals():
            nowhere = self.constant(np.array([[n_nodes]]))
            leaf = self.add("Where", refusal, nowhere, leaf)
        leaf = self.add("Add", leaf, self._zeros())  # a lone leaf has no rows yet
        leaf = self.add("Squeeze", leaf, self.constant(np.array([1])))
        names = _label_array(self.rules)
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(names.dtype)
        named = self.constant(names[codes])
        self._output("label", kind, ["n"], "Gather", named, leaf, axis=0)
        double = self.onnx.TensorProto.DOUBLE
        proba = self.add("Gather", table, leaf, axis=0)
        if blur.any():
            label = np.array([labels.get(node, -1) for node in range(n_nodes)])
            mixed = self._reached(self.rules.root, probabilities, blur)
            leads = np.eye(n_classes + 1)[label, :-1]
            leads[probabilities.argmax(axis=1) != label] = 0.0
            own = self.constant(np.concatenate([leads, refused]))
            own = self.add("Gather", own, leaf, axis=0)
            proba = self._with_leader(mixed, own)
        self._output("probabilities", double, ["n", n_classes], "Identity", proba)

    def _reached(self, node: Branch | Leaf, proba: FloatArray, blur: FloatArray) -> str:
        """Mix the probabilities of the leaves below a node: (n, classes)."""
        if isinstance(node, Leaf):
            return self.constant(proba[[node.node]])
        left = self._reached(node.left, proba, blur)
        right = self._reached(node.right, proba, blur)
        width = blur[node.node]
        if width == 0:
            return self.add("Where", self._goes_right(node), right, left)
        distance = self.add("Sub", self._score(node), self.double(node.threshold))
        part = self.add("Sigmoid", self.add("Div", distance, self.double(width)))
        rest = self.add("Sub", self.double(1.0), part)
        shares = self.add("Mul", rest, left), self.add("Mul", part, right)
        return self.add("Add", *shares)

    def _with_leader(self, mixed: str, own: str) -> str:
        """Keep the class of a leaf the most probable one, where ``own`` is 1.

        Where ``predict`` would refuse, ``own`` is NaN, and so is the result.
        """
        is_own = self.add("Greater", own, self.double(0.5))
        others = self.add("Where", is_own, self.double(0.0), mixed)
        most = self.add("ReduceMax", others, axes=[1])
        least = self.add("Mul", most, self.double(LEAD))
        raised = self.add("Max", mixed, least)
        led = self.add("Where", is_own, raised, mixed)
        shares = self.add("Div", led, self._row_sums(led))
        return self.add("Add", shares, self.add("Mul", own, self.double(0.0)))

    def _output(
        self,
        name: str,
        kind: int,
        shape: list[Any],
        operator: str,
        *inputs: str,
        **options: Any,
    ) -> None:
        while name in self.input_names.values():
            name += "_"
        self.add(operator, *inputs, output=name, **options)
        declare = self.onnx.helper.make_tensor_value_info
        self.outputs.append(declare(name, kind, shape))

    def _zeros(self) -> str:
        """Give zeros (n, 1) of int64."""
        cell = self.cell(self.columns[0])
        if self.rules.is_text(self.columns[0]):
            number = self._text_in(cell, [])
        else:
            whole = self.onnx.TensorProto.INT64
            number = self.add("Cast", self.add("IsNaN", cell), to=whole)
        return self.add("Mul", number, self.constant(np.array([[0]])))

    def _refusals(self) -> list[str]:
        """List tests of rows (n, 1) that ``predict`` refuses."""
        found = []
        for j in self.rules.used:
            missing = Member(j, (None,)) if self.rules.is_category(j) else Missing(j)
            if self.rules.refuses_missing:
                found.append(self._holds(missing))
            if not self.rules.is_category(j):
                found.append(self.add("IsInf", self.cell(j)))
            if self.rules.refuses_unknown and self.rules.is_category(j):
                found.append(self.add("Not", self._holds(self.rules.known(j))))
        return found

    def _holds(self, atom: Missing | Member) -> str:
        return self.add("Greater", self.atom(atom), self.double(0.5))

    def model(self) -> Any:
        """Build and check the model."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "miptree", self.inputs, self.outputs, self.constants
        )
        opsets = [
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        model.producer_name, model.producer_version = "miptree", __version__
        self.onnx.checker.check_model(model)
        return model


def _label_array(rules: ReadableTree) -> AnyArray:
    if any(isinstance(name, str) or name is None for name in rules.classes):
        return np.array([str(name) for name in rules.classes], dtype=object)
    return np.array(rules.classes)
