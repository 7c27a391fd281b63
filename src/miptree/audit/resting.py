"""What of a model nothing can recompute: it rests on the digest of its file."""

from __future__ import annotations

from typing import Any

from miptree.certificate.certificate import PARTITIONED

STEERING = (
    "C callback formulation gap_tol init max_iter max_rounds n_jobs node_limit proof "
    "random_state selection solver time_limit verbose"
).split()
"""Parameters that steer a fit; another tree may have come of others."""
CLASS_LIMITS = "margin min_weight_fraction_leaf mu n_thresholds thresholds".split()
"""Parameters of baselines that say which trees were compared, which the tree at hand
need not show."""
UNSEEN = {
    "written_by": "who wrote the file",
    "metadata": "notes, such as the names of the columns of labels and weights",
    "classes.dtype": "how many bytes a class takes",
    "status": "why the fit ended, unless it says that something is proved",
    "n_iter": "how many iterations it took",
    "fit_time": "how many seconds it took",
    "trace": "the course of the fit before its end",
    "certificate.seconds": "the seconds until the certificate was written",
    "certificate.proof_digest": "which proof file was written, if any",
    "certificate.free_objective": "what the best tree known without rules costs",
    "certificate.free_bound": "what a tree costs at least that need not keep rules",
    "certificate.columns_objective": "the same of trees that leave the columns out",
    "certificate.columns_bound": "what such a tree costs at least",
    "certificate.n_sampled": "how many rows a sample had that a tree was chosen for",
    "certificate.best_of_sample": "whether it was proved to be the best for that",
}
"""Entries of a model file that tell of the past, and what they say."""


def steering_parameters(clf: Any) -> list[str]:
    """Return the parameters of a model that rest on the digest alone."""
    is_baseline = not hasattr(clf, "missing")
    unseen = [*STEERING, *(CLASS_LIMITS if is_baseline else [])]
    given = clf.get_params()
    return [name for name in unseen if name in given]


def unrepeated_proofs(clf: Any) -> list[str]:
    """Return the bounds of a certificate that rest on a solver or a search."""
    certificate = clf.certificate_
    return [
        name
        for name in ("errors", "objective")
        if getattr(certificate, f"{name}_proved_by") != certificate.any_tree_proved_by
    ]


def notes(
    clf: Any, digest: str | None, was_repeated: bool, was_checked: str = ""
) -> tuple[str, ...]:
    """Say what was recomputed, and what rests on the digest.

    ``was_checked`` says of what a proof file was checked: "errors" or "objective".
    """
    lines = [
        "Recomputed from the data: columns, their spread and ranges, categories and "
        "what fills a gap; classes; rows, probabilities and digits of all nodes; "
        "errors, costs and objective; and the parameters that these follow from."
    ]
    if clf.certificate_.data_digest == PARTITIONED:
        learnt = "what fills a gap, the spread, penalties and margin that are 'auto'"
        if clf.certificate_.is_of_points:
            learnt = (
                "what fills a gap, the spread, the grid, what is 'auto', and whether "
                "the splits are the best for it"
            )
        lines.append(
            f"Learnt from a sample of the partitions, and so not recomputed: {learnt}."
        )
    unproved = [] if was_repeated else unrepeated_proofs(clf)
    unproved = [name for name in unproved if name != was_checked]
    if unproved:
        bounds = " and ".join(f"the {name}" for name in unproved)
        how = "resolve_with (--resolve-with) repeats a proof"
        if clf.certificate_.is_of_points:
            how = "resolve_with='points' (--resolve-with points) repeats it"
        if "objective" in unproved:
            how += ", and --proof checks one that the fit has logged"
        lines.append(
            f"Not repeated: the proof of the lower bound on {bounds}; only that it is "
            f"possible was checked. {how}."
        )
    proof = getattr(clf.certificate_, "proof_digest", "")
    if proof and not was_checked:
        lines.append(
            f"The model names a proof file of digest {proof}: `miptree check` says "
            "what that file proves."
        )
    names = ", ".join(steering_parameters(clf))
    lines.append(
        "Not recomputed, as data cannot tell: who wrote the model, its notes, the "
        f"time, course and end of its fit, and the parameters {names}."
    )
    if digest is not None:
        lines.append(
            "That is protected by the digest of the file: nobody has changed it who "
            "did not write a new digest as well. To exclude this, too, note the digest "
            f"elsewhere and give it with --digest next time: {digest}"
        )
    return tuple(lines)
