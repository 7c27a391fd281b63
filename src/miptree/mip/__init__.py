"""Mixed-integer programs: the model, its formulations, and who solves it."""
