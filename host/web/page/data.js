// What is dropped: files, how they are read, and what is in them.
"use strict";

const FOLDER = "data";
const MOST_BYTES = 200e6;

/// Words for how the data are read: the columns that were chosen.
function reading() {
  const given = Object.entries(state.reading).flatMap(([option, value]) => (value === true ? [`--${option}`] : value ? [`--${option}`, value] : []));
  // Without a time no column tells that a row is a sample.
  return state.reading.time === "none" ? [...given, "--format", "series"] : given;
}
const grouping = () => (state.group ? ["--group", state.group] : []);

/// Takes files in place of those before; with `keeps` beside them.
async function dropped(files, keeps = false) {
  at("data-error").textContent = "";
  const all = keeps ? [...state.dropped.filter(({ path }) => !files.some((one) => one.path === path)), ...files] : files;
  const bytes = all.reduce((sum, { file }) => sum + file.size, 0);
  if (all.length === 0) return fail("data-error", new Error(WORDS.noFiles));
  if (bytes > MOST_BYTES) return fail("data-error", new Error(WORDS.tooLarge(Math.round(bytes / 1e6))));
  state.dropped = all;
  at("state").textContent = WORDS.reading;
  if (!program.isThere) return decideAlone(all);
  if (all.length === 1 && /\.(json|fishweir)$/.test(all[0].path) && await isModel(all[0])) return undefined;
  await program.forget();
  for (const { path, file } of all) {
    await program.write(`${FOLDER}/${path}`, new Uint8Array(await file.arrayBuffer()));
  }
  state.data = all.length === 1 ? `${FOLDER}/${all[0].path}` : FOLDER;
  if (!keeps) [state.reading, state.group] = [{}, ""];
  return read();
}

/// Opens a file as a model, if it is one: data that are dropped afterwards are decided on.
async function isModel({ path, file }) {
  const name = path.split("/").pop(), bytes = new Uint8Array(await file.arrayBuffer()), tried = `tried-${name}`;
  try {
    await program.ask({ write: tried, bytes });
    await program.json(["info", tried]);
  } catch {
    return false;
  } finally {
    await program.ask({ remove: tried });
  }
  await takeModel(name, bytes);
  state.isGiven = true;
  at("model-words").textContent = WORDS.given(name, state.info.classes);
  show("given-model");
  at("state").textContent = WORDS.ready;
  return true;
}

async function read() {
  at("state").textContent = WORDS.reading;
  hide("training", "accuracy", "timeline", "parity");
  if (!state.isGiven) hide("live", "learnt", "device", "export", "board");
  try {
    const found = await program.json(["fit", state.data, ...reading(), "--dry-run"]);
    const notes = state.notes;
    const [[, bytes]] = await program.made(["convert", state.data, ...reading(), "-o", "tidy.csv"], ["tidy.csv"]);
    state.tidy = tidy(new TextDecoder().decode(bytes), found);
    at("data-error").textContent = "";
    showData(found, notes);
    if (state.isGiven) await decideByGiven(found);
  } catch (error) {
    fail("data-error", error);
    showMenus(undefined);
  }
  show("read");
  at("state").textContent = WORDS.ready;
}

/// Decides on the data by the model that the page came with; judges it, if they are labelled.
async function decideByGiven(found) {
  const model = ["--model", state.modelFile];
  state.decisions = (await program.json(["predict", state.data, ...reading(), ...model])).decisions;
  showTimeline();
  const known = new Set(state.info.classes);
  if (!found.classes.some(([name]) => known.has(name))) return;
  showJudged(await program.report(["evaluate", state.data, ...reading(), ...grouping(), ...model]));
}

