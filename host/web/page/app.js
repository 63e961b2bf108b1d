// The page: what is dropped, shown and asked for. All computing is the program's, in a worker.
"use strict";

const at = (id) => document.getElementById(id);
const FOLDER = "data";
const MOST_BYTES = 200e6;

const state = { reading: {}, group: "", data: undefined, tidy: undefined, model: undefined, decisions: [] };

// ---- The worker ----

class Program {
  constructor() {
    this.pending = new Map();
    this.next = 0;
    this.kept = new Map();
  }
  async start() {
    const text = at("worker-source").textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.heard(data);
    const bytes = Uint8Array.from(atob(at("program").textContent.trim()), (c) => c.charCodeAt(0));
    await this.ask({ program: new Blob([bytes]) });
    for (const [path, content] of this.kept) await this.ask({ write: path, bytes: content });
  }
  heard(message) {
    const one = this.pending.get(message.id);
    if (!one) return;
    if (message.position !== undefined) {
      one.progress?.(message);
      return;
    }
    this.pending.delete(message.id);
    one.done(message);
  }
  ask(message, progress) {
    const id = this.next++;
    return new Promise((done) => {
      this.pending.set(id, { done, progress });
      this.worker.postMessage({ ...message, id });
    });
  }
  /// Ends what runs, and starts again with the same files.
  async cancel() {
    this.worker.terminate();
    const waiting = [...this.pending.values()];
    this.pending.clear();
    await this.start();
    for (const { done } of waiting) done({ cancelled: true });
  }
  async write(path, bytes) {
    this.kept.set(path, bytes);
    await this.ask({ write: path, bytes });
  }
  async forget() {
    for (const path of this.kept.keys()) await this.ask({ remove: path });
    this.kept.clear();
  }
  /// Runs a command; its output. Throws what the program says is wrong.
  async run(words, progress) {
    const answer = await this.ask({ words }, progress);
    if (answer.cancelled) throw new Error(WORDS.cancelled);
    if (answer.broken) throw new Error(WORDS.broken);
    const said = messages(answer.err);
    state.notes = said.filter(({ note }) => note).map(({ note }) => note.message);
    if (answer.code !== 0) throw new Error(said.find(({ error }) => error)?.error.message ?? answer.err.trim());
    return answer.out;
  }
  async json(words, progress) {
    return JSON.parse(await this.run([...words, "--json"], progress));
  }
  /// Files that a command writes: one, or all of a folder.
  async made(words, path, progress) {
    // What is there the program would not write over.
    await this.ask({ remove: path });
    await this.run(words, progress);
    return (await this.ask({ read: path })).found;
  }
}

function messages(text) {
  const parsed = (line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  };
  return text.split("\n").flatMap(parsed);
}

const program = new Program();

// ---- Data ----

/// Words for how the data are read: the columns that were chosen.
function reading() {
  return Object.entries(state.reading).flatMap(([option, value]) => (value ? [`--${option}`, value] : []));
}
const grouping = () => (state.group ? ["--group", state.group] : []);

async function dropped(files) {
  at("data-error").textContent = "";
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length === 0) return fail("data-error", new Error(WORDS.noFiles));
  if (bytes > MOST_BYTES) return fail("data-error", new Error(WORDS.tooLarge(Math.round(bytes / 1e6))));
  at("state").textContent = WORDS.reading;
  await program.forget();
  const single = files.length === 1;
  for (const { path, file } of files) {
    await program.write(`${FOLDER}/${path}`, new Uint8Array(await file.arrayBuffer()));
  }
  state.data = single ? `${FOLDER}/${files[0].path}` : FOLDER;
  [state.reading, state.group] = [{}, ""];
  await read();
}

async function read() {
  at("state").textContent = WORDS.reading;
  hide("training", "accuracy", "timeline", "live", "learnt", "device", "export");
  try {
    const found = await program.json(["fit", state.data, ...reading(), "--dry-run"]);
    const notes = state.notes;
    const [[, bytes]] = await program.made(["convert", state.data, ...reading(), "-o", "tidy.csv"], "tidy.csv");
    state.tidy = tidy(new TextDecoder().decode(bytes), found);
    at("data-error").textContent = "";
    showData(found, notes);
  } catch (error) {
    fail("data-error", error);
    showMenus(undefined);
  }
  at("read").hidden = false;
  at("state").textContent = WORDS.ready;
}

