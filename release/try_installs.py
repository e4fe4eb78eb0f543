"""Build the wheel and the sdist, install the wheel into clean environments, and run `smoke.py` in each.

    python release/try_installs.py [--only plain oldest optuna ...] [--python python3.12 ...] [--folder FOLDER]

Without `--only`: with nothing else (`plain`), with the oldest versions that are allowed (`oldest`, see `oldest.txt`),
and with each extra. Prints a table. Environments are deleted after use; needs a package index.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PLAIN, OLDEST = "plain", "oldest"
IN_OLDEST = ("optuna",)  # extras that are tried with the oldest versions
NOT_TRIED = ("dev",)


def run(*command: object) -> str:
    """What a command prints; its errors are shown if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.strip()


def environment(python: str, folder: Path) -> Path:
    """The interpreter of a new environment."""
    run(python, "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def build(folder: Path, scratch: Path) -> Path:
    """The wheel, built from the sdist, which was built from the checkout."""
    python = environment(sys.executable, scratch / "builder")
    run(python, "-m", "pip", "install", "--quiet", "build")
    run(python, "-m", "build", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    return wheel


def try_install(python: str, kind: str, wheel: Path, scratch: Path) -> str:
    """A line of the table."""
    extras = {PLAIN: (), OLDEST: IN_OLDEST}.get(kind, (kind,))
    here = environment(python, scratch / "environment")
    wanted = f"{wheel}[{','.join(extras)}]" if extras else wheel
    pins = ["--constraint", HERE / "oldest.txt"] if kind == OLDEST else []
    run(here, "-m", "pip", "install", "--quiet", "--no-compile", wanted, *pins)
    version = run(here, "-c", "import platform; print(platform.python_version())")
    megabytes = sum(file.stat().st_size for file in here.parents[1].glob("lib/**/*") if file.is_file()) / 1e6
    said = run(here, HERE / "smoke.py", *extras).splitlines()[-1]
    shutil.rmtree(scratch / "environment")
    return f"| {version} | {kind} | {megabytes:.0f} MB | {said} |"


def kinds() -> list[str]:
    """The ways of installing it that are tried."""
    project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    return [PLAIN, OLDEST, *(extra for extra in project["optional-dependencies"] if extra not in NOT_TRIED)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=kinds(), default=kinds())
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--folder", type=Path, help="where to build; a temporary one unless given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        wheel = build(given.folder or scratch, scratch)
        print("\n| Python | installed | size of the environment | smoke run |\n|---|---|---|---|")
        failed = []
        for python, kind in ((python, kind) for python in given.python for kind in given.only):
            try:
                print(try_install(python, kind, wheel, scratch), flush=True)
            except RuntimeError as error:
                failed.append(f"{python}, {kind}: {error}")
        sys.exit("\n\n".join(failed) or 0)


if __name__ == "__main__":
    main()
