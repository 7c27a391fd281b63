"""The questions that ``benchmarks/run.py`` answers, a module each."""
