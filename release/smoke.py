"""A smoke run of an installed aegisbo, without a checkout: `python smoke.py [extra ...]`.

What a newcomer does first, in a folder of its own: a run with worker processes and a study, the commands that read
it, and one use of each extra that is named. It ends with the seconds that `import aegisbo` took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = (["show"], ["replay"], ["report"], ["export", "--to", "csv"], ["advise", "--workers", "2", "--runs", "1"])
SPACE = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}


def bowl(x: float, y: float) -> float:
    return (x - 3) ** 2 + (y - 2.5) ** 2


def core() -> None:
    import aegisbo

    result = aegisbo.minimize(bowl, SPACE, budget=8, workers=2, study="run.db", seed=0, progress=False)
    require(result.nfev == 8 and result.fun < 30, result)
    require(aegisbo.load("run.db").fun == result.fun, "the study differs from the result")
    command = Path(sys.executable).parent / "aegisbo"
    for first, *rest in COMMANDS:
        subprocess.run([command, first, "run.db", *rest], check=True, stdout=subprocess.DEVNULL)
    require(Path("run.html").stat().st_size > 100_000, "the report lacks its page")


def optuna() -> None:
    import optuna

    import aegisbo

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=aegisbo.AegisSampler(seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", -5, 10) - 3) ** 2, n_trials=8)
    require(study.trials[-1].user_attrs["aegisbo:move"], study.trials[-1])


def dask() -> None:
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        on(client)


def slurm() -> None:
    import submitit

    import aegisbo.runners.pools.slurm

    require(submitit.__version__, aegisbo.executors.Slurm())


def ray() -> None:
    on("ray")


def tune() -> None:
    from ray import tune

    from aegisbo.integrations import AegisSearch

    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"
    config = tune.TuneConfig(search_alg=AegisSearch(seed=0), num_samples=4, metric="loss", mode="min")
    space = {"x": tune.uniform(-5, 10), "y": tune.uniform(2, 3)}
    found = tune.Tuner(lambda point: {"loss": bowl(**point)}, param_space=space, tune_config=config).fit()
    require(found.num_errors == 0, found)


def gest() -> None:
    from gest_api.vocs import VOCS

    from aegisbo.integrations import AegisGenerator

    generator = AegisGenerator(VOCS(variables={"x": [-5, 10], "y": [2, 3]}, objectives={"f": "MINIMIZE"}), seed=0)
    for _ in range(6):
        generator.ingest([{**point, "f": bowl(point["x"], point["y"])} for point in generator.suggest(1)])


def mcp() -> None:
    import asyncio

    from mcp import Client, StdioServerParameters

    async def look() -> str:
        command = str(Path(sys.executable).parent / "aegisbo")
        async with Client(StdioServerParameters(command=command, args=["mcp", "run.db"])) as client:
            return (await client.call_tool("status", {})).content[0].text

    require("The budget is spent." in asyncio.run(look()), "the adviser sees no study")


def sklearn() -> None:
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    from aegisbo import Real
    from aegisbo.integrations import AegisSearchCV

    search = AegisSearchCV(SVC(), {"C": Real(1e-2, 1e3, log=True)}, n_iter=5, random_state=0)
    require(search.fit(*load_iris(return_X_y=True)).best_score_ > 0.9, search)


def mlflow() -> None:
    from aegisbo.integrations import MLflowCallback

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a database needs SQLAlchemy, which a server has
    on("threads", MLflowCallback(tracking_uri=Path("mlruns").absolute().as_uri()))
    require(list(Path("mlruns").glob("*/*/metrics/value")), "MLflow has no trial")


def wandb() -> None:
    from aegisbo.integrations import WandbCallback

    on("threads", WandbCallback("smoke", mode="offline"))
    require(len(list(Path("wandb").glob("offline-run-*"))) == 5, "W&B lacks trials")


def tensorboard() -> None:
    from aegisbo.integrations import TensorBoardCallback

    on("threads", TensorBoardCallback("runs"))
    require(len(list(Path("runs").glob("*/trial-*"))) == 4, "TensorBoard lacks trials")


def plot() -> None:
    import aegisbo

    aegisbo.plot.timeline("run.db").savefig("timeline.png")


def pandas() -> None:
    import aegisbo

    require(len(aegisbo.load("run.db").to_pandas()) == 8, "the table lacks trials")


def on(executor: object, *callbacks: object) -> None:
    """A short run with these workers and callbacks."""
    import aegisbo

    options = {"workers": 2, "executor": executor, "seed": 0, "progress": False, "callbacks": callbacks}
    result = aegisbo.minimize(bowl, SPACE, budget=4, **options)
    require(result.nfev == 4 and result.success, result)


def require(condition: object, what: object) -> None:
    if not condition:
        sys.exit(f"The smoke run failed: {what}")


def postgres() -> None:
    """There is no server here, which only the driver can tell."""
    import aegisbo

    try:
        aegisbo.load("postgresql://127.0.0.1:1/none?study=run")
    except aegisbo.AegisError as error:
        require("cannot be reached" in str(error), error)
    else:
        require(False, "a server answered on port 1")


EXTRAS = {
    use.__name__: use
    for use in (optuna, dask, slurm, ray, tune, gest, mcp, sklearn, mlflow, wandb, tensorboard, plot, pandas, postgres)
}


def main() -> None:
    begin = time.perf_counter()
    import aegisbo

    seconds = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        core()
        for extra in sys.argv[1:]:
            EXTRAS[extra]()
        os.chdir("/")
    print(f"aegisbo {aegisbo.__version__}, imported in {1000 * seconds:.0f} ms")


if __name__ == "__main__":
    main()
