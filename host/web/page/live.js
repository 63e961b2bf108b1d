// A stream of samples as it comes: from a motion sensor or a microphone, or pasted. Decisions as they fall, and recordings with labels.
"use strict";

/// Channels of a motion sensor: name, unit, and how an event has it.
const MOTION = [
  ["ax", "m/s2", (event) => event.accelerationIncludingGravity?.x], ["ay", "m/s2", (event) => event.accelerationIncludingGravity?.y],
  ["az", "m/s2", (event) => event.accelerationIncludingGravity?.z], ["gx", "deg/s", (event) => event.rotationRate?.beta],
  ["gy", "deg/s", (event) => event.rotationRate?.gamma], ["gz", "deg/s", (event) => event.rotationRate?.alpha],
];

/// Samples at a steady rate from samples at any time: on the line between the two around each step. Where more than `gap` steps are
/// missing, they are: a decision is not made of what was not measured. After `longest` missing steps the stream begins anew: the row
/// is `undefined` there.
class Steady {
  constructor(period, longest, gap = 5) {
    Object.assign(this, { period, longest, gap });
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
      this.next = time;
      return [undefined];
    }
    const missing = time - before.time > this.gap * this.period;
    for (; this.next <= time; this.next += this.period) {
      const share = (this.next - before.time) / (time - before.time);
      rows.push(values.map((value, i) => (missing ? NaN : before.values[i] + share * (value - before.values[i]))));
    }
    return rows;
  }
}

const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const value = (x) => (Number.isFinite(x) ? String(x) : "");

/// A table of one series, as the program reads it.
function tableOf(channels, rows, period, label = "", id = "live") {
  const lines = rows.map((row, i) => [field(id), field(label), (i * period).toFixed(4), ...row.map(value)].join(","));
  return `${["series", "label", "t", ...channels.map(field)].join(",")}\n${lines.join("\n")}\n`;
}

/// The worker with the model in a device's numbers: it decides on streams, and without the program on files.
class Live extends Program {
  async start() {
    const text = at("worker-source").textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.heard(data);
    // The program has the scorer's exports, too.
    await this.ask({ scorer: program.module ?? at("scorer").textContent });
  }
}
const live = new Live();

/// Channels, period and windows of the model that listens; `undefined` without one.
let contract;

// ---- Sensors ----

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

/// Rates that browsers bring sound to.
const SOUND_RATES = [3000, 192000];

/// Sound of the microphone at a rate, `take` gets pieces of it.
async function listenToMicrophone(rate, take) {
  if (rate < SOUND_RATES[0] || rate > SOUND_RATES[1]) throw new Error(WORDS.noSuchSound(number(rate)));
  const asked = navigator.mediaDevices?.getUserMedia({ audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false } });
  if (!asked) throw new Error(WORDS.noMicrophone);
  const stream = await asked.catch(() => { throw new Error(WORDS.noMicrophone); });
  const context = new AudioContext({ sampleRate: rate });
  const end = () => {
    for (const track of stream.getTracks()) track.stop();
    context.close();
  };
  try {
    // A worklet would be a module of its own, which browsers do not load for a page from disk.
    const tap = context.createScriptProcessor(1024, 1, 1);
    tap.onaudioprocess = ({ inputBuffer }) => take(inputBuffer.getChannelData(0).slice());
    context.createMediaStreamSource(stream).connect(tap).connect(context.destination);
    await context.resume();
  } catch (error) {
    end();
    throw error;
  }
  return end;
}

// ---- Decisions ----

