// What the model has learned about the parameters: importance, slices, contours; and all trials in parallel coordinates.

const pair = { chosen: 0 };
let sliceBox, sliceCharts = [], sliceKey = "";

function parametersSection() {
  const importance = new Chart({
    id: "importance", title: () => `Importance${of()}`, wide: "half", height: 260, margin: { top: 8, right: 60, bottom: 40, left: 110 },
    empty: "The model has too few results.",
    note: () => {
      const m = learned();
      return m ? `How much of the model's variation is due to a parameter alone (filled) and together with others (outline).${m.own ? "" : " The strategy has no model of its own; this one was fitted for the report."}` : "";
    },
    draw: (chart) => {
      const rows = learned()?.importances;
      if (!rows) return false;
      chart.height = Math.max(374, 52 + 26 * rows.length); // as high as the figure beside it
      chart.svg.setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
      chart.svg.setAttribute("height", chart.height);
      const { left, right, top, bottom } = chart.inner;
      const x = linear([0, Math.max(...rows.map((row) => row.total), 0.05)], [left, right], (share) => percent(share));
      const y = categories(rows.map((row) => row.parameter), [top, bottom]);
      chart.axes(x, y, "share of the variation", "", { xTicks: 4 });
      for (const row of rows) {
        const at = y(row.parameter);
        const thick = Math.min(26, 0.55 * y.room);
        chart.svg.append(s("rect", { class: "bar-main", x: left, y: at - thick / 2, width: Math.max(x(row.main) - left, 0), height: thick }));
        chart.svg.append(s("rect", { class: "bar-total", x: left, y: at - thick / 2, width: Math.max(x(row.total) - left, 0.5), height: thick }));
        chart.svg.append(s("text", { x: x(row.total) + 6, y: at + 4 }, percent(row.total)));
      }
    },
    table: () => ({ heads: ["parameter", "alone", "with others", "length scale, of the range"], rows: (learned()?.importances ?? []).map((row) => [row.parameter, row.main, row.total, row.lengthscale]) }),
  });
  const choice = h("select", { "aria-label": "Pair of parameters", onchange: (event) => { pair.chosen = Number(event.target.value); contour.render(); } });
  const contour = new Chart({
    id: "contour", title: () => `Two parameters at a time${of()}`, wide: "half", height: 340, margin: { top: 14, right: 20, bottom: 40, left: 76 },
    empty: "The model has too few results, or there is only one parameter.",
    controls: h("div", { class: "controls" }, h("label", {}, "parameters ", choice)),
    note: () => `The model's mean, with all other parameters as at the ${centerName()} (ring). Darker is better; in dark mode, brighter is. Gray: excluded by constraints.`,
    draw: (chart) => {
      const pairs = learned()?.contours ?? [];
      pair.chosen = Math.min(pair.chosen, Math.max(pairs.length - 1, 0));
      choice.replaceChildren(...pairs.map((each, k) => h("option", { value: k, selected: k === pair.chosen }, `${each.x} and ${each.y}`)));
      return pairs.length ? drawContour(chart, pairs[pair.chosen]) : false;
    },
    table: () => {
      const c = learned()?.contours?.[pair.chosen];
      return c ? { heads: [`${c.y} \\ ${c.x}`, ...c.x_values.map((v) => number(v, 3))], rows: c.y_values.map((v, row) => [number(v, 3), ...c.mean[row]]) } : { heads: [], rows: [] };
    },
  });
  sliceBox = h("div", { class: "grid", id: "slices" });
  const parallel = new Chart({
    id: "parallel", title: "Parallel coordinates", height: 330, margin: { top: 26, right: 60, bottom: 22, left: 60 },
    empty: "No trial yet.",
    note: () => view.study.objectives ? "One line for each trial. Blue: the front. Gray: the others. Dashed: no value. Bold: the compromise."
      : "One line for each trial. Blue: the best tenth. Green: the better half. Gray: the others, and those that break a limit. Dashed: no value. Bold: the best.",
    draw: drawParallel, click: clickParallel, show: showParallel,
    table: () => trialRows(),
  });
  const box = section("parameters", "Parameters", null, [importance.element, contour.element, parallel.element]);
  const [title, about] = [h("h3", { class: "slices" }), h("p", { class: "muted" })];
  box.append(title, about, sliceBox);
  view.on("data", () => {
    title.textContent = `Slices through the ${centerName()}${of()}`;
    about.textContent = `The model's mean and 95 % band along each parameter, with all others as at the ${centerName()} (dotted). Marks: all trials, whatever their other parameters; open marks are pending. Gray: excluded by constraints.`;
    fillSlices();
  });
  return box;
}

// Of several objectives, which one a figure is about.
function of() {
  return view.study.objectives ? `: ${valueName()}` : "";
}

