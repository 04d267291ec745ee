"use strict";
// The ring: hosts as arcs, ranks with their wait, arrows to the rank that others wait for.

const middle = 220, radius = 104;
const labelled = 12; // ranks that have their numbers beside them
const maxRanks = 64; // that are drawn

// at is the place on the circle of an angle in turns, from the top.
const at = (turn, r) => [middle + r * Math.sin(2 * Math.PI * turn), middle - r * Math.cos(2 * Math.PI * turn)].map((x) => x.toFixed(1));

// slowest is the rank that the others wait for, with the share of the time, or undefined. It is the rank that was busy
// the longest beyond the mean of the others.
function slowest(loads) {
  if (loads.length < 2) return undefined;
  const top = loads.reduce((a, b) => b.busy_s > a.busy_s ? b : a);
  const others = loads.reduce((sum, r) => sum + r.busy_s, -top.busy_s) / (loads.length - 1);
  const share = (top.busy_s - others) / top.interval_s;
  return share >= 0.1 ? {rank: top.rank, host: top.host, share: Math.min(1, share)} : undefined;
}

// loadsOf returns the ranks of a run: of the last interval while it trains, over the whole run when it has ended. Ranks
// of the status that have no load yet, or are missing, are there too. Of very many ranks some are left out.
function loadsOf(run) {
  const live = run.state === "running" && run.ranks;
  const loads = new Map(live ? run.ranks.ranks.map((r) => [r.rank, {...r, interval_s: run.ranks.interval_s}]) : run.totals);
  for (const s of run.status?.ranks ?? []) {
    if (s.rank >= 0 && (loads.size < maxRanks || loads.has(s.rank))) loads.set(s.rank, {rank: s.rank, host: s.host, interval_s: 0, ...loads.get(s.rank), status: s});
  }
  const blank = loads.size === 0;
  for (let rank = 0; rank < Math.min(maxRanks, blank ? run.start?.world_size ?? 0 : 0); rank++) loads.set(rank, {rank, host: "", interval_s: 0});
  return [...loads.values()].sort((a, b) => a.rank - b.rank);
}

// measuresOf has the numbers of a rank as text; a rank that has not been heard has none.
function measuresOf(r) {
  if (r.status && !r.status.present) return {waited: "missing", rate: "–", memory: "–", busy: "–"};
  if (!(r.interval_s > 0)) return {waited: "–", rate: "–", memory: "–", busy: "–"};
  return {waited: percent(r.waited_s / r.interval_s), busy: percent(r.busy_s / r.interval_s),
    rate: `${bytes(r.sent_bytes / r.interval_s)}/s`, memory: bytes(r.rss_bytes)};
}

// arrowsOf returns the waits of ranks for ranks: by the status where a wait lasts, else of all for the slowest rank.
function arrowsOf(run, loads, slow) {
  const stuck = (run.status?.ranks ?? []).filter((s) => s.present && s.peer >= 0 && s.for_s >= 0.5);
  if (stuck.length > 0) return stuck.map((s) => ({from: s.rank, to: s.peer, text: `rank ${s.rank} waits for rank ${s.peer} in ${s.operation} for ${duration(s.for_s)}`}));
  return slow ? loads.filter((r) => r.rank !== slow.rank).map((r) => ({from: r.rank, to: slow.rank})) : [];
}

// hostsOf joins neighbours of one host: the first and the last place of each arc.
function hostsOf(loads) {
  const arcs = [];
  loads.forEach((r, i) => {
    if (arcs.at(-1)?.host === r.host) arcs.at(-1).to = i;
    else arcs.push({host: r.host, from: i, to: i});
  });
  return arcs;
}

function arc(from, to, r) {
  return `M ${at(from, r)} A ${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to, r)}`;
}

// label is a text beside the circle, which grows away from it.
function label(turn, r, lines, attributes) {
  const [x, y] = at(turn, r), side = Math.sin(2 * Math.PI * turn), up = (1 + Math.cos(2 * Math.PI * turn)) / 2;
  const anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
  return svg("text", {x, y: Number(y) - 15 * up * (lines.length - 1), "text-anchor": anchor, "dominant-baseline": "middle", ...attributes},
    ...lines.map((line, i) => svg("tspan", {x, dy: i === 0 ? 0 : "1.15em"}, line)));
}

