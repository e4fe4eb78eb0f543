// All trials, sortable and filterable, linked with every plot; and the chosen trial in full.

const order = { by: "number", down: false, page: 0 };
const ROWS = 50;
let tableBox;

function tableSection() {
  tableBox = h("div", { class: "card" });
  const box = section("trials", "Trials", "Select a row to see it in every plot. The filter above applies to this table, and dims all other trials in the plots.", []);
  box.querySelector(".grid").replaceWith(tableBox);
  view.on("data", fillTrials);
  view.on("filter", () => { order.page = 0; fillTrials(); });
  view.on("choice", () => {
    const page = pageOf(view.chosen);
    if (page != null && page !== order.page) order.page = page;
    fillTrials();
  });
  return box;
}

function columns() {
  const t = view.study.trials;
  return [["trial", "number", t.number], ["state", "state", t.state], ...(view.study.objectives ? [["front", "front", t.front]] : [["value", "value", t.value]]),
    ...view.study.measured.map((name, m) => [name, `measured ${m}`, t.measured[m]]), ["move", "move", t.move], ...(t.author.some((name) => name != null) ? [["author", "author", t.author]] : []),
    ...view.study.parameters.map((parameter, p) => [parameter.name, `param ${p}`, t.params[p]]),
    ...curveColumns(view.study), ["seconds", "seconds", t.seconds], ["worker", "worker", t.worker], ["reason", "reason", t.reason.map((r) => (r == null ? null : view.study.texts[r]))]];
}

function sortedRows() {
  const t = view.study.trials;
  const [, , values] = columns().find(([, key]) => key === order.by) ?? columns()[0];
  const kept = range(t.number.length).filter((k) => view.kept(view.study, k));
  const sign = order.down ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  return kept.sort((a, b) => (values[a] == null) - (values[b] == null) || (values[a] == null ? a - b : sign * compare(values[a], values[b]) || a - b));
}

function pageOf(trial) {
  const place = sortedRows().findIndex((k) => view.study.trials.number[k] === trial);
  return place < 0 ? null : Math.floor(place / ROWS);
}

function fillTrials() {
  const study = view.study, all = columns(), rows = sortedRows(), pages = Math.max(Math.ceil(rows.length / ROWS), 1);
  order.page = Math.min(order.page, pages - 1);
  const numeric = all.map(([, , values]) => values.some((value) => typeof value === "number"));
  const sortBy = (key) => () => { order.down = order.by === key && !order.down; order.by = key; order.page = 0; fillTrials(); tableBox.querySelector(`th[data-key="${key}"] button`)?.focus(); };
  const heads = all.map(([label, key], c) => h("th", { scope: "col", class: numeric[c] ? "n" : "", "data-key": key, "aria-sort": order.by === key ? (order.down ? "descending" : "ascending") : "none" }, h("button", { onclick: sortBy(key) }, label)));
  const body = rows.slice(order.page * ROWS, (order.page + 1) * ROWS).map((k) => {
    const n = study.trials.number[k], choose = () => view.choose(view.chosen === n ? null : n);
    return h("tr", { tabindex: 0, "data-trial": n, "aria-selected": String(view.chosen === n), onclick: choose, onkeydown: (event) => rowKey(event, choose) },
      all.map(([label, , values], c) => h("td", { class: numeric[c] ? "n" : label === "reason" ? "wide" : "" }, ...(label === "state" ? stateSign(values[k]) : []), values[k] == null ? "" : number(values[k], 6))));
  });
  const turn = (by) => () => { order.page += by; fillTrials(); };
  const focused = document.activeElement?.closest?.("#table tr")?.dataset.trial;
  const scrolled = tableBox.querySelector(".scroll"), [x, y] = [scrolled?.scrollLeft ?? 0, scrolled?.scrollTop ?? 0];
  tableBox.replaceChildren(
    h("div", { class: "controls pager" }, h("span", { id: "count" }, `${rows.length} of ${study.trials.number.length} trials`),
      h("button", { onclick: turn(-1), disabled: order.page === 0 }, "Previous"), `page ${order.page + 1} of ${pages}`, h("button", { onclick: turn(1), disabled: order.page >= pages - 1 }, "Next")),
    h("div", { class: "scroll wide-table" }, h("table", { id: "table" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body))));
  tableBox.querySelector(".scroll").scrollTo(x, y);
  if (focused) tableBox.querySelector(`tr[data-trial="${focused}"]`)?.focus({ preventScroll: true });
}

// A trial that was stopped early has its mark before its state.
function stateSign(state) {
  return state === "stopped" ? [s("svg", { class: "sign-of", viewBox: "0 0 10 14", "aria-hidden": "true" }, s("path", { class: `m ${outcomeStyle(state).color}`, d: SHAPES.tick(5, 7, 4) }))] : [];
}

function rowKey(event, choose) {
  const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
  else if (next) { event.preventDefault(); event.currentTarget[next]?.focus(); }
  else if (event.key === "Escape") view.choose(null);
}

function fillTrial() {
  const box = document.getElementById("trial"), study = view.study, k = study?.place.get(view.chosen);
  box.hidden = k == null;
  if (k == null) return;
  const t = study.trials, text = (index) => study.texts[index];
  const facts = [["state", t.state[k]], view.study.objectives ? ["front", t.front[k]] : ["value", t.value[k]],
    ...study.measured.map((name, m) => [name, t.measured[m][k]]), ["breaks", t.broken[k]], ["reason", text(t.reason[k])], ["move", t.move[k]], ["author", t.author[k]], ["instead of a known point", instead(t.guard[k])],
    ...curveRows(study, k), ...foretold(study, k),
    ["results known", t.known[k]], ["results behind", t.behind[k]], ["pending at that time", t.pending[k]], ["chosen in", t.choosing[k] == null ? null : duration(t.choosing[k])],
    ["took", t.seconds[k] == null ? null : duration(t.seconds[k])], ["worker", t.worker[k]]];
  const step = (by) => () => { const n = t.number[k + by]; if (n != null) view.choose(n); };
  const pairOf = (name, told) => h("div", { class: name.length + told.length > 20 ? "wide" : "" }, h("dt", {}, name), h("dd", {}, told));
  const list = (pairs) => h("dl", {}, pairs.filter(([, value]) => value != null).map(([name, value]) => pairOf(name, number(value, 7))));
  const canShow = live ? t.mean[k] != null : study.fronts?.some((front) => front.number === view.chosen);
  box.replaceChildren(
    h("div", { class: "top" }, h("h2", {}, `Trial ${view.chosen}`), h("button", { "aria-label": "Previous trial", onclick: step(-1) }, "←"), h("button", { "aria-label": "Next trial", onclick: step(1) }, "→"), h("button", { "aria-label": "Close", onclick: () => view.choose(null) }, "×")),
    ...trialCurve(study, k), list(facts), list(study.parameters.map((parameter, p) => [parameter.name, t.params[p][k]])),
    ...(canShow ? [h("button", { onclick: () => { showDecision(view.chosen); document.getElementById("decision").scrollIntoView(); } }, "Show this decision in full")] : []),
    ...[["output", "What it printed"], ["traceback", "Traceback"]].filter(([key]) => t[key][k] != null).map(([key, title]) => h("details", {}, h("summary", {}, title), h("pre", {}, text(t[key][k])))));
}
