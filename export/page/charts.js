"use strict";
// Curves: a table of charts, each drawn by uPlot, with a hidden table and a slider along its points.

// charts has the figures of the page. curves gives the curves of a run: a name, points, and y of a point.
const charts = [
  {id: "loss", title: () => "Loss", log: true, smooth: true, curves: (run) => [
    {name: "training", points: run.points, y: (p) => p.loss},
    ...evalCurves(run, (p) => p.loss)]},
  {id: "metric", title: (field) => names.get(field) ?? "Metric", curves: (run, field) =>
    evalCurves(run, (p) => number(p.e[field])).filter((c) => c.points.some((p) => p.e[field] !== undefined)),
  level: (run, field) => number(run.lastEval(field)?.baseline?.[field])},
  {id: "rate", title: () => "Examples per second", smooth: true, curves: (run) =>
    [{name: "examples/s", points: run.points, y: (p) => p.e.examples_per_s}]},
  {id: "phases", title: () => "Time of a step, ms", stacked: true, smooth: true, curves: (run) =>
    Object.entries(parts).map(([name, part]) => ({name, points: run.points, y: (p) => 1e3 * part(p.e) / p.steps}))},
];

const names = new Map(metrics);

const evalCurves = (run, y) => [...run.evals].map(([name, points]) => ({name, points, y, sparse: true}));

// commonMetric is the metric that all runs with evaluations have: its field, or undefined.
function commonMetric(runs) {
  const evaluated = runs.filter((run) => run.evals.size > 0);
  return metrics.find(([field]) => field !== "log_loss" && evaluated.length > 0 && evaluated.every((run) => run.lastEval(field)))?.[0];
}

// curvesOf returns the curves of a chart over all runs; the stack is that of the shown run alone.
function curvesOf(spec, runs, shown, field) {
  if (runs.length === 1 || spec.stacked) return spec.curves(shown, field).map((c, i) => ({...c, color: i}));
  return runs.flatMap((run, i) => spec.curves(run, field).map((c) =>
    ({...c, name: c.sparse || spec.curves(run, field).length > 1 ? `${run.name}, ${c.name}` : run.name, color: i, dashed: c.sparse && spec.id === "loss"})));
}

// rates are the metrics that lie between 0 and 1.
const rates = new Set(["accuracy", "auc", "top_k"]);

// spanOfRuns returns the ends of x, the same for all charts.
function spanOfRuns(runs, x) {
  const begun = runs.filter((run) => run.points.length > 0);
  const from = Math.min(...begun.map((run) => run.points[0][x])), to = Math.max(...begun.map((run) => x === "t" ? run.t : run.done));
  return begun.length === 0 ? [0, 1] : from < to ? [from, to] : [0, to || 1];
}

// rowsOf joins curves by x: one row for each x, with a value of each curve that has one.
function rowsOf(curves, view) {
  const rows = new Map();
  curves.forEach((curve, i) => {
    let mean; // over about ten points
    for (const p of curve.points) {
      let y = curve.y(p);
      if (view.smooth && curve.smooth && Number.isFinite(y)) y = mean = mean === undefined ? y : mean + 0.1 * (y - mean);
      const x = p[view.x];
      if (!rows.has(x)) rows.set(x, {x, step: p.step, t: p.t, values: new Array(curves.length).fill(null)});
      rows.get(x).values[i] = y;
    }
  });
  return [...rows.values()].sort((a, b) => a.x - b.x);
}

const maxRows = 200;

// sampled returns at most maxRows of a list, the first and the last with them.
function sampled(list) {
  if (list.length <= maxRows) return list;
  return Array.from({length: maxRows}, (_, i) => list[Math.round(i * (list.length - 1) / (maxRows - 1))]);
}

// dotted reports whether the points of a curve are seen: where few would make no line.
const dotted = (curve) => curve.sparse || curve.points.length < 10;

