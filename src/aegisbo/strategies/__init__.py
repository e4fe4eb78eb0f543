"""One policy a file: each chooses one point of the unit cube from what is known and what is running."""
