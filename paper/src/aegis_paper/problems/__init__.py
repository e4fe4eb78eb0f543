"""The paper's problems beside its functions: robot pushing, and tuning without the training (Profet)."""
