"""What users call and hold: `minimize`, `load`, the optimizer and its results. Everything below is for us."""
