"""The pages in a real browser: what a reader sees and can do, compared with what the study holds."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from review.made_studies import HOSTILE, Script, make_study, make_study_of_two, script_of_curves

from aegisbo import Optimizer, minimize
from aegisbo.review.html import report
from aegisbo.review.record import Record
from aegisbo.review.server import server_of
from aegisbo.review.timeline import timeline

pytestmark = pytest.mark.long

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 120_000  # milliseconds

CHARTS = (
    "convergence-evaluation",
    "convergence-elapsed",
    "timeline-chart",
    "moves",
    "yields",
    "behind",
    "predicted",
    "left-out",
    "importance",
    "contour",
    "parallel",
    "front",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra dev")
    if CHROMIUM is None:
        pytest.skip("needs chromium (apt-get install chromium)")
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """A page that must never complain."""
    page = browser.new_page(**options)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    try:
        yield page
        assert complaints == []
    finally:
        page.close()


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record.of_study(make_study(tmp_path_factory.mktemp("browser") / "run.db", 70))


@pytest.fixture(scope="module")
def address(record: Record) -> str:
    file = record.path.with_suffix(".html")
    file.write_text(report(record), "utf-8")
    return file.as_uri()


def marks(page: Any, chart: str, kind: str = ".m") -> int:
    """How many marks a figure holds: all of one kind are one path."""
    counts = "all => all.map(each => Number(each.dataset.count))"
    return sum(page.eval_on_selector_all(f"#{chart} path{kind}[data-count]", counts))


def wait_until(page: Any, holds: Callable[[], bool]) -> None:
    for _ in range(PATIENCE // 100):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("It never came true.")


def table_of(page: Any, chart: str) -> list[list[str]]:
    """The data of a figure, as its table shows them."""
    page.eval_on_selector(f"#{chart} details", "each => { each.open = true; }")
    page.wait_for_selector(f"#{chart} tbody tr")
    rows = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    return page.eval_on_selector_all(f"#{chart} tbody tr", rows)


def column(page: Any, key: str) -> list[str]:
    place = page.eval_on_selector(f'#table th[data-key="{key}"]', "each => each.cellIndex")
    return page.eval_on_selector_all("#table tbody tr", f"rows => rows.map(row => row.cells[{place}].textContent)")


def test_every_figure_has_data(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        for chart in CHARTS:
            shapes = page.eval_on_selector_all(f"#{chart} svg :is(path, rect, image)", "all => all.length")
            assert shapes >= 3, chart
            assert table_of(page, chart), chart
        assert page.locator("#slices figure").count() == 3


def test_the_best_lines_of_parallel_coordinates_keep_the_limits(browser: Any, tmp_path: Path) -> None:
    optimizer = Optimizer([(0, 1)], limits=["latency <= 5"], seed=0, strategy="random")
    for value in range(20):
        optimizer.tell(optimizer.ask().number, float(value), measured={"latency": 9.0 if value < 10 else 1.0})
    file = tmp_path / "run.html"
    file.write_text(report(Record.of_optimizer(optimizer)), "utf-8")
    with opened(browser, file.as_uri()) as page:
        lines = "all => all.flatMap(each => each.getAttribute('d').match(/M/g) ?? []).length"
        counts = [page.eval_on_selector_all(f"#parallel path.poly.{kind}", lines) for kind in ("top", "q0", "q1", "q3")]
        assert counts == [1, 1, 4, 14]  # of the ten that keep it: the best, the rest of the tenth, of the half, others


def test_figures_show_the_numbers_of_the_study(browser: Any, address: str, record: Record) -> None:
    values = {trial.number: trial.value for trial in record.trials}
    with opened(browser, address) as page:
        rows = table_of(page, "convergence-evaluation")
        assert [int(row[0]) for row in rows] == [trial.number for trial in record.ended]
        known: list[float] = []
        for number, _, _, value, best in rows:
            known += [] if values[int(number)] is None else [values[int(number)]]
            assert value == "–" if values[int(number)] is None else float(value) == pytest.approx(known[-1], rel=1e-4)
            assert best == "–" if not known else float(best) == pytest.approx(min(known), rel=1e-4)
        assert marks(page, "convergence-evaluation") == len(record.ended)
        assert marks(page, "moves") == len(record.trials)
        assert page.locator("#timeline-chart text.strong").count() == len(timeline(record).workers)
        assert marks(page, "timeline-chart") == len(timeline(record).bars)
        busy = [float(row[1]) for row in table_of(page, "timeline-chart")]
        assert busy == pytest.approx([worker.busy for worker in timeline(record).workers], rel=1e-3, abs=1e-4)
        assert float(page.locator(".tile b").first.inner_text()) == pytest.approx(record.result.fun, rel=1e-5)


def test_the_table_is_sorted_by_any_column(browser: Any, address: str, record: Record) -> None:
    values = sorted(trial.value for trial in record.trials if trial.value is not None)
    with opened(browser, address) as page:
        page.click('#table th[data-key="value"] button')
        assert [float(cell) for cell in column(page, "value")[:5]] == pytest.approx(values[:5], rel=1e-4)
        page.click('#table th[data-key="value"] button')
        assert [float(cell) for cell in column(page, "value")[:5]] == pytest.approx(values[::-1][:5], rel=1e-4)
        assert page.get_attribute('#table th[data-key="value"]', "aria-sort") == "descending"
        page.click('#table th[data-key="state"] button')
        assert column(page, "state") == sorted(trial.state for trial in record.trials)[:50]


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("units>4", lambda trial: trial.params["units"] > 4),
        ("state=failed", lambda trial: trial.state == "failed"),
        ("move=initial lr<=0.1", lambda trial: trial.note["move"] == "initial" and trial.params["lr"] <= 0.1),
        ("TANH", lambda trial: trial.params["act"] == "tanh"),
        ("nothing-like-this", lambda trial: False),
    ],
)
def test_a_filter_holds_for_table_and_plots(
    browser: Any, address: str, record: Record, text: str, keeps: Callable[[Any], bool]
) -> None:
    kept = [trial.number for trial in record.trials if keeps(trial)]
    with opened(browser, address) as page:
        page.fill("#filter", text)
        assert page.inner_text("#count") == f"{len(kept)} of {len(record.trials)} trials"
        assert [int(number) for number in column(page, "number")] == kept[:50]
        for chart in ("convergence-evaluation", "moves"):
            assert marks(page, chart, ".m.dim") == len(record.trials) - len(kept)
        page.fill("#filter", "")
        assert marks(page, "moves", ".m.dim") == 0


def test_table_and_plots_are_linked_in_both_directions(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        page.click('#table tr[data-trial="20"]')
        assert page.inner_text("#trial h2") == "Trial 20"
        for chart in (
            "convergence-evaluation",
            "convergence-elapsed",
            "timeline-chart",
            "moves",
            "parallel",
            "contour",
        ):
            assert page.locator(f"#{chart} svg > g .ring").count() == 1, chart
        assert page.locator("#slices svg > g .ring").count() == 3
        ring = page.locator("#moves svg > g .ring")
        x, y = float(ring.get_attribute("cx")), float(ring.get_attribute("cy"))
        page.keyboard.press("Escape")
        assert page.locator("#trial").is_hidden()
        assert page.locator(".ring[r='8']").count() == 0
        page.locator("#moves svg[role=img]").click(position={"x": x, "y": y})
        assert page.inner_text("#trial h2") == "Trial 20"
        assert page.get_attribute('#table tr[data-trial="20"]', "aria-selected") == "true"


def test_marking_in_a_plot_filters_the_table(browser: Any, address: str, record: Record) -> None:
    with opened(browser, address) as page:
        svg = page.locator("#moves svg[role=img]")
        svg.scroll_into_view_if_needed()
        box = svg.bounding_box()
        page.mouse.move(box["x"] + 60, box["y"] + 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 45, steps=4)
        page.mouse.up()
        count = int(page.inner_text("#count").split()[0])
        assert 0 < count < len(record.trials)
        assert marks(page, "convergence-evaluation", ".m.dim") == len(record.trials) - count
        page.click("text=Show all")
        assert page.inner_text("#count") == f"{len(record.trials)} of {len(record.trials)} trials"


def test_the_timeline_zooms(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        before = page.text_content("#timeline-chart svg[role=img]")
        page.click("#timeline-chart button[aria-label='Zoom in']")
        assert page.text_content("#timeline-chart svg[role=img]") != before
        page.click("#timeline-chart button[aria-label='Show everything']")
        assert page.text_content("#timeline-chart svg[role=img]") == before


def test_everything_can_be_done_by_keyboard(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        page.focus("#convergence-evaluation svg")
        page.keyboard.press("ArrowRight")
        first = page.inner_text("#trial h2")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#trial h2") != first
        page.keyboard.press("Escape")
        assert page.locator("#trial").is_hidden()
        page.focus("#table tbody tr")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.inner_text("#trial h2") == "Trial 1"
        names = page.eval_on_selector_all(
            "button, input, select",
            "all => all.filter(each => !(each.textContent || each.ariaLabel || each.labels?.length)).length",
        )
        assert names == 0


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_light_and_dark(browser: Any, address: str, scheme: str, dark: bool) -> None:
    def is_dark(page: Any) -> bool:
        red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
        return int(red) < 128

    with opened(browser, address, color_scheme=scheme) as page:
        assert is_dark(page) == dark
        page.select_option("select[aria-label=Theme]", "light" if dark else "dark")
        assert is_dark(page) != dark


def test_a_phone_shows_everything_without_scrolling_sideways(browser: Any, address: str) -> None:
    with opened(browser, address, viewport={"width": 360, "height": 700}, has_touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for chart in CHARTS:
            assert page.locator(f"#{chart} svg").first.bounding_box()["width"] <= 360
        page.tap('#table tr[data-trial="3"]')
        assert page.inner_text("#trial h2") == "Trial 3"


SEVEN = ("learning_rate", "units", "activation", "dropout", "weight_decay", "batch_size", "momentum")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of seven parameters without failures."""
    path = tmp_path_factory.mktemp("browser") / "a_study_with_a_long_name.db"
    space = dict.fromkeys(SEVEN, (0.0, 1.0))
    options = {"executor": "threads", "workers": 2, "strategy": "random", "seed": 0, "progress": False}
    minimize(lambda **params: sum(params.values()) / 7, space, budget=12, study=path, **options)
    return path


