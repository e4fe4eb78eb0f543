"""Runs with simulated workers: a virtual clock, laws of job times, problems with known answers, paired comparisons."""
