// One decision: the Pareto front of mean and uncertainty, the chosen point, the pending points, mean and band.

const decision = { number: null, drawn: "", box: null, charts: [], choice: null, note: null };

function decisionSection() {
  decision.choice = h("select", { "aria-label": "Decision", onchange: (event) => showDecision(Number(event.target.value)) });
  decision.note = h("p", { class: "muted" });
  decision.front = new Chart({
    id: "front", title: "What the model believed then", height: 320, wide: "half",
    empty: "No model was used for these choices, or no study recorded them.",
    draw: drawFront,
    note: () => view.study.objectives ? "Line: the front that was measured then. Large mark: the chosen point as predicted, with 95 % bands; dotted: to what was measured there. Rings: points that were pending, as predicted."
      : "Line: the Pareto front of low (good) mean and high uncertainty. Large mark: the chosen point. Rings: points that were pending. Dotted: the best value then.",
    table: () => {
      const f = currentFront();
      if (f && view.study.objectives) return { heads: ["what", ...view.study.objectives.map(({ name }) => name)], rows: [...["predicted", "low", "high"].map((what, part) => [what, ...f.taken[part]]), ...f.pending.map(([n, ...place]) => [`pending ${n}`, ...place]), ...f.front.map((place) => ["front", ...place])] };
      return f ? { heads: ["what", "mean", "std"], rows: [["chosen", f.taken[0], f.taken[1]], ...f.pending.map(([n, mean, std]) => [`pending ${n}`, mean, std]), ...f.members.map(([mean, std]) => ["front", mean, std])] } : { heads: [], rows: [] };
    },
  });
  decision.box = h("div", { class: "grid" });
  const box = section("decision", "One decision", null, []);
  box.querySelector(".grid").before(h("div", { class: "controls" }, h("label", {}, "decision for ", decision.choice)), decision.note);
  box.querySelector(".grid").replaceWith(decision.box);
  decision.facts = h("div", { class: "card half" });
  decision.box.append(decision.front.element, decision.facts);
  view.on("data", fillDecision);
  return box;
}

function currentFront() {
  return view.study?.fronts?.find((front) => front.number === decision.number);
}

function fillDecision() {
  const fronts = view.study.fronts ?? [];
  if (!fronts.some((front) => front.number === decision.number)) decision.number = fronts.at(-1)?.number ?? null;
  const t = view.study.trials, best = view.study.best?.number;
  const numbers = live ? t.number.filter((_, k) => t.mean[k] != null) : fronts.map((front) => front.number);
  decision.choice.replaceChildren(...numbers.map((n) => h("option", { value: n, selected: n === decision.number }, `trial ${n} · ${t.move[view.study.place.get(n)]}${n === best ? ` · the ${view.study.objectives ? "compromise" : "best"}` : ""}`)));
  decision.choice.disabled = !numbers.length;
  decision.note.textContent = live || !fronts.length ? "" : `This file holds ${fronts.length} decisions in full; \`aegisbo serve\` shows the others.`;
  drawDecision();
}

async function showDecision(trial) {
  if (!view.study.fronts?.some((front) => front.number === trial) && live) {
    const answer = await fetch(`api/front?study=${view.active}&trial=${trial}`).catch(() => null);
    decision.note.textContent = !answer ? "The server did not answer: is it still running?" : answer.ok ? "" : await answer.text();
    if (!answer?.ok) return;
    (view.study.fronts ??= []).push(await answer.json());
  }
  decision.number = trial;
  drawDecision();
}

function drawDecision() {
  const key = JSON.stringify([view.active, view.study.objectives && view.objective, currentFront() ?? null]);
  if (key === decision.drawn) return;
  decision.drawn = key;
  for (const chart of decision.charts) { chart.observer.disconnect(); charts.splice(charts.indexOf(chart), 1); chart.element.remove(); }
  const front = currentFront(), study = view.study;
  const k = front ? study.place.get(front.number) : null;
  const slices = study.objectives ? front?.slices[view.objective] : front?.slices;
  decision.charts = (slices ?? []).map((slice) => {
    const place = study.parameters.findIndex((each) => each.name === slice.parameter);
    return sliceChart(slice.parameter, () => slice, { at: study.trials.params[place][k], trials: false });
  });
  decision.facts.replaceChildren(...(front ? decisionFacts(study, front, k) : []));
  decision.box.append(...decision.charts.map((chart) => chart.element));
  decision.front.render();
}

