// Several objectives: the front of each two of them, the trials on it, and which are in conflict. And the objective that
// all other figures show.

const axesShown = { pair: 0 };

// Of several objectives, one is the value of all figures that show one value.
function focus(study) {
  if (!study.objectives) return;
  const t = study.trials, j = Math.min(view.objective, study.objectives.length - 1), { maximize, calibration, means, stds } = study.objectives[j];
  Object.assign(study, { maximize, calibration });
  const roles = new Map(study.front.trials.map((n) => [n, ["front"]]));
  for (const [name, n] of Object.entries(study.front.extremes)) roles.get(n).push(`best ${name}`);
  if (study.best) roles.get(study.best.number).push("compromise");
  Object.assign(t, { value: t.measured[j], mean: means, std: stds, front: t.number.map((n) => roles.get(n)?.join(", ") ?? null) });
  study.roles = roles;
}

// The name of the value: that of the objective shown, if there are several.
function valueName() {
  return view.study?.objectives?.[view.objective]?.name ?? "value";
}

// What the model has learned; of several objectives, that of the one shown.
function learned() {
  return view.study.objectives ? view.study.models?.each?.[view.objective] : view.study.model;
}

function centerName() {
  return view.study?.objectives ? "compromise" : "best point";
}

function objectiveSwitch() {
  const box = h("span", { class: "group", id: "objective", role: "group", "aria-label": "Objective" });
  const choose = (j) => () => { view.objective = j; view.studies.forEach(focus); update(); box.querySelectorAll("button")[j].focus(); };
  view.on("data", () => {
    const all = view.study.objectives ?? [];
    view.objective = Math.min(view.objective, Math.max(all.length - 1, 0));
    box.hidden = !all.length;
    box.replaceChildren(h("span", { class: "muted" }, "objective"), ...all.map(({ name }, j) => h("button", { "aria-pressed": String(j === view.objective), onclick: choose(j) }, name)));
  });
  return box;
}

function objectivesSection() {
  const choice = h("select", { "aria-label": "Pair of objectives", onchange: (event) => { axesShown.pair = Number(event.target.value); redraw(); } });
  const controls = h("div", { class: "controls" }, h("label", {}, "objectives ", choice));
  const chart = new Chart({
    id: "tradeoffs", title: "The front", wide: "half", height: 500, margin: { top: 20, right: 20, bottom: 40, left: 66 }, controls,
    empty: "No evaluation has given a value yet.",
    note: () => `Rings and line: the trials that no other beats${view.study.objectives?.length > 2 ? " (the line: in these two objectives)" : ""}. Green: the front that the models predict, with 95 % bands. Open marks: pending, as predicted. Very bad values are drawn at the edge.${view.study.front?.noisy ? " Values are noisy: rings and line are at the models' means." : ""}`,
    draw: (chart) => {
      const pairs = pairsOfObjectives();
      axesShown.pair = Math.min(axesShown.pair, Math.max(pairs.length - 1, 0));
      controls.hidden = pairs.length < 2;
      choice.replaceChildren(...pairs.map(([a, b], k) => h("option", { value: k, selected: k === axesShown.pair }, `${view.study.objectives[a].name} and ${view.study.objectives[b].name}`)));
      return pairs.length ? drawTradeoffs(chart) : false;
    },
    table: () => {
      const { objectives = [], trials: t, models } = view.study, { mean = [], params = [] } = models?.predicted ?? {};
      const done = range(t.number.length).filter((k) => t.state[k] === "done");
      return { heads: ["trial", ...objectives.map(({ name }) => name), "front", "at"], rows: [
        ...done.map((k) => [t.number[k], ...objectives.map((_, j) => t.measured[j][k]), t.front[k] ?? "", pairsOf(view.study, t.params.map((column) => column[k])).join(", ")]),
        ...(mean[0] ?? []).map((_, k) => ["predicted", ...mean.map((column) => column[k]), "", pairsOf(view.study, params.map((column) => column[k])).join(", ")])] };
    },
  });
  const facts = h("div", { class: "card half", id: "on-front" });
  const box = section("objectives", "Front", null, [chart.element, facts]);
  view.on("data", () => {
    for (const each of [box, ...document.querySelectorAll("nav a[href='#objectives']")]) each.hidden = !view.study.objectives;
    facts.replaceChildren(...(view.study.objectives ? frontFacts(view.study) : []));
  });
  return box;
}

