"""Small helpers that know nothing of trees: array types, files, compiling."""
