// Put the page together.

function prepare() {
  for (const study of view.studies) {
    study.place = new Map(study.trials.number.map((n, k) => [n, k]));
    const t = study.trials;
    focus(study);
    const c = study.convergence, done = (n) => t.state[study.place.get(n)] === "done";
    c.value = c.number.map((n, k) => (study.objectives ? (done(n) ? c.best[k] ?? 0 : null) : t.value[study.place.get(n)]));
  }
}

function build() {
  barSection();
  const parts = [healthSection(), oddsSection(), objectivesSection(), convergenceSection(), curvesSection(), timelineSection(), reasonsSection(), parametersSection(), decisionSection(), failuresSection(), tableSection(), aboutSection()];
  if (view.studies.length > 1) parts.unshift(compareSection());
  document.getElementById("main").replaceChildren(...parts, h("footer", {}, "Made by aegisbo. This page is self-contained: it loads nothing from elsewhere."));
  view.on("choice", () => { fillTrial(); for (const chart of charts) chart.highlight(); });
  view.on("data", fillTrial);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && view.chosen != null) view.choose(null); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  update();
}

function update() {
  fillHead();
  fillLegend();
  test = testOf(view.study, view.text);
  view.tell("data");
  redraw();
  document.documentElement.dataset.ready = "true";
}

if (live) listenToServer();
else {
  view.studies = JSON.parse(document.getElementById("data").textContent);
  prepare();
  build();
}
