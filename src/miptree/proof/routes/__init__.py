"""Proofs of (1a) by branch and bound over the routes of points through a tree."""

from miptree.proof.routes.compile_routes import (
    compile_route_kernels,
    seconds_to_compile_routes,
)
from miptree.proof.routes.prove import SMALLEST_GROUP, can_prove, prove_objective
from miptree.proof.routes.result import Part, RoutesProof

__all__ = [
    "SMALLEST_GROUP",
    "Part",
    "RoutesProof",
    "can_prove",
    "compile_route_kernels",
    "prove_objective",
    "seconds_to_compile_routes",
]
