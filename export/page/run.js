"use strict";
// A run as its events tell it: curves, marks on their axis, lists and the newest of each fact.

class Run {
  constructor(name) {
    this.name = name;
    this.state = "waiting";
    this.cause = "";      // of the state, "" for none
    this.points = [];     // sums of steps
    this.evals = new Map(); // by name of the records: a list each
    this.loads = [];      // sums of ranks
    this.lost = [];       // intervals of steps that were lost
    this.gone = [];       // points of them
    this.marks = [];      // of generations, faults and resumes on the axis
    this.timeline = [];   // events
    this.log = [];        // events
    this.totals = new Map(); // by rank, over the run
    this.watched = 0;     // seconds that the totals cover
    this.done = 0;        // completed steps
    this.idle = 0;        // seconds between attempts, which no axis shows
    this.events = 0;      // that came
  }

  add(e) {
    e.at = new Date(e.time);
    e.number = ++this.events;
    if (e.event === "ranks") e.ranks ??= [];
    if (e.event !== "waiting") this.#passes(e);
    folds[e.event]?.(this, e);
    if (inTimeline.has(e.event)) this.timeline.push(e);
    if (!quiet.has(e.event)) this.log.push(e);
    if (this.log.length > 2 * maxLog) this.log.splice(0, maxLog);
  }

  // passes moves the clock of the run. The time before a start belongs to no attempt, and no clock that was set back
  // makes the run younger.
  #passes(e) {
    this.began ??= e.at;
    if (this.last && (e.event === "start" || e.event === "error" && this.over() || e.at < this.last)) this.idle += (e.at - this.last) / 1000;
    this.last = e.at;
    this.t = (e.at - this.began) / 1000 - this.idle;
  }

  // back ends the curves at a step that training returns to.
  back(step) {
    if (this.done > step) {
      const kept = this.points.findLast((p) => p.step <= step);
      this.lost.push({step, t: kept?.t ?? 0, toStep: this.done, toT: this.t});
      this.points = this.#upTo(step, this.points);
      for (const [name, list] of this.evals) this.evals.set(name, this.#upTo(step, list));
    }
    this.done = step;
  }

  #upTo(step, list) {
    this.gone.push(...list.filter((p) => p.step > step));
    return list.filter((p) => p.step <= step);
  }

  // kept has the events that the run keeps, in order: with these a report is made.
  kept() {
    const points = [...this.points, ...this.loads, ...this.gone, ...[...this.evals.values()].flat()].map((p) => p.e);
    return [...this.timeline, ...points].sort((a, b) => a.number - b.number).map(({at, number, ...e}) => e);
  }

  mark(e) { this.marks.push({kind: e.event === "start" ? "resume" : e.event, step: this.done, t: this.t, text: sentence(e)}); }

  // lastEval is the newest evaluation with a field, of the records that come first.
  lastEval(field) {
    for (const list of this.evals.values()) {
      const p = list.findLast((p) => p.e[field] !== undefined);
      if (p) return p.e;
    }
  }

  // over reports whether the run has said its last word.
  over() { return this.state === "finished" || this.state === "failed" || this.state === "stopped"; }

  // ending says how a run ended that has no last event.
  ending(goesOn) {
    if (this.over()) return;
    if (goesOn) {
      this.cause = `the run goes on; this page has its first ${plural(this.done, "step")}`;
      return;
    }
    this.state = "ended";
    this.cause = `ended without a word after step ${count(this.done)}: see the launcher's last line`;
  }
}

const maxLog = 500, maxEvals = 2000;
const inTimeline = new Set(["start", "generation", "decision", "checkpoint", "export", "warning", "error", "done"]);
const quiet = new Set(["step", "ranks", "status"]);

