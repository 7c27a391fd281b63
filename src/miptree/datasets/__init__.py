"""The 34 data sets of the paper's tables, and 33 of development, by name."""

from miptree.datasets._download import DatasetError
from miptree.datasets._load import Dataset, load
from miptree.datasets._registry import names, official_test_names

__all__ = ["Dataset", "DatasetError", "load", "names", "official_test_names"]
