// How a trial is marked: a color and a shape for each move, and a sign for each outcome. Never by color alone.

const SHAPES = {
  circle: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  up: (x, y, r) => `M${x} ${y - 1.2 * r}l${1.15 * r} ${2 * r}h${-2.3 * r}z`,
  diamond: (x, y, r) => `M${x} ${y - 1.35 * r}l${1.35 * r} ${1.35 * r}l${-1.35 * r} ${1.35 * r}l${-1.35 * r} ${-1.35 * r}z`,
  down: (x, y, r) => `M${x} ${y + 1.2 * r}l${1.15 * r} ${-2 * r}h${-2.3 * r}z`,
  left: (x, y, r) => `M${x - 1.2 * r} ${y}l${2 * r} ${1.15 * r}v${-2.3 * r}z`,
  right: (x, y, r) => `M${x + 1.2 * r} ${y}l${-2 * r} ${1.15 * r}v${-2.3 * r}z`,
  plus: (x, y, r) => { const a = 0.45 * r, b = 1.3 * r - a; return `M${x - a} ${y - 1.3 * r}h${2 * a}v${b}h${b}v${2 * a}h${-b}v${b}h${-2 * a}v${-b}h${-b}v${-2 * a}h${b}z`; },
  hexagon: (x, y, r) => `M${x} ${y - 1.2 * r}l${1.05 * r} ${0.6 * r}v${1.2 * r}l${-1.05 * r} ${0.6 * r}l${-1.05 * r} ${-0.6 * r}v${-1.2 * r}z`,
  pentagon: (x, y, r) => `M${[...Array(5).keys()].map((k) => { const a = 0.4 * k * Math.PI; return `${x + 1.25 * r * Math.sin(a)} ${y - 1.25 * r * Math.cos(a)}`; }).join("L")}z`,
  star: (x, y, r) => `M${[...Array(10).keys()].map((k) => { const a = k * Math.PI / 5, b = (k % 2 ? 0.6 : 1.5) * r; return `${x + b * Math.sin(a)} ${y - b * Math.cos(a)}`; }).join("L")}z`,
  tick: (x, y, r) => `M${x - 0.45 * r} ${y - 1.6 * r}h${0.9 * r}v${3.2 * r}h${-0.9 * r}z`,
  cross: (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`,
};

// Color, shape, letter and meaning; the figures of aegisbo.plot have the same moves, shapes and colors (a test compares).
const MOVES = {
  initial: ["c0", "circle", "I", "one of the first points, spread over the space"],
  added: ["c6", "star", "A", "added by you"],
  exploit: ["c1", "square", "E", "where the model predicts the best value"],
  improve: ["c4", "plus", "M", "largest expected improvement, because the best prediction offered nothing new"],
  local: ["c5", "down", "L", "near the best point, by a quadratic model"],
  thompson: ["c2", "up", "T", "the best point of a function drawn from the model"],
  pareto: ["c3", "diamond", "P", "from the Pareto front of good prediction and high uncertainty"],
  elsewhere: ["c3", "left", "V", "in another valley, because the bottom of the best one is found"],
  feasible: ["c5", "right", "F", "where limits are most likely kept, because no evaluation had kept them all"],
  repeat: ["c2", "pentagon", "N", "measured again, because values are noisy"],
  uniform: ["c7", "hexagon", "U", "anywhere, at random"],
  random: ["c7", "hexagon", "R", "anywhere, at random"],
};
const SPARE = [["c6", "diamond"], ["c5", "square"], ["c7", "up"], ["c4", "circle"], ["c1", "down"]];
const others = new Map(); // moves of strategies that this page does not know

function moveStyle(move) {
  if (Object.hasOwn(MOVES, move)) { const [color, shape, letter, meaning] = MOVES[move]; return { color, shape, letter, meaning }; }
  if (!others.has(move)) others.set(move, SPARE[others.size % SPARE.length]);
  const [color, shape] = others.get(move);
  return { color, shape, letter: (move[0] ?? "?").toUpperCase() };
}

const OUTCOMES = {
  done: ["c3", "circle", "✓"], pending: ["c1", "circle", ""], running: ["c1", "circle", ""], failed: ["fail", "cross", "×"],
  invalid: ["c6", "diamond", "?"], timed_out: ["c2", "up", "⏱"], lost: ["c7", "down", "!"], interrupted: ["c0", "square", "…"],
  forgotten: ["c0", "plus", "–"], stopped: ["c2", "tick", "■"],
};
const FAILED = new Set(["failed", "invalid", "timed_out"]);

function outcomeStyle(state) {
  const [color, shape, letter] = OUTCOMES[state] ?? ["c0", "circle", ""];
  return { color, shape, letter };
}

// The mark of a trial: what it is colored by decides, but in any case a failure is crossed, a running one open, one that
// was stopped early upright and narrow, and one that breaks a limit open with a bar.
function markOf(study, k) {
  const { state, move, broken } = study.trials;
  const style = view.colorBy === "move" ? moveStyle(move[k]) : outcomeStyle(state[k]);
  if (broken[k] != null) return { ...style, extra: "broken" };
  if (FAILED.has(state[k])) return { color: view.colorBy === "move" ? style.color : "", shape: "cross", extra: "fail" };
  if (state[k] === "stopped") return { ...style, shape: "tick", extra: "" };
  return { ...style, extra: state[k] === "pending" ? "open" : "" };
}

// One path for each kind of mark: thousands of marks are a handful of elements.
function drawMarks(svg, study, points, radius = 3.4) {
  const groups = new Map();
  for (const point of points) {
    const { color, shape, extra } = markOf(study, point.k);
    const name = `m ${color} ${extra}${view.kept(study, point.k) ? "" : " dim"}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(SHAPES[shape](round(point.x), round(point.y), radius) + (extra === "broken" ? bar(point, radius) : ""));
  }
  const ordered = [...groups].sort(([a], [b]) => b.endsWith("dim") - a.endsWith("dim"));
  for (const [name, parts] of ordered) svg.append(s("path", { class: name, d: parts.join(""), "data-count": parts.length }));
}

