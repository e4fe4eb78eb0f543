// The top of the page: which study, its state, its health in sentences, and the bar with colors and filter.

const THEMES = { "": "Auto", light: "Light", dark: "Dark" };

function section(id, title, about, children) {
  return h("section", { id }, h("h2", {}, title), about ? h("p", { class: "muted" }, about) : null, h("div", { class: "grid" }, children));
}

function fillHead() {
  const study = view.study, best = study.best;
  const state = study.driven ? "running" : study.ending.startsWith("Killed") ? "killed" : "ended";
  const tabs = view.studies.map((each, k) => h("button", { role: "tab", "aria-selected": String(k === view.active), onclick: () => activate(k) }, each.name));
  const t = study.trials, ended = study.convergence.number.length, failed = t.state.filter((each) => FAILED.has(each)).length;
  const crew = study.timeline.workers.length;
  const [pending, stopped] = ["pending", "stopped"].map((state) => t.state.filter((each) => each === state).length);
  const told = [stopped ? `${stopped} stopped early` : "", pending ? `${pending} ${study.driven ? "running" : "pending"}` : ""];
  const tile = (value, words) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, words));
  const where = best ? pairsOf(study, best.params).join(", ") : "no evaluation gave a value yet", several = study.objectives;
  const name = best && (best.number >= 0 ? `trial ${best.number}` : "observed elsewhere");
  const found = several ? (best ? `${study.front.trials.length} on the front` : null) : best && number(best.value);
  document.title = `${found ? `${found} · ` : ""}${study.name} · aegisbo`;
  document.getElementById("head").replaceChildren(
    h("div", { class: "title" }, h("h1", {}, study.objective ? `${study.name}: ${study.objective}` : study.name), h("span", { class: `pill ${state}` }, state)),
    h("p", { class: "muted", id: "ending" }, study.ending),
    ...(view.studies.length > 1 ? [h("div", { class: "tabs", role: "tablist", "aria-label": "Studies" }, tabs)] : []),
    h("div", { class: "tiles" },
      several ? tile(String(study.front.trials.length), `on the front${best ? `; compromise, ${name}` : ""}: ${where}`)
        : tile(best ? number(best.value, 7) : "–", `${study.maximize ? "largest" : "smallest"} value${best ? `, ${name}` : ""}: ${where}`),
      tile(study.call.budget ? `${ended + stopped} of ${study.call.budget}` : String(ended + stopped), ["evaluations", ...told.filter(Boolean)].join(", ")),
      tile(String(failed), "without a value"),
      ...((study.limits ?? study.measured).length ? [tile(String(t.broken.filter((limits) => limits != null).length), "break a limit")] : []),
      tile(crew ? percent(study.timeline.shares.busy) : "–", crew === 1 ? "use of 1 worker" : `use of ${crew || "the"} workers`),
      tile(duration(study.now), "of work")));
}

function barSection() {
  const nav = h("nav", { "aria-label": "Parts of the report" }, ["health", "odds", "objectives", "progress", "curves", "workers", "reasons", "parameters", "decision", "failures", "trials", "about"].map((id) => h("a", { href: `#${id}` }, id === "objectives" ? "front" : id)));
  const choices = ["move", "outcome"].map((each) => h("button", { "aria-pressed": String(view.colorBy === each), onclick: () => {
    view.colorBy = each;
    choices.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === each)));
    fillLegend();
    redraw();
  } }, each));
  const input = h("input", { type: "search", id: "filter", placeholder: "Filter: lr<0.01 move=exploit", "aria-label": "Filter trials", oninput: () => view.setFilter(input.value) });
  const theme = h("select", { "aria-label": "Theme", onchange: () => { document.documentElement.dataset.theme = theme.value; redraw(); } }, Object.entries(THEMES).map(([value, text]) => h("option", { value }, text)));
  const left = h("span", { class: "muted", id: "kept", role: "status" });
  const clear = h("button", { hidden: true, onclick: () => { input.value = ""; view.setFilter(""); } }, "Show all");
  view.on("filter", () => {
    if (input.value !== view.text && document.activeElement !== input) input.value = view.text;
    const t = view.study.trials, kept = range(t.number.length).filter((k) => view.kept(view.study, k)).length;
    left.textContent = view.unknown ? `no column ${view.unknown}` : kept < t.number.length ? `${kept} of ${t.number.length} trials` : "";
    clear.hidden = !view.text && !view.marked;
    fillLegend();
    redraw();
  });
  // What a link leads to must not end up below the bar, whose height depends on the legend; on a phone it scrolls away.
  const bar = document.getElementById("bar");
  const covered = () => (getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0);
  new ResizeObserver(() => { document.documentElement.style.scrollPaddingTop = `${covered() + 8}px`; }).observe(bar);
  bar.append(
    h("div", {}, nav, h("span", { class: "group grow" }, input, left, clear), theme),
    h("div", {}, h("span", { class: "group", role: "group", "aria-label": "Color by" }, h("span", { class: "muted" }, "color by"), choices), objectiveSwitch(), h("div", { id: "legend" })));
}

function fillLegend() {
  document.getElementById("legend").replaceChildren(legend(view.study));
}

const LEVELS = { good: "✓", note: "i", warning: "!", bad: "✗" };

function healthSection() {
  const list = h("ul", { class: "findings" });
  view.on("data", () => list.replaceChildren(...view.study.health.map((finding) => h("li", { class: finding.level },
    h("b", {}, h("span", { class: "sign", "aria-label": finding.level }, LEVELS[finding.level]), finding.topic), h("p", {}, finding.text), finding.remedy ? h("p", { class: "remedy" }, finding.remedy) : null))));
  return h("section", { id: "health" }, h("h2", {}, "Health"), list);
}

function oddsSection() {
  const box = h("div", { class: "card" });
  view.on("data", () => {
    const odds = view.study.odds; // a live page computes it in the background
    box.replaceChildren(...(odds ? [h("p", {}, odds.text), ...odds.details.map((text) => h("p", { class: "muted" }, text))]
      : [h("p", { class: "muted" }, "The odds are being computed.")]));
  });
  const part = section("odds", "Worth going on?", null, []);
  part.querySelector(".grid").replaceWith(box);
  return part;
}

function aboutSection() {
  const box = h("div", { class: "card" });
  view.on("data", () => {
    const a = view.study.about;
    const facts = Object.entries(a.facts).map(([name, value]) => [name, String(value)]);
    box.replaceChildren(h("h3", {}, "Continue this study"), ...a.commands.map((text) => h("pre", {}, text)),
      h("h3", {}, "What it was made with"), h("div", { class: "scroll" }, plainTable(["what", "value"], facts)),
      h("h3", {}, "Cite"), h("pre", {}, a.citation));
  });
  const part = section("about", "About this run", null, []);
  part.querySelector(".grid").replaceWith(box);
  return part;
}