class Chart {
  constructor(spec, parent) {
    this.spec = spec;
    this.title = el("span");
    this.key = el("span", {class: "key"});
    this.plot = el("div", {class: "plot", role: "slider", tabindex: "0", "aria-valuemin": "0"});
    this.readout = el("p", {class: "readout"});
    this.table = el("table");
    this.figure = el("figure", {id: `chart-${spec.id}`}, el("figcaption", {}, this.title, this.key), this.plot, this.readout,
      el("div", {class: "unseen"}, this.table));
    parent.append(this.figure);
    this.plot.addEventListener("keydown", (event) => this.#press(event));
    new ResizeObserver(() => this.#fit()).observe(this.plot);
  }

  // draw shows curves. run is the one whose marks are on the axis.
  draw(runs, run, view) {
    const field = commonMetric(runs);
    const curves = curvesOf(this.spec, runs, run, field).map((c) => ({...c, smooth: this.spec.smooth && !c.sparse}));
    Object.assign(this, {run, view, curves, field, span: spanOfRuns(runs, view.x), rows: rowsOf(curves, view), level: this.spec.level?.(run, field)});
    this.title.textContent = this.spec.title(field);
    this.plot.setAttribute("aria-label", `along the curve: ${this.title.textContent}`);
    this.#fillKey();
    this.#plotRows();
    this.#fillTable();
    this.#tell(this.at);
  }

  #fillKey() {
    const none = this.rows.length === 0;
    this.key.replaceChildren(...(none ? [this.spec.id === "metric" ? "no evaluation, or no metric in common" : "no point yet"] : this.curves.map((c) => {
      const swatch = el("i");
      swatch.style.background = color(c.color);
      return el("span", {}, swatch, c.dashed ? `${c.name} (dashed)` : c.name);
    })));
  }

  #columns() {
    const xs = this.rows.map((row) => row.x);
    const ys = this.curves.map((_, i) => this.rows.map((row) => {
      const y = this.spec.stacked ? row.values.slice(0, i + 1).reduce((a, b) => a + b) : row.values[i];
      return y === null || !Number.isFinite(y) || (this.#log() && y <= 0) ? null : y;
    }));
    return [xs, ...(this.spec.stacked ? ys.reverse() : ys)];
  }

  #log() { return this.spec.log && this.view.log; }

  // plotRows gives uPlot the rows. It is made anew only where its curves, scales or colours change.
  #plotRows() {
    const made = JSON.stringify([this.curves.map((c) => [c.name, c.color, dotted(c)]), this.field, this.view.x, this.#log(), theme()]);
    if (this.made === made) {
      this.uplot.setData(this.#columns());
      return;
    }
    this.made = made;
    this.uplot?.destroy();
    this.uplot = new uPlot(this.#options(), this.#columns(), this.plot);
  }

  #options() {
    const [line, text] = [style("--line"), style("--faint")];
    const axis = {stroke: text, grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1}, font: "12px system-ui, sans-serif"};
    const series = this.curves.map((c) => ({label: c.name, stroke: color(c.color), width: 1.5, spanGaps: true, dash: c.dashed ? [6, 4] : undefined,
      fill: this.spec.stacked ? color(c.color) : undefined, points: dotted(c) && !this.spec.stacked ? {} : {show: false}}));
    return {
      width: this.plot.clientWidth || 300, height: 220, legend: {show: false},
      cursor: {y: false, drag: {x: false, y: false}, points: {show: !this.spec.stacked}},
      scales: {x: {time: false, range: () => this.span}, y: {distr: this.#log() ? 3 : 1, range: this.#range()}},
      axes: [{...axis, space: 60, size: 32, values: (_, list) => list.map((x) => this.view.x === "t" ? (x === 0 ? "0" : duration(x)) : short(x))},
        {...axis, size: 56, values: (_, list) => list.map((y) => y === null ? "" : short(y))}],
      series: [{}, ...(this.spec.stacked ? series.reverse() : series)],
      hooks: {drawClear: [(u) => this.#shade(u)], draw: [(u) => this.#mark(u)], setCursor: [(u) => this.#tell(u.cursor.idx)]},
    };
  }

  // range returns uPlot's function of the lower and the upper end of y, or undefined for its own.
  #range() {
    if (this.spec.stacked) return () => [0, usual(this.rows)];
    if (this.spec.id !== "metric" || !rates.has(this.field)) return undefined;
    return (_, min, max) => min === null ? [0, 1] : uPlot.rangeNum(min, max, 0.1, true).map((y) => Math.max(0, Math.min(1, y)));
  }

  // shade paints the intervals of lost steps behind the curves.
  #shade(u) {
    u.ctx.fillStyle = style("--lost");
    for (const lost of this.run.lost) {
      const [from, to] = this.view.x === "t" ? [lost.t, lost.toT] : [lost.step, lost.toStep];
      const left = u.valToPos(from, "x", true), right = u.valToPos(to, "x", true);
      u.ctx.fillRect(left, u.bbox.top, Math.max(2, Math.min(right, u.bbox.left + u.bbox.width) - left), u.bbox.height);
    }
  }

  // mark draws a line for each generation and fault, and one for the baseline.
  #mark(u) {
    for (const mark of this.run.marks) {
      const x = u.valToPos(mark[this.view.x], "x", true);
      if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) stroke(u, style(`--${mark.kind}`), [x, u.bbox.top, x, u.bbox.top + u.bbox.height]);
    }
    const y = this.level === undefined ? NaN : u.valToPos(this.level, "y", true);
    if (y >= u.bbox.top && y <= u.bbox.top + u.bbox.height) stroke(u, style("--faint"), [u.bbox.left, y, u.bbox.left + u.bbox.width, y]);
  }

  #fit() {
    if (this.uplot && this.plot.clientWidth > 0) this.uplot.setSize({width: this.plot.clientWidth, height: 220});
  }

  #press(event) {
    const moves = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity};
    const by = moves[event.key];
    if (by === undefined || this.rows.length === 0) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(this.rows.length - 1, (this.at ?? (by > 0 ? -1 : this.rows.length)) + by));
    this.uplot.setCursor({left: this.uplot.valToPos(this.rows[at].x, "x"), top: 0}, false);
    this.#tell(at);
  }

  // tell shows and speaks the values of the curves at a row.
  #tell(at) {
    const row = this.rows[at ?? this.rows.length - 1];
    this.at = row ? at ?? undefined : undefined;
    const text = row ? [`step ${count(row.step)}, ${duration(row.t)}`, ...this.curves.map((c, i) =>
      row.values[i] === null ? "" : `${c.name} ${digits(row.values[i])}`).filter(Boolean)].join(" · ") : "";
    this.readout.textContent = text;
    this.plot.setAttribute("aria-valuemax", Math.max(0, this.rows.length - 1));
    this.plot.setAttribute("aria-valuenow", at ?? Math.max(0, this.rows.length - 1));
    this.plot.setAttribute("aria-valuetext", text || "no point yet");
  }

  #fillTable() {
    fill(this.table, ["step", "seconds", ...this.curves.map((c) => c.name)], sampled(this.rows).map((row) =>
      ({cells: [row.step, Number(row.t.toPrecision(6)), ...row.values.map((y) => y === null ? "" : String(Number(y.toPrecision(6))))]})),
    this.title.textContent);
  }
}

// usual is an upper bound of a stack that leaves out the highest peaks: a step with a checkpoint hides all others.
function usual(rows) {
  const sums = rows.map((row) => row.values.reduce((a, b) => a + b)).sort((a, b) => a - b);
  return 1.5 * sums[Math.floor(0.9 * (sums.length - 1))] || 1;
}

// short writes a number of an axis.
function short(x) {
  if (Math.abs(x) >= 1e12) return x.toExponential(1);
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (Math.abs(x) >= 10 * size) return `${Number((x / size).toPrecision(4))}${unit}`;
  }
  return String(Number(x.toPrecision(4)));
}

function stroke(u, color, [x0, y0, x1, y1]) {
  u.ctx.save();
  for (const [ink, width, dash] of [[style("--card"), 3, []], [color, 1.5, [5, 4]]]) { // seen over an area, too
    u.ctx.strokeStyle = ink;
    u.ctx.lineWidth = width * devicePixelRatio;
    u.ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
    u.ctx.beginPath();
    u.ctx.moveTo(x0, y0);
    u.ctx.lineTo(x1, y1);
    u.ctx.stroke();
  }
  u.ctx.restore();
}
