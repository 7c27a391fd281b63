"""Run ``python -m miptree.checker proof data.csv``."""

from __future__ import annotations

import argparse
import sys

from .check import check_proof


def main() -> int:
    """Check a proof file and print one line."""
    parser = argparse.ArgumentParser(
        prog="python -m miptree.checker",
        description="Check a proof file of miptree against the data it is about.",
    )
    parser.add_argument("proof", help="proof file")
    parser.add_argument("data", help="CSV file of the training rows, may be gzipped")
    parser.add_argument("--target", help="column of the labels")
    parser.add_argument("--minutes", type=float, default=10.0, help="when to give up")
    given = parser.parse_args()
    outcome = check_proof(given.proof, given.data, given.target, given.minutes)
    stream = sys.stderr if outcome.exit_code == 2 else sys.stdout
    stream.write(outcome.sentence + "\n")
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
