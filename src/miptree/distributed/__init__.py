"""Training on tables larger than memory, on one machine or many, with Dask.

Rows stay where they are: each partition is summarised, sampled, selected from and
scored in place, and only the chosen rows come to the client, which trains on them.
Needs ``pip install 'miptree[dask]'``.
"""

from miptree.distributed.fit import fit
from miptree.distributed.predict import predict

__all__ = ["fit", "predict"]
