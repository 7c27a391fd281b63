"""Certificates: how far a tree is from the best one, and checks of what they say."""

from __future__ import annotations

from miptree.certificate.certificate import Certificate
from miptree.certificate.verification import Verification, VerificationError, verify

__all__ = ["Certificate", "Verification", "VerificationError", "verify"]
