"""Faults that are made on purpose: of disks, of solvers, of memory, and by Ctrl-C."""
