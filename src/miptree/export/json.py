"""A fitted classifier as a JSON file: versioned, exact, and loaded without code.

A file is read in two steps: :mod:`json` makes plain numbers, strings and lists of it
(duplicate keys, NaN and absurd numbers refused), then the digest is compared and every
value is checked for its type, size and meaning. Nothing in a file names a function or a
type to be called.

To change the format: raise ``VERSION`` and write the new version only. Once the
package is released, the readers of all released versions stay.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NoReturn

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from miptree._version import __version__
from miptree.export._json_digest import ChangedError
from miptree.export._json_values import MalformedError
from miptree.export._json_writer import to_plain, to_text
from miptree.export.json_reader import MAX_BYTES, SavedModel, model_of
from miptree.utils.files import write_atomic
from miptree.utils.warn import warn


class ChangedFileError(ValueError):
    """A model file is not as it was written: its content does not fit its digest."""


def save_json(
    clf: BaseEstimator,
    path: str | os.PathLike[str],
    force: bool = False,
    *,
    metadata: Mapping[str, str | None] | None = None,
) -> None:
    """Save a fitted classifier as JSON.

    The file appears whole or not at all, and holds a digest of its content, so that
    a file that was changed is refused. Parameters that JSON cannot hold (an ``init``
    tree, a ``callback``, a ``RandomState``) are left out; they steer a fit, not a
    prediction. A selector that is left out is warned of.

    Parameters
    ----------
    clf : fitted classifier of this package
        Of an estimator with cross-validation its ``best_estimator_`` is saved.
    path : path
        File to write, by convention ``*.json``.
    force : bool, default=False
        Whether to overwrite a file.
    metadata : mapping of str to str or None, optional
        Notes to keep with the model.

    Raises
    ------
    FileExistsError
        If there is a file already, without ``force``.
    """
    check_is_fitted(clf)
    clf = getattr(clf, "best_estimator_", clf)
    notes = dict(metadata or {})
    _warn_of_selector(clf)
    text = to_text(to_plain(clf, notes))
    try:
        model_of(text)  # what cannot be read again must not be written
    except MalformedError as error:
        raise ValueError(f"The model cannot be saved as JSON: {error}.") from None
    write_atomic(path, text.encode(), force)


def load_json(path: str | os.PathLike[str]) -> Any:
    """Load a classifier that :func:`save_json` wrote.

    It predicts bit for bit as the saved one. Loading runs no code of the file's.

    Raises
    ------
    ValueError
        If the file is no model, of an unknown version, or malformed; the message
        says what is wrong. :class:`ChangedFileError` if it was changed or damaged
        since it was written.
    """
    return read_model(path).clf


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Everything in a model file; see :func:`load_json`."""
    name = os.fspath(path)
    if os.path.isdir(path):
        _refuse(name, "it is a folder")
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        _refuse(name, f"it is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        _refuse(name, "it is not UTF-8 text")
    try:
        return model_of(text)
    except ChangedError as error:
        raise ChangedFileError(
            f"{name} was changed or damaged: {error}. Use the file as save_json or "
            "`miptree fit --out` wrote it."
        ) from None
    except MalformedError as error:
        _refuse(name, error)


def _refuse(name: str, problem: object) -> NoReturn:
    raise ValueError(
        f"{name} is not a model that miptree {__version__} can load: {problem}. Use a "
        "file that save_json or `miptree fit --out` wrote, unchanged."
    )


def _warn_of_selector(clf: BaseEstimator) -> None:
    """Say that another fit of the loaded model would not select as this one did."""
    selection = getattr(clf, "selection", None)
    if selection is not None and not isinstance(selection, str):
        warn(
            f"selection={selection!r} is not saved: the loaded classifier predicts "
            "as this one, but has selection=None. Set it again before another fit."
        )
