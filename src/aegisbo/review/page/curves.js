// What evaluations reported while they ran: all curves, where those that run are expected to end, and what stopping
// spared. The page of a run without reports has none of this.

const OVER = ["stopped", "ended", "bad", "running", "best"]; // kinds of curves, the topmost last

function curvesSection() {
  const chart = new Chart({
    id: "curves-chart", title: () => `Reported values${view.study.curves?.number.length ? ` of ${view.study.curves.number.length} evaluations` : ""}`, height: 380,
    empty: "No evaluation has reported anything.",
    controls: h("div", { class: "controls" }, scaleToggle(), curveLegend()),
    note: "Point at a curve to read it, click to choose it: then it also shows where it is or was expected to end. Very bad values are drawn at the edge.",
    draw: drawCurves,
    show: (chart, chosen) => {
      const line = chart.lines?.find(({ k }) => view.study.trials.number[k] === chosen);
      if (!line) return;
      ring(chart.top, "path", { d: pathOf(line.path) });
      if (line.end) drawEnd(chart.top, line);
    },
    table: () => {
      const { trials: t, curves: c, place } = view.study;
      return { heads: ["trial", "state", "reports", "last step", "reported last", "value", "expected end", "standard deviation", "chance to be the best, %"],
        rows: c.number.map((n, i) => { const k = place.get(n), [end, sd, chance] = c.ends[n] ?? []; return [n, t.state[k], c.reports[i], c.steps[i].at(-1), c.values[i].at(-1), t.value[k], end, sd, chance == null ? null : 100 * chance]; }) };
    },
  });
  const spared = h("div", { class: "card half", id: "spared" }), doubtful = h("div", { class: "card half", id: "doubtful" });
  const box = section("curves", "Curves", null, [chart.element, spared, doubtful]);
  view.on("data", () => {
    const c = view.study.curves;
    for (const each of [box, ...document.querySelectorAll("nav a[href='#curves']")]) each.hidden = !c;
    spared.replaceChildren(...(c ? sparedFacts(view.study) : []));
    doubtful.replaceChildren(...(c ? doubtfulFacts(view.study) : []));
    spared.hidden = doubtful.hidden = !c || !view.study.trials.state.includes("stopped");
  });
  return box;
}