/// Hands the model to the worker that listens, as its artefact, and shows what can be listened to.
async function showLive(artefact) {
  stopLive();
  hide("live");
  contract = undefined;
  if (state.info?.no_artefact) return;
  if (!artefact) {
    const [[, bytes]] = await program.made(["export", state.modelFile, "--artefact", "live.fishweir"], ["live.fishweir"]);
    artefact = bytes;
  }
  const { found, refused } = await live.ask({ load: artefact });
  // A model of symbols listens to nothing here.
  if (refused) return;
  const { windows, period, channels } = found.contract ?? {};
  contract = { channels: found.channels, units: channels?.map(({ unit }) => unit) ?? [], period: period?.seconds, windows };
  state.info ??= found;
  const choices = (name) => MOTION.map(([own, unit], i) => element("option", { value: i, selected: own === name.toLowerCase() }, `${own} [${unit}]`));
  const named = contract.channels.map((name, i) => (contract.units[i] && !name.includes("[") ? `${name} [${contract.units[i]}]` : name));
  at("mapping").replaceChildren(...contract.channels.map((name, i) => element("label", {}, named[i], element("select", {}, ...choices(name)))));
  at("live-words").textContent = WORDS.live(contract.period && number(1 / contract.period), windows?.length, windows?.hop);
  const sounds = contract.channels.length === 1 && contract.period && 1 / contract.period >= SOUND_RATES[0];
  [at("live-hear").hidden, at("live-start").hidden, at("mapping").hidden] = [!sounds, sounds || !contract.period, sounds || !contract.period];
  show("live");
}

/// A function that takes rows and shows decisions; an `undefined` row begins the stream anew.
function deciding() {
  at("live-error").textContent = "";
  at("decided").replaceChildren();
  let begin = true, spent = 0, taken = 0;
  return async (rows) => {
    const cut = rows.lastIndexOf(undefined);
    if (cut >= 0) [begin, rows] = [true, rows.slice(cut + 1)];
    if (rows.length === 0) return;
    const asked = live.ask({ rows, begin });
    begin = false;
    const { decisions, milliseconds, broken } = await asked;
    if (broken) return fail("live-error", new Error(broken));
    [spent, taken] = [spent + milliseconds, taken + rows.length];
    for (const { class: name, margin, probability } of decisions) {
      const share = contract.period && number((100 * spent) / 1000 / (taken * contract.period), 2);
      at("decision").textContent = name;
      at("decision-words").textContent = WORDS.decided(number(margin), Number.isFinite(probability) ? percent(probability) : "", share);
      at("decided").append(element("li", {}, `${name}, ${number(margin)}`));
      while (at("decided").children.length > 20) at("decided").firstChild.remove();
    }
  };
}

async function startLive(sound) {
  stopLive();
  const decide = deciding();
  const places = [...at("mapping").querySelectorAll("select")].map((select) => Number(select.value));
  const steady = new Steady(contract.period, contract.windows?.length ?? 100);
  try {
    listening = sound
      ? await listenToMicrophone(1 / contract.period, (piece) => decide(Array.from(piece, (value) => [value])))
      : await listenToMotion((time, values) => decide(steady.push(time, places.map((place) => values[place]))));
    at("live-stop").disabled = false;
  } catch (error) {
    fail("live-error", error);
  }
}

function stopLive() {
  listening?.();
  listening = undefined;
  at("live-stop").disabled = true;
}

/// Decides on a pasted stream: a sample a line, at the model's rate.
function decidePasted() {
  const decide = deciding(), { channels, windows } = contract, rows = [];
  for (const id of ["decision", "decision-words", "live-error"]) at(id).textContent = "";
  const lines = at("pasted").value.split(/\r?\n/).filter((line) => line.trim() !== "");
  for (const [index, line] of lines.entries()) {
    const fields = line.split(/[,;\s]+/).filter((text) => text !== ""), missing = (text) => /^(na|nan)$/i.test(text);
    const wrong = fields.length !== channels.length || fields.some((text) => Number.isNaN(Number(text)) && !missing(text));
    // A header, perhaps.
    if (wrong && index === 0) continue;
    if (wrong) return fail("live-error", new Error(WORDS.pasted(index + 1, channels)));
    rows.push(fields.map((text) => (missing(text) ? NaN : Number(text))));
  }
  const needed = windows?.length ?? 1;
  if (rows.length < needed) return fail("live-error", new Error(WORDS.fewPasted(rows.length, needed)));
  return decide(rows);
}

// ---- Recordings ----