// The values of trials under their names: those of several objectives, or the only one.
function valueColumns(study) {
  return study.objectives ? study.objectives.map(({ name, maximize }, j) => ({ name, maximize, column: study.trials.measured[j] })) : [{ name: "value", maximize: study.maximize, column: study.trials.value }];
}

function trialRows() {
  const { trials: t, parameters } = view.study, values = valueColumns(view.study);
  return { heads: ["trial", ...values.map(({ name }) => name), ...parameters.map((p) => p.name)], rows: t.number.map((n, k) => [n, ...values.map(({ column }) => column[k]), ...t.params.map((column) => column[k])]) };
}

function fillSlices() {
  const names = (learned()?.slices ?? []).map((slice) => slice.parameter);
  const key = JSON.stringify([view.active, names]);
  if (key === sliceKey) return;
  sliceKey = key;
  for (const chart of sliceCharts) { chart.observer.disconnect(); charts.splice(charts.indexOf(chart), 1); }
  sliceCharts = names.map((name, place) => sliceChart(name, () => learned()?.slices[place]));
  sliceBox.replaceChildren(...sliceCharts.map((chart) => chart.element));
  if (!names.length) sliceBox.append(h("p", { class: "empty" }, "The model has too few results."));
}

function sliceChart(name, get, extra = {}) {
  return new Chart({
    title: () => `${name}${extra.trials === false ? of() : ""}`, wide: "third", height: 220, margin: { top: 14, right: 14, bottom: 26, left: 56 },
    draw: (chart) => {
      const slice = get();
      return slice ? drawSlice(chart, name, slice, extra) : false;
    },
    table: () => { const slice = get(); return { heads: [name, "mean", "low", "high"], rows: slice ? slice.values.map((v, k) => [v, slice.mean[k], slice.low[k], slice.high[k]]) : [] }; },
  });
}

function drawSlice(chart, name, slice, { at, trials = true }) {
  const study = view.study, place = study.parameters.findIndex((each) => each.name === name), parameter = study.parameters[place];
  const { left, right, top, bottom } = chart.inner;
  const t = study.trials, column = t.params[place];
  const ks = trials ? range(t.number.length).filter((k) => t.state[k] !== "forgotten" && column[k] != null) : [];
  const values = ks.map((k) => t.value[k]).filter((v) => v != null);
  const shown = (values.length ? [...values, ...slice.mean] : [...slice.mean, ...slice.low, ...slice.high]).filter(known);
  const [low, high] = shownRange(shown.length ? shown : [0, 1], study.maximize);
  const x = scaleOf(parameter, [left + 4, right - 4]), y = linear([low - 0.06 * (high - low), high], [bottom, top + 4]);
  const clip = (pixel) => clamp(pixel, top, bottom);
  chart.axes(x, y, "", "", { xTicks: 3, yTicks: 3 });
  forbidden(chart, x, slice);
  const band = (k) => [x(slice.values[k]), clip(y(slice.low[k])), clip(y(slice.high[k]))];
  if (x.room) {
    const wide = 0.35 * x.room;
    slice.values.forEach((value, k) => {
      if (!known(slice.mean[k])) return;
      const [px, a, b] = band(k), mean = clip(y(slice.mean[k]));
      chart.svg.append(s("rect", { class: "band", x: px - wide, y: Math.min(a, b), width: 2 * wide, height: Math.abs(b - a) }), s("path", { class: "mean", d: `M${px - wide} ${mean}h${2 * wide}` }));
    });
  } else {
    for (const ks of runs(slice.mean)) {
      const all = ks.map(band);
      chart.svg.append(s("path", { class: "band", d: `${pathOf([...all, ...all.map(([px, , b]) => [px, b]).reverse()])}z` }));
      const mean = ks.map((k) => [x(slice.values[k]), clip(y(slice.mean[k]))]);
      chart.line("mean", mean.length > 1 ? mean : mean.flatMap(([px, py]) => [[px - 2, py], [px + 2, py]]));
    }
  }
  const here = at ?? study.best?.params[place];
  if (here != null) chart.svg.append(s("path", { class: "here", d: `M${round(x(here))} ${top}V${bottom}` }));
  const bad = study.maximize ? bottom - 4 : top + 4;
  const told = (k) => t.value[k] ?? (t.state[k] === "stopped" ? study.curves?.ends[t.number[k]]?.[0] : null); // where it was expected to end
  const height = (k) => (told(k) != null ? clip(y(told(k))) : t.state[k] === "pending" ? (top + bottom) / 2 : bad);
  chart.marks(ks.map((k) => ({ k, x: x(column[k]) + aside(x, k), y: height(k) })), 2.6);
}

