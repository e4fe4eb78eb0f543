"""Searches of the unit cube: for the minimum of a cheap function, for a Pareto set, and for points spread out well.

Nothing here knows a Gaussian process, a trial or a user's value. Everything is minimized; random generators are
passed in.
"""
