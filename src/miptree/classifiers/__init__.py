"""What the classifiers of the package share with each other and with scikit-learn."""