// Where a constraint forbids points there is no number.
function known(value) {
  return value != null;
}

// The places of numbers that follow each other, in lists.
function runs(numbers) {
  const found = [];
  numbers.forEach((value, k) => {
    if (!known(value)) return;
    if (k && known(numbers[k - 1])) found.at(-1).push(k);
    else found.push([k]);
  });
  return found;
}

// Gray where constraints forbid values of a slice, up to halfway to the neighbors.
function forbidden(chart, x, slice) {
  const { left, right, top, bottom } = chart.inner, at = slice.values.map((value) => x(value));
  runs(slice.mean.map((value) => (known(value) ? null : 1))).forEach((ks) => {
    const [first, last] = [ks[0], ks.at(-1)];
    const from = first ? (at[first - 1] + at[first]) / 2 : left, to = last + 1 < at.length ? (at[last] + at[last + 1]) / 2 : right;
    chart.svg.append(s("rect", { class: "forbidden", x: Math.min(from, to), y: top, width: Math.abs(to - from), height: bottom - top }));
  });
}

function drawContour(chart, contour) {
  const study = view.study, { left, right, top, bottom } = chart.inner;
  const [px, py] = [contour.x, contour.y].map((name) => study.parameters.findIndex((each) => each.name === name));
  const x = scaleOf(study.parameters[px], [left, right]), y = scaleOf(study.parameters[py], [bottom, top]);
  chart.svg.append(s("rect", { class: "forbidden", x: left, y: top, width: right - left, height: bottom - top }));
  chart.svg.append(s("image", { href: picture(contour.mean, study.maximize), x: left, y: top, width: right - left, height: bottom - top, preserveAspectRatio: "none", style: null, class: x.room || y.room ? "cells" : "" }));
  if (!x.room && !y.room) chart.svg.append(s("path", { class: "iso", d: isolines(contour, x, y) }));
  chart.axes(x, y, contour.x, contour.y, { grid: false });
  const t = study.trials;
  const both = (k) => [px, py].every((p) => t.params[p][k] != null); // which may have conditions
  const ks = range(t.number.length).filter((k) => t.state[k] !== "forgotten" && both(k));
  chart.marks(ks.map((k) => ({ k, x: x(t.params[px][k]) + aside(x, k), y: y(t.params[py][k]) + aside(y, k + 7) })), 2.8);
  if (study.best) ring(chart.svg, "circle", { r: 9, cx: x(study.best.params[px]), cy: y(study.best.params[py]) });
}

function picture(rows, maximize) {
  const style = getComputedStyle(document.documentElement);
  const stops = ["--low", "--mid", "--high"].map((name) => rgb(style.getPropertyValue(name)));
  const flat = rows.flat().filter(known).sort((a, b) => a - b);
  const canvas = h("canvas", { width: rows[0].length, height: rows.length }), context = canvas.getContext("2d");
  const image = context.createImageData(rows[0].length, rows.length);
  rows.forEach((row, r) => row.forEach((value, c) => {
    if (!known(value)) return;
    // By rank, so that a few very bad values leave colors for the others.
    const share = rank(flat, value), t = 2 * (maximize ? 1 - share : share), k = Math.min(Math.floor(t), 1);
    const at = 4 * ((rows.length - 1 - r) * row.length + c);
    for (let i = 0; i < 3; i++) image.data[at + i] = stops[k][i] + (t - k) * (stops[k + 1][i] - stops[k][i]);
    image.data[at + 3] = 255;
  }));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function rank(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] < value) low = middle + 1; else high = middle; }
  return low / Math.max(sorted.length - 1, 1) > 1 ? 1 : low / Math.max(sorted.length - 1, 1);
}