@pytest.fixture(scope="module")
def smooth_page(smooth: Path) -> str:
    file = smooth.with_suffix(".html")
    file.write_text(report(Record.of_study(smooth)), "utf-8")
    return file.as_uri()


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    return page.eval_on_selector_all(selector, "all => all.map(each => each.getBoundingClientRect().toJSON())")


def test_titles_on_a_phone_do_not_collide(browser: Any, smooth_page: str) -> None:
    with opened(browser, smooth_page, **PHONE) as page:
        titles = boxes(page, "#parallel text.title")
        assert page.locator("#parallel text.title").all_text_contents() == [*SEVEN, "value"]
        for one, other in combinations(titles, 2):
            beside = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert beside or one["bottom"] <= other["top"] + 3 or other["bottom"] <= one["top"] + 3


def test_what_a_study_was_made_with_fits_a_phone(browser: Any, smooth_page: str) -> None:
    with opened(browser, smooth_page, **PHONE) as page:
        assert all(box["right"] <= 390 for box in boxes(page, "#about td"))


def test_the_card_of_a_trial_has_two_columns_on_a_phone(browser: Any, smooth_page: str) -> None:
    for options, columns in ((PHONE, 2), ({}, 1)):
        with opened(browser, smooth_page, **options) as page:
            page.click('#table tr[data-trial="3"]')
            assert len({box["left"] for box in boxes(page, "#trial dt")}) == columns


