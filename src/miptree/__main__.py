"""``python -m miptree``."""

from miptree.cli import main

if __name__ == "__main__":
    main()
