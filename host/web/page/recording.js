// A recording over time: its channels, margins and decisions, events, and why a window was decided as it was.
"use strict";

/// Series that a report holds, in the form of those that are read.
function seriesOf({ series, names, channels, rate }) {
  return { channels, rate: rate ?? undefined, series: series.map(({ series: index, length, step, lines }) => ({
    id: names[index][0], label: names[index][1], times: [], length, step, channels: lines.map((line) => line.map((value) => value ?? NaN)),
  })) };
}

function showTimeline() {
  const labels = new Map(state.tidy.series.map(({ id, label }) => [id, label]));
  const with_ = new Set([...state.decisions, ...state.events, ...state.marks].map(({ series }) => series));
  const ids = state.tidy.series.map(({ id }) => id).filter((id) => with_.has(id));
  if (ids.length === 0) return hide("timeline");
  at("series").replaceChildren(...ids.map((id) => element("option", { value: id }, `${id}${labels.get(id) ? `: ${labels.get(id)}` : ""}`)));
  show("timeline");
  return showSeries();
}

function showSeries() {
  const id = at("series").value, one = state.tidy.series.find((series) => series.id === id);
  at("why").replaceChildren();
  if (!one) return;
  const { channels } = state.tidy, [first, period, unit] = timing(one), step = one.step ?? 1;
  const decided = state.decisions.filter(({ series }) => series === id);
  const length = one.length ?? one.channels[0]?.length ?? Math.max(...decided.map(({ end }) => end));
  const parts = [];
  const lines = one.channels.map((values, i) => ({ name: channels[i], values: thinned(values), colour: colour(i) }));
  if (lines.length > 0 && lines[0].values.length > 1) {
    const ratio = (step * one.channels[0].length) / lines[0].values.length;
    parts.push(legend(channels), lineChart({ lines, x: [first, period * ratio, unit], label: `series ${id}`, height: 160 }));
  }
  if (decided.length > 0) parts.push(...margins(id, decided, { length, x: [first, period, unit] }));
  parts.push(...eventStrips(id, { length, x: [first, period, unit] }));
  at("lines").replaceChildren(...parts);
}

/// The margin over time, with a band for each decision.
function margins(id, decided, { length, x }) {
  const classes = state.info?.classes ?? state.judged?.judged[0]?.classes ?? [...new Set(state.decisions.map((one) => one.class))];
  const values = new Array(length).fill(NaN);
  const hop = decided.length > 1 ? decided[1].start - decided[0].start : length;
  for (const { end, margin } of decided) values.fill(margin, Math.max(0, end - hop), end);
  const explains = program.isThere && state.modelFile && state.data;
  const marks = decided.map((window) => ({
    from: Math.max(0, window.end - hop), to: window.end, colour: colour(classes.indexOf(window.class)), opacity: 0.35,
    title: `${window.class}, margin ${number(window.margin)}`, onclick: explains ? () => explain(id, window) : undefined,
  }));
  return [element("p", { class: "dim" }, explains ? WORDS.timeline : WORDS.timelineAlone), legend(classes),
    lineChart({ lines: [{ name: "margin", values, colour: "currentColor" }], marks, x, y: "margin", label: "margins and decisions", height: 130 })];
}

/// True and found events as strips.
function eventStrips(id, { length, x }) {
  const of = (all) => all.filter(({ series }) => series === id), [found, marks] = [of(state.events), of(state.marks)];
  const classes = [...new Set([...state.events, ...state.marks].map((one) => one.class))];
  if (classes.length === 0) return [];
  const strip = (name, events) => lineChart({
    lines: [{ name, values: new Array(length).fill(NaN), colour: "none" }], x, y: name, label: `${name} events`, height: 74,
    marks: events.map(({ start, end, class: own, log_odds_per_sample: odds }) => ({
      from: start, to: end, colour: colour(classes.indexOf(own)), opacity: 0.7, title: `${own}, ${start} to ${end}${odds === undefined ? "" : `, log-odds per sample ${number(odds)}`}`,
    })), bare: true });
  return [legend(classes), ...(state.marks.length > 0 ? [strip("true", marks)] : []), strip("found", found)];
}

async function explain(id, { start, end, class: chosen }) {
  try {
    const text = await program.run(["predict", state.data, ...reading(), "--model", state.modelFile, "--explain", "--explain-series", id]);
    const [heads, ...lines] = rows(text), [s, e, rival, sample, gain] = ["start", "end", "rival", "sample", "gain"].map((name) => heads.indexOf(name));
    const own = lines.filter((line) => Number(line[s]) === start && Number(line[e]) === end);
    const values = new Array(end - start).fill(NaN);
    for (const line of own) if (line[sample] !== "") values[Number(line[sample]) - start] = Number(line[gain]);
    at("why").replaceChildren(element("p", {}, WORDS.explained(id, start, end, chosen, own[0]?.[rival] ?? "")),
      lineChart({ lines: [{ name: "gain", values, colour: "currentColor" }], x: [start, 1, "sample"], y: "gain", label: "gains", height: 120 }));
  } catch (error) {
    at("why").replaceChildren(element("p", { class: "bad" }, error.message));
  }
}
