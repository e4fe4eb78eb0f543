// The best value so far, or the hypervolume of several objectives, by evaluation and by the time it took.

const scaleChoice = { log: false, toggles: [] };

// A button for the scale of values; all of them show the same.
function scaleToggle() {
  const toggle = h("button", { "aria-pressed": "false", onclick: () => {
    scaleChoice.log = !scaleChoice.log;
    for (const each of scaleChoice.toggles) each.setAttribute("aria-pressed", String(scaleChoice.log));
    redraw();
  } }, "logarithmic values");
  scaleChoice.toggles.push(toggle);
  return toggle;
}

function convergenceSection() {
  const toggle = scaleToggle();
  const clouds = [["evaluation", "evaluations that have ended"], ["elapsed", "time"]].map(([key, label]) => new Chart({
    id: `convergence-${key}`, wide: "half", height: 300, title: () => `${view.study.objectives ? "Hypervolume" : "Best so far"} by ${key === "evaluation" ? "evaluation" : "wall clock"}`,
    empty: key === "evaluation" ? "No evaluation has ended yet." : "The times of evaluations were not recorded.",
    note: () => key !== "evaluation" ? "The same by running time; time without a driver is left out."
      : view.study.objectives ? "The volume of what the front beats, up to the reference point above. Each mark is an evaluation; those without a value are drawn at the bottom. Drag to select some."
        : "Each mark is an evaluation; very bad ones are drawn at the edge. Drag to select some.",
    draw: (chart) => drawConvergence(chart, key, label),
    table: () => {
      const c = view.study.convergence;
      return { heads: ["trial", "evaluation", "seconds", ...(view.study.objectives ? ["hypervolume"] : ["value", "best so far"])], rows: c.number.map((n, k) => [n, c.evaluation[k], c.elapsed[k], ...(view.study.objectives ? [] : [c.value[k]]), c.best[k]]) };
    },
  }));
  const box = section("progress", "Progress", null, clouds.map((chart) => chart.element));
  box.querySelector(".grid").before(h("div", { class: "controls" }, toggle));
  view.on("data", () => { toggle.hidden = Boolean(view.study.objectives); });
  return box;
}

function drawConvergence(chart, key, label) {
  const study = view.study, c = study.convergence, up = study.objectives ? true : study.maximize;
  const ends = c.number.map((_, k) => k).filter((k) => c[key][k] != null);
  if (!ends.length) return false;
  const { left, right, top, bottom } = chart.inner;
  const values = c.value.filter((value) => value != null);
  const all = study.call.target == null ? values : [...values, study.call.target];
  const log = scaleChoice.log && !study.objectives && all.length && Math.min(...extent(all)) > 0;
  const last = extent(ends.map((k) => c[key][k]))[1];
  const x = linear([key === "elapsed" ? 0 : 1, Math.max(last, key === "elapsed" ? study.now ?? 0 : 2)], [left, right - 6], key === "elapsed" ? duration : undefined);
  const [low, high] = study.objectives ? [0, extent([1e-300, ...all])[1]] : shownRange(all.length ? all : [0, 1], up);
  const room = log ? 1 : 0.05 * (high - low || 1);
  const y = log ? logarithmic([low / 1.05, high * 1.05], [bottom - 6, top + 6]) : linear([low - room, high + room], [bottom - 6, top + 6]);
  const clip = (pixel) => clamp(pixel, top + 4, bottom - 2);
  chart.axes(x, y, label, study.objectives ? "hypervolume" : "value");
  if (study.call.target != null) {
    const at = clip(y(study.call.target));
    chart.svg.append(s("path", { class: "target", d: `M${left} ${at}H${right}` }), s("text", { x: right - 4, y: at + 14, "text-anchor": "end", class: "over" }, `target ${number(study.call.target)}`));
  }
  if (key === "elapsed") drawCuts(chart, x, study);
  const failedAt = up ? bottom - 5 : top + 5; // a failure has no value: it is shown at the bad end
  const places = study.place;
  chart.marks(ends.map((k) => ({ k: places.get(c.number[k]), x: x(c[key][k]), y: c.value[k] == null ? failedAt : clip(y(c.value[k])) })));
  const path = [];
  let before = null;
  for (const k of ends) {
    if (c.best[k] == null) continue;
    const [px, py] = [x(c[key][k]), clip(y(c.best[k]))];
    if (before != null) path.push([px, before]);
    path.push([px, py]);
    before = py;
  }
  if (before != null) path.push([x(x.domain[1]), before]);
  chart.line("best", path);
}

// A few very bad values must not flatten all others: beyond twice the spread of the better three quarters they are
// drawn at the edge.
function shownRange(values, maximize) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  if (sorted.length < 10) return [low, high];
  if (maximize) { const limit = quantile(sorted, 0.25); return [Math.max(low, limit - (high - limit)), high]; }
  const limit = quantile(sorted, 0.75);
  return [low, Math.min(high, limit + (limit - low))];
}

function drawCuts(chart, x, study) {
  const { top, bottom, left, right } = chart.inner;
  for (const at of study.timeline.cuts) {
    const px = round(x(at));
    if (px > left && px < right) chart.svg.append(s("path", { class: "cut", d: `M${px} ${top}V${bottom}` }, s("title", {}, "Another driver continued here.")));
  }
}
