"""Proofs, by exhaustive search, that every tree makes so many errors."""

from miptree.proof.compile_proofs import (
    compile_proof_kernels,
    seconds_to_compile_proofs,
)
from miptree.proof.prove import prove_errors
from miptree.proof.row_partition import Proof

__all__ = [
    "Proof",
    "compile_proof_kernels",
    "prove_errors",
    "seconds_to_compile_proofs",
]