def test_what_a_link_leads_to_is_there_and_not_covered(browser: Any, smooth_page: str, address: str) -> None:
    for page_address, failures in ((smooth_page, 0), (address, 1)):
        with opened(browser, page_address, viewport={"width": 1200, "height": 500}) as page:
            links = page.locator("nav a:visible")
            assert page.locator("nav a[href='#failures']:visible").count() == failures
            for link in links.all()[1:-1]:  # the page ends below the last one
                link.click()
                heading = page.locator(f"{link.get_attribute('href')} h2")
                covered = page.locator("#bar").bounding_box()
                assert heading.bounding_box()["y"] >= covered["y"] + covered["height"]


def test_a_filter_by_a_column_that_is_not_there_says_so(browser: Any, smooth_page: str) -> None:
    with opened(browser, smooth_page) as page:
        for text, said in (("unitss<0.5", "no column unitss"), ("units<0", "0 of 12 trials"), ("units>=0", "")):
            page.fill("#filter", text)
            assert page.inner_text("#kept") == said
            assert marks(page, "moves", ".m.dim") == (12 if said.startswith("0") else 0)


def test_workers_count_from_0(browser: Any, smooth: Path, smooth_page: str) -> None:
    workers = sorted({trial.worker for trial in Record.of_study(smooth).trials})
    with opened(browser, smooth_page) as page:
        assert sorted({int(cell) for cell in column(page, "worker")}) == workers
        assert [row[0] for row in table_of(page, "timeline-chart")] == ["0", "1"]
        assert page.locator("#timeline-chart text:has-text('worker')").all_text_contents() == ["worker 0", "worker 1"]


