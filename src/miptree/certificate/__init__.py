"""What is known of a tree's distance from the best one, and how to check it."""
