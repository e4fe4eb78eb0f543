// Why each point was chosen, what each kind of move gained, and how good the predictions were.

function reasonsSection() {
  const moves = new Chart({
    id: "moves", title: "The move that chose each point", height: 190, margin: { top: 8, right: 16, bottom: 40, left: 84 },
    note: () => `One row for each move, in the order of the choices. A ring marks ${view.study.objectives ? "a trial that added to the hypervolume" : "a new best value"}.`,
    draw: (chart) => {
      const study = view.study, t = study.trials, rows = [...new Set(t.move)];
      if (!rows.length) return false;
      chart.height = 52 + 24 * rows.length;
      chart.svg.setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
      chart.svg.setAttribute("height", chart.height);
      const { left, right, top, bottom } = chart.inner;
      const x = linear([0, Math.max(t.number.length - 1, 1)], [left + 8, right - 6]), y = categories(rows, [top, bottom]);
      chart.axes(x, y, "trial");
      const improved = new Set(study.convergence.number.filter((_, k) => study.convergence.improved[k]));
      chart.marks(t.number.map((n, k) => ({ k, x: x(n), y: y(t.move[k]) })));
      const rings = t.number.filter((n) => improved.has(n)).map((n) => SHAPES.circle(round(x(n)), round(y(t.move[study.place.get(n)])), 6.5));
      chart.svg.append(s("path", { class: "won", d: rings.join("") }));
    },
    table: () => ({ heads: ["trial", "move", "instead of a known point", "mean then", "std then", "seconds to choose"], rows: view.study.trials.number.map((n, k) => [n, view.study.trials.move[k], instead(view.study.trials.guard[k]) ?? "", view.study.trials.mean[k], view.study.trials.std[k], view.study.trials.choosing[k]]) }),
  });
  const gains = new Chart({
    id: "yields", title: "What each move gained", wide: "half", height: 220, margin: { top: 8, right: 120, bottom: 40, left: 84 },
    note: () => `${view.study.objectives ? "Hypervolume added by the trials of each move, and how many of them added some." : "New best values per hundred evaluations."} Exploring moves often pay off later, through what the model learns.`,
    draw: (chart) => {
      const rows = view.study.yields;
      if (!rows.length) return false;
      const { left, right, top, bottom } = chart.inner;
      const all = rows.reduce((sum, row) => sum + row.gain, 0), several = view.study.objectives;
      const rate = (row) => (several ? row.gain / (all || 1) : row.done + row.failed ? row.improved / (row.done + row.failed) : 0);
      const x = linear([0, Math.max(...rows.map(rate), 0.01)], [left, right], (share) => percent(share));
      const y = categories(rows.map((row) => row.move), [top, bottom]);
      chart.axes(x, y, several ? "share of the hypervolume added" : "share of evaluations that gave a new best", "", { xTicks: 3 });
      for (const row of rows) {
        const style = moveStyle(row.move), height = Math.min(18, 0.6 * y.room);
        chart.svg.append(s("rect", { class: `m ${style.color}`, x: left, y: y(row.move) - height / 2, width: Math.max(x(rate(row)) - left, 0), height }));
        chart.svg.append(s("text", { x: x(rate(row)) + 6, y: y(row.move) + 4 }, `${row.improved} of ${row.done + row.failed}`));
      }
    },
    table: () => ({ heads: ["move", "chosen", "with a value", "without", view.study.objectives ? "added hypervolume" : "new best", view.study.objectives ? "hypervolume added" : "gain", "seconds"], rows: view.study.yields.map((row) => [row.move, row.chosen, row.done, row.failed, row.improved, row.gain, row.seconds]) }),
  });
  const behind = new Chart({
    id: "behind", title: "What each choice did not know yet", wide: "half", height: 220,
    empty: "Only a study records what each choice knew.",
    note: "Line: points pending at the time. Marks: how many results came in during the choice.",
    draw: (chart) => {
      const t = view.study.trials, ks = range(t.number.length).filter((k) => t.pending[k] != null);
      if (!ks.length) return false;
      const { left, right, top, bottom } = chart.inner;
      const x = linear([0, Math.max(t.number.length - 1, 1)], [left, right - 6]);
      const most = extent(ks.map((k) => Math.max(t.pending[k], t.behind[k])))[1];
      const y = linear([0, Math.max(most, 1)], [bottom - 4, top + 4], (value) => number(value, 3));
      chart.axes(x, y, "trial", "count", { yTicks: Math.min(4, most) });
      chart.line("mean", ks.flatMap((k) => [[x(t.number[k] - 0.5), y(t.pending[k])], [x(t.number[k] + 0.5), y(t.pending[k])]]).map(([a, b]) => [clamp(a, left, right), b]));
      chart.marks(ks.filter((k) => t.behind[k] > 0).map((k) => ({ k, x: x(t.number[k]), y: y(t.behind[k]) })));
      chart.points.push(...ks.filter((k) => !t.behind[k]).map((k) => ({ k, x: x(t.number[k]), y: y(t.pending[k]), text: `${t.pending[k]} pending, ${t.known[k]} results known\n${describe(view.study, k)}` })));
    },
    table: () => ({ heads: ["trial", "results known", "results behind", "pending"], rows: view.study.trials.number.map((n, k) => [n, view.study.trials.known[k], view.study.trials.behind[k], view.study.trials.pending[k]]) }),
  });
  const predicted = new Chart({
    id: "predicted", title: () => `Predicted when chosen, and measured${of()}`, wide: "half", height: 320,
    empty: "No point that a model chose has a value yet.",
    note: () => {
      const c = view.study.calibration;
      return c ? `${percent(c.within)} of ${c.count} values lie within the 95 % band that was predicted (bars). On the line, both are equal.` : "";
    },
    draw: (chart) => {
      const t = view.study.trials;
      const ks = range(t.number.length).filter((k) => t.mean[k] != null && t.value[k] != null);
      drawAgreement(chart, ks.map((k) => ({ k, mean: t.mean[k], low: t.mean[k] - 1.959964 * t.std[k], high: t.mean[k] + 1.959964 * t.std[k], value: t.value[k] })));
      return ks.length > 0;
    },
    table: () => { const t = view.study.trials; return { heads: ["trial", "predicted", "std", "measured"], rows: range(t.number.length).filter((k) => t.mean[k] != null && t.value[k] != null).map((k) => [t.number[k], t.mean[k], t.std[k], t.value[k]]) }; },
  });
  const leftOut = new Chart({
    id: "left-out", title: () => `Predicted from all other results${of()}`, wide: "half", height: 320,
    empty: "The model has too few results.",
    note: () => {
      const m = learned();
      return m?.left_out ? `Leave-one-out: ${percent(m.left_out.within)} of ${m.left_out.count} values lie within the 95 % band. On the line, prediction and value are equal.` : "";
    },
    draw: (chart) => {
      const found = learned()?.left_out;
      if (!found) return false;
      drawAgreement(chart, found.number.map((n, k) => ({ k: view.study.place.get(n), mean: found.mean[k], low: found.low[k], high: found.high[k], value: found.value[k] })).filter(({ k }) => k != null));
      return found.number.length > 0;
    },
    table: () => { const f = learned()?.left_out ?? { number: [] }; return { heads: ["trial", "predicted", "low", "high", "measured"], rows: f.number.map((n, k) => [n, f.mean[k], f.low[k], f.high[k], f.value[k]]) }; },
  });
  return section("reasons", "Reasons", null, [moves, gains, behind, predicted, leftOut].map((chart) => chart.element));
}

function drawAgreement(chart, rows) {
  if (!rows.length) return;
  const { left, right, top, bottom } = chart.inner;
  const [low, high] = shownRange(rows.flatMap((row) => [row.mean, row.value]), view.study.maximize);
  const room = 0.04 * (high - low || 1);
  const ends = [low - room, high + room];
  const x = linear(ends, [left, right]), y = linear(ends, [bottom, top]);
  chart.axes(x, y, "predicted", "measured");
  chart.svg.append(s("path", { class: "cut", d: `M${left} ${bottom}L${right} ${top}` }));
  chart.svg.append(s("path", { class: "error", d: rows.map((row) => `M${round(clamp(x(row.low), left, right))} ${round(clamp(y(row.value), top, bottom))}H${round(clamp(x(row.high), left, right))}`).join("") }));
  chart.marks(rows.map((row) => ({ k: row.k, x: clamp(x(row.mean), left, right), y: clamp(y(row.value), top, bottom) })));
}