function bar({ x, y }, radius) {
  return `M${round(x - 2 * radius)} ${round(y)}h${4 * radius}`;
}

function round(pixel) {
  return Math.round(10 * pixel) / 10;
}

function pathOf(points) {
  return `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}`;
}

// What shows the chosen trial: a ring, with a halo to set it off.
function ring(svg, shape, attributes) {
  for (const name of ["halo", "ring"]) svg.append(s(shape, { class: name, ...attributes }));
}

function outcomeButton(word, text, path) {
  const sign = s("svg", { viewBox: "0 0 18 14", "aria-hidden": "true" }, path);
  const toggle = () => view.setFilter(view.text === word ? "" : word);
  return h("button", { "aria-pressed": String(view.text === word), onclick: toggle }, sign, text);
}

function legend(study) {
  const key = view.colorBy === "move" ? "move" : "state";
  const counts = new Map();
  for (const each of study.trials[key]) counts.set(each, (counts.get(each) ?? 0) + 1);
  const entries = [...counts].map(([name, count]) => {
    const { color, shape, meaning } = key === "move" ? moveStyle(name) : outcomeStyle(name);
    const extra = name === "pending" ? " open" : "";
    const sign = s("svg", { viewBox: "0 0 18 14", "aria-hidden": "true" }, s("path", { class: `m ${color}${extra}`, d: SHAPES[shape](9, 7, 4.5) }));
    const term = `${key}=${name}`;
    const toggle = () => view.setFilter(view.text === term ? "" : term);
    return h("button", { "aria-pressed": String(view.text === term), title: `Show only ${name}${meaning ? `: ${meaning}` : ""}`, onclick: toggle }, sign, `${name} (${count})`);
  });
  if (key === "move" && study.trials.state.some((state) => FAILED.has(state))) {
    entries.push(outcomeButton("failed", "no value", s("path", { class: "m fail", d: SHAPES.cross(9, 7, 4) })));
  }
  const stopped = study.trials.state.filter((state) => state === "stopped").length;
  if (key === "move" && stopped) entries.push(outcomeButton("state=stopped", `stopped early (${stopped})`, s("path", { class: "m c0", d: SHAPES.tick(9, 7, 4) })));
  if (study.trials.broken.some((limits) => limits != null)) {
    const shape = SHAPES.circle(9, 7, 4) + bar({ x: 9, y: 7 }, 4);
    entries.push(outcomeButton("broken", "breaks a limit", s("path", { class: "m c0 broken", d: shape })));
  }
  if (study.front?.trials.length) entries.push(outcomeButton("front", `front (${study.front.trials.length})`, s("path", { class: "won", d: SHAPES.circle(9, 7, 5.5) })));
  return h("div", { class: "legend" }, entries);
}
