"""Experiments on problems with known answers: simulated runs, and what they say about the strategies."""
