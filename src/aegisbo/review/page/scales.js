// From values to pixels: linear, logarithmic, by category. A scale is a function with ticks.

function linear(domain, range, format = (value) => number(value, 4)) {
  let [low, high] = domain;
  if (low === high) { const room = Math.abs(low) || 1; low -= 0.5 * room; high += 0.5 * room; }
  const slope = (range[1] - range[0]) / (high - low);
  const scale = (value) => range[0] + (value - low) * slope;
  scale.invert = (pixel) => low + (pixel - range[0]) / slope;
  scale.ticks = (count) => steps(low, high, count).map((value) => [scale(value), format(value)]);
  scale.domain = [low, high];
  return scale;
}

function steps(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function logarithmic(domain, range) {
  const inner = linear(domain.map(Math.log10), range);
  const scale = (value) => inner(Math.log10(value));
  scale.invert = (pixel) => 10 ** inner.invert(pixel);
  scale.ticks = (count) => {
    const [low, high] = inner.domain;
    const inside = (value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9;
    const values = high - low >= 2 ? steps(low, high, count).filter(Number.isInteger).map((power) => 10 ** power) : oneTwoFive(low, high).filter(inside);
    const shown = values.length > 1 ? values : [10 ** low, 10 ** high];
    return shown.map((value) => [scale(value), number(Number(value.toPrecision(3)), 3)]);
  };
  scale.domain = domain;
  return scale;
}

function oneTwoFive(low, high) {
  const found = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) for (const factor of [1, 2, 5]) found.push(factor * 10 ** power);
  return found;
}

function categories(values, range) {
  const room = (range[1] - range[0]) / values.length;
  const places = new Map(values.map((value, k) => [value, range[0] + (k + 0.5) * room]));
  const scale = (value) => places.get(value);
  scale.ticks = () => values.map((value) => [scale(value), String(value)]);
  scale.room = Math.abs(room);
  scale.values = values;
  return scale;
}

function clamp(pixel, from, to) {
  return Math.min(Math.max(pixel, from), to);
}

// Marks of trials with one choice stand side by side, in so much of its room; other scales leave a trial where it is.
function aside(scale, k, share = 0.6) {
  return scale.room ? (((k * 0.618) % 1) - 0.5) * share * scale.room : 0;
}

// A parameter on the axis that the user declared.
function scaleOf(parameter, range) {
  if (parameter.type === "choice") return categories(parameter.values, range);
  const ends = [parameter.low, parameter.high];
  const scale = parameter.log ? logarithmic(ends, range) : linear(ends, range);
  if (parameter.type !== "int") return scale;
  const ticks = scale.ticks;
  scale.ticks = (count) => ticks(count).filter(([, text]) => Number.isInteger(Number(text)));
  return scale;
}
