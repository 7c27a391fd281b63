"""Model files and certificates that were changed by somebody who knows digests."""

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.digest import certificate_digest, tree_digest
from miptree.export._json_digest import content_digest
from miptree.tree import ObliqueTree


def sealed(plain):
    """The text of a file with the digest of its content, whatever that is."""
    if not isinstance(plain, dict):
        return json.dumps(plain)
    return json.dumps({**plain, "digest": content_digest(plain)})


def forged(plain, honest):
    """The same, where digests inside are computed anew as well, if that is possible."""
    if not isinstance(plain, dict):
        return json.dumps(plain)
    plain = dict(plain)
    with suppress(Exception):
        certificate = dict(plain["certificate"])
        if plain["tree"] != honest["tree"]:
            arrays = {name: np.array(value) for name, value in plain["tree"].items()}
            certificate["tree_digest"] = tree_digest(ObliqueTree(**arrays))
        if certificate["digest"] == honest["certificate"]["digest"]:
            fields = dict(certificate)
            fields["feature_penalties"] = tuple(fields["feature_penalties"])
            certificate["digest"] = Certificate(**fields).signed().digest
        plain["certificate"] = certificate
    if plain.get("digest") != honest["digest"]:
        return json.dumps(plain)  # the digest itself was changed
    return sealed(plain)


def resealed(certificate, **changes):
    """A changed certificate whose digest was computed anew."""
    changed = replace(certificate, **changes)
    return replace(changed, digest=certificate_digest(changed))
