"""Size and opening time of a report, and how soon the live page shows a result.

    python -m benchmarks.studies.report [--trials 100 2000 10000] [--screenshots STUDY FOLDER]

Made-up runs of six parameters and eight workers, a tenth of the evaluations failed. Opening means: from the address to
a page on which every figure is drawn, in headless Chromium, the median of three. The live page follows a real run; the
time is from the event on disk to the page that shows it. `--screenshots` makes the pictures of docs/report.md
instead; of several objectives, also the front alone.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

import aegisbo
from aegisbo.events import read_event
from aegisbo.review.html import report
from aegisbo.review.record import Record
from aegisbo.review.server import server_of

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SPACE = {"lr": aegisbo.Real(1e-6, 0.1, log=True), "act": aegisbo.Choice(["relu", "tanh", "gelu"])} | {
    f"x{k}": aegisbo.Real(0.0, 1.0) for k in range(4)
}
WORKERS = 8
SHOTS = {
    "report-light": ("light", 1280, 1500),
    "report-dark": ("dark", 1280, 1500),
    "report-phone": ("light", 390, 1500),
}


def made_up(trials: int) -> Record:
    """A run that took no time: events with the times that it would have taken."""
    optimizer = aegisbo.Optimizer(SPACE, seed=0)
    rng = np.random.default_rng(0)
    events = [read_event(1, "created", None, 0.0, {"optimizer": optimizer.settings.describe(), "build": {}})]
    events.append(read_event(2, "opened", None, 0.0, {"pid": 0, "host": ""}))
    free = np.zeros(WORKERS)
    for number in range(trials):
        worker = int(free.argmin())
        began, seconds = float(free[worker]) + 0.05, float(rng.gamma(2.0, 2.0))
        u = rng.random(6)
        params = optimizer.space.params(optimizer.space.cube.fill(u[None])[0])
        value = float(((u - 0.4) ** 2).sum() + 0.01 * rng.standard_normal())
        note = {"move": ["initial", "exploit", "thompson", "pareto"][number % 4], "mean": value + 0.01, "std": 0.02}
        body = {"params": params, "note": note, "memory": {}, "seen": len(events), "seconds": 0.05}
        events.append(read_event(len(events) + 1, "asked", number, began - 0.01, body))
        went = {"seconds": seconds, "began": began, "worker": worker, "output": f"epoch 1 of {number}\n"}
        if number % 10 == 9:
            failure = {"state": "failed", "reason": f"ValueError: nan at epoch {number}", "traceback": "Traceback ..."}
            events.append(read_event(len(events) + 1, "failed", number, began + seconds, failure | went))
        else:
            events.append(read_event(len(events) + 1, "told", number, began + seconds, {"value": value} | went))
        free[worker] = began + seconds
    return Record.of_events(events, Path(f"{trials}.db"), driven=False)


@contextmanager
def pages(**options: Any) -> Iterator[Page]:
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser.new_page(**options)
        browser.close()


def opening(page: Page, address: str) -> float:
    """Seconds until every figure is drawn."""
    begin = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return time.perf_counter() - begin


def sizes(counts: list[int]) -> None:
    print(f"{'trials':>8} {'made in, s':>12} {'size, kB':>10} {'opens in, s':>12}")
    with tempfile.TemporaryDirectory() as folder, pages() as page:
        for count in counts:
            record, begin = made_up(count), time.perf_counter()
            file = Path(folder) / f"{count}.html"
            file.write_text(report(record), "utf-8")
            made = time.perf_counter() - begin
            seconds = median(opening(page, file.as_uri()) for _ in range(3))
            print(f"{count:>8} {made:>12.1f} {file.stat().st_size / 1e3:>10.0f} {seconds:>12.2f}")


def slow(x: np.ndarray) -> float:
    time.sleep(0.5)
    return float(x @ x)


def latency() -> None:
    """How long after it was recorded a result is on the page."""
    with tempfile.TemporaryDirectory() as folder, pages() as page:
        study = Path(folder) / "run.db"
        run = threading.Thread(
            target=aegisbo.minimize,
            args=(slow, [(0.0, 1.0)] * 2),
            kwargs={"budget": 40, "workers": 2, "study": study, "executor": "threads", "seed": 0, "progress": False},
        )
        run.start()
        server = server_of([study], 0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opening(page, server.address)
        shown: dict[int, float] = {}
        while run.is_alive():
            count = int(page.locator(".tile b").nth(1).inner_text().split()[0])
            shown.setdefault(count, time.time())
            page.wait_for_timeout(20)
        ended = [event.at for event in Record.of_study(study).events if event.kind in ("told", "failed")]
        waits = sorted(shown[count] - ended[count - 1] for count in shown if count > 0)[1:]
        print(f"live page: shown {median(waits):.2f} s after it was recorded (median), at most {waits[-1]:.2f} s")
        server.shutdown()
        server.close()


def screenshots(study: Path, folder: Path) -> None:
    file = folder / "report.html"
    file.write_text(report(Record.of_study(study)), "utf-8")
    for name, (scheme, width, height) in SHOTS.items():
        with pages(color_scheme=scheme, viewport={"width": width, "height": height}) as page:
            opening(page, file.absolute().as_uri())
            page.screenshot(path=folder / f"{name}.png")
            if page.locator("#objectives").is_visible():
                page.locator("#objectives").screenshot(path=folder / f"{name}-front.png")
    file.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[100, 2000, 10_000])
    parser.add_argument("--screenshots", type=Path, nargs=2, metavar=("STUDY", "FOLDER"))
    options = parser.parse_args()
    if options.screenshots:
        screenshots(*options.screenshots)
    else:
        sizes(options.trials)
        latency()