/// The rows of a table that the program wrote: fields may be quoted.
function rows(text) {
  const all = [];
  let row = [], field = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ",") { row.push(field); field = ""; }
    else if (c === "\n") { row.push(field); all.push(row); row = []; field = ""; }
    else if (c !== "\r") field += c;
  }
  if (field !== "" || row.length > 0) all.push([...row, field]);
  return all;
}

/// Series of the tidy table: id, label, times, a list of numbers for each channel.
function tidy(text, found) {
  const [heads, ...lines] = rows(text);
  const place = (name) => heads.indexOf(name);
  const channels = Array.isArray(found.observed) ? found.observed : [];
  const places = channels.map(place), [series, label, time] = ["series", "label", "t"].map(place);
  const all = new Map();
  for (const line of lines) {
    const id = line[series];
    if (!all.has(id)) all.set(id, { id, label: line[label] ?? "", times: [], channels: channels.map(() => []) });
    const one = all.get(id);
    if (time >= 0) one.times.push(Number(line[time]));
    places.forEach((p, i) => one.channels[i].push(line[p] === "" ? NaN : Number(line[p])));
  }
  return { heads, channels, series: [...all.values()], rate: found.rate };
}

function showData(found, notes) {
  at("summary").textContent = `${WORDS.read(found.series, found.samples, found.rate && number(found.rate))} ${WORDS.classes(found.classes)}`;
  at("notes").textContent = [...found.found.map((one) => one.what ?? String(one)), ...notes].join("  ·  ");
  showMenus(found);
  const heads = ["series", "label", ...found.columns, "t", ...state.tidy.channels];
  const first = found.first.flatMap((one) => one.rows.map((row) => [one.id, one.label ?? "", ...one.columns, ...row].map((text) => text ?? "")));
  at("first").replaceChildren(table(first[0]?.length === heads.length ? heads : heads.filter((one) => one !== "t"), first));
  showRaw(found.classes.map(([name]) => name));
  const trains = found.classes.length > 1 && found.unlabelled === 0;
  if (found.unlabelled > 0) at("notes").append(`  ·  ${WORDS.unlabelled(found.unlabelled)}`);
  else if (!trains) at("notes").append(`  ·  ${WORDS.oneClass}`);
  at("training").hidden = !trains;
  if (trains) showWindow(true);
}

