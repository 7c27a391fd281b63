"""Why a fit has no proof to log: refused before the work, or told after it."""

from __future__ import annotations

from miptree.certificate.reasons import is_claim, reason
from miptree.control.clock import Clock, End
from miptree.data.problem import Problem
from miptree.fit.compiling import LOADED_WITHIN
from miptree.fit.fitted import FittedTree
from miptree.fit.job import PROOF_FACTOR
from miptree.fit.plan import Plan
from miptree.mip.size import NONZEROS_PER_SECOND, mip_size, pays
from miptree.objective.tolerance import rounded_down
from miptree.proof.routes import can_prove, seconds_to_compile_routes
from miptree.proof.routes.prove import MOST_STRUCTURES
from miptree.proof.routes.structures import MOST_DEPTH, count_structures
from miptree.utils.kernel_cache import COMPILE_ONCE

_LONGER = "a longer time_limit (--time-limit on the command line)"
_BY_NAME = 'proof="objective" (--proof objective)'
_NOT_COMPILED = (
    "the time was too short to compile the kernels of proofs, once on a machine",
    COMPILE_ONCE,
)
_FIRST = "before the branch and bound over routes had proved a first bound"
_ENDS: dict[End, tuple[str, str]] = {
    "time_limit": (
        f"the time was over {_FIRST}",
        f"Give {_LONGER}, or {_BY_NAME}, which leaves more of the time to it",
    ),
    "stalled": (
        f"the fit ended, as nothing moved any more, {_FIRST}",
        f"Give {_BY_NAME}, which does not end before its time",
    ),
    "node_limit": (f"the nodes were used up {_FIRST}", "Give a larger node_limit"),
    "interrupted": (f"the fit was stopped {_FIRST}", "Let it go on for longer"),
}
_OTHER_END = (
    f"the fit ended {_FIRST}",
    f"Give {_LONGER}, a larger node_limit, or {_BY_NAME}",
)


def refuse_unloggable(problem: Problem, plan: Plan, clock: Clock) -> None:
    """Raise where no proof could be logged, before the work rather than after it."""
    if plan.solver == "search":
        raise ValueError(
            'proof_log works without solver="search", which proves nothing.'
        )
    if plan.proof == "errors":
        raise ValueError(
            'proof_log works without proof="errors": the file holds the proof of the '
            "objective's bound."
        )
    if plan.objective.l1_penalty == 0:
        raise ValueError(
            "A proof file needs an L1 penalty above 0 (l1_penalty, or --l1-penalty on "
            "the command line), which proofs rest on."
        )
    if plan.depth > MOST_DEPTH:
        raise ValueError(
            f"A proof file is for trees of depth {MOST_DEPTH} at most, got "
            f"{plan.depth}."
        )
    if not can_prove(problem, plan.objective, plan.depth):
        raise ValueError(_too_many(problem, plan.depth))
    size = PROOF_FACTOR * mip_size(problem, plan.depth)
    if not pays(size, clock):
        raise ValueError(
            f"A proof file needs {_LONGER}: of a table of this size no proof is tried "
            f"in less than {size / NONZEROS_PER_SECOND:.2g} s, got {clock.limit:g} s."
        )


def _too_many(problem: Problem, depth: int) -> str:
    """Say how many structures of trees there are, and how they become fewer."""
    n_classes, has_subsets = problem.n_classes, len(problem.value_feature) > 0
    count = count_structures(n_classes, depth, has_subsets)
    by_subsets = " and splits by subsets of categories" if has_subsets else ""
    ways = [
        f"depth {less}"
        for less in range(depth - 1, 0, -1)
        if count_structures(n_classes, less, has_subsets) <= MOST_STRUCTURES
    ][:1]
    if has_subsets and count_structures(n_classes, depth, False) <= MOST_STRUCTURES:
        ways.append('categorical_encoding="onehot" (--categorical-encoding onehot)')
    advice = " or ".join(ways) or "fewer classes"
    return (
        f"A proof file is for trees of up to {MOST_STRUCTURES:,} structures, each of "
        f"which needs a proof. With {n_classes} classes, their costs{by_subsets} at "
        f"depth {depth} there are {count:,}. Give {advice}."
    )


def why_unproved(fitted: FittedTree) -> str:
    """Say why a fit recorded no step of a proof over routes, and what to do.

    Parameters
    ----------
    fitted : FittedTree
        A fit that :func:`refuse_unloggable` let pass.
    """
    certificate = fitted.certificate
    why_it_holds = reason(certificate.objective_proved_by)
    bound = f"bound {rounded_down(certificate.objective_bound)} holds {why_it_holds}"
    is_done = fitted.status in ("optimal", "gap_tol")
    if is_done and not is_claim(certificate.objective_proved_by):
        return f"nothing was left for a branch and bound over routes, as the {bound}"
    why, advice = _ENDS.get(fitted.status, _OTHER_END)
    # A proof that is begun compiles them first, so they tell that none was.
    if fitted.status != "interrupted" and seconds_to_compile_routes() > LOADED_WITHIN:
        why, advice = _NOT_COMPILED
    return f"{why}. {advice}. The {bound}"