function frontFacts(study) {
  const { front, objectives, roles, models } = study, link = (n) => (n >= 0 ? h("button", { class: "link", onclick: () => view.choose(n) }, String(n)) : `observed ${-n}`);
  const rows = front.trials.map((n, k) => [link(n), ...front.values[k], roles.get(n).slice(1).join(", ")]);
  const limit = front.reference && Object.entries(front.reference).map(([name, value]) => `${name} = ${number(value)}`).join(", ");
  const clashes = models?.conflicts ?? [];
  return [h("h3", {}, "Trials on the front"),
    rows.length ? h("div", { class: "scroll" }, plainTable(["trial", ...objectives.map(({ name }) => name), ""], rows)) : h("p", { class: "empty" }, "No trial is on the front yet."),
    limit ? h("p", { class: "muted" }, `Hypervolume ${number(front.hypervolume)}, up to the reference point ${limit}. The compromise lies nearest to the best value of each objective, in shares of the front's ranges.`) : null,
    h("h3", {}, "In conflict or not"),
    ...(clashes.length ? [h("ul", { class: "conflicts" }, clashes.map(({ text }) => h("li", {}, text))),
      h("p", { class: "muted" }, "As the models predict. What an objective can gain is the way from its typical value, the median over the space, to its best. A rank correlation of 1 means that what is good for one is good for the other, -1 that it is bad.")] : [h("p", { class: "empty" }, rows.length ? "The models have too few results." : "This takes a front, and models of the objectives.")])].filter((each) => each);
}

function pairsOfObjectives() {
  const ks = range(view.study.objectives?.length ?? 0);
  return ks.flatMap((a) => ks.slice(a + 1).map((b) => [a, b]));
}

// Where a trial lies: as measured or, while it is pending, as predicted.
function placeOf(study, k) {
  const pending = study.trials.state[k] === "pending";
  return study.objectives.map(({ means }, j) => (pending ? means[k] : study.trials.measured[j][k]));
}

// Scales for two objectives that show all of these values, and what is not very bad of the others.
function objectiveScales(chart, axes, must, others) {
  const { left, right, top, bottom } = chart.inner;
  const scales = axes.map((j, side) => {
    const { maximize } = view.study.objectives[j], values = others.map((each) => each[j]).filter(known);
    const [low, high] = extent([...must.map((each) => each[j]), ...(values.length ? shownRange(values, maximize) : [])]);
    const room = 0.05 * (high - low || 1);
    return linear([low - room, high + room], side ? [bottom, top] : [left, right]);
  });
  const [x, y] = scales, [p, q] = axes.map((j) => view.study.objectives[j]);
  const told = ({ name, maximize }) => `${name} (${maximize ? "large" : "small"} is good)`;
  chart.axes(x, y, told(p), told(q));
  return (values) => [round(clamp(x(values[axes[0]]), left + 3, right - 3)), round(clamp(y(values[axes[1]]), top + 3, bottom - 3))];
}

// The edge of what these values beat in two objectives, up to a reference.
function frontSteps(values, reference, [a, b], at) {
  const better = (j) => (view.study.objectives[j].maximize ? (u, v) => u > v : (u, v) => u < v);
  const sorted = [...values].sort((u, v) => (u[a] === v[a] ? (better(b)(u[b], v[b]) ? -1 : 1) : better(a)(u[a], v[a]) ? -1 : 1));
  const kept = sorted.filter((each, k) => sorted.slice(0, k).every((before) => better(b)(each[b], before[b])));
  const corner = (first, second) => { const made = [...first]; made[b] = second[b]; return made; };
  if (!kept.length) return [];
  const path = reference ? [corner(kept[0], reference)] : [];
  kept.forEach((each, k) => path.push(each, ...(k + 1 < kept.length ? [corner(kept[k + 1], each)] : [])));
  if (reference) path.push(corner(reference, kept.at(-1)));
  return path.map(at);
}

// The 95 % bands of predictions: an area along a line, from their good ends to their bad ones; else a cross for each.
function drawBands(chart, found, at, along) {
  const ends = (up) => found.mean[0].map((_, k) => at(view.study.objectives.map(({ maximize }, j) => found[maximize === up ? "high" : "low"][j][k])));
  if (along) { chart.svg.append(s("path", { class: "uncertain area", d: `${pathOf([...ends(true), ...ends(false).reverse()])}z` })); return; }
  const parts = found.mean[0].map((_, k) => {
    const [mean, low, high] = ["mean", "low", "high"].map((part) => at(found[part].map((column) => column[k])));
    return `M${low[0]} ${mean[1]}H${high[0]}M${mean[0]} ${low[1]}V${high[1]}`;
  });
  chart.svg.append(s("path", { class: "uncertain", d: parts.join("") }));
}