function hostArc({host, from, to}, n) {
  const turns = [(from - 0.4) / n, (to + 0.4) / n];
  const name = host.length > 18 ? `${host.slice(0, 17)}…` : host;
  return svg("g", {class: "host"}, svg("path", {d: arc(...turns, radius + 24)}),
    label((from + to) / 2 / n, n <= labelled ? radius - 44 : radius + 44, [name]), svg("title", {}, host));
}

function rankNode(r, i, n, slow) {
  const size = n <= 24 ? 15 : n <= 40 ? 9 : 5;
  const m = measuresOf(r), [cx, cy] = at(i / n, radius), round = 2 * Math.PI * size;
  const waited = r.interval_s > 0 ? Math.min(1, r.waited_s / r.interval_s) * round : 0;
  const kind = r.status && !r.status.present ? "missing" : slow?.rank === r.rank ? "slow" : "";
  const node = svg("g", {"data-rank": r.rank, class: kind},
    svg("title", {}, `rank ${r.rank} on ${r.host}: waits ${m.waited}, sends ${m.rate}, memory ${m.memory}`),
    svg("circle", {cx, cy, r: size}),
    svg("circle", {cx, cy, r: size, class: "wait", "stroke-dasharray": `${waited} ${round}`, transform: `rotate(-90 ${cx} ${cy})`}));
  if (n <= 40) node.append(svg("text", {x: cx, y: cy, "text-anchor": "middle", "dominant-baseline": "central", class: "number"}, String(r.rank)));
  if (n <= labelled) node.append(label(i / n, radius + 36, linesOf(r, m, kind)));
  return node;
}

// linesOf has the numbers beside a rank, those that say something.
function linesOf(r, m, kind) {
  if (kind === "missing" || !(r.interval_s > 0)) return kind === "missing" ? [kind] : [];
  return [`waits ${m.waited}`, r.sent_bytes > 0 ? m.rate : "", m.memory].filter(Boolean);
}

function arrow({from, to}, places, n) {
  if (!places.has(from) || !places.has(to)) return "";
  const turns = [places.get(from) / n, places.get(to) / n];
  const [a, b] = turns.map((turn) => at(turn, radius - 20));
  return svg("path", {class: "waits", d: `M ${a} Q ${middle} ${middle} ${b}`, "marker-end": "url(#head)"});
}

// drawRing fills the figure of the ring, the waits beside it and the table of ranks.
function drawRing(run) {
  const loads = loadsOf(run), n = loads.length, slow = slowest(loads.filter((r) => r.interval_s > 0));
  const arrows = arrowsOf(run, loads, slow), places = new Map(loads.map((r, i) => [r.rank, i]));
  byId("ring").replaceChildren(svg("svg", {viewBox: "0 30 440 380", role: "group", "aria-label": `${plural(n, "rank")} on a ring`},
    svg("defs", {}, svg("marker", {id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto"}, svg("path", {d: "M 0 0 L 8 4 L 0 8 z"}))),
    ...hostsOf(loads).map((host) => hostArc(host, n)), ...arrows.map((a) => arrow(a, places, n)), ...loads.map((r, i) => rankNode(r, i, n, slow))));
  byId("waits").textContent = run.status?.stall || (slow ? `others wait ${percent(slow.share)} of the time for rank ${slow.rank} on ${slow.host}` : "");
  byId("peers").replaceChildren(...arrows.filter((a) => a.text).map((a) => el("li", {}, a.text)));
  fill(byId("ranks"), ["rank", "host", "busy", "waits", "sends", "memory", "waits for"], loads.map((r) => {
    const m = measuresOf(r), to = arrows.find((a) => a.from === r.rank);
    return {rank: r.rank, cells: [r.rank, r.host, m.busy, m.waited, m.rate, m.memory, to ? `rank ${to.to}` : ""]};
  }));
  byId("span").textContent = spanOf(run);
}

// spanOf says of which time the numbers are, and of very many ranks how busy the others are.
function spanOf(run) {
  const {interval_s, least, median, largest} = run.ranks ?? {};
  if (run.state !== "running" || !interval_s) return run.watched > 0 ? `of ${duration(run.watched)} of training` : "";
  const busy = (load) => percent(load.busy_s / interval_s);
  return `of the last ${duration(interval_s)}` + (median ? `; of all ranks: busy ${busy(least)} to ${busy(largest)}, median ${busy(median)}` : "");
}
