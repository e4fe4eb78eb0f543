// The workers' time: a bar for each evaluation, the gaps between them by cause, and how busy each worker was.

const CAUSES = { suggestion: "waiting for a suggestion", pool: "starting up", nothing: "out of work", idle: "idle" };
const LINES = {
  suggestion: ["M1 6H25", "idle-line"], pool: ["M1 6h3m3 0h3m3 0h3m3 0h3m3 0h1", "idle-line"],
  nothing: ["M1 2H25V10H1z", "idle-box"], idle: ["M1 6H25", "idle-line"],
};
let shown = null; // [from, to] in seconds, or everything

function timelineSection() {
  const move = (factor, shift = 0) => () => {
    const [from, to] = shown ?? wholeTime();
    const middle = (from + to) / 2 + shift * (to - from), half = ((to - from) * factor) / 2;
    const [least, most] = wholeTime();
    shown = factor > 1 && 2 * half >= most - least ? null : [Math.max(middle - half, least - 0.1 * (most - least)), Math.min(middle + half, most + 0.1 * (most - least))];
    chart.render();
  };
  const button = (text, label, action) => h("button", { "aria-label": label, title: label, onclick: action }, text);
  const all = () => { shown = null; chart.render(); };
  const chart = new Chart({
    id: "timeline-chart", title: "Workers' time", margin: { top: 8, right: 58, bottom: 40, left: 72 },
    empty: "The times of evaluations were not recorded.",
    controls: h("div", { class: "controls" }, button("+", "Zoom in", move(0.5)), button("−", "Zoom out", move(2)),
      button("←", "Earlier", move(1, -0.4)), button("→", "Later", move(1, 0.4)), button("All", "Show everything", all), idleLegend()),
    note: () => {
      const { shares } = view.study.timeline;
      const idle = knownCauses().map((cause) => `${percent(shares[cause])} ${CAUSES[cause]}`);
      return `${percent(shares.busy)} of the workers' time was spent evaluating, ${idle.join(", ")}. ${view.study.timeline.bars.state.includes("stopped") ? "Low bars: evaluations that were stopped early. " : ""}Drag to zoom in.`;
    },
    draw: drawTimeline,
    zoom: (chart, from, to) => { shown = [chart.x.invert(from), chart.x.invert(to)]; chart.render(); },
    show: (chart, chosen) => {
      for (const { k, x, y, w, h: height } of chart.points) {
        if (k == null || view.study.trials.number[k] !== chosen) continue;
        ring(chart.top, "rect", { x: x - 2, y: y - height / 2 - 2, width: w + 4, height: height + 4, rx: 3 });
      }
    },
    table: () => {
      const { workers } = view.study.timeline;
      return { heads: ["worker", "evaluating, s", ...knownCauses().map((cause) => `${CAUSES[cause]}, s`), "utilization, %"], rows: workers.map((w) => [w.worker, w.busy, ...knownCauses().map((cause) => w[cause]), 100 * w.utilization]) };
    },
  });
  chart.element.addEventListener("dblclick", all);
  return section("workers", "Workers", null, [chart.element]);
}

// Without a study the causes of idle time are unknown.
function knownCauses() {
  return Object.keys(CAUSES).filter((cause) => cause in view.study.timeline.shares);
}