function drawTradeoffs(chart) {
  const study = view.study, t = study.trials, { front } = study, axes = pairsOfObjectives()[axesShown.pair];
  const ks = range(t.number.length).filter((k) => t.state[k] !== "forgotten" && placeOf(study, k).every(known));
  if (!ks.length && !front.values.length) return false;
  const reference = front.reference && study.objectives.map(({ name }) => front.reference[name]);
  const found = study.models?.predicted, members = (found?.mean[0] ?? []).map((_, k) => found.mean.map((column) => column[k]));
  const at = objectiveScales(chart, axes, [...front.values, ...members, ...(reference ? [reference] : [])], ks.map((k) => placeOf(study, k)));
  if (found) {
    drawBands(chart, found, at, study.objectives.length === 2);
    if (study.objectives.length === 2) chart.line("member", members.map(at));
    chart.svg.append(s("path", { class: "predicted", d: members.map((each) => SHAPES.circle(...at(each), 2)).join("") }));
  }
  chart.line("best", frontSteps(front.values, reference, axes, at));
  chart.marks(ks.map((k) => { const [x, y] = at(placeOf(study, k)); return { k, x, y }; }));
  chart.svg.append(s("path", { class: "won", d: front.values.map((each) => SHAPES.circle(...at(each), 6.5)).join("") }));
  const named = front.trials.map((n, k) => [study.roles.get(n).slice(1).join(", "), ...at(front.values[k])]);
  if (reference) {
    chart.svg.append(s("path", { class: "reference", d: SHAPES.cross(...at(reference), 4) }));
    named.push(["reference", ...at(reference)]);
  }
  nameMarks(chart, named);
  chart.points.push(...members.map((each, k) => { const [x, y] = at(each); return { x, y, text: ["predicted", ...study.objectives.map(({ name }, j) => `${name} ${number(found.mean[j][k])} (${number(found.low[j][k], 3)} to ${number(found.high[j][k], 3)})`), ...pairsOf(study, found.params.map((column) => column[k]))].join("\n") }; }));
}

// Words beside marks, where there is room; two that would collide are put one above the other.
function nameMarks(chart, named) {
  const { left, right } = chart.inner, taken = [];
  for (const [text, x, y] of named.filter(([text]) => text)) {
    const back = x > (left + right) / 2, width = 7 * text.length, from = back ? x - 8 - width : x + 8;
    let up = y - 12;
    while (taken.some(([a, b, c]) => from < b && a < from + width && Math.abs(c - up) < 14)) up -= 14;
    taken.push([from, from + width, up]);
    chart.svg.append(s("text", { class: "strong over", x: back ? x - 8 : x + 8, y: up, "text-anchor": back ? "end" : "start" }, text));
  }
}

// One decision: what was measured then, what was predicted, and what came out.
function drawChoice(chart, f) {
  const study = view.study, axes = pairsOfObjectives()[axesShown.pair], k = study.place.get(f.number);
  const since = placeOf(study, k), came = study.trials.state[k] === "done", pending = f.pending.map(([n, ...place]) => [n, place]);
  const [mean, low, high] = f.taken;
  const at = objectiveScales(chart, axes, [mean, ...f.front, ...(came ? [since] : [])], pending.map(([, place]) => place));
  chart.line("best", frontSteps(f.front, null, axes, at));
  chart.svg.append(s("path", { class: "won", d: f.front.map((each) => SHAPES.circle(...at(each), 3)).join("") }));
  drawBands(chart, { mean: mean.map((v) => [v]), low: low.map((v) => [v]), high: high.map((v) => [v]) }, at);
  chart.svg.append(s("path", { class: "m c1 open", d: pending.map(([, place]) => SHAPES.circle(...at(place), 5)).join("") }));
  chart.points = pending.map(([n, place]) => { const [x, y] = at(place); return { k: study.place.get(n), x, y, text: `pending at that time: trial ${n}` }; });
  const [x, y] = at(mean), style = moveStyle(f.move);
  if (came) {
    const [u, v] = at(since);
    chart.line("here", [[x, y], [u, v]]);
    chart.marks([{ k, x: u, y: v }]);
  }
  chart.svg.append(s("path", { class: `m ${style.color}`, d: SHAPES[style.shape](x, y, 8) }));
  nameMarks(chart, [[`trial ${f.number}: ${f.move}`, x, y]]);
  chart.points.push({ k, x, y });
}
