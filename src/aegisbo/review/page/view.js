// What the reader has chosen: the study, a trial, a filter, what colors mean. Everything on the page follows it.

const view = {
  studies: [], // as the server or the file gave them
  active: 0,
  objective: 0, // of several, which all figures of one value show
  colorBy: "move",
  chosen: null, // number of a trial
  text: "", // the filter
  unknown: null, // what the filter takes for a column, and no trial has
  marked: null, // numbers of trials that were marked in a plot
  listeners: { choice: [], filter: [], data: [] },

  get study() { return this.studies[this.active]; },
  on(kind, listener) { this.listeners[kind].push(listener); },
  tell(kind) { for (const listener of this.listeners[kind]) listener(); },

  choose(trial) { this.chosen = trial; this.tell("choice"); },
  setFilter(text) { this.text = text; this.marked = null; this.refilter(); },
  mark(numbers) { this.marked = numbers && numbers.size ? numbers : null; this.refilter(); },
  refilter() { test = testOf(this.study, this.text); this.tell("filter"); },
  kept(study, k) { return test(k) && (!this.marked || this.marked.has(study.trials.number[k])); },
};

let test = () => true;

// Terms between spaces must all hold: lr<0.01, act=relu, move=thompson, state=done, or a word that occurs anywhere.
function testOf(study, text) {
  if (!study) return () => true;
  const terms = text.match(/"[^"]*"|\S+/g) ?? [];
  view.unknown = null;
  const tests = terms.map((term) => {
    const parts = term.match(/^([^<>=]+)(<=|>=|=|<|>)(.+)$/);
    const column = parts && columnOf(study, parts[1]);
    if (!column) {
      const said = (k) => wordsOf(study, k).includes(term.replaceAll('"', "").toLowerCase());
      if (!parts || range(study.trials.number.length).some(said)) return said;
      view.unknown = parts[1];
      return () => true;
    }
    const [wanted, size] = [parts[3], Number(parts[3])];
    const compare = { "<": (v) => v < size, ">": (v) => v > size, "<=": (v) => v <= size, ">=": (v) => v >= size,
      "=": (v) => String(v).toLowerCase() === wanted.toLowerCase() || (typeof v === "number" && v === size) }[parts[2]];
    return (k) => column[k] != null && compare(column[k]);
  });
  return (k) => tests.every((each) => each(k));
}

function columnOf(study, name) {
  const place = study.parameters.findIndex((parameter) => parameter.name === name);
  const measured = study.measured.indexOf(name);
  return place >= 0 ? study.trials.params[place] : measured >= 0 ? study.trials.measured[measured] : name === "trial" ? study.trials.number : Array.isArray(study.trials[name]) ? study.trials[name] : null;
}

function wordsOf(study, k) {
  const t = study.trials;
  const failed = FAILED.has(t.state[k]) ? "failed" : t.broken[k] != null ? "broken" : "";
  return [t.number[k], t.state[k], failed, t.move[k], t.front?.[k] ?? "", study.texts[t.reason[k]] ?? "", ...t.params.map((column) => column[k])].join(" ").toLowerCase();
}

function describe(study, k) {
  const t = study.trials;
  const lines = [`trial ${t.number[k]} · ${t.move[k]} · ${t.state[k]}`];
  if (study.objectives && t.state[k] === "done") lines.push(...study.objectives.map(({ name }, j) => `${name} ${number(t.measured[j][k], 6)}`));
  else if (t.value[k] != null) lines.push(`value ${number(t.value[k], 6)}`);
  else if (t.reason[k] != null) lines.push(short(study.texts[t.reason[k]], 80));
  if (t.broken[k] != null) lines.push(`breaks ${t.broken[k]}`);
  lines.push(...pairsOf(study, t.params.map((column) => column[k])).slice(0, 8));
  return lines.join("\n");
}

// The parameters that exist, with their values.
function pairsOf(study, values) {
  return study.parameters.map(({ name }, p) => [name, values[p]]).filter(([, value]) => value != null).map(([name, value]) => `${name} = ${number(value, 4)}`);
}

function short(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
