"""Step 6b: proofs, by exhaustive search, that every tree makes so many errors."""

from __future__ import annotations

from miptree.proof.prove import prove_errors
from miptree.proof.subsets import Proof
from miptree.proof.warmup import compile_proof_kernels, seconds_to_compile_proofs

__all__ = [
    "Proof",
    "compile_proof_kernels",
    "prove_errors",
    "seconds_to_compile_proofs",
]
