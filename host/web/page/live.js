// A stream of samples as it comes: from a phone's motion sensor, or pasted. Decisions as they fall, and recordings with labels.
"use strict";

/// Channels of a motion sensor: name, unit, and how an event has it.
const MOTION = [
  ["ax", "m/s2", (event) => event.accelerationIncludingGravity?.x], ["ay", "m/s2", (event) => event.accelerationIncludingGravity?.y],
  ["az", "m/s2", (event) => event.accelerationIncludingGravity?.z], ["gx", "deg/s", (event) => event.rotationRate?.beta],
  ["gy", "deg/s", (event) => event.rotationRate?.gamma], ["gz", "deg/s", (event) => event.rotationRate?.alpha],
];

/// Samples at a steady rate from samples at any time: on the line between the two around each step. Where more than `gap` steps are
/// missing, they are: a decision is not made of what was not measured. After `longest` missing steps the stream begins anew, which
/// `begin` is told.
class Steady {
  constructor(period, longest, begin, gap = 5) {
    Object.assign(this, { period, longest, begin, gap });
  }
  /// The rows that a sample completes.
  push(time, values) {
    const rows = [], before = this.last;
    this.last = { time, values };
    if (!before || time <= before.time) {
      this.next ??= time;
      return rows;
    }
    if (time - before.time > this.longest * this.period) {
      this.begin();
      this.next = time;
      return rows;
    }
    const missing = time - before.time > this.gap * this.period;
    for (; this.next <= time; this.next += this.period) {
      const share = (this.next - before.time) / (time - before.time);
      rows.push(values.map((value, i) => (missing ? NaN : before.values[i] + share * (value - before.values[i]))));
    }
    return rows;
  }
}

/// The windows of a stream, one from every `hop`th sample on: `decide` gets the rows of each that is full.
class Windows {
  constructor(length, hop, decide) {
    Object.assign(this, { length, hop, decide });
    this.begin();
  }
  begin() {
    [this.rows, this.samples] = [[], 0];
  }
  push(row) {
    this.rows.push(row);
    if (this.rows.length > this.length) this.rows.shift();
    this.samples += 1;
    const after = this.samples - this.length;
    if (after >= 0 && after % this.hop === 0) this.decide(this.rows.slice());
  }
}

const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const value = (x) => (Number.isFinite(x) ? String(x) : "");

/// A table of one series, as the program reads it.
function tableOf(channels, rows, period, label = "", id = "live") {
  const lines = rows.map((row, i) => [field(id), field(label), (i * period).toFixed(4), ...row.map(value)].join(","));
  return `${["series", "label", "t", ...channels.map(field)].join(",")}\n${lines.join("\n")}\n`;
}

/// What listens now: `stop` ends it.
let listening;

async function listenToMotion(take) {
  // A phone asks its owner, at a tap.
  const asked = await globalThis.DeviceMotionEvent?.requestPermission?.();
  if (typeof DeviceMotionEvent === "undefined" || (asked && asked !== "granted")) throw new Error(WORDS.noMotion);
  const heard = (event) => {
    const values = MOTION.map(([, , of]) => of(event) ?? NaN);
    if (values.some(Number.isFinite)) take(event.timeStamp / 1000, values);
  };
  addEventListener("devicemotion", heard);
  return () => removeEventListener("devicemotion", heard);
}

// ---- Decisions ----

/// What a model wants of a stream: names of its channels, seconds between samples, windows.
function contractOf(model) {
  const { observations, provenance } = model.classifier;
  return { channels: observations.channels ?? [], period: provenance.period?.seconds, windowing: provenance.windowing };
}

function showLive() {
  const { channels, period, windowing } = contractOf(state.model);
  if (channels.length === 0 || !period || !windowing) return hide("live");
  const choices = (name) => MOTION.map(([own, unit], i) => element("option", { value: i, selected: own === name.toLowerCase() }, `${own} [${unit}]`));
  at("mapping").replaceChildren(...channels.map((name) => element("label", {}, name, element("select", {}, ...choices(name)))));
  at("live-words").textContent = WORDS.live(number(1 / period), windowing.length, windowing.hop);
  at("live").hidden = false;
}