function curveLegend() {
  const entry = (kind, words) => h("span", { class: "group" }, s("svg", { viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true" }, s("path", { class: `curve ${kind}`, d: kind === "stopped" ? "M1 6H22M22 1V11" : "M1 6H25" })), words);
  return h("span", { class: "legend" }, [["best", "the best"], ["running", "running, with the expected end and its 95 % band"], ["ended", "with a value"], ["stopped", "stopped early"]].map((each) => entry(...each)));
}

function kindOf(study, k) {
  const { state, number } = study.trials;
  return study.best?.number === number[k] ? "best" : state[k] === "pending" ? "running" : state[k] === "stopped" ? "stopped" : state[k] === "done" ? "ended" : "bad";
}

// The places of a curve's points. A value that was not finite is drawn at the bad end; a trial ends with its value.
function curveOf(study, i, x, y) {
  const { trials: t, curves: c } = study, k = study.place.get(c.number[i]);
  const path = c.steps[i].map((step, j) => [x(step), y(c.values[i][j])]);
  if (t.state[k] === "done" && t.value[k] != null && !study.objectives) path.push([x(c.steps[i].at(-1)), y(t.value[k])]);
  const [end, sd] = c.ends[c.number[i]] ?? [];
  const band = end == null || c.last_step == null ? null : { from: path.at(-1), x: x(c.last_step), y: y(end), low: y(end - 1.959964 * sd), high: y(end + 1.959964 * sd) };
  return { k, i, path, end: band };
}

// The expected end of an evaluation that runs and the ends of its band, for which there must be room.
function bandOf(study, i) {
  const n = study.curves.number[i], [end, sd] = study.curves.ends[n] ?? [];
  return end != null && study.trials.state[study.place.get(n)] === "pending" ? [end - 1.959964 * sd, end, end + 1.959964 * sd] : [end];
}

// Scales for some curves: all values fit, or very bad ones fall to the edge.
function curveScales(study, some, { left, right, top, bottom }, shown) {
  const { curves: c } = study, reported = some.flatMap((i) => c.values[i]).filter((value) => value != null);
  const log = scaleChoice.log && reported.length && extent(reported)[0] > 0;
  const values = [...reported, ...some.flatMap((i) => bandOf(study, i)).filter((value) => value != null && (value > 0 || !log))];
  const all = values.length ? values : [0, 1];
  const [low, high] = shown(all, study.maximize), room = 0.05 * (high - low || 1);
  const [first, last] = extent(some.flatMap((i) => c.steps[i]));
  const x = linear([Math.min(first, 0), Math.max(last, c.last_step ?? last)], [left, right]);
  const y = log ? logarithmic([low / 1.05, high * 1.05], [bottom - 6, top + 6]) : linear([low - room, high + room], [bottom - 6, top + 6]);
  const bad = study.maximize ? bottom - 2 : top + 4, good = study.maximize ? top + 4 : bottom - 2;
  const clip = (value) => (value == null ? bad : log && value <= 0 ? (study.maximize ? bad : good) : clamp(y(value), top + 4, bottom - 2));
  return { x, y, clip };
}

function drawEnd(svg, { end }) {
  const [x, y] = end.from;
  svg.append(s("path", { class: "band", d: `${pathOf([[x, y], [end.x, end.low], [end.x, end.high]])}z` }), s("path", { class: "curve expected", d: pathOf([[x, y], [end.x, end.y]]) }),
    s("path", { class: "curve running", d: `M${round(end.x - 4)} ${round(end.low)}h8M${round(end.x - 4)} ${round(end.high)}h8M${round(end.x)} ${round(end.low)}V${round(end.high)}` }));
}

function drawCurves(chart) {
  const study = view.study, c = study.curves, t = study.trials;
  if (!c?.number.length) return false;
  const { left, right, top, bottom } = chart.inner, { x, y, clip } = curveScales(study, range(c.number.length), { left, right: right - 10, top, bottom }, shownRange);
  chart.axes(x, y, "step", "value reported");
  chart.lines = range(c.number.length).map((i) => curveOf(study, i, x, clip));
  const groups = new Map(), many = c.number.length > 200;
  for (const { k, path } of chart.lines) {
    const name = `curve ${kindOf(study, k)}${many ? " many" : ""}${view.kept(study, k) ? "" : " dim"}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(pathOf(path));
  }
  for (const line of chart.lines) if (t.state[line.k] === "pending" && line.end && view.kept(study, line.k)) drawEnd(chart.svg, line);
  const height = (name) => OVER.indexOf(name.split(" ")[1]) - (name.endsWith("dim") ? OVER.length : 0);
  for (const [name, parts] of [...groups].sort(([a], [b]) => height(a) - height(b))) chart.svg.append(s("path", { class: name, d: parts.join(""), "data-count": parts.length }));
  chart.marks(chart.lines.map(({ k, path }) => ({ k, x: path.at(-1)[0], y: path.at(-1)[1] })), many ? 2 : undefined);
  for (const { k, i, path } of chart.lines) path.forEach(([px, py], j) => chart.points.push({ k, x: px, y: py, passing: true, text: told(i, Math.min(j, c.steps[i].length - 1)) }));

  function told(i, j) {
    const [end, sd, chance] = c.ends[c.number[i]] ?? [];
    const ahead = end == null ? [] : [`expected end ${number(end)} ± ${number(sd, 3)}, chance to be the best ${percent(chance)}`];
    return [`step ${number(c.steps[i][j])}: ${number(c.values[i][j], 6)}`, ...ahead, describe(study, study.place.get(c.number[i]))].join("\n");
  }
}

function sparedFacts(study) {
  const { spared } = study.curves, count = study.trials.state.filter((state) => state === "stopped").length;
  const title = h("h3", {}, "What stopping spared");
  if (!spared) return [title, h("p", {}, `${count} evaluations were stopped early. How long they would have taken is not known: no evaluation with a known time has a value yet.`)];
  const { took, full, seconds, stopped } = spared;
  return [title, h("p", { class: "big" }, h("b", {}, duration(seconds)), ` of the workers' time, ${percent(seconds / (seconds + took))} of what these evaluations would have taken`),
    h("p", { class: "muted" }, `An estimate: ${stopped} evaluations were stopped after ${duration(took / stopped)} on average. Each would have taken ${duration(full)}, the median of those with a value; one that took longer counts as 0.`)];
}

function doubtfulFacts(study) {
  const { curves: c, trials: t } = study;
  const rows = c.doubtful.map((n) => {
    const i = c.number.indexOf(n), [end, sd, chance] = c.ends[n];
    return [h("button", { class: "link", onclick: () => view.choose(n) }, String(n)), percent(chance), `${number(end, 3)} ± ${number(sd, 2)}`, `${number(c.values[i].at(-1), 3)} at step ${number(c.steps[i].at(-1))}`];
  });
  const heads = ["trial", "chance", "expected end", "reported"];
  return [h("h3", {}, "Doubtful stops"),
    h("p", { class: "muted" }, rows.length ? "Stopped evaluations with the largest chance to have ended better than the best value, as far as is known now." : "No stopped evaluation has a chance of more than 1 % to have ended better than the best value, as far as is known now."),
    ...(rows.length ? [h("div", { class: "scroll" }, plainTable(heads, rows))] : [])];
}

// The curve of one trial beside that of the best, for the card of a trial.
function trialCurve(study, k) {
  const c = study.curves, i = c ? c.number.indexOf(study.trials.number[k]) : -1;
  if (i < 0) return [];
  const best = c.number.indexOf(study.best?.number), some = [...new Set([best, i])].filter((each) => each >= 0);
  const box = { left: 46, right: 352, top: 8, bottom: 104 }, { x, y, clip } = curveScales(study, some, box, extent);
  const svg = s("svg", { viewBox: "0 0 360 124", role: "img", "aria-label": `The values that trial ${study.trials.number[k]} reported${best >= 0 && best !== i ? ", and those of the best" : ""}` });
  svg.append(s("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }));
  for (const [at, text] of y.ticks(3)) svg.append(s("text", { x: box.left - 5, y: at + 4, "text-anchor": "end" }, short(text, 6)));
  for (const [at, text] of x.ticks(4)) svg.append(s("text", { x: at, y: box.bottom + 15, "text-anchor": at > box.right - 12 ? "end" : "middle" }, text));
  for (const each of some) {
    const line = curveOf(study, each, x, clip);
    if (each === i && line.end) drawEnd(svg, line);
    svg.append(s("path", { class: `curve ${kindOf(study, line.k)}${each === i ? " mine" : ""}`, d: pathOf(line.path) }));
    if (each === i) drawMarks(svg, study, [{ k, x: line.path.at(-1)[0], y: line.path.at(-1)[1] }], 4.5);
  }
  return [svg];
}

// What is known of a trial's curve, as rows of its card.
function curveRows(study, k) {
  const c = study.curves, n = study.trials.number[k], i = c ? c.number.indexOf(n) : -1;
  if (i < 0) return [];
  const [end, sd, chance] = c.ends[n] ?? [], then = c.stops[n], last = c.steps[i].at(-1);
  return [["reported", `${number(c.values[i].at(-1))} at step ${number(last)}`],
    ["expected end", end == null ? null : `${number(end)} ± ${number(sd, 3)}`], ["chance to be the best", chance == null ? null : percent(chance)],
    ["known when stopped", then ? `${then.step == null ? "" : `${number(then.value)} at step ${number(then.step)}, `}${then.known} results, ${then.others} other curves` : null]];
}

// For the table of trials: how far each came.
function curveColumns(study) {
  const c = study.curves;
  if (!c) return [];
  const places = new Map(c.number.map((n, i) => [n, i]));
  const column = (value) => study.trials.number.map((n) => (places.has(n) ? value(n, places.get(n)) : null));
  return [["last step", "step", column((n, i) => c.steps[i].at(-1))], ["reported", "reported", column((n, i) => c.values[i].at(-1))], ["expected end", "expected", column((n) => c.ends[n]?.[0])]];
}
