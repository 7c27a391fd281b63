"""Fuzzing: damaged files and odd command lines. Run ``python -m fuzz`` in ``tests``."""