function idleLegend() {
  const entry = (path, name, words) => h("span", { class: "group" }, s("svg", { viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true" }, s("path", { class: name, d: path })), words);
  return h("span", { class: "legend" }, knownCauses().map((cause) => entry(...LINES[cause], CAUSES[cause])));
}

function wholeTime() {
  return [0, Math.max(view.study.now ?? 0, 1e-3)];
}

function drawTimeline(chart) {
  const study = view.study, { bars, gaps, workers } = study.timeline;
  if (!bars.number.length) return false;
  const row = Math.max(13, Math.min(26, 480 / workers.length));
  chart.height = chart.margin.top + chart.margin.bottom + row * workers.length;
  chart.svg.setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
  chart.svg.setAttribute("height", chart.height);
  const { left, right, top, bottom } = chart.inner;
  const x = chart.x = linear(shown ?? wholeTime(), [left, right], duration);
  chart.axes(x, null, "running time");
  const clip = (pixel) => clamp(pixel, left, right);
  const middle = (worker) => top + (worker + 0.5) * row;
  for (const { worker, utilization } of workers) {
    chart.svg.append(s("text", { x: left - 7, y: middle(worker) + 4, "text-anchor": "end" }, `worker ${worker}`));
    chart.svg.append(s("text", { x: right + 6, y: middle(worker) + 4, class: "strong" }, percent(utilization)));
  }
  drawCuts(chart, x, study);
  drawGaps(chart, gaps, x, clip, middle, row);
  drawBars(chart, study, x, clip, middle, row);
}

function drawGaps(chart, gaps, x, clip, middle, row) {
  const paths = { suggestion: [], pool: [], nothing: [], idle: [] };
  const half = row * 0.28;
  gaps.cause.forEach((cause, k) => {
    const [from, to, y] = [round(clip(x(gaps.started[k]))), round(clip(x(gaps.ended[k]))), round(middle(gaps.worker[k]))];
    if (to - from < 0.7) return;
    if (cause === "suggestion" || cause === "idle") paths[cause].push(`M${from} ${y}H${to}`);
    else if (cause === "pool") for (let at = from; at < to; at += 6) paths.pool.push(`M${round(at)} ${y}H${round(Math.min(at + 3, to))}`);
    else paths.nothing.push(`M${from} ${y - half}H${to}V${y + half}H${from}z`);
  });
  for (const [cause, parts] of Object.entries(paths)) chart.svg.append(s("path", { class: cause === "nothing" ? "idle-box" : "idle-line", d: parts.join("") }));
}

function drawBars(chart, study, x, clip, middle, row) {
  const { bars } = study.timeline, groups = new Map(), crosses = [], letters = [];
  bars.number.forEach((trial, b) => {
    const k = study.place.get(trial), state = bars.state[b], half = row * (state === "stopped" ? 0.24 : 0.4);
    const end = state === "running" ? Math.max(bars.ended[b], study.now) : bars.ended[b];
    const [from, to, y] = [round(clip(x(bars.started[b]))), round(clip(x(end))), round(middle(bars.worker[b]))];
    if (x(end) < chart.inner.left || x(bars.started[b]) > chart.inner.right) return;
    const width = Math.max(to - from, 1);
    const style = view.colorBy === "move" ? moveStyle(study.trials.move[k]) : outcomeStyle(state);
    const open = state === "running" || state === "interrupted";
    const name = `m ${style.color} ${open ? "worker-open" : "worker-bar"}${view.kept(study, k) ? "" : " dim"}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(`M${from} ${round(y - half)}h${round(width)}v${round(2 * half)}h${-round(width)}z`);
    chart.points.push({ k, x: from, y, w: width, h: 2 * half, text: `${state} · ${duration(end - bars.started[b])} at worker ${bars.worker[b]}\n${describe(study, k)}` });
    const bad = state !== "done" && state !== "stopped" && !open;
    if (bad && width > 3) crosses.push(`M${from + 1} ${round(y - half + 1)}L${round(from + width - 1)} ${round(y + half - 1)}M${from + 1} ${round(y + half - 1)}L${round(from + width - 1)} ${round(y - half + 1)}`);
    else if (!open && width > 13 && row > 12 && letters.length < 600) letters.push(s("text", { class: `letter on-${style.color}`, x: round(from + width / 2), y: y + 4, "text-anchor": "middle" }, style.letter));
  });
  for (const [name, parts] of groups) chart.svg.append(s("path", { class: name, d: parts.join(""), "data-count": parts.length }));
  chart.svg.append(s("path", { class: "worker-cross", d: crosses.join("") }), ...letters);
}