/// Decides on files by the model alone, without the program.
async function decideAlone(files) {
  [state.decisions, state.tidy] = [[], { channels: [], series: [] }];
  const several = files.length > 1;
  try {
    for (const { path, file } of files) {
      const { found, refused } = await live.ask({ decide: new Uint8Array(await file.arrayBuffer()) });
      if (refused) throw new Error(`${path}: ${refused}`);
      const named = (id) => (several ? `${path}: ${id}` : id);
      state.tidy.channels = found.channels;
      state.tidy.rate = found.rate ?? undefined;
      for (const one of found.series) {
        const channels = one.channels.map((values) => values.map((value) => value ?? NaN));
        state.tidy.series.push({ id: named(one.id), label: one.label, times: one.times, channels });
      }
      state.decisions.push(...found.decisions.map((one) => ({ ...one, series: named(one.series) })));
    }
    const samples = state.tidy.series.reduce((sum, one) => sum + (one.channels[0]?.length ?? 0), 0);
    at("summary").textContent = WORDS.read(state.tidy.series.length, samples, state.tidy.rate && number(state.tidy.rate));
    show("read");
    showTimeline();
  } catch (error) {
    return fail("data-error", error);
  }
  at("state").textContent = WORDS.ready;
  return undefined;
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

/// Series of the tidy table: id, label, times (without a rate they number the samples), a list of numbers for each channel.
function tidy(text, found) {
  const [heads, ...lines] = rows(text);
  const place = (name) => heads.indexOf(name);
  const channels = Array.isArray(found.observed) ? found.observed : [];
  const places = channels.map(place), [series, label] = ["series", "label"].map(place);
  const time = found.rate ? heads.findIndex((name) => name === "t" || name === "t [s]") : -1;
  const all = new Map();
  for (const line of lines) {
    const id = line[series];
    if (!all.has(id)) all.set(id, { id, label: line[label] ?? "", times: [], channels: channels.map(() => []) });
    const one = all.get(id);
    if (time >= 0) one.times.push(Number(line[time]));
    places.forEach((p, i) => one.channels[i].push(line[p] === "" ? NaN : Number(line[p])));
  }
  const distinct = (name) => new Set(lines.map((line) => line[place(name)])).size;
  return { heads, channels, series: [...all.values()], rate: found.rate, distinct };
}

function showData(found, notes) {
  at("summary").textContent = `${WORDS.read(found.series, found.samples, found.rate && number(found.rate))} ${WORDS.classes(found.classes)}`;
  const read_ = found.found.map((one) => one.what ?? [one].flat().at(-1));
  // What is found the program notes once more, all in a line.
  const others = notes.filter((note) => !read_.some((text) => note.includes(text)));
  at("notes").textContent = [...read_, ...others, ...rising().map(WORDS.rising)].join("\n");
  showMenus(found);
  const heads = ["series", "label", ...found.columns, "t", ...state.tidy.channels];
  const first = found.first.flatMap((one) => one.rows.map((row) => [one.id, one.label ?? "", ...one.columns, ...row].map((text) => text ?? "")));
  at("first").replaceChildren(table(first[0]?.length === heads.length ? heads : heads.filter((one) => one !== "t"), first));
  showRaw(found.classes.map(([name]) => name));
  const trains = found.classes.length > 1 && found.unlabelled === 0;
  if (found.unlabelled > 0) at("notes").append(`\n${WORDS.unlabelled(found.unlabelled)}`);
  else if (!trains) at("notes").append(`\n${WORDS.oneClass}`);
  at("training").hidden = !trains;
  if (trains) beginTraining();
}

/// Channels that rise from each sample to the next in all series: most likely a clock.
function rising() {
  const { channels, series } = state.tidy, rises = (values) => values.length > 1 && values.every((value, i) => i === 0 || value > values[i - 1]);
  return channels.filter((_, i) => series.length > 0 && series.every((one) => rises(one.channels[i])));
}

function showMenus(found) {
  // A table that cannot be read has columns, too: those of its first line. Files of a folder are alike.
  const name = [...program.kept.keys()].find((path) => path === state.data || path.startsWith(`${state.data}/`));
  const first = program.kept.get(name) ?? new Uint8Array();
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
  // A column with one value keeps everything together.
  const groups = (found?.columns ?? []).filter((name) => state.tidy.distinct(name) > 1).map((name) => [name, name]);
  if (!state.group && groups.length > 0) state.group = groups[0][0];
  const cut = element("input", { type: "checkbox", checked: state.reading.segments === true, onchange: () => {
    state.reading.segments = cut.checked;
    read();
  } });
  at("menus").replaceChildren(column("label", "Label"), column("series", "Series"), column("time", "Time"),
    element("label", { class: "tick" }, cut, WORDS.segments),
    ...(groups.length > 0 ? [menu("Person or device", state.group, [["", WORDS.none], ...groups], (value) => { state.group = value; })] : []));
}

/// First time, time between samples, and its unit.
function timing(one) {
  const { times } = one;
  if (times.length > 1) return [times[0], (times.at(-1) - times[0]) / (times.length - 1), "s"];
  return state.tidy.rate && one.step ? [0, 1 / state.tidy.rate, "s"] : [0, 1, "sample"];
}

function showRaw(classes) {
  const { channels, series } = state.tidy;
  if (channels.length === 0) return at("raw").replaceChildren();
  const parts = [legend(channels)];
  for (const name of classes) {
    const one = series.find(({ label }) => label === name);
    if (!one) continue;
    const lines = one.channels.map((values, i) => ({ name: channels[i], values: thinned(values), colour: colour(i) }));
    const [first, step, unit] = timing(one), ratio = one.channels[0].length / lines[0].values.length;
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