function showMenus(found) {
  // A table that cannot be read has columns, too: those of its first line.
  const first = program.kept.get(state.data) ?? new Uint8Array();
  const line = new TextDecoder().decode(first.subarray(0, 4096)).split(/\r?\n/, 1)[0];
  const columns = line.split(/[,;\t|]/).map((name) => name.trim().replace(/^"|"$/g, "")).filter((name) => name && name.length < 60);
  if (columns.length < 2) return at("menus").replaceChildren();
  const menu = (words, chosen, choices, change) => {
    const select = element("select", { onchange: () => change(select.value) },
      ...choices.map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
    return element("label", {}, words, select);
  };
  const all = columns.map((name) => [name, name]);
  const column = (option, words) => menu(words, state.reading[option] ?? "",
    [["", WORDS.automatic], ["none", WORDS.none], ...all], (value) => {
      state.reading[option] = value;
      read();
    });
  const groups = (found?.columns ?? []).map((name) => [name, name]);
  if (!state.group && groups.length > 0) state.group = groups[0][0];
  at("menus").replaceChildren(column("label", "Label"), column("series", "Series"), column("time", "Time"),
    ...(groups.length > 0 ? [menu("Keep together", state.group, [["", WORDS.none], ...groups], (value) => { state.group = value; })] : []));
}

const seconds = (one) => (one.times.length > 1 ? [one.times[0], (one.times.at(-1) - one.times[0]) / (one.times.length - 1), "s"] : [0, 1, "sample"]);

function showRaw(classes) {
  const { channels, series } = state.tidy;
  if (channels.length === 0) return at("raw").replaceChildren();
  const parts = [legend(channels)];
  for (const name of classes) {
    const one = series.find(({ label }) => label === name);
    if (!one) continue;
    const lines = one.channels.map((values, i) => ({ name: channels[i], values: thinned(values), colour: colour(i) }));
    const [first, step, unit] = seconds(one), ratio = one.channels[0].length / lines[0].values.length;
    parts.push(element("p", {}, `${name}, series ${one.id}`), lineChart({ lines, x: [first, step * ratio, unit], label: name, height: 130 }));
  }
  parts.push(element("p", { class: "dim" }, WORDS.lowRows(Math.min(classes.length, series.length), series.length)));
  at("raw").replaceChildren(...parts);
}

/// Every so manieth value of a long list, for a chart.
function thinned(values, most = 1500) {
  const step = Math.ceil(values.length / most);
  return step < 2 ? values : values.filter((_, i) => i % step === 0);
}

// ---- Training ----

function cut() {
  const window = Number(at("window").value);
  return [window, Math.max(1, Math.round(window / Number(at("overlap").value)))];
}

function showWindow(first) {
  const shortest = Math.min(...state.tidy.series.map((one) => Math.max(...one.channels.map((all) => all.length), 1)));
  if (first === true) {
    at("window").max = String(Math.max(4, shortest));
    at("window").value = String(Math.min(shortest, Math.max(4, Math.round((state.tidy.rate ?? 50) * 2))));
  }
  const [window, hop] = cut(), rate = state.tidy.rate;
  at("window-words").textContent = WORDS.window(window, rate ? number(window / rate) : "", hop);
}

function options() {
  const [window, hop] = cut();
  return [...reading(), ...grouping(), "--window", String(window), "--hop", String(hop), "--effort", at("effort").value];
}

function busy(words) {
  at("busy").hidden = !words;
  at("busy-words").textContent = words ?? "";
  at("bar").removeAttribute("value");
  at("train").disabled = Boolean(words);
  at("cancel").disabled = !words;
}

const progress = ({ position, length }) => {
  at("bar").max = length;
  at("bar").value = position;
};

async function train() {
  hide("accuracy", "timeline", "live", "learnt", "device", "export");
  at("train-error").textContent = "";
  try {
    busy(WORDS.fitting);
    const [[, bytes]] = await program.made(["fit", state.data, ...options(), "-o", "model.json"], "model.json", progress);
    await program.write("model.json", bytes);
    state.model = JSON.parse(new TextDecoder().decode(bytes));
    state.decisions = (await program.json(["predict", state.data, ...reading(), "--model", "model.json"])).decisions;
    showTimeline();
    showLive();
    showLearnt();
    await showDevice();
    showExports();
    busy(WORDS.judging);
    const judged = await program.json(["evaluate", state.data, ...options(), "--classifier", "fisher"], progress);
    showAccuracy(judged);
  } catch (error) {
    fail("train-error", error);
  }
  busy(undefined);
}

const percent = (share) => number(100 * share, 3);

function showAccuracy(judged) {
  const [, one] = Object.entries(judged.classifiers).at(-1);
  at("figure").textContent = WORDS.accuracy(percent(one.accuracy), percent(one.interval.low), percent(one.interval.high), one.windows);
  at("groups").textContent = judged.group ? WORDS.grouped(judged.group) : WORDS.notGrouped;
  const most = one.confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const cells = one.confusion.map((row, truth) => [one.classes[truth], ...row.map((count, decided) => {
    const share = count / Math.max(1, most[truth]);
    const look = count === 0 ? "cell" : truth === decided ? "cell right" : "cell wrong";
    return clickable(element("td", { class: look }, `${count} (${percent(share)} %)`),
      () => showWindows(one.classes[truth], one.classes[decided], count));
  })]);
  at("confusion").replaceChildren(element("p", { class: "dim" }, WORDS.confusion), table(["", ...one.classes], cells));
  at("classes").replaceChildren(table(["class", "windows", "recall", "precision", "F1"],
    one.per_class.map((each) => [each.class, String(each.windows), percent(each.recall) + " %", percent(each.precision) + " %", number(each.f1)])));
  at("windows").replaceChildren();
  at("accuracy").hidden = false;
}

/// The windows of a cell: their number by cross-validation, and those that the model of all series decides so.
function showWindows(truth, decided, count) {
  const labels = new Map(state.tidy.series.map(({ id, label }) => [id, label]));
  const found = state.decisions.filter((one) => labels.get(one.series) === truth && one.class === decided);
  at("windows").replaceChildren(element("p", {}, WORDS.wrong(truth, decided, count, found.length)),
    table(["series", "from", "to", "margin"], found.slice(0, 50).map((one) => [
      element("td", {}, element("button", { type: "button", onclick: () => { at("series").value = one.series; showSeries(); at("timeline").scrollIntoView(); } }, one.series)),
      String(one.start), String(one.end), number(one.margin)])));
}

// ---- A recording ----

function showTimeline() {
  const ids = [...new Set(state.decisions.map(({ series }) => series))];
  const labels = new Map(state.tidy.series.map(({ id, label }) => [id, label]));
  at("series").replaceChildren(...ids.map((id) => element("option", { value: id }, `${id}${labels.get(id) ? `: ${labels.get(id)}` : ""}`)));
  at("timeline").hidden = false;
  showSeries();
}

function showSeries() {
  const id = at("series").value, one = state.tidy.series.find((series) => series.id === id);
  at("why").replaceChildren();
  if (!one) return;
  const decided = state.decisions.filter(({ series }) => series === id), classes = state.model.classifier.classes;
  const { channels } = state.tidy, [first, step, unit] = seconds(one);
  const length = one.channels[0]?.length ?? Math.max(...decided.map(({ end }) => end));
  const lines = one.channels.map((values, i) => ({ name: channels[i], values: thinned(values), colour: colour(i) }));
  const parts = [];
  if (lines.length > 0) {
    const ratio = one.channels[0].length / lines[0].values.length;
    parts.push(legend(channels), lineChart({ lines, x: [first, step * ratio, unit], label: `series ${id}`, height: 160 }));
  }
  const margins = new Array(length).fill(NaN);
  const hop = decided.length > 1 ? decided[1].start - decided[0].start : length;
  for (const { end, margin } of decided) margins.fill(margin, Math.max(0, end - hop), end);
  const marks = decided.map((window) => ({
    from: Math.max(0, window.end - hop), to: window.end, colour: colour(classes.indexOf(window.class)), opacity: 0.35,
    title: `${window.class}, margin ${number(window.margin)}`, onclick: () => explain(id, window),
  }));
  parts.push(element("p", { class: "dim" }, WORDS.timeline), legend(classes),
    lineChart({ lines: [{ name: "margin", values: margins, colour: "currentColor" }], marks, x: [first, step, unit], y: "margin", label: "margins and decisions", height: 130 }));
  at("lines").replaceChildren(...parts);
}

async function explain(id, { start, end, class: chosen }) {
  try {
    const text = await program.run(["predict", state.data, ...reading(), "--model", "model.json", "--explain", "--explain-series", id]);
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

// ---- Models, devices, files ----

function showLearnt() {
  const { models, observations } = state.model.classifier, channels = observations.channels;
  const gaussian = models.every(({ emission }) => emission.gaussian) && channels;
  if (!gaussian) return hide("learnt");
  const parts = models.map((model, number_) => {
    const means = model.emission.gaussian.mean;
    const heads = ["state", "stays", ...channels.map((name) => `mean of ${name}`)];
    return element("details", { open: number_ === 0 }, element("summary", {}, WORDS.model(number_ + 1, models.length)), table(heads, means.map((mean, i) =>
      [String(i + 1), `${percent(model.transition[i][i])} %`, ...mean.slice(0, channels.length).map((value) => number(value))])));
  });
  at("models").replaceChildren(element("p", { class: "dim" }, WORDS.learnt), ...parts);
  at("learnt").hidden = false;
}

async function showDevice() {
  const rate = state.tidy.rate ? ["--rate", String(state.tidy.rate), "--clock", "64"] : [];
  const info = await program.json(["info", "model.json", ...rate]);
  at("cost").textContent = `${number(info.artefact_bytes ?? info.model_bytes)} bytes of flash for the model, ${number(info.state_bytes)} bytes of RAM for the stream, ${number(info.multiply_adds_per_sample)} multiply-adds per sample.`;
  const range = (pair) => pair.map((value) => number(value)).join(" to ");
  const kilobytes = (pair) => range(pair.map((bytes) => bytes / 1000));
  const cores = new Map([...(info.pace?.cores ?? []), ...(info.pace?.fixed_point ?? [])].map((one) => [one.core + one.number, one.busy]));
  at("boards").replaceChildren(element("p", { class: "dim" }, WORDS.prices),
    table(["board", "numbers", "fits", "flash, kB", "RAM, kB", "core", "busy at 64 MHz"], info.boards.map((one) => {
      const load = cores.get(one.core + one.number);
      return [`${one.board} (${one.part})`, one.number, one.holds, `${kilobytes(one.flash)} of ${number(one.flash_there / 1000)}`,
        `${kilobytes(one.ram)} of ${number(one.ram_there / 1000)}`, one.core, load ? WORDS.perSecond(range(load.map((share) => 100 * share))) : WORDS.notMeasured];
    })));
  at("device").hidden = false;
}

/// Files that the program writes of the model: button, words of the command, path, name to save as.
const EXPORTS = [
  ["Model", undefined, "model.json", "model.json"],
  ["Artefact", ["export", "model.json", "--artefact", "model.fishweir"], "model.fishweir", "model.fishweir"],
  ["Rust source", ["export", "model.json", "--rust", "model.rs"], "model.rs", "model.rs"],
  ["C source, one file", ["export", "model.json", "--c-source", "model.c"], "model.c", "model.c"],
  ["Arduino, PlatformIO, CMake, ESP-IDF, Zephyr library", ["export", "model.json", "--c-source", "library"], "library", "fishweir-model.zip"],
  ["Recipe", ["info", "model.json", "--recipe"], undefined, "recipe.toml"],
];

function showExports() {
  at("exports").replaceChildren(...EXPORTS.map(([words, command, path, name]) => element("button", { type: "button", onclick: async () => {
    at("export-error").textContent = "";
    try {
      if (!command) return save(name, program.kept.get(path));
      const found = path ? await program.made(command, path) : [["", await program.run(command)]];
      save(name, found.length === 1 && found[0][0] === "" ? found[0][1] : zipped(found));
    } catch (error) {
      fail("export-error", error);
    }
  } }, words)));
  at("export").hidden = false;
}

function save(name, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// ---- What listens ----

function fail(where, error) {
  at(where).textContent = error.message;
  at("state").textContent = WORDS.ready;
}
function hide(...ids) {
  for (const id of ids) at(id).hidden = true;
}

/// Files of a drop, those of folders among them, with their paths.
async function ofDrop(items) {
  const found = [];
  const walk = async (entry, prefix) => {
    if (entry.isFile) {
      const file = await new Promise((done, fail_) => entry.file(done, fail_));
      found.push({ path: prefix + entry.name, file });
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, fail_) => reader.readEntries(done, fail_));
        if (some.length === 0) break;
        for (const one of some) await walk(one, `${prefix}${entry.name}/`);
      }
    }
  };
  for (const entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry, "");
  return found;
}

function listen() {
  const drop = at("drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    dropped(await ofDrop(event.dataTransfer.items));
  });
  at("choose").addEventListener("click", () => at("files").click());
  at("folder").addEventListener("click", () => at("folders").click());
  for (const id of ["files", "folders"]) {
    at(id).addEventListener("change", () =>
      dropped([...at(id).files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))));
  }
  at("window").addEventListener("input", showWindow);
  at("overlap").addEventListener("change", showWindow);
  at("train").addEventListener("click", train);
  at("cancel").addEventListener("click", () => program.cancel());
  at("series").addEventListener("change", showSeries);
}

async function begin() {
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    at("state").textContent = WORDS.unsupported;
    return;
  }
  at("state").textContent = WORDS.waking;
  listen();
  listenLive();
  await program.start();
  at("state").textContent = WORDS.ready;
  const given = JSON.parse(at("given").textContent);
  if (given.length > 0) {
    dropped(given.map(([path, text]) => ({ path, file: new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]) })));
  }
}

begin();
