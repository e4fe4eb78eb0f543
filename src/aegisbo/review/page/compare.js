// Several studies side by side.

const DASHES = ["0", "7 4", "2 3", "10 3 2 3", "4 2"];

function compareSection() {
  const charts = [["evaluation", "evaluations that have ended"], ["elapsed", "time"]].map(([key, label]) => new Chart({
    id: `compare-${key}`, title: key === "evaluation" ? "Best so far by evaluation" : "Best so far by wall clock", wide: "half", height: 280,
    note: "One line for each study.",
    empty: "Hypervolumes of studies cannot be compared: each has its own reference point. Compare their fronts.",
    draw: (chart) => !view.studies.some((study) => study.objectives) && drawComparison(chart, key, label),
    table: () => ({ heads: ["study", key, "best so far"], rows: view.studies.flatMap((study) => study.convergence.number.map((_, k) => [study.name, study.convergence[key][k], study.convergence.best[k]])) }),
  }));
  const table = h("div", { class: "card" });
  view.on("data", () => {
    const rows = view.studies.map((study, k) => [h("button", { class: "link", onclick: () => activate(k) }, study.name), study.objectives ? `${study.front.trials.length} on the front` : study.best?.value, study.convergence.number.length, study.timeline.workers.length, percent(study.timeline.shares.busy), duration(study.now), study.about.facts.strategy, study.ending]);
    table.replaceChildren(h("div", { class: "scroll" }, plainTable(["study", "best", "evaluations", "workers", "utilization", "time", "strategy", "state"], rows)));
  });
  return section("compare", "All studies", null, [table, ...charts.map((chart) => chart.element)]);
}

function drawComparison(chart, key, label) {
  const lines = view.studies.map((study) => study.convergence.number.map((_, k) => [study.convergence[key][k], study.convergence.best[k]]).filter(([a, b]) => a != null && b != null));
  const all = lines.flat();
  if (!all.length) return false;
  const { left, right, top, bottom } = chart.inner;
  const x = linear([0, extent(all.map(([a]) => a))[1]], [left, right - 70], key === "elapsed" ? duration : undefined);
  const [low, high] = shownRange(all.map(([, b]) => b), view.study.maximize);
  const y = linear([low, high], [bottom - 6, top + 6]);
  const clip = (pixel) => clamp(pixel, top, bottom);
  chart.axes(x, y, label, "value");
  lines.forEach((line, k) => {
    if (!line.length) return;
    const path = line.flatMap(([a, b], i) => (i ? [[x(a), clip(y(line[i - 1][1]))], [x(a), clip(y(b))]] : [[x(a), clip(y(b))]]));
    chart.svg.append(s("path", { class: `mean line${k % DASHES.length}`, d: pathOf(path), "stroke-dasharray": DASHES[k % DASHES.length] }));
    const [ex, ey] = path.at(-1);
    chart.svg.append(s("text", { x: ex + 5, y: ey + 4 + 12 * (k - (lines.length - 1) / 2), class: k === view.active ? "strong" : "" }, short(view.studies[k].name, 10)));
  });
}

function activate(k) {
  view.active = k;
  view.chosen = null;
  shown = null;
  view.text = "";
  view.marked = null;
  update();
}
