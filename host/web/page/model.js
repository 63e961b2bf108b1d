// A model: what it learnt, what it costs on boards, and the files that are made of it.
"use strict";

/// Takes in the bytes of a model's file, and shows what is known of it.
async function takeModel(name, bytes) {
  await program.write(name, bytes);
  state.modelFile = name;
  try {
    state.model = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // An artefact, which has numbers alone.
    state.model = undefined;
  }
  state.info = await program.json(["info", name]);
  showLearnt();
  showDevice();
  showExports();
  await showLive();
  showBoard();
}

function showLearnt() {
  const { models = [], observations, lags } = state.model?.classifier ?? {}, channels = observations?.channels;
  if (!channels || models.length === 0 || !models.every(({ emission }) => emission.gaussian)) return hide("learnt");
  const parts = models.map((model, index) => {
    const { mean } = model.emission.gaussian;
    // Beside the channels a model may see how they change.
    const seen = !lags?.past && mean[0].length === 2 * channels.length ? [...channels, ...channels.map(WORDS.change)] : channels;
    const heads = ["state", "stays", ...mean[0].map((_, i) => (seen.length === mean[0].length ? seen[i] : String(i + 1)))];
    const states = mean.map((row, i) => [String(i + 1), `${percent(model.transition[i][i])} %`, ...row.map((value) => number(value))]);
    return element("details", { open: index === 0 }, element("summary", {}, WORDS.model(index + 1, models.length)),
      element("div", { class: "pair" }, stateChart(model.transition, WORDS.model(index + 1, models.length)), table(heads, states)));
  });
  at("models").replaceChildren(element("p", { class: "dim" }, WORDS.learnt), ...parts);
  return show("learnt");
}

function showDevice() {
  const { info } = state;
  at("cost").textContent = WORDS.cost(number(info.model_bytes), number(info.state_bytes), number(info.multiply_adds_per_sample));
  const range = (pair) => pair.map((value) => number(value)).join(" to "), kilobytes = (pair) => range(pair.map((bytes) => bytes / 1000));
  at("boards").replaceChildren(element("p", { class: "dim" }, WORDS.prices),
    table(["board", "numbers", "fits", "flash, kB", "RAM, kB", "core", "MHz", "instructions per sample", "busy", "mAh per day"], (info.boards ?? []).map((one) => [
      `${one.board} (${one.part})`, one.number, one.holds === "yes" && one.pace?.busy[1] > 1 ? WORDS.tooSlow : one.holds, `${kilobytes(one.flash)} of ${number(one.flash_there / 1000)}`,
      `${kilobytes(one.ram)} of ${number(one.ram_there / 1000)}`, one.core, number(one.clock_hertz / 1e6),
      one.pace ? range(one.pace.instructions) : WORDS.notMeasured,
      one.pace ? WORDS.perSecond(range(one.pace.busy.map((share) => 100 * share))) : WORDS.notMeasured,
      one.pace?.charge ? range(one.pace.charge) : ""])));
  show("device");
}

/// Files that the program writes of the model: button, words of the command after the model's file, paths, name to save as.
const EXPORTS = [
  ["Arduino, PlatformIO, CMake, ESP-IDF, Zephyr library", (file) => ["export", file, "--c-source", "library"], ["library"], "fishweir-model.zip"],
  ["C source and header", (file) => ["export", file, "--c-source", "model.c"], ["model.c", "model.h"], "model-c.zip"],
  ["Rust source", (file) => ["export", file, "--rust", "model.rs"], ["model.rs"], "model.rs"],
  ["Artefact: the model's bytes for a device", (file) => ["export", file, "--artefact", "model.fishweir"], ["model.fishweir"], "model.fishweir"],
  ["Model card", (file) => ["card", file, ...state.figures ?? []], [], "README.md"],
  ["Recipe: the options of this training", (file) => ["info", file, "--recipe"], [], "recipe.toml"],
];

/// A ZIP archive whose files lie in a folder of its name: installers of libraries take no other.
const inFolder = (name, files) => zipped(files.map(([path, bytes]) => [`${name.replace(/\.zip$/, "")}/${path}`, bytes]));

function showExports() {
  const button = (words, make) => element("button", { type: "button", onclick: async () => {
    at("export-error").textContent = "";
    try {
      await make();
    } catch (error) {
      fail("export-error", error);
    }
  } }, words);
  const made = EXPORTS.map(([words, command, paths, name]) => button(words, async () => {
    const found = paths.length > 0 ? await program.made(command(state.modelFile), paths) : [["", await program.run(command(state.modelFile))]];
    save(name, name.endsWith(".zip") ? inFolder(name, found) : found[0][1]);
  }));
  made[0].className = "main";
  const own = button("Model: to be opened here again", () => save(state.modelFile, program.kept.get(state.modelFile)));
  const page = button("This page with the model", () => save("fishweir.html", pageWith(state.modelFile, program.kept.get(state.modelFile))));
  at("exports").replaceChildren(...made, own, page);
  const boards = [...new Set((state.info.boards ?? []).filter(({ holds }) => holds !== "no").map(({ board }) => board))];
  at("project-board").replaceChildren(...boards.map((name) => element("option", { value: name }, name)));
  show("export");
}

/// The firmware project of `new` around the model; the data that are here play in place of a sensor.
async function saveProject() {
  at("export-error").textContent = "";
  try {
    const data = state.data ? ["--data", state.data, ...reading()] : [];
    const board = at("project-board").value, folder = `${board}-project`;
    save(`${folder}.zip`, inFolder(folder, await program.made(["new", folder, "--board", board, "--model", state.modelFile, ...data], [folder])));
  } catch (error) {
    fail("export-error", error);
  }
}

/// This page as it was opened, before it showed anything.
let pristine;

/// The page with a model, as `fishweir page --model` writes it.
function pageWith(name, bytes) {
  const page = pristine.cloneNode(true);
  const given = { files: [], model: [name, base64(bytes)], report: null };
  page.querySelector("#given").textContent = JSON.stringify(given).replaceAll("<", "\\u003c");
  const text = page.outerHTML;
  // Its last script had no end yet when it was cloned; an element's end in a script's text ends the script.
  const body = text.slice(0, text.lastIndexOf("<\/script>"));
  return new TextEncoder().encode(`<!DOCTYPE html>\n${body}<\/script>\n</body>\n</html>\n`);
}

function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
