"""Recorded proofs of small tables, and their files."""

from dataclasses import replace

from miptree import OptimalTreeClassifier
from miptree.checker import check_proof
from miptree.control.clock import Clock
from miptree.fit.routes_log import write_routes_proof
from miptree.objective.penalties import suited_objective
from miptree.proof.routes import prove_objective

SEARCH = {"solver": "search", "max_iter": 40, "time_limit": None, "random_state": 0}
NODES = 4000


class Recorded:
    """A tree by search, and a recorded proof of as much as the nodes allow."""

    def __init__(self, X, y, weight=None, depth=2, **options):
        clf = OptimalTreeClassifier(max_depth=depth, **(SEARCH | options))
        clf.fit(X, y, weight)
        self.X, self.y, self.tree, found = X, y, clf.tree_, clf.certificate_
        self.rows, classes = clf._rows(X, y, weight)
        self.problem, self.schema = clf._problem_of(self.rows, classes)
        penalties = clf.slack_penalty, clf.l1_penalty, clf.margin
        self.objective = suited_objective(*penalties, self.problem)
        self.proof = prove_objective(
            self.problem,
            self.objective,
            depth,
            found.objective,
            clock=Clock(),
            offer=lambda heap: found.objective,
            max_nodes=NODES,
            record=True,
        )
        value = min(self.proof.bound.value, found.objective)
        self.certificate = replace(found, objective_bound=value)

    def outcome(self, folder, name="tree.proof.gz"):
        """Write proof and data, and check them."""
        known = self.schema, self.rows, self.problem, self.tree, self.certificate
        path, data = folder / name, folder / "data.csv"
        write_routes_proof(path, *known, self.proof.parts, target="species")
        self.X.assign(species=self.y).to_csv(data, index=False)
        return check_proof(path, data)
