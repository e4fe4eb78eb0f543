// One figure: caption, axes, marks that can be pointed at and walked through by keyboard, and its data as a table.

const charts = [];

// options: id, title, about, height, wide ("half", "third" or nothing), margin, controls, table() -> {heads, rows},
// draw(chart) draws and sets chart.points = [{k, x, y}], of which those that are only passing are left out by arrow keys; zoom(chart, from, to) is called instead of marking.
class Chart {
  constructor(options) {
    Object.assign(this, { height: 260, margin: { top: 12, right: 16, bottom: 40, left: 60 }, points: [] }, options);
    this.about = h("p");
    this.plot = h("div", { class: "plot" });
    const body = h("div", { class: "scroll" });
    this.details = h("details", { class: "data", ontoggle: () => this.fillTable(body) }, h("summary", {}, "Data as a table"), body);
    this.body = body;
    const caption = h("figcaption", {}, this.heading = h("h3"), this.about);
    this.element = h("figure", { class: options.wide ?? "", id: options.id }, caption, options.controls, this.plot, options.table ? this.details : null);
    this.width = 0;
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width > 0 && width !== this.width) { this.width = width; this.render(); }
    });
    this.observer.observe(this.plot);
    charts.push(this);
  }

  get inner() {
    const { margin, width, height } = this;
    return { left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom };
  }

  render() {
    if (!this.width || !view.study || this.dragging) return; // do not redraw while the reader is using it
    const focused = this.plot.contains(document.activeElement);
    this.points = [];
    const title = typeof this.title === "function" ? this.title() : this.title;
    this.heading.textContent = title;
    this.svg = s("svg", { viewBox: `0 0 ${this.width} ${this.height}`, height: this.height, role: "img", tabindex: 0, "aria-label": `${title}. Arrow keys move between trials, Enter selects one.` });
    const said = this.draw(this);
    this.plot.replaceChildren(said === false ? h("p", { class: "empty" }, this.empty ?? "Nothing to draw yet.") : this.svg);
    this.about.textContent = typeof this.note === "function" ? this.note() : this.note ?? "";
    this.top = s("g", { "pointer-events": "none" });
    this.svg.append(this.top);
    this.highlight();
    this.listen();
    if (this.details.open) this.fillTable(this.body);
    if (focused) this.svg.focus({ preventScroll: true });
  }

  axes(x, y, xLabel, yLabel, { xTicks, yTicks, grid = true } = {}) {
    const { left, right, top, bottom } = this.inner;
    const lines = [];
    const columns = x ? x.ticks(xTicks ?? Math.max(2, Math.floor((right - left) / 80))) : [];
    const room = columns.length ? (right - left) / columns.length : 0;
    for (const [at, text] of columns) {
      if (grid) lines.push(`M${round(at)} ${top}V${bottom}`);
      this.svg.append(s("text", { x: round(at), y: bottom + 16, "text-anchor": at > right - 12 ? "end" : at < left + 6 && !x.room ? "start" : "middle" }, short(text, Math.max(4, Math.floor(room / 6.5)))));
    }
    for (const [at, text] of y ? y.ticks(yTicks ?? Math.max(2, Math.floor((bottom - top) / 45))) : []) {
      if (grid) lines.push(`M${left} ${round(at)}H${right}`);
      this.svg.append(s("text", { x: left - 7, y: round(at) + 4, "text-anchor": "end" }, short(text, Math.floor((left - 6) / 6.4))));
    }
    this.svg.prepend(s("path", { class: "grid-line", d: lines.join("") }));
    this.svg.append(s("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }));
    if (xLabel) this.svg.append(s("text", { x: (left + right) / 2, y: this.height - 6, "text-anchor": "middle" }, xLabel));
    if (yLabel) this.svg.append(s("text", { x: left, y: top - 1, dy: -2, "text-anchor": "start" }, yLabel));
  }

  line(name, points) {
    if (points.length) this.svg.append(s("path", { class: name, d: pathOf(points) }));
  }

  marks(points, radius) {
    this.points.push(...points);
    drawMarks(this.svg, view.study, points, radius);
  }

  // The chosen trial has a ring; plots without points show it in their own way.
  highlight() {
    if (!this.top) return;
    this.top.replaceChildren();
    if (view.chosen == null) return;
    if (this.show) { this.show(this, view.chosen); return; }
    for (const point of this.points) {
      if (view.study.trials.number[point.k] === view.chosen) ring(this.top, "circle", { cx: point.x, cy: point.y, r: 8 });
    }
  }

  nearest(x, y, reach) {
    let found = null, best = reach * reach;
    for (const point of this.points) {
      const dx = point.w ? Math.max(point.x - x, 0, x - point.x - point.w) : point.x - x;
      const distance = dx ** 2 + (point.y - y) ** 2;
      if (distance <= best) { best = distance; found = point; }
    }
    return found;
  }

  listen() {
    const svg = this.svg;
    let from = null;
    svg.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      if (from) { this.brush(from, [x, y]); return; }
      const point = this.nearest(x, y, 24);
      svg.style.cursor = point ? "pointer" : "";
      point ? tip(event.clientX, event.clientY, point.text ?? describe(view.study, point.k)) : tip();
    });
    svg.addEventListener("pointerleave", () => tip());
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      from = this.place(event);
      this.dragging = true;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointerup", (event) => {
      this.dragging = false;
      const to = this.place(event);
      if (from && Math.hypot(to[0] - from[0], to[1] - from[1]) > 6) this.release(from, to);
      else this.click(to);
      from = null;
    });
    svg.addEventListener("pointercancel", () => { from = null; this.dragging = false; this.brush(); });
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    return [(event.clientX - box.left) * (this.width / box.width), event.clientY - box.top];
  }

  click([x, y]) {
    const point = this.nearest(x, y, 24);
    if (point && point.k != null) view.choose(view.study.trials.number[point.k]);
  }

  brush(from, to) {
    this.svg.querySelector(".brush")?.remove();
    if (!from || !(this.zoom || this.points.length)) return;
    const { top, bottom } = this.inner;
    const [y, height] = this.zoom ? [top, bottom - top] : [Math.min(from[1], to[1]), Math.abs(to[1] - from[1])];
    this.svg.append(s("rect", { class: "brush", x: Math.min(from[0], to[0]), y, width: Math.abs(to[0] - from[0]), height }));
  }

  release(from, to) {
    this.brush();
    const [x0, x1] = [from[0], to[0]].sort((a, b) => a - b);
    if (this.zoom) { this.zoom(this, x0, x1); return; }
    const [y0, y1] = [from[1], to[1]].sort((a, b) => a - b);
    const inside = this.points.filter(({ x, y }) => x >= x0 && x <= x1 && y >= y0 && y <= y1);
    view.mark(new Set(inside.filter((point) => point.k != null).map((point) => view.study.trials.number[point.k])));
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") { view.choose(null); view.mark(null); return; }
    if (!step || !this.points.length) return;
    event.preventDefault();
    const order = this.points.filter((point) => point.k != null && !point.passing).sort((a, b) => a.x - b.x || a.y - b.y);
    const now = order.findIndex((point) => view.study.trials.number[point.k] === view.chosen);
    const next = order[(now + step + order.length) % order.length] ?? order[0];
    view.choose(view.study.trials.number[next.k]);
  }

  fillTable(body) {
    if (!this.details.open || !view.study) return;
    const { heads, rows } = this.table();
    const most = 500;
    const note = rows.length > most ? h("p", { class: "muted" }, `These are the first ${most} of ${rows.length} rows. The table below has all trials.`) : null;
    body.replaceChildren(plainTable(heads, rows.slice(0, most)), ...(note ? [note] : []));
  }
}

function plainTable(heads, rows) {
  const numeric = heads.map((_, c) => rows.some((row) => typeof row[c] === "number"));
  const cell = (tag, value, c) => h(tag, { class: numeric[c] ? "n" : "", scope: tag === "th" ? "col" : null }, value instanceof Node ? value : number(value, 6));
  return h("table", {},
    h("thead", {}, h("tr", {}, heads.map((head, c) => cell("th", head, c)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value, c) => cell("td", value, c))))));
}

function tip(x, y, text) {
  const box = document.getElementById("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
  box.style.top = `${y + 16 + height > innerHeight ? y - height - 10 : y + 16}px`;
}

function redraw() {
  for (const chart of charts) chart.render();
}
