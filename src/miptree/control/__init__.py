"""Time and stopping: what every piece of long work takes."""
