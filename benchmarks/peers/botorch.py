"""BoTorch with its defaults (ARD, priors scaled with the dimension, standardized values), as strategies of ours."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory, Suggestion


class LogExpectedImprovement:
    """Its qLogEI, which asks what is better than the lowest value."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        import torch
        from botorch.optim import optimize_acqf
        from botorch.sampling import SobolQMCNormalSampler

        torch.manual_seed(int(rng.integers(2**31)))
        improvement = self.improvement(
            evidence,
            sampler=SobolQMCNormalSampler(torch.Size([64])),
            X_pending=torch.from_numpy(evidence.pending) if len(evidence.pending) else None,
        )
        cube = torch.stack([torch.zeros(evidence.X.shape[1]), torch.ones(evidence.X.shape[1])]).double()
        x, _ = optimize_acqf(improvement, cube, q=1, num_restarts=4, raw_samples=256)
        return Suggestion(x[0].numpy(), note={"move": "improve"})

    def improvement(self, evidence: Evidence, **settings: Any) -> Any:
        """What is maximized."""
        from botorch.acquisition import qLogExpectedImprovement

        return qLogExpectedImprovement(model_of(evidence), best_f=-evidence.y.min(), **settings)


class NoisyImprovement(LogExpectedImprovement):
    """Its qLogNEI, which asks what is better than the best of all noisy points."""

    def improvement(self, evidence: Evidence, **settings: Any) -> Any:
        import torch
        from botorch.acquisition import qLogNoisyExpectedImprovement

        baseline = torch.from_numpy(evidence.X)
        return qLogNoisyExpectedImprovement(model_of(evidence), X_baseline=baseline, prune_baseline=True, **settings)


def model_of(evidence: Evidence) -> Any:
    """Its Gaussian process, fitted to the negative values, because BoTorch maximizes."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    model = SingleTaskGP(torch.from_numpy(evidence.X), -torch.from_numpy(evidence.y)[:, None])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model
