// Elements, numbers and times. Content is only ever set as text, never as HTML.

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function number(value, digits = 5) {
  if (value == null) return "–";
  if (typeof value !== "number") return String(value);
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) {
    return value.toExponential(Math.max(digits - 2, 0)).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  return String(Number(value.toPrecision(digits)));
}

function percent(share) {
  return share == null ? "–" : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

function duration(seconds) {
  if (seconds == null) return "–";
  if (seconds < 60) return `${number(seconds, seconds < 10 ? 2 : 3)} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let left = Math.round(seconds);
  const parts = [];
  for (const [unit, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count || parts.length) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).filter((part, k) => k === 0 || !part.startsWith("0 ")).join(" ");
}

function moment(seconds) {
  return new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

// What replaced a first choice that was already evaluated or pending; the guard's word for it is short.
function instead(guard) {
  return guard == null ? null : guard === "next" ? "the next choice of the same move" : guard === "random" ? "a random point" : `a choice of the move ${guard}`;
}

function quantile(sorted, share) {
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
}

function range(count) {
  return Array.from({ length: count }, (_, k) => k);
}

// The smallest and largest number; Math.min(...values) fails for very long lists.
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value != null) { low = Math.min(low, value); high = Math.max(high, value); }
  return low > high ? [0, 1] : [low, high];
}