function decisionFacts(study, front, k) {
  const t = study.trials;
  const { meaning } = moveStyle(front.move);
  const rows = [["move", meaning ? `${front.move}: ${meaning}` : front.move], ["instead of a known point", instead(t.guard[k])], ...foretold(study, k), ["measured since", told(study, k) ?? t.state[k]],
    ["best value then", front.best], ["results known", t.known[k]], ["results in, but not known yet", t.behind[k]], ["pending trials", front.pending.map(([n]) => `trial ${n}`).join(", ") || "none"],
    ["seconds to choose", t.choosing[k]], ...study.parameters.map((parameter, p) => [parameter.name, t.params[p][k]])];
  return [h("h3", {}, `Trial ${front.number}`), h("div", { class: "scroll" }, plainTable(["what", "value"], rows.filter(([, value]) => value != null).map(([name, value]) => [name, number(value, 6)])))];
}

// What was predicted for a trial, and what was measured there; of several objectives, each with its name.
function foretold(study, k) {
  const { mean, std } = study.trials, text = (a, b) => `${number(a)} ± ${number(b, 3)}`;
  if (mean[k] == null) return [];
  return study.objectives ? study.objectives.map(({ name, means, stds }) => [`${name} predicted`, text(means[k], stds[k])]) : [["predicted", text(mean[k], std[k])]];
}

function told(study, k) {
  const { trials: t, objectives } = study;
  return objectives && t.state[k] === "done" ? objectives.map(({ name }, j) => `${name} ${number(t.measured[j][k], 6)}`).join(", ") : t.value[k];
}

function drawFront(chart) {
  const f = currentFront();
  if (!f) return false;
  if (view.study.objectives) { drawChoice(chart, f); return; }
  const { left, right, top, bottom } = chart.inner, places = [f.taken, ...f.members, ...f.pending.map(([, ...place]) => place)];
  const [low, high] = shownRange([f.best, ...places.map(([mean]) => mean)], view.study.maximize);
  const most = extent(places.map(([, std]) => std))[1];
  const room = 0.05 * (high - low || 1);
  const x = linear([low - room, high + room], [left, right]), y = linear([0, 1.08 * (most || 1)], [bottom, top]);
  const clip = (pixel) => clamp(pixel, left, right);
  chart.axes(x, y, "predicted mean", "uncertainty (std, on the model's scale)");
  chart.svg.append(s("path", { class: "here", d: `M${round(clip(x(f.best)))} ${top}V${bottom}` }));
  chart.line("member", f.members.map(([mean, std]) => [clip(x(mean)), y(std)]));
  chart.svg.append(s("path", { class: "member", d: f.members.map(([mean, std]) => SHAPES.circle(round(clip(x(mean))), round(y(std)), 2)).join("") }));
  const study = view.study, place = (n) => study.place.get(n);
  chart.svg.append(s("path", { class: "m c1 open", d: f.pending.map(([, mean, std]) => SHAPES.circle(round(clip(x(mean))), round(y(std)), 5)).join("") }));
  chart.points = f.pending.map(([n, mean, std]) => ({ k: place(n), x: clip(x(mean)), y: y(std), text: `pending at that time: trial ${n}` }));
  const [tx, ty] = [clip(x(f.taken[0])), y(f.taken[1])], style = moveStyle(f.move);
  chart.svg.append(s("path", { class: `m ${style.color}`, d: SHAPES[style.shape](tx, ty, 8) }), s("text", { class: "strong", x: tx + (tx > right - 90 ? -12 : 12), y: ty + 4, "text-anchor": tx > right - 90 ? "end" : "start" }, `trial ${f.number}: ${f.move}`));
  chart.points.push({ k: place(f.number), x: tx, y: ty });
}