/// A function that takes samples and shows decisions.
function deciding() {
  const { channels, period, windowing } = contractOf(state.model);
  let busy = false, left = 0;
  const decide = async (rows) => {
    // A decision that is late is left out, and counted.
    if (busy) {
      left += 1;
      return;
    }
    busy = true;
    try {
      const since = performance.now();
      await program.ask({ write: "live.csv", bytes: new TextEncoder().encode(tableOf(channels, rows, period)) });
      const { decisions: [one] } = await program.json(["predict", "live.csv", "--model", "model.json"]);
      if (one) {
        at("decision").textContent = one.class;
        at("decision-words").textContent = WORDS.decided(number(one.margin), Math.round(performance.now() - since), left);
        at("decided").append(element("li", {}, `${one.class}, ${number(one.margin)}`));
        while (at("decided").children.length > 20) at("decided").firstChild.remove();
      }
    } catch (error) {
      fail("live-error", error);
    }
    busy = false;
  };
  const windows = new Windows(windowing.length, windowing.hop, decide);
  const steady = new Steady(period, windowing.length, () => windows.begin());
  return { windows, push: (time, values) => steady.push(time, values).forEach((row) => windows.push(row)) };
}

async function startLive() {
  stopLive();
  at("live-error").textContent = "";
  at("decided").replaceChildren();
  const { push } = deciding();
  const places = [...at("mapping").querySelectorAll("select")].map((select) => Number(select.value));
  try {
    listening = await listenToMotion((time, values) => push(time, places.map((place) => values[place])));
    [at("live-start").disabled, at("live-stop").disabled] = [true, false];
  } catch (error) {
    fail("live-error", error);
  }
}

function stopLive() {
  listening?.();
  listening = undefined;
  [at("live-start").disabled, at("live-stop").disabled] = [false, true];
}

/// Decides on a pasted stream: a sample a line, at the model's rate.
function decidePasted() {
  at("live-error").textContent = "";
  at("decided").replaceChildren();
  const { channels } = contractOf(state.model), { windows } = deciding();
  const lines = at("pasted").value.split(/\r?\n/).filter((line) => line.trim() !== "");
  for (const [index, line] of lines.entries()) {
    const row = line.split(/[,;\s]+/).filter((text) => text !== "").map((text) => (/^(na|nan)$/i.test(text) ? NaN : Number(text)));
    const wrong = row.length !== channels.length || line.split(/[,;\s]+/).some((text) => text && Number.isNaN(Number(text)) && !/^(na|nan)$/i.test(text));
    // A header, perhaps.
    if (wrong && index === 0) continue;
    if (wrong) return fail("live-error", new Error(WORDS.pasted(index + 1, channels)));
    windows.push(row);
  }
}

// ---- Recordings ----

const RECORDED_PERIOD = 1 / 50;
const recorded = [];

async function record() {
  at("record-error").textContent = "";
  const label = at("record-label").value.trim(), seconds = Number(at("record-seconds").value);
  if (!label) return fail("record-error", new Error(WORDS.noLabel));
  at("record").disabled = true;
  try {
    // A take has no place to begin anew: what lacks is missing.
    const steady = new Steady(RECORDED_PERIOD, Infinity), rows = [];
    let runs = false;
    const stop = await listenToMotion((time, values) => { if (runs) rows.push(...steady.push(time, values)); });
    const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    for (let left = 3; left > 0; left--) {
      at("record-words").textContent = WORDS.countDown(left);
      await pause(1000);
    }
    runs = true;
    at("record-words").textContent = WORDS.recording(label, seconds);
    await pause(1000 * seconds);
    stop();
    if (rows.length < 2) throw new Error(WORDS.noMotion);
    recorded.push({ label, rows });
    at("record-words").textContent = WORDS.recorded(recorded.map((one) => `${one.label} (${one.rows.length})`).join(", "));
    [at("record-use").disabled, at("record-save").disabled] = [false, false];
  } catch (error) {
    fail("record-error", error);
    at("record-words").textContent = "";
  }
  at("record").disabled = false;
}

/// All recordings as one table: the tidy form, which every command reads.
function recordedTable() {
  const channels = MOTION.map(([name]) => name);
  const tables = recorded.map(({ label, rows }, i) => tableOf(channels, rows, RECORDED_PERIOD, label, `take-${i + 1}`));
  return tables.map((text, i) => (i === 0 ? text : text.slice(text.indexOf("\n") + 1))).join("");
}

function listenLive() {
  at("live-start").addEventListener("click", startLive);
  at("live-stop").addEventListener("click", stopLive);
  at("paste").addEventListener("click", decidePasted);
  at("record").addEventListener("click", record);
  at("record-save").addEventListener("click", () => save("recorded.csv", new TextEncoder().encode(recordedTable())));
  at("record-use").addEventListener("click", () => dropped([{ path: "recorded.csv", file: new Blob([recordedTable()]) }]));
}
