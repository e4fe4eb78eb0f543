// Evaluations without a value, grouped by reason.

let failureBox, failureKey = "";

function failuresSection() {
  failureBox = h("div", { class: "grid" });
  const box = section("failures", "Failures", null, []);
  box.querySelector(".grid").replaceWith(failureBox);
  view.on("data", fillFailures);
  return box;
}

function fillFailures() {
  const study = view.study, groups = study.failures;
  const key = JSON.stringify([view.active, groups]);
  if (key === failureKey) return; // what the reader has opened stays open
  failureKey = key;
  for (const each of document.querySelectorAll("#failures, nav a[href='#failures']")) each.hidden = !groups.length;
  failureBox.replaceChildren(...groups.map((group) => {
    const shown = group.numbers.slice(0, 40);
    const k = study.place.get(group.numbers[0]);
    const text = study.texts[study.trials.traceback[k]] ?? study.texts[study.trials.output[k]];
    return h("div", { class: "card half" },
      h("h3", {}, `${group.numbers.length} × ${group.state}`), h("p", { class: "mono" }, short(group.reason, 500)),
      group.region ? h("p", {}, `Where ${group.region.text}, ${group.region.failed} of ${group.region.inside} evaluations failed like this.`) : null,
      h("p", { class: "muted" }, `${duration(group.seconds)} in all; trials `, ...shown.map((n) => h("button", { class: "link", onclick: () => view.choose(n) }, String(n))), group.numbers.length > shown.length ? ` and ${group.numbers.length - shown.length} more` : ""),
      text ? h("details", {}, h("summary", {}, `Output of trial ${group.numbers[0]}`), h("pre", {}, text)) : null);
  }));
}