def test_what_looks_like_html_shows_as_text(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        assert page.evaluate("window.hacked") is None
        assert HOSTILE in page.inner_text("#failures")
        assert any(HOSTILE in cell for cell in column(page, "param 2"))
        assert page.locator("main img").count() == 0


def test_it_prints(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        assert page.pdf(format="A4").startswith(b"%PDF")


def made_record(count: int, failing: Callable[[int], bool] = lambda number: False) -> Record:
    script = Script()
    script.opened(0.0)
    for number in range(count):
        script.asked(number, number, x=(number * 0.618) % 1.0)
        if failing(number):
            script.failed(number, number, number + 0.9, number % 4)
        else:
            script.told(number, number, number + 0.9, number % 4, value=((number * 0.618) % 1.0 - 0.3) ** 2)
    return script.record()


@pytest.mark.parametrize(
    ("count", "failing"), [(0, False), (1, False), (1, True), (12, True), (10_000, False)], ids=str
)
def test_studies_of_any_size(browser: Any, tmp_path: Path, count: int, failing: bool) -> None:
    record = made_record(count, lambda number: failing)
    (tmp_path / "r.html").write_text(report(record), "utf-8")
    with opened(browser, (tmp_path / "r.html").as_uri()) as page:
        assert page.inner_text("#count") == f"{count} of {count} trials"
        assert page.locator(".findings li").count() >= 1
        if count and not failing:
            assert marks(page, "convergence-evaluation") == count


# Several objectives.


@pytest.fixture(scope="module")
def of_two(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record.of_study(make_study_of_two(tmp_path_factory.mktemp("browser") / "two.db", 40))


@pytest.fixture(scope="module")
def page_of_two(of_two: Record) -> str:
    file = of_two.path.with_suffix(".html")
    file.write_text(report(of_two), "utf-8")
    return file.as_uri()


def told_by_tip(page: Any, chart: str, x: float, y: float) -> str:
    page.locator(f"#{chart} svg[role=img]").hover(position={"x": x, "y": y})
    return page.inner_text("#tip")


def test_every_figure_of_two_objectives_has_data(browser: Any, page_of_two: str) -> None:
    with opened(browser, page_of_two) as page:
        for chart in ("tradeoffs", *CHARTS):
            assert page.eval_on_selector_all(f"#{chart} svg :is(path, rect, image)", "all => all.length") >= 3, chart
            assert table_of(page, chart), chart
        assert page.inner_text("#convergence-evaluation h3") == "Hypervolume by evaluation"
        assert page.locator("#objective button").all_text_contents() == ["accuracy", "latency"]


def test_the_front_is_drawn_and_listed(browser: Any, page_of_two: str, of_two: Record) -> None:
    front = of_two.result.front
    done = [trial.number for trial in of_two.trials if trial.state == "done"]
    with opened(browser, page_of_two) as page:
        assert marks(page, "tradeoffs") == len(done)
        listed = page.eval_on_selector_all("#on-front tbody tr", "rows => rows.map(row => row.cells[0].textContent)")
        assert [int(number) for number in listed] == [trial.number for trial in front]
        rows = {row[0]: row for row in table_of(page, "tradeoffs")}
        assert {int(number) for number, row in rows.items() if row[3]} == {trial.number for trial in front}
        assert float(rows[str(front[0].number)][1]) == pytest.approx(front[0].measured["accuracy"], rel=1e-5)
        assert "best accuracy" in rows[str(front[0].number)][3]
        steps = page.get_attribute("#tradeoffs path.best", "d").replace("M", "").split("L")
        places = [tuple(map(float, step.split())) for step in steps]
        turns = [a[0] == b[0] or a[1] == b[1] for a, b in pairwise(places)]
        assert len(places) == 2 * len({(t.measured["accuracy"], t.measured["latency"]) for t in front}) + 1
        assert all(turns)
        page.fill("#filter", "front")
        assert page.inner_text("#count") == f"{len(front)} of {len(of_two.trials)} trials"


def test_another_objective_changes_what_the_figures_show(browser: Any, page_of_two: str, of_two: Record) -> None:
    values = {trial.number: trial.measured.get("latency") for trial in of_two.trials}
    with opened(browser, page_of_two) as page:
        before = page.get_attribute("#slices path.mean", "d")
        page.click("#objective button:has-text('latency')")
        assert page.get_attribute("#slices path.mean", "d") != before
        assert page.inner_text("#importance h3") == "Importance: latency"
        rows = table_of(page, "predicted")
        assert [float(row[3]) for row in rows] == pytest.approx([values[int(row[0])] for row in rows], rel=1e-4)
        assert page.evaluate("document.activeElement.textContent") == "latency"


def test_marks_of_the_front_tell_all_objectives_and_the_keyboard_walks(browser: Any, page_of_two: str) -> None:
    with opened(browser, page_of_two) as page:
        page.focus("#tradeoffs svg")
        page.keyboard.press("ArrowRight")
        first = page.inner_text("#trial h2")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#trial h2") != first
        ring = page.locator("#tradeoffs svg > g .ring")
        place = [float(ring.get_attribute(each)) for each in ("cx", "cy")]
        page.keyboard.press("Escape")
        told = told_by_tip(page, "tradeoffs", *place)
        assert "accuracy" in told
        assert "latency" in told


@pytest.mark.parametrize("options", [{"viewport": {"width": 390, "height": 844}, "has_touch": True}, {}], ids=str)
def test_three_objectives_have_a_choice_of_axes(browser: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    optimizer = Optimizer([(0, 1), (-5, 10)], objectives={"a": "min", "b": "min", "c": "max"}, seed=0)
    for _ in range(14):
        trial = optimizer.ask()
        x, y = trial.x
        optimizer.tell(trial, {"a": x**2 + y**2, "b": (x - 1) ** 2 + y**2, "c": -((y - 3) ** 2)})
    optimizer.ask()
    file = tmp_path / "run.html"
    file.write_text(report(Record.of_optimizer(optimizer)), "utf-8")
    with opened(browser, file.as_uri(), color_scheme="dark", **options) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        chosen = page.locator("#tradeoffs select option").all_text_contents()
        assert chosen == ["a and b", "a and c", "b and c"]
        page.select_option("#tradeoffs select", "2")
        assert "b (small is good)" in page.text_content("#tradeoffs svg")
        assert "c (large is good)" in page.text_content("#tradeoffs svg")
        assert marks(page, "tradeoffs") == 15
        assert marks(page, "tradeoffs", ".m.open") == 1  # pending, where it is predicted
        assert page.locator("#on-front .conflicts li").count() == 3


def test_a_page_of_one_number_has_nothing_of_several(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        assert page.locator("#objectives").is_hidden()
        assert page.locator("#objective").is_hidden()
        assert page.locator("nav a[href='#objectives']").is_hidden()


# Curves and early stopping.


@pytest.fixture(scope="module")
def of_curves() -> Record:
    return script_of_curves().record(now=130.0)


@pytest.fixture(scope="module")
def page_of_curves(of_curves: Record, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("browser") / "curves.html"
    file.write_text(report(of_curves), "utf-8")
    return file.as_uri()


def test_all_curves_are_drawn_each_in_its_way(browser: Any, page_of_curves: str, of_curves: Record) -> None:
    with opened(browser, page_of_curves) as page:
        counts = {
            kind: marks(page, "curves-chart", f".curve.{kind}") for kind in ("best", "ended", "running", "stopped")
        }
        assert counts == {"best": 1, "ended": 6, "running": 2, "stopped": 3}
        assert page.locator("#curves-chart svg[role=img] path.curve.expected").count() == 2  # of those that run
        rows = {int(row[0]): row for row in table_of(page, "curves-chart")}
        assert sorted(rows) == list(range(12))
        for trial in of_curves.trials:
            _, state, reports, step, reported, value, end, *_ = rows[trial.number]
            assert (state, int(reports), float(step)) == (trial.state, len(trial.reports), trial.reports[-1].step)
            assert float(reported) == pytest.approx(trial.reports[-1].value, rel=1e-5)
            assert (value == "–") == (trial.value is None)
            expected = of_curves.expected_ends.get(trial.number)
            assert end == "–" if expected is None else float(end) == pytest.approx(expected.value, rel=1e-4)


def test_a_curve_can_be_pointed_at_walked_to_and_filtered(browser: Any, page_of_curves: str) -> None:
    with opened(browser, page_of_curves) as page:
        page.focus("#curves-chart svg[role=img]")
        met = set()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
            met.add(page.inner_text("#trial h2"))
        assert len(met) == 12
        assert page.locator("#curves-chart svg > g .ring").count() == 1
        path = page.get_attribute("#curves-chart svg > g path.ring", "d").removeprefix("M")
        page.keyboard.press("Escape")
        x, y = map(float, path.split("L")[0].split())
        assert told_by_tip(page, "curves-chart", x, y).startswith("step 1: ")
        page.fill("#filter", "state=stopped")
        assert page.inner_text("#count") == "3 of 12 trials"
        assert marks(page, "curves-chart", ".curve.dim") == 9
        page.click("#curves-chart button:has-text('logarithmic values')")
        assert page.locator("button[aria-pressed=true]:has-text('logarithmic values')").count() == 2


def test_the_card_of_a_stopped_trial_says_why(browser: Any, page_of_curves: str, of_curves: Record) -> None:
    with opened(browser, page_of_curves) as page:
        page.click('#table tr[data-trial="7"]')
        said = page.inner_text("#trial")
        assert "It fell behind." in said
        assert "1.8 at step 3" in said
        assert f"{of_curves.stops[7].known} results, {of_curves.stops[7].others} other curves" in said
        assert page.locator("#trial svg path.curve").count() >= 2  # its own and that of the best
        page.click('#table tr[data-trial="0"]')
        assert "other curves" not in page.inner_text("#trial")


def test_stopped_evaluations_have_their_own_marks_and_counts(browser: Any, page_of_curves: str) -> None:
    with opened(browser, page_of_curves) as page:
        heights = "all => all.map(each => each.getBBox().height)"
        page.click("button:has-text('outcome')")
        assert page.locator("#legend button:has-text('stopped (3)')").count() == 1
        (low,) = page.eval_on_selector_all("#timeline-chart path.worker-bar.c2", heights)
        assert low < max(page.eval_on_selector_all("#timeline-chart path.worker-bar.c3", heights))
        page.click("button:has-text('move')")
        page.click("#legend button:has-text('stopped early (3)')")
        assert [int(number) for number in column(page, "number")] == [6, 7, 8]
        assert page.locator("#table tbody svg").count() == 3
        assert "3 stopped early, 2 running" in page.inner_text("#head")
        assert page.locator("#spared b").inner_text() == "20 s"  # 9 - 3, twice, and 9 - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_curves_fit_a_phone(browser: Any, page_of_curves: str, scheme: str) -> None:
    with opened(browser, page_of_curves, color_scheme=scheme, **PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#curves-chart svg[role=img]").bounding_box()["width"] <= 390
        page.tap('#table tr[data-trial="7"]')
        assert page.locator("#trial svg").first.bounding_box()["width"] <= 390


def test_a_page_without_reports_has_nothing_of_curves(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        assert page.locator("#curves").is_hidden()
        assert page.locator("nav a[href='#curves']").is_hidden()
        page.click('#table tr[data-trial="3"]')
        assert page.locator("#trial svg").count() == 0
        assert page.locator('#table th[data-key="reported"]').count() == 0


# The live page.


@contextmanager
def serving(*paths: Path) -> Iterator[str]:
    server = server_of(paths, port=0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.address
    finally:
        server.shutdown()
        server.close()
        thread.join()


DRIVER = """
import sys, time, aegisbo
def slow(x):
    time.sleep(0.15)
    return float((x[0] - 0.3) ** 2 + x[1])
aegisbo.minimize(slow, [(0.0, 1.0), (0.0, 1.0)], budget=int(sys.argv[2]), workers=2, executor="threads",
                 study=sys.argv[1], strategy="random", seed=0, progress=False)
"""


DRIVER_OF_TWO = """
import sys, time, aegisbo
def slow(x):
    time.sleep(0.15)
    return {"a": float((x[0] - 0.3) ** 2 + x[1]), "b": float((x[0] - 0.9) ** 2 + x[1])}
aegisbo.minimize(slow, [(0.0, 1.0), (0.0, 1.0)], budget=24, workers=2, executor="threads", study=sys.argv[1],
                 objectives={"a": "min", "b": "min"}, seed=0, progress=False)
"""


def drive(study: Path, budget: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(study), str(budget)])


def evaluations(page: Any) -> int:
    return int(page.locator(".tile b").nth(1).inner_text().split()[0])


def test_the_live_page_follows_a_run_its_death_and_its_resumption(browser: Any, tmp_path: Path) -> None:
    study = make_study(tmp_path / "first.db", 3).with_name("run.db")
    driver = drive(study, 10_000)
    try:
        with serving(study) as address, opened(browser, address) as page:
            page.evaluate("window.same = true")
            page.wait_for_selector(".pill.running")
            seen = evaluations(page)
            wait_until(page, lambda: evaluations(page) > seen + 2)
            os.kill(driver.pid, signal.SIGKILL)
            driver.wait()
            page.wait_for_selector(".pill.killed")
            done = len(Record.of_study(study).ended)
            wait_until(page, lambda: evaluations(page) == done)
            driver = drive(study, done + 4)
            page.wait_for_selector(".pill.ended")
            assert evaluations(page) == done + 4
            assert page.inner_text("#ending") == "The budget is spent."
            assert page.evaluate("window.same") is True  # never loaded anew
            assert marks(page, "moves") == len(Record.of_study(study).trials)
    finally:
        driver.kill()
        driver.wait()


def test_the_live_page_follows_a_front(browser: Any, tmp_path: Path) -> None:
    study = tmp_path / "two.db"
    driver = subprocess.Popen([sys.executable, "-c", DRIVER_OF_TWO, str(study)])
    try:
        with serving(study) as address, opened(browser, address) as page:
            page.evaluate("window.same = true")
            page.click("#objective button:has-text('b')")
            page.wait_for_selector("#tradeoffs path.predicted", state="attached", timeout=PATIENCE)
            page.wait_for_selector(".pill.ended", timeout=PATIENCE)
            driver.wait()
            front = Record.of_study(study).result.front
            wait_until(page, lambda: page.locator("#on-front tbody tr").count() == len(front))
            assert page.locator(".tile b").first.inner_text() == str(len(front))
            assert page.get_attribute("#objective button:has-text('b')", "aria-pressed") == "true"  # as it was chosen
            page.wait_for_selector("#decision option", state="attached")
            last = page.eval_on_selector_all("#decision option", "all => all.at(-1).value")
            page.select_option("#decision select", last)
            page.wait_for_selector("#front svg path.uncertain", state="attached")
            assert f"Trial {last}" in page.inner_text("#decision")
            assert page.evaluate("window.same") is True
    finally:
        driver.kill()
        driver.wait()


def test_several_studies_are_compared_and_any_decision_is_shown(browser: Any, tmp_path: Path) -> None:
    studies = [make_study(tmp_path / f"study{k}.db", 14, seed=k) for k in range(2)]
    with serving(*studies) as address, opened(browser, address) as page:
        assert page.locator("#compare tbody tr").count() == 2
        assert page.locator("#compare-evaluation svg path.mean").count() == 2
        page.click("[role=tab]:has-text('study1')")
        assert "study1" in page.inner_text("h1")
        best = Record.of_study(studies[1]).result.fun
        assert float(page.locator(".tile b").first.inner_text()) == pytest.approx(best, rel=1e-5)
        page.wait_for_selector("#decision option", state="attached")
        chosen = page.eval_on_selector_all("#decision option", "all => all.map(each => each.value)")
        page.select_option("#decision select", chosen[0])
        page.wait_for_selector("#front svg path.member")
        assert f"Trial {chosen[0]}" in page.inner_text("#decision")


def test_a_phone_shows_the_best_value_of_each_study(browser: Any, smooth: Path, tmp_path: Path) -> None:
    other = make_study(tmp_path / "another_one_of_them.db", 14)
    with serving(smooth, other) as address, opened(browser, address, **PHONE) as page:
        heads = page.locator("#compare th").all_text_contents()
        cells = boxes(page, f"#compare td:nth-child({heads.index('best') + 1})")
        assert len(cells) == 2
        assert all(box["right"] <= 390 for box in cells)


def test_a_page_whose_server_is_gone_says_so(browser: Any, tmp_path: Path) -> None:
    study = make_study(tmp_path / "run.db", 3)
    page = browser.new_page()
    with serving(study) as address:
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=PATIENCE)
    page.wait_for_selector("#offline", timeout=PATIENCE)
    assert page.locator("#table tbody tr").count() == 3
    page.close()
