"""Training: lists of steps on one incumbent, within one clock."""