function rgb(text) {
  const hex = text.trim().slice(1);
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

// Lines of equal mean, by marching squares, at nine levels that hold equally many cells each.
function isolines({ mean, x_values, y_values }, x, y) {
  const flat = mean.flat().filter(known).sort((a, b) => a - b), parts = [];
  for (const level of range(9).map((k) => quantile(flat, (k + 1) / 10))) {
    for (let r = 0; r + 1 < mean.length; r++) for (let c = 0; c + 1 < mean[0].length; c++) {
      const corners = [[r, c], [r, c + 1], [r + 1, c + 1], [r + 1, c]], cuts = [];
      if (!corners.every(([a, b]) => known(mean[a][b]))) continue;
      corners.forEach(([a, b], k) => {
        const [d, e] = corners[(k + 1) % 4], [u, v] = [mean[a][b], mean[d][e]];
        if ((u < level) === (v < level)) return;
        const share = (level - u) / (v - u), between = (p, q) => p + share * (q - p);
        cuts.push(`${round(between(x(x_values[b]), x(x_values[e])))} ${round(between(y(y_values[a]), y(y_values[d])))}`);
      });
      for (let k = 0; k + 1 < cuts.length; k += 2) parts.push(`M${cuts[k]}L${cuts[k + 1]}`);
    }
  }
  return parts.join("");
}

function drawParallel(chart) {
  const study = view.study, t = study.trials;
  if (!t.number.length) return false;
  const values = valueColumns(study);
  // Names that are too long for the room between two axes stand on several lines in turn.
  const room = (chart.inner.right - chart.inner.left) / (study.parameters.length + values.length - 1), LETTER = 7.5, LINE = 15;
  const longest = Math.max(...[...study.parameters, ...values].map(({ name }) => Math.min(name.length, 16)));
  const lines = Math.min(Math.ceil(((longest + 1) * LETTER) / room), 4);
  chart.margin.top = 26 + LINE * (lines - 1);
  const { left, right, top, bottom } = chart.inner;
  const axes = study.parameters.map((parameter, p) => ({ name: parameter.name, at: left + p * room, scale: scaleOf(parameter, [bottom, top]), column: t.params[p] }));
  values.forEach(({ name, maximize, column }, j) => {
    const measured = column.filter(known), shown = shownRange(measured.length ? measured : [0, 1], maximize);
    axes.push({ name, at: right - (values.length - 1 - j) * room, scale: linear(shown, [bottom, top]), column, bad: maximize ? bottom : top });
  });
  const up = (place) => LINE * (place % lines);
  for (const [place, axis] of axes.entries()) chart.svg.append(s("path", { class: "axis", d: `M${round(axis.at)} ${top - up(place)}V${bottom}` }));
  for (const [place, axis] of axes.entries()) {
    chart.svg.append(s("text", { x: axis.at, y: top - 10 - up(place), "text-anchor": "middle", class: "strong over title" }, short(axis.name, Math.max(4, Math.floor((lines * room) / LETTER) - 1))));
    const ticks = axis.scale.ticks(room < 60 ? 2 : 4);
    for (const [at, text] of ticks) chart.svg.append(s("text", { x: axis.at - 5, y: round(at) + 4, "text-anchor": "end", class: "over" }, short(text, Math.max(5, Math.floor(room / 9)))));
  }
  const sorted = t.value.filter((v, k) => v != null && t.broken[k] == null).sort((a, b) => (study.maximize ? b - a : a - b));
  const [tenth, half] = [quantile(sorted, 0.1), quantile(sorted, 0.5)];
  const better = (a, b) => (study.maximize ? a >= b : a <= b);
  const groups = new Map();
  chart.lines = [];
  t.number.forEach((n, k) => {
    const value = t.value[k];
    const path = axes.filter((axis) => axis.bad != null || axis.column[k] != null).map((axis) => [axis.at, axis.column[k] == null ? axis.bad : clamp(axis.scale(axis.column[k]) + aside(axis.scale, k, 0.5), top, bottom)]);
    chart.lines.push({ k, path });
    const kind = value == null ? (FAILED.has(t.state[k]) ? "fail" : "q3") : study.best?.number === n ? "top" : study.objectives ? (t.front[k] ? "q0" : "q3") : t.broken[k] != null ? "q3" : better(value, tenth) ? "q0" : better(value, half) ? "q1" : "q3";
    const name = `poly ${kind}${view.kept(study, k) ? "" : " dim"}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(pathOf(path));
  });
  const order = ["q3", "fail", "q1", "q0", "top"];
  for (const [name, parts] of [...groups].sort(([a], [b]) => order.indexOf(a.split(" ")[1]) - order.indexOf(b.split(" ")[1]))) chart.svg.prepend(s("path", { class: name, d: parts.join("") }));
  // For the keyboard and for marking: where each line meets the last axis.
  chart.points = chart.lines.map(({ k, path }) => ({ k, x: path[path.length - 1][0], y: path[path.length - 1][1] }));
}

function clickParallel([x, y]) {
  let found = null, best = 10;
  for (const { k, path } of this.lines ?? []) {
    const place = path.findIndex(([at], p) => p + 1 < path.length && x >= at && x <= path[p + 1][0]);
    if (place < 0) continue;
    const [[a, b], [c, d]] = [path[place], path[place + 1]];
    const distance = Math.abs(b + ((x - a) / (c - a)) * (d - b) - y);
    if (distance < best) { best = distance; found = k; }
  }
  if (found != null) view.choose(view.study.trials.number[found]);
}

function showParallel(chart, chosen) {
  const line = chart.lines?.find(({ k }) => view.study.trials.number[k] === chosen);
  if (line) ring(chart.top, "path", { d: pathOf(line.path) });
}
