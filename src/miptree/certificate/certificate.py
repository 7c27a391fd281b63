"""What is known of a tree's distance from the best one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from miptree.certificate.digest import certificate_digest, data_digest, tree_digest
from miptree.certificate.oblique_words import oblique_sentence
from miptree.certificate.points_words import points_sentence
from miptree.certificate.proved_words import by_more, left_to_prove
from miptree.certificate.reasons import reason
from miptree.certificate.summary import summary_sentence
from miptree.data.problem import Problem
from miptree.objective import Score
from miptree.objective.points import POINTS_TREE
from miptree.objective.proved import Bounds
from miptree.objective.tolerance import (
    Leeway,
    cost_meets,
    counted_meets,
    rounded_down,
)
from miptree.objective.valuation import Valuation
from miptree.tree import ObliqueTree

PARTITIONED = "partitioned"
"""In place of the data's digest, where no process has seen all rows."""


def cheapest_in_partitions(has_costs: bool) -> float:
    """Return what the cheapest error costs, where no process has seen all rows."""
    return 0.0 if has_costs else 1.0


@dataclass(frozen=True)
class Certificate:
    """A tree's errors and objective, counted by prediction, beside what no tree beats.

    Three bounds speak of three classes of trees of this depth:

    * ``any_tree_bound``: every tree, whatever its hyperplanes;
    * ``errors_bound``: trees whose scores lie in the box abs(score) <= 1 on the
      training points, where a point nearer to a hyperplane on its way than ``margin``
      counts as an error (``cost_at_margin`` counts the tree at hand like that);
    * ``objective_bound``: trees in that box, by their total cost with these penalties.

    Attributes
    ----------
    errors : int
        Misclassified training rows.
    n_rows : int
        Training rows (those of weight zero aside).
    cost : float
        What the misclassified rows cost, by default their weight; equals ``errors``
        without weights and costs.
    cost_at_margin : float
        The same, with the rows inside the margin counted as their most costly errors.
    any_tree_bound, errors_bound, objective_bound : float
        Lower bounds on ``cost``, ``cost_at_margin`` and ``objective``.
    any_tree_proved_by, errors_proved_by, objective_proved_by : str
        What gave them: the argument, or the solver and its model.
    objective : float
        The total cost, recounted: errors, ``slack_penalty`` * missing margins and
        ``l1_penalty`` * 1-norms of the hyperplanes.
    depth : int
        Depth of the trees compared.
    slack_penalty, l1_penalty, margin : float
        Penalties of the total cost, and the margin in the unit of the scores.
    seconds : float
        Time the fit took until the certificate was written.
    tree_digest, data_digest : str
        SHA-256 of the tree and of the training data, by which ``verify`` knows them.
    digest : str
        SHA-256 of all other fields: a certificate that was changed does not fit it.
    scaling : str
        How the features were scaled: "min-max".
    max_features : int or None
        Most features of a hyperplane of the trees compared, None for any number.
    method, trees, objective_terms : str
        Of a points tree or a baseline the name of the method, its class of trees and
        its objective in words: ``objective`` and its bound are then about these, the
        penalties are 0, and ``errors_bound`` is ``any_tree_bound``. Otherwise
        empty.
    feature_penalties : tuple of float
        Of a points tree what a split costs for each grid column in it.
    max_points : int or None
        Of a points tree the most points for a step of a number.
    min_samples_leaf : int
        Fewest rows of a leaf of the trees compared.
    cost_unit, cost_rounding : float
        Of a points tree the unit whose whole multiples the proof compared, and how
        far a cost counted in it may be from the cost itself; the bounds allow for it.
    cheapest_error : float
        What the cheapest error costs at a row, which no tolerance may hide; 0 where
        nobody has seen all rows with their costs.
    error_price : float
        What an error of cost 1 adds to the objective: 1, but for a baseline that
        minimises rates.
    proof_digest : str
        The digest that the proof file of the fit ends with, empty where none was
        written. It says which file, not that it holds: ``miptree check`` does.
    has_costs : bool
        Whether weights or costs were given, so that bounds are about what errors cost,
        not about their number.
    n_unweighted : int
        Training rows of weight zero, which are not counted.
    n_sampled : int or None
        Rows of the sample that a points tree was chosen for, where that is a sample of
        data in partitions: of all rows nothing is proved then but ``any_tree_bound``.
        None otherwise.
    best_of_sample : bool
        Whether no tree of its kind costs less than it did for the sample.
    rules : tuple of str or None
        A sentence for each constraint of the fit, with what was counted; None without
        constraints. The bounds speak of all trees, whether they keep them or not, but
        for ``objective_bound`` where it is above ``free_bound``.
    free_objective : float or None
        With constraints, the objective of the best tree known that need not keep them.
        It does not use the columns of ``left_out`` where ``columns_bound`` is None.
    free_bound : float or None
        With constraints, a lower bound on the objective of all trees, whether they keep
        them or not, of as many columns. An ``objective_bound`` above it, and above
        ``columns_bound``, is of trees that keep them.
    rules_bound : float or None
        With constraints, what the errors of every tree that keeps them cost at least,
        by counting alone.
    left_out : tuple of str or None
        With constraints, the columns that no split may use: all bounds but
        ``free_bound`` are of trees that do not.
    columns_objective, columns_bound : float or None
        With columns left out, the same as ``free_objective`` and ``free_bound`` of
        trees that do not use these columns, but need not keep other constraints. None
        where no tree that uses them was searched for: then those two are of such trees,
        and what leaving out the columns costs is not known.
    """

    errors: int
    n_rows: int
    cost: float
    cost_at_margin: float
    any_tree_bound: float
    any_tree_proved_by: str
    errors_bound: float
    errors_proved_by: str
    objective: float
    objective_bound: float
    objective_proved_by: str
    depth: int
    slack_penalty: float
    l1_penalty: float
    margin: float
    seconds: float
    tree_digest: str
    data_digest: str
    digest: str
    scaling: str = "min-max"
    max_features: int | None = None
    method: str = ""
    trees: str = ""
    objective_terms: str = ""
    feature_penalties: tuple[float, ...] = ()
    max_points: int | None = None
    min_samples_leaf: int = 1
    cost_unit: float = 0.0
    cost_rounding: float = 0.0
    cheapest_error: float = 1.0
    error_price: float = 1.0
    proof_digest: str = ""
    has_costs: bool = False
    n_unweighted: int = 0
    n_sampled: int | None = None
    best_of_sample: bool = False
    rules: tuple[str, ...] | None = None
    free_objective: float | None = None
    free_bound: float | None = None
    rules_bound: float | None = None
    left_out: tuple[str, ...] | None = None
    columns_objective: float | None = None
    columns_bound: float | None = None

    def signed(self) -> Certificate:
        """Return the certificate with the digest of its other fields."""
        return replace(self, digest=certificate_digest(self))

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 when the tree is proved optimal."""
        if self.is_of_points:
            if self.objective_optimal or not self.objective:
                return 0.0
            return 1.0 - self.objective_bound / self.objective
        return self.leeway.gap(self.objective, self.objective_bound)

    @property
    def objective_optimal(self) -> bool:
        """Whether the recounted objective meets its bound, to the leeway of proofs.

        This is what "proved" means of an objective; ``str`` of the certificate says by
        how much another tree may still be better, at most about a millionth. A tree
        that was chosen for a sample is never said to be the best for all rows.
        """
        if self.n_sampled is not None:
            return False
        if self.is_of_points:
            return counted_meets(
                self.objective, self.objective_bound, self.cost_unit, self.cost_rounding
            )
        return self.leeway.meets(self.objective, self.objective_bound)

    @property
    def errors_optimal(self) -> bool:
        """Whether the recounted errors meet a bound of a class the tree is in."""
        return self.has_least_cost or self.has_least_cost_at_margin

    @property
    def has_least_cost(self) -> bool:
        """Whether no tree at all makes errors of a lower cost."""
        return cost_meets(self.cost, self.any_tree_bound, self.cheapest_error)

    @property
    def has_least_cost_at_margin(self) -> bool:
        """Whether no tree has a lower cost where close calls count as errors."""
        near, bound = self.cost_at_margin, self.errors_bound
        return cost_meets(near, bound, self.cheapest_error)

    @property
    def leeway(self) -> Leeway:
        """How far below the objective its bound may be, and count as met."""
        price = self.error_price
        return Leeway(price * self.any_tree_bound, price * self.cheapest_error)

    @property
    def speaks_of_rules(self) -> bool:
        """Whether any of its fields is about constraints."""
        of_all = self.rules, self.free_objective, self.free_bound, self.rules_bound
        of_columns = self.left_out, self.columns_objective, self.columns_bound
        return any(field is not None for field in (*of_all, *of_columns))

    @property
    def is_of_ruled_trees(self) -> bool:
        """Whether the bound on the objective is of trees that keep the rules alone."""
        of_all = self.columns_bound if self.prices_columns else self.free_bound
        return of_all is not None and self.objective_bound > of_all

    @property
    def prices_columns(self) -> bool:
        """Whether the best tree without rules is one that may use all columns."""
        return self.columns_bound is not None

    @property
    def is_of_points(self) -> bool:
        """Whether it is about points trees."""
        return self.method == POINTS_TREE

    @property
    def summary(self) -> str:
        """What is proved, in one sentence; ``str`` of a certificate tells all."""
        return summary_sentence(self)

    def __str__(self) -> str:
        if self.is_of_points:
            return points_sentence(self)
        return self._baseline_sentences() if self.method else oblique_sentence(self)

    @property
    def counted_errors(self) -> str:
        """The errors of the tree in words, without a full stop."""
        counted = f"The tree misclassifies {self.errors} of {self.counted_rows}"
        if self.has_costs and (self.errors or self.cost):
            counted += f" at a cost of {self.cost:.6g}"
        return counted

    @property
    def counted_rows(self) -> str:
        """The rows that were counted, in words."""
        if not self.n_unweighted:
            return f"{self.n_rows} training rows"
        total = self.n_rows + self.n_unweighted
        return f"those {self.n_rows} of {total} training rows that have a weight"

    def _baseline_sentences(self) -> str:
        """Say what a baseline makes of its own objective."""
        counted, why = self.counted_errors, reason(self.objective_proved_by)
        if self.has_least_cost:
            known = reason(self.any_tree_proved_by)
            counted += f"; no tree of depth {self.depth} does better, {known}"
        by_weight = "; errors count by their weight" if self.has_costs else ""
        terms = f"{self.objective_terms}{by_weight}"
        value = f"Its objective ({terms}) is {self.objective:.6g},"
        verdict = f"proved optimal for {self.method}: no {self.trees} does better"
        verdict += by_more(self)
        if not self.objective_optimal:
            verdict = (
                f"not proved optimal for {self.method}: no {self.trees} is below "
                f"{rounded_down(self.objective_bound)} (gap {left_to_prove(self)})"
            )
        return f"{counted}. {value} {verdict}, {why}."


def certify(
    problem: Problem,
    valuation: Valuation,
    depth: int,
    tree: ObliqueTree,
    score: Score,
    bounds: Bounds,
    seconds: float,
) -> Certificate:
    """Put a recounted score beside its bounds.

    Parameters
    ----------
    problem : Problem
        The rows.
    valuation : Valuation
        The objective.
    depth : int
        Depth of the trees that the bounds speak of.
    tree, score
        The tree in the user's units, and its score.
    bounds : Bounds
        Those that the score refutes are discarded.
    seconds : float
        Time that the fit took.
    """
    bounds = bounds.believed(score)
    trivial, errors, objective = bounds.trivial, bounds.errors, bounds.objective
    certificate = Certificate(
        errors=score.errors,
        n_rows=int(problem.count.sum()),
        cost=score.cost,
        cost_at_margin=score.cost_at_margin,
        any_tree_bound=trivial.value,
        any_tree_proved_by=trivial.proved_by,
        errors_bound=errors.value,
        errors_proved_by=errors.proved_by,
        objective=score.objective,
        objective_bound=objective.value,
        objective_proved_by=objective.proved_by,
        depth=depth,
        seconds=seconds,
        tree_digest=tree_digest(tree),
        data_digest=data_digest(problem),
        digest="",
        cheapest_error=bounds.cheapest_error,
        error_price=bounds.error_price,
        has_costs=problem.has_costs,
        n_unweighted=problem.n_unweighted,
        **({"max_features": problem.max_features} | valuation.certified()),
    )
    return certificate.signed()
