"use strict";
// The page: elements, the feed of events, and the drawing of all parts.

const byId = (id) => document.getElementById(id);

// build puts attributes and children into a node. A text becomes a text node, never HTML.
function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== "" && value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== ""));
  return node;
}

const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// fill makes the rows of a table anew. A row of a rank has its number.
function fill(table, head, rows, caption) {
  table.replaceChildren(
    ...(caption ? [el("caption", {}, caption)] : []),
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", {scope: "col"}, String(text))))),
    el("tbody", {}, ...rows.map((row) => el("tr", {"data-rank": row.rank}, ...row.cells.map((cell) => cell instanceof Node ? cell : el("td", {}, String(cell)))))));
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = (i) => style(`--c${i % 6 + 1}`);
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => dark.matches;

// page is the state of the view: the runs, the chosen one, and how curves are drawn.
const page = {runs: [], shown: 0, view: {x: "step", log: false, smooth: false}, heard: undefined, silent: false};

const shownRun = () => page.runs[page.shown];

// source is the document before anything was drawn: with the events it is the report.
const source = document.documentElement.outerHTML;

// states has the words of the states that are not words for people by themselves.
const states = {waiting: "waiting for ranks", ended: "ended without a word"};

function drawState(run) {
  const silent = page.silent && !run.over(), stalled = run.state === "running" && run.status?.stall;
  byId("state").textContent = silent ? `no word since ${clock(page.heard)}` : stalled ? "stalled" : states[run.state] ?? run.state;
  byId("state").dataset.state = silent || stalled ? "silent" : run.state;
  byId("cause").textContent = stalled || run.cause;
  byId("report").hidden = !page.heard || !(run.over() || silent);
  const s = run.start;
  byId("job").textContent = s?.job || run.name || "ringtrain";
  document.title = `${byId("state").textContent} · ${byId("job").textContent}`;
  if (!s) return;
  byId("about").textContent = [s.model, `${plural(s.parameters, "parameter")}`, s.records > 0 && plural(s.records, "record"),
    s.eval_records > 0 && `${count(s.eval_records)} to evaluate`, `${plural(s.world_size, "rank")} on ${plural(s.hosts, "host")}`,
    `batch ${count(s.global_batch)}`, s.epochs > 0 && plural(s.epochs, "epoch"), s.hosts > 1 && `codec ${s.codec}`].filter(Boolean).join(" · ");
}

// resultOf is the evaluation that stands for a run: that of its result, else the newest.
function resultOf(run) {
  return run.result?.eval ?? [...run.evals.values()].map((list) => list.at(-1)?.e).find(Boolean);
}

function drawTiles(run) {
  const p = run.points.at(-1), e = run.step, m = resultOf(run), total = e?.steps || run.start?.steps;
  byId("step").textContent = count(run.done);
  byId("steps").textContent = total ? `of ${count(total)}` : "";
  byId("progress").value = total ? Math.min(1, run.done / total) : 0;
  byId("progress").textContent = percent(byId("progress").value);
  byId("loss").textContent = e ? digits(number(e.loss)) : "–";
  byId("loss-more").textContent = e?.learning_rate ? `learning rate ${digits(number(e.learning_rate))}` : "";
  const [field, name] = (m && followed(m)) ?? [undefined, "metric"], base = m?.baseline?.[field];
  byId("metric-name").textContent = name;
  byId("metric").textContent = field ? digits(number(m[field])) : "–";
  byId("metric-more").textContent = field ? `step ${count(m.step)}${base === undefined ? "" : `, baseline ${digits(number(base))}`}` : "";
  byId("rate").textContent = run.result ? count(run.result.examples_per_s) : e ? count(e.examples_per_s) : "–";
  byId("rate-more").textContent = p ? `step ${duration(p.e.interval_s / p.steps)}` : "";
  byId("time").textContent = run.t === undefined ? "–" : duration(run.t);
  byId("left").textContent = run.state === "running" && e?.left_s > 0 ? `${duration(e.left_s)} left` : "";
}

function eventItem(e, since) {
  return el("li", {"data-event": e.event}, el("time", {datetime: e.time}, moment(e.at, since)), el("b", {}, e.event), el("span", {}, sentence(e)));
}

// drawList shows events, the newest first. Those that stand there stay.
function drawList(list, events) {
  if (list.events !== events) list.replaceChildren();
  const from = list.events === events ? events.lastIndexOf(list.newest) + 1 : 0;
  list.prepend(...events.slice(from).map((e) => eventItem(e, events[0].at)).reverse());
  Object.assign(list, {events, newest: events.at(-1)});
}

function drawConfusion(run) {
  const e = run.lastEval("confusion"), calibrated = run.lastEval("calibration_buckets");
  byId("evaluation").hidden = !e && !calibrated;
  byId("confusion-title").parentElement.hidden = !e;
  byId("calibration-title").parentElement.hidden = !calibrated;
  if (calibrated) drawCalibration(calibrated.calibration_buckets);
  if (!e || byId("confusion").of === e) return;
  byId("confusion").of = e;
  const classes = e.classes ?? e.confusion.map((_, i) => String(i));
  fill(byId("confusion"), ["class", ...classes], e.confusion.map((row, i) => {
    const sum = row.reduce((a, b) => a + b, 0) || 1;
    return {cells: [el("th", {scope: "row"}, classes[i]), ...row.map((n, j) => {
      const cell = el("td", {class: i === j ? "right" : ""}, count(n));
      cell.style.setProperty("--share", `${Math.round(35 * n / sum)}%`);
      return cell;
    })]};
  }), `of step ${count(e.step)}, ${plural(e.examples, "record")}`);
}

// drawCalibration draws observed rates over predicted ones, and the diagonal where both agree.
function drawCalibration(buckets) {
  const [x, y] = [(v) => 30 + 200 * v, (v) => 210 - 200 * v], most = Math.max(...buckets.map((b) => b.examples));
  const table = el("table");
  fill(table, ["score", "examples", "predicted", "observed"], buckets.map((b) =>
    ({cells: [`${short(number(b.from))} to ${short(number(b.to))}`, b.examples, digits(number(b.predicted)), digits(number(b.observed))]})));
  byId("calibration").replaceChildren(svg("svg", {viewBox: "0 0 240 240", "aria-hidden": "true"},
    svg("path", {class: "frame", d: `M ${x(0)} ${y(1)} V ${y(0)} H ${x(1)}`}), svg("path", {class: "diagonal", d: `M ${x(0)} ${y(0)} L ${x(1)} ${y(1)}`}),
    ...buckets.map((b) => svg("circle", {cx: x(number(b.predicted)), cy: y(number(b.observed)), r: 3 + 5 * Math.sqrt(b.examples / most)})),
    svg("text", {x: x(0.5), y: 232, "text-anchor": "middle"}, "predicted"), svg("text", {x: 12, y: y(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${y(0.5)})`}, "observed")), table);
}

function drawOptions(run) {
  if (byId("options").of === run.start || !run.start) return;
  byId("options").of = run.start;
  const facts = ["job_id", "version", "kernels", "codec", "link", "levels", "algorithm", "seed", "checkpoint_dir"].filter((name) => run.start[name] !== "");
  fill(byId("options"), ["option", "value"], [...Object.entries(run.start.options ?? {}), ...facts.map((name) => [name, run.start[name]])].map((cells) => ({cells})));
}

// drawComparison has the results of several runs, and the options that they do not share.
function drawComparison(runs) {
  byId("compare").hidden = byId("choose").hidden = runs.length < 2;
  if (runs.length < 2) return;
  const fields = metrics.filter(([field]) => runs.some((run) => resultOf(run)?.[field] !== undefined));
  fill(byId("results"), ["run", "state", "steps", "ranks", ...fields.map(([, name]) => name), "loss", "examples/s", "time"], runs.map((run) => {
    const e = resultOf(run);
    return {cells: [run.name, run.state, count(run.done), run.start?.world_size ?? "–", ...fields.map(([field]) => e?.[field] === undefined ? "–" : digits(number(e[field]))),
      digits(number(e?.loss ?? run.step?.loss)), count(run.result?.examples_per_s ?? run.step?.examples_per_s ?? 0), duration(run.t ?? 0)]};
  }));
  const options = runs.map((run) => ({...run.start?.options, ranks: run.start?.world_size, codec: run.start?.codec, version: run.start?.version}));
  const differ = [...new Set(options.flatMap(Object.keys))].filter((key) => new Set(options.map((o) => o[key])).size > 1);
  byId("differ-title").textContent = differ.length > 0 ? "Options that differ" : "No option differs";
  byId("differ").parentElement.hidden = differ.length === 0;
  fill(byId("differ"), ["option", ...runs.map((run) => run.name)], differ.map((key) => ({cells: [key, ...options.map((o) => o[key] ?? "default")]})));
}

function drawCurves(run) {
  byId("marks").hidden = run.marks.length + run.lost.length === 0;
  for (const chart of page.charts) chart.draw(page.runs, run, page.view);
}

// drawings has the parts of the page.
const drawings = [drawState, drawTiles, drawCurves, () => drawComparison(page.runs), drawRing, (run) => drawList(byId("timeline"), run.timeline),
  (run) => drawList(byId("log"), run.log), drawConfusion, drawOptions];

// draw draws all parts. A part that meets an event that it cannot draw leaves the others as they are.
function draw() {
  page.due = undefined;
  for (const drawing of drawings) {
    try {
      drawing(shownRun());
    } catch (error) {
      console.error(error);
    }
  }
}

// soon draws a little later, so that many events are one drawing.
function soon(wait = shownRun().points.length > 2000 ? 1000 : 250) { page.due ??= setTimeout(draw, wait); }

const announced = new Set(["error", "generation", "warning"]);

// listen takes the events of a live run.
function listen() {
  const run = new Run("");
  page.runs = [run];
  page.heard = new Date();
  history.replaceState(null, "", location.pathname);
  const feed = new EventSource("events");
  feed.onmessage = (message) => {
    const e = JSON.parse(message.data);
    run.add(e);
    word();
    if (announced.has(e.event) && Date.now() - e.at < 10000) byId("announce").textContent = `${e.event}: ${sentence(e)}`;
    if (e.event === "done") soon(0);
  };
  feed.addEventListener("status", (message) => {
    run.status = JSON.parse(message.data);
    word();
  });
  feed.onerror = () => {
    if (run.over()) feed.close();
    page.silent = true;
    soon();
  };
  setInterval(() => {
    if (Date.now() - page.heard < 5000 || page.silent) return;
    page.silent = true;
    soon();
  }, 1000);
}

// word notes that something was heard.
function word() {
  page.heard = new Date();
  page.silent = false;
  soon();
}

// save makes a report: this document with the events that were heard.
function save() {
  const run = {name: shownRun().name, running: false, events: shownRun().kept()};
  const data = JSON.stringify(run).replaceAll("<", "\\u003c");
  const html = source.replace("connect-src 'self'; ", "").replace("<script>", () => `<script type="application/json" class="run">${data}<\/script>\n<script>`);
  byId("report").href = URL.createObjectURL(new Blob(["<!DOCTYPE html>\n", html], {type: "text/html"}));
  byId("report").download = `${byId("job").textContent.replace(/[^\w.-]/g, "_")}.html`;
}

// unique tells runs of one name apart.
function unique(name) {
  for (let i = 1, free = name; ; i++, free = `${name} (${i})`) if (!page.runs.some((run) => run.name === free)) return free;
}

// read takes the runs that the document has.
function read(blocks) {
  for (const block of blocks) {
    const {name, running, events} = JSON.parse(block.textContent), run = new Run(unique(name));
    for (const e of events) run.add(e);
    run.ending(running);
    page.runs.push(run);
  }
  byId("run").append(...page.runs.map((run, i) => el("option", {value: String(i)}, run.name)));
}

function change(event) {
  const {name, value, checked, type} = event.target;
  if (event.target.id === "run") page.shown = Number(value);
  else page.view[name] = type === "checkbox" ? checked : value;
  soon(0);
}

function begin() {
  const blocks = [...document.querySelectorAll("script.run")];
  page.charts = charts.map((spec) => new Chart(spec, byId("charts")));
  if (blocks.length > 0) read(blocks);
  else listen();
  document.addEventListener("change", change);
  byId("report").addEventListener("click", save);
  dark.addEventListener("change", () => soon(0));
  draw();
}

begin();
