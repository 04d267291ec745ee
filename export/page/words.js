"use strict";
// Numbers and sentences for people.

const whole = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

// count writes a number without fraction, with commas.
const count = (n) => whole.format(n);

// plural writes a number with its noun.
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

// digits writes a number with four digits, large ones whole.
function digits(x) {
  if (!Number.isFinite(x)) return String(x);
  if (Math.abs(x) >= 1e9) return x.toExponential(3);
  if (Math.abs(x) >= 1000) return count(x);
  if (x !== 0 && Math.abs(x) < 0.001) return x.toExponential(2);
  return Math.abs(x) < 1 ? x.toFixed(4) : String(Number(x.toPrecision(4)));
}

const percent = (share) => `${count(100 * share)} %`;

function bytes(n) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (n >= size) return `${Number((n / size).toPrecision(3))} ${unit}`;
  }
  return `${count(n)} B`;
}

// duration writes seconds in the two units that say most.
function duration(s) {
  if (s === 0) return "0 s";
  if (s < 1e-3) return `${Number((s * 1e6).toPrecision(3))} µs`;
  if (s < 1) return `${Number((s * 1e3).toPrecision(3))} ms`;
  if (s < 10) return `${Number(s.toPrecision(3))} s`;
  const units = [["day", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => s >= size);
  const [name, size] = units[at], next = units[at + 1];
  const first = next ? Math.floor(s / size) : Math.round(s / size);
  const rest = next ? Math.floor((s - first * size) / next[1]) : 0;
  return `${first} ${name === "day" && first > 1 ? "days" : name}${rest ? ` ${rest} ${next[0]}` : ""}`;
}

// clock writes the time of day of a Date, where the reader is.
const clock = (at) => at.toTimeString().slice(0, 8);

// moment is the time of day, with the day before it if that is not the day of since.
function moment(at, since) {
  if (at.toDateString() === since.toDateString()) return clock(at);
  return `${at.toLocaleDateString("en-GB", {day: "numeric", month: "short"})} ${clock(at).slice(0, 5)}`;
}

// number reads a number of an event: NaN and infinities come as text.
const number = (x) => typeof x === "string" ? Number(x.replace("Inf", "Infinity")) : x ?? NaN;

// metrics are the metrics of an evaluation, the one that people follow first. baseline is where the baseline has it.
const metrics = [["accuracy", "accuracy"], ["auc", "AUC"], ["rmse", "RMSE"], ["log_loss", "log loss"], ["top_k", "top k"],
  ["normalized_entropy", "normalized entropy"], ["calibration", "calibration"], ["mae", "MAE"], ["r2", "R2"]];

// followed is the metric of an evaluation that people follow: its field and its name.
const followed = (e) => metrics.find(([field]) => field !== "log_loss" && e[field] !== undefined);

const ranksOf = (list) => list.length === 1 ? `rank ${list[0]}` : `ranks ${list.join(", ")}`;

// sentences has the sentence of each kind of event.
const sentences = {
  __proto__: null,
  waiting: (e) => `${e.present} of ${e.world_size} ranks are present` +
    (e.missing ?? []).map((m) => `; rank ${m.rank} (${m.address}) is missing: ${m.reason}`).join(""),
  start: (e) => `${e.job}: ${plural(e.world_size, "rank")} on ${plural(e.hosts, "host")}, codec ${e.codec}, link ${e.link}` +
    (e.restored_step > 0 ? `; resumed at step ${count(e.restored_step)}` : ""),
  generation: (e) => `generation ${e.generation} of ${plural(e.world_size, "worker")} goes on, ` +
    (e.lost?.length ? `after the loss of ${ranksOf(e.lost)}` : "nobody was lost") + `: ${e.cause}` +
    (e.steps_repeated > 0 ? `; ${plural(e.steps_repeated, "step")} repeated after step ${count(e.restored_step)}` : ""),
  decision: (e) => `${e.what} ${e.choice}: ${e.why}` +
    (e.predicted_s > 0 ? `; predicted ${duration(e.predicted_s)} a step, achieved ${duration(e.achieved_s)}` : ""),
  step: (e) => `step ${count(e.step)}: loss ${digits(number(e.loss))}, ${count(e.examples_per_s)} examples/s`,
  progressive: (e) => `progressive, step ${count(e.step)}: loss ${digits(number(e.loss))} on ${plural(e.examples, "example")}`,
  eval: (e) => `${e.name || e.split}, step ${count(e.step)}: loss ${digits(number(e.loss))}` +
    metrics.filter(([field]) => e[field] !== undefined).map(([field, name]) => `, ${name} ${digits(number(e[field]))}`).join("") +
    ` on ${plural(e.examples, "record")}`,
  checkpoint: (e) => `${e.path}, ${bytes(e.bytes)} in ${duration(e.took_s)}`,
  export: (e) => `${e.path} of step ${count(e.step)}: its graph gives the model's scores on ${plural(e.verified, "record")}`,
  warning: (e) => e.exit_code === 0 ? e.cause :
    `${e.operation} after step ${count(e.step)} failed on rank ${e.rank} on ${e.host}: ${e.cause}; training goes on`,
  error: (e) => (e.rank >= 0 ? `rank ${e.rank}${e.host ? ` on ${e.host}` : ""}${e.step > 0 ? ` at step ${count(e.step)}` : ""}: ` : "") +
    `${e.cause} (exit code ${e.exit_code})`,
  done: (e) => `${plural(e.steps, "step")}, ${plural(e.examples, "example")} in ${duration(e.took_s)}, ${count(e.examples_per_s)} examples/s`,
};

// sentence returns the sentence of an event; of a newer kind, its name.
const sentence = (e) => sentences[e.event]?.(e) ?? e.event;