const MOTION_PERIOD = 1 / 50, SOUND_RATE = 16000;
const recorded = [];
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function countDown(where) {
  for (let left = 3; left > 0; left--) {
    at(where).textContent = WORDS.countDown(left);
    await pause(1000);
  }
}

async function record() {
  at("record-error").textContent = "";
  const label = at("record-label").value.trim(), seconds = Number(at("record-seconds").value), sensor = at("record-sensor").value;
  if (!label) return fail("record-error", new Error(WORDS.noLabel));
  at("record").disabled = true;
  let stop;
  try {
    // A take has no place to begin anew: what lacks is missing.
    const steady = new Steady(MOTION_PERIOD, Infinity), rows = [];
    let runs = false;
    stop = sensor === "motion" ? await listenToMotion((time, values) => { if (runs) rows.push(...steady.push(time, values)); })
      : await listenToMicrophone(SOUND_RATE, (piece) => { if (runs) rows.push(...piece); });
    await countDown("record-words");
    runs = true;
    at("record-words").textContent = WORDS.recording(label, seconds);
    await pause(1000 * seconds);
    if (rows.length < 2) throw new Error(sensor === "motion" ? WORDS.noMotion : WORDS.noMicrophone);
    recorded.push({ label, sensor, rows });
    at("record-words").textContent = WORDS.recorded(recorded.map((one) => `${one.label} (${one.rows.length})`).join(", "));
    for (const id of ["record-use", "record-add", "record-save"]) at(id).disabled = !program.isThere && id !== "record-save";
  } catch (error) {
    fail("record-error", error);
    at("record-words").textContent = "";
  }
  stop?.();
  at("record").disabled = false;
  return undefined;
}

/// Sound as a WAV file of 32-bit floats.
function wav(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + 4 * samples.length));
  const text = (place, letters) => [...letters].forEach((letter, i) => view.setUint8(place + i, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + 4 * samples.length, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  [[20, 3], [22, 1], [32, 4], [34, 32]].forEach(([place, value_]) => view.setUint16(place, value_, true));
  view.setUint32(24, rate, true);
  view.setUint32(28, 4 * rate, true);
  text(36, "data");
  view.setUint32(40, 4 * samples.length, true);
  samples.forEach((sample, i) => view.setFloat32(44 + 4 * i, sample, true));
  return new Uint8Array(view.buffer);
}

/// All recordings as files: a tidy table of motions, a folder of sounds for each class.
function recordedFiles() {
  const channels = MOTION.map(([name]) => name);
  const tables = [], files = [];
  recorded.forEach(({ label, sensor, rows }, i) => {
    if (sensor === "motion") tables.push(tableOf(channels, rows, MOTION_PERIOD, label, `take-${i + 1}`));
    else files.push({ path: `${label.replace(/[/\\\0-\x1f]/g, "-")}/take-${i + 1}.wav`, file: new Blob([wav(rows, SOUND_RATE)]) });
  });
  const text = tables.map((one, i) => (i === 0 ? one : one.slice(one.indexOf("\n") + 1))).join("");
  return text ? [{ path: "recorded.csv", file: new Blob([text]) }, ...files] : files;
}

async function saveRecorded() {
  const files = recordedFiles(), bytes = async ({ file }) => new Uint8Array(await file.arrayBuffer());
  if (files.length === 1) return save(files[0].path.split("/").pop(), await bytes(files[0]));
  return save("recorded.zip", zipped(await Promise.all(files.map(async (one) => [one.path, await bytes(one)]))));
}

function listenLive() {
  at("live-start").addEventListener("click", () => startLive(false));
  at("live-hear").addEventListener("click", () => startLive(true));
  at("live-stop").addEventListener("click", stopLive);
  at("paste").addEventListener("click", decidePasted);
  at("record").addEventListener("click", record);
  at("record-save").addEventListener("click", saveRecorded);
  at("record-use").addEventListener("click", () => dropped(recordedFiles()));
  at("record-add").addEventListener("click", () => dropped(recordedFiles(), true));
}
