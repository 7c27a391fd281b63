"""Proofs, by exhaustive search, that every tree makes so many errors."""

from miptree.proof.compile_proofs import (
    compile_proof_kernels,
    compile_recording_kernels,
    seconds_to_compile_proofs,
)
from miptree.proof.prove import prove_errors
from miptree.proof.recorded import recorded_proof
from miptree.proof.recording import NOTHING_RECORDED, ErrorsRecord
from miptree.proof.row_partition import Proof

__all__ = [
    "NOTHING_RECORDED",
    "ErrorsRecord",
    "Proof",
    "compile_proof_kernels",
    "compile_recording_kernels",
    "prove_errors",
    "recorded_proof",
    "seconds_to_compile_proofs",
]
