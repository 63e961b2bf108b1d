// Training: windows and what they cost, the search, progress; then how good the model is.
"use strict";

const windowing = () => [Number(at("window").value), Number(at("hop").value)];

/// Front ends to choose among: stages of --front and words.
function fronts() {
  const { channels, rate } = state.tidy, plain = channels.map((name) => name.replace(/ *[[(].*$/, ""));
  const three = plain.length >= 3 ? [[`magnitude=${plain.slice(0, 3).join("+")}`, `strength of ${plain.slice(0, 3).join(", ")}`]] : [];
  const sound = plain.length === 1 && rate >= 4000 ? [[`cepstra=${rate < 12000 ? "256/128" : "512/256"}/26/13@${rate}`, "sound: cepstra"]] : [];
  // Sound is hardly ever told apart by its samples.
  return [...sound, ["", "samples as they are"], ["slopes=8", "samples and slopes"], ...three];
}

/// Shows what is asked before a training on new data.
function beginTraining() {
  const { series, rate } = state.tidy, lengths = series.map((one) => one.channels[0]?.length ?? 4);
  const shortest = Math.max(4, Math.min(...lengths));
  at("window").max = String(shortest);
  at("window").value = String(Math.min(shortest, Math.max(4, Math.round((rate ?? 50) * (rate > 4000 ? 1 : 2)))));
  at("hop").max = at("window").value;
  at("hop").value = String(Math.max(1, Math.round(Number(at("window").value) / 2)));
  at("front").replaceChildren(...fronts().map(([stages, words]) => element("option", { value: stages }, words)));
  [state.probe, state.trained] = [undefined, undefined];
  showWindow();
  probe();
}

/// Trains on a few samples, for the cost of a model of such data; it is for nothing else.
async function probe() {
  const { tidy: of, data } = state, front = at("front").value;
  at("price-words").textContent = WORDS.pricing;
  const [window] = windowing(), few = [];
  for (const one of of.series) if (few.filter(({ label }) => label === one.label).length < 2) few.push(one);
  const period = of.rate ? 1 / of.rate : 1, most = Math.max(window, front ? 4000 : 200);
  const rowsOf = ({ channels }) => channels[0].slice(0, most).map((_, t) => channels.map((values) => values[t]));
  const tables = few.map((one, i) => tableOf(of.channels, rowsOf(one), period, one.label, `probe-${i}`));
  const text = tables.map((one, i) => (i === 0 ? one : one.slice(one.indexOf("\n") + 1))).join("");
  try {
    await program.ask({ write: "probe.csv", bytes: new TextEncoder().encode(text) });
    await program.made(["fit", "probe.csv", "--window", String(window), "--hop", String(window), "--effort", "quick",
      ...(front ? ["--front", front] : []), "-o", "probe.json"], ["probe.json"]);
    const info = await program.json(["info", "probe.json", ...(of.rate ? ["--rate", String(of.rate)] : [])]);
    if (state.data === data) state.probe = info;
  } catch {
    state.probe = undefined;
  }
  showWindow();
}

/// Says what the windows are, and what they cost: each that is open at a time takes a state, and the work of a sample.
function showWindow() {
  const rate = state.tidy?.rate;
  at("hop").max = at("window").value;
  const [window, hop] = windowing(), open = Math.ceil(window / hop);
  const isStale = state.trained !== undefined && state.trained !== options().join(" ");
  at("window-words").textContent = WORDS.window(window, rate ? number(window / rate) : "", hop, open) + (isStale ? ` ${WORDS.stale}` : "");
  const boards = (state.probe?.boards ?? []).filter(({ number: numbers, pace }) => numbers === "f32" && pace);
  if (!state.probe) return;
  const times = open / (state.probe.contract?.windows?.states ?? 1);
  const keepsUp = ({ pace }) => pace.busy[1] * times <= 1;
  const before = at("price-board").value || (boards.find(keepsUp) ?? boards[0])?.board;
  at("price-board").replaceChildren(...boards.map(({ board }) => element("option", { value: board, selected: board === before }, board)));
  const board = boards.find((one) => one.board === at("price-board").value);
  const range = (pair, factor) => pair.map((value) => number(value * factor)).join(" to ");
  at("price-words").textContent = WORDS.price(number(state.probe.state_bytes * times),
    board && range(board.pace.instructions, times), board && range(board.pace.busy, 100 * times), board?.board);
}

function options() {
  const [window, hop] = windowing(), front = at("front").value;
  return [...reading(), ...grouping(), "--window", String(window), "--hop", String(hop), "--effort", at("effort").value,
    ...(front ? ["--front", front] : [])];
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
  hide("accuracy", "timeline", "live", "learnt", "device", "export", "board");
  at("train-error").textContent = "";
  [state.figures, state.isGiven] = [undefined, false];
  hide("given-model");
  try {
    busy(WORDS.fitting);
    at("cancel").focus();
    const [[, bytes]] = await program.made(["fit", state.data, ...options(), "-o", "model.json"], ["model.json"], { progress });
    await takeModel("model.json", bytes);
    state.trained = options().join(" ");
    state.decisions = (await program.json(["predict", state.data, ...reading(), "--model", "model.json"])).decisions;
    showTimeline();
    busy(WORDS.judging);
    const judged = await program.report(["evaluate", state.data, ...options(), "--classifier", "fisher"], { progress });
    showJudged(judged);
    await program.write("figures.json", new TextEncoder().encode(JSON.stringify(judged.results)));
    state.figures = ["--evaluation", "figures.json"];
  } catch (error) {
    fail("train-error", error);
  }
  busy(undefined);
  at("train").focus({ preventScroll: true });
  showWindow();
}