// folds has the changes that each kind of event makes to a run.
const folds = {
  __proto__: null, // names of events come from others
  waiting(run, e) {
    run.state = "waiting";
    run.cause = sentence(e);
  },
  start(run, e) {
    if (run.start && e.restored_step === 0 && e.job_id !== run.start.job_id) Object.assign(run, new Run(run.name), {began: e.at, last: e.at, t: 0}); // another run in the folder
    if (run.start) {
      run.back(e.restored_step);
      run.mark(e);
    }
    run.done = e.restored_step;
    run.start = e;
    running(run);
  },
  generation(run, e) {
    run.back(e.steps_repeated > 0 ? e.restored_step : run.done);
    run.mark(e);
    running(run);
  },
  step(run, e) {
    const steps = e.step - run.done;
    if (steps <= 0) return;
    run.done = e.step;
    run.step = e;
    keep(run.points, {e, step: e.step, t: run.t, steps, loss: number(e.loss)}, joinSteps);
  },
  eval(run, e) {
    const name = e.name || e.split;
    if (!run.evals.has(name)) run.evals.set(name, []);
    const list = run.evals.get(name), p = {step: e.step, t: run.t, loss: number(e.loss), e};
    if (list.length < maxEvals) list.push(p);
    else keep(list, p, (_, next) => next);
  },
  ranks(run, e) {
    run.ranks = e;
    run.watched += e.interval_s;
    keep(run.loads, {e, t: run.t}, joinLoads);
    for (const r of e.ranks) {
      const sum = run.totals.get(r.rank) ?? {rank: r.rank, busy_s: 0, waited_s: 0, sent_bytes: 0, interval_s: 0};
      for (const field of ["busy_s", "waited_s", "sent_bytes"]) sum[field] += r[field];
      sum.interval_s += e.interval_s;
      run.totals.set(r.rank, Object.assign(sum, {host: r.host, rss_bytes: r.rss_bytes}));
    }
  },
  error(run, e) {
    run.state = e.exit_code === 143 || e.exit_code === 130 ? "stopped" : "failed";
    run.cause = sentence(e);
    run.mark(e);
  },
  done(run, e) {
    run.state = "finished";
    run.cause = sentence(e);
    run.result = e;
  },
};

function running(run) {
  run.state = "running";
  run.cause = "";
  run.ranks = run.result = undefined;
}

// parts has the parts of a step's time, the lowest of the stack first.
const parts = {
  input: (e) => e.input_s,
  compute: (e) => e.compute_s - e.update_s,
  update: (e) => e.update_s,
  exchange: (e) => e.exposed_s,
  other: (e) => Math.max(0, e.interval_s - e.input_s - e.compute_s - e.exposed_s),
};

// joinSteps adds two adjacent points: times add, the loss is by examples.
function joinSteps(a, b) {
  const e = {...b.e};
  for (const field of ["examples", "interval_s", "compute_s", "update_s", "reduce_s", "input_s", "exposed_s"]) e[field] += a.e[field];
  if (e.interval_s > 0) e.examples_per_s = e.examples / e.interval_s;
  const [before, next] = e.examples > 0 ? [a.e.examples, b.e.examples] : [a.steps, b.steps]; // lines of an old version
  const loss = (a.loss * before + b.loss * next) / (before + next);
  e.loss = Number.isFinite(loss) ? loss : String(loss);
  return {...b, e, loss, steps: a.steps + b.steps};
}

// joinLoads adds two adjacent events of ranks.
function joinLoads(a, b) {
  const before = new Map(a.e.ranks.map((r) => [r.rank, r]));
  const ranks = b.e.ranks.map((r) => {
    const sum = {...r}, old = before.get(r.rank);
    for (const field of old ? ["busy_s", "waited_s", "sent_bytes"] : []) sum[field] += old[field];
    return sum;
  });
  return {...b, e: {...b.e, ranks, interval_s: a.e.interval_s + b.e.interval_s}};
}

// keep appends a point. Points that lie closer than a 500th of the run's time, or 20 ms, are joined; the bounds are a
// little lower, so that points of a history stay as they are.
function keep(list, p, join) {
  const last = list.at(-1), before = list.at(-2);
  const near = before && last.t - before.t < Math.max(0.018, p.t / 550);
  if (near) list.pop();
  list.push(near ? join(last, p) : p);
}
