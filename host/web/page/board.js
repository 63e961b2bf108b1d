// A board at this computer, by Web Serial: the program speaks with it as at any port, in the wire format of the device.
"use strict";

/// The port that is open, and what ends reading it.
let port, reader;

function showBoard() {
  at("board-about").textContent = navigator.serial ? WORDS.board : WORDS.noSerial;
  at("board-connect").disabled = !navigator.serial;
  show("board");
  showTasks();
}

function showTasks() {
  at("board-tasks").hidden = !port;
  [at("board-connect").disabled, at("board-leave").disabled] = [!navigator.serial || Boolean(port), !port];
  at("board-run").disabled = !state.data || !state.modelFile;
  at("board-send").disabled = !state.modelFile;
}

async function connect() {
  at("board-error").textContent = "";
  try {
    const chosen = await navigator.serial.requestPort();
    await chosen.open({ baudRate: Number(at("board-baud").value) });
    port = chosen;
    const writer = port.writable.getWriter();
    program.toBoard = (bytes) => writer.write(bytes).catch(() => leave());
    hear();
  } catch (error) {
    fail("board-error", error);
  }
  showTasks();
}

/// Reads until the board is gone or left.
async function hear() {
  const own = port;
  reader = own.readable.getReader();
  try {
    for (;;) {
      const { value: bytes, done } = await reader.read();
      if (done) break;
      program.fromBoard(bytes);
    }
  } catch (error) {
    fail("board-error", error);
  }
  if (port === own) leave();
}

async function leave() {
  const own = port;
  if (!own) return;
  port = undefined;
  program.fromBoard(undefined);
  showTasks();
  await reader.cancel().catch(() => {});
  await own.close().catch(() => {});
}

/// Runs a task with the board; one at a time.
async function withBoard(words, task) {
  const buttons = ["board-run", "board-record", "board-send", "board-leave"].map(at);
  for (const button of buttons) button.disabled = true;
  at("board-error").textContent = "";
  at("board-words").textContent = words;
  at("board-figures").replaceChildren();
  try {
    at("board-words").textContent = (await task()) ?? "";
  } catch (error) {
    at("board-words").textContent = "";
    fail("board-error", error);
  }
  showTasks();
  for (const id of ["board-record", "board-leave"]) at(id).disabled = !port;
}

const atPort = () => ["--port", PORT, "--baud", at("board-baud").value];
const told = ({ position, length }) => { at("board-words").textContent = WORDS.answers(position, length); };

/// Streams the recordings to the board, and compares every bit of its answers.
const compare = () => withBoard(WORDS.comparing, async () => {
  const words = ["run", state.data, ...reading(), "--model", state.modelFile, "--limit", at("board-limit").value, ...atPort()];
  await program.ask({ remove: "report.json" });
  let failed;
  try {
    await program.run([...words, "--report", "report.json"], { board: true, progress: told });
  } catch (error) {
    // Bits that differ and samples that were lost are results, too.
    if (error.code !== 1) throw error;
    failed = error;
  }
  const { found } = await program.ask({ read: "report.json" });
  if (found.length === 0) throw failed;
  showParity(JSON.parse(new TextDecoder().decode(found[0][1])));
  if (failed) throw failed;
  return WORDS.compared;
});

/// Shows how far a device's answers are those of the host, and marks the first that differs.
function showParity({ results }) {
  const same = results.differing_bits === 0 && results.profile_differences.length === 0;
  at("parity-figure").textContent = same ? WORDS.same(results.numbers, results.samples) : WORDS.differs(results.differing_bits, results.first_difference ?? results.profile_differences.join("; "));
  at("parity-figure").className = same ? "" : "bad";
  const facts = [["model", results.model], ["data", results.data], ["board", results.board], ["samples", String(results.samples)], ["decisions", String(results.decisions)],
    ["lost samples", String(results.lost)], ["lost answers", String(results.unanswered)], ["not compared", String(results.not_compared)],
    ["instructions per sample", results.instructions_per_sample && number(results.instructions_per_sample)],
    ["ticks per sample", results.ticks_per_sample && number(results.ticks_per_sample)], ["bytes of stack", results.stack_bytes && number(results.stack_bytes)]];
  at("parity-facts").replaceChildren(table(["", ""], facts.filter(([, value_]) => value_).map(([name, value_]) => [name, value_])));
  const [stream, sample] = results.first_difference_at ?? [], one = state.tidy?.series[stream - 1];
  if (one?.channels.length > 0) {
    const step = one.step ?? 1, middle = Math.floor((sample - 1) / step), from = Math.max(0, middle - 60);
    const lines = one.channels.map((values, i) => ({ name: state.tidy.channels[i], values: values.slice(from, middle + 60), colour: colour(i) }));
    at("parity-facts").append(element("p", {}, WORDS.firstDifference(one.id, sample)), legend(state.tidy.channels),
      lineChart({ lines, marks: [{ from: middle - from, to: middle - from + 1, colour: "currentColor", opacity: 0.6, title: results.first_difference }], x: [from * step, step, "sample"], label: WORDS.firstDifference(one.id, sample), height: 150 }));
  }
  show("parity");
}

/// Takes that were recorded from the board: a table each.
const taken = [];

/// Records a take from a board that runs `record`.
const recordBoard = () => withBoard("", async () => {
  const label = at("board-label").value.trim(), seconds = at("board-seconds").value, path = `take-${taken.length + 1}.csv`;
  if (!label) throw new Error(WORDS.noLabel);
  await countDown("board-words");
  at("board-words").textContent = WORDS.recording(label, seconds);
  const found = await program.json(["record", "-o", path, "--label", label, "--seconds", seconds, "--countdown", "0", ...atPort()], { board: true });
  const { found: [[, bytes]] } = await program.ask({ read: path });
  await program.ask({ remove: path });
  taken.push({ path: `board/${path}`, file: new Blob([bytes]), bytes });
  const button = (words, act) => element("button", { type: "button", onclick: act }, words);
  at("board-figures").replaceChildren(element("div", { class: "row" }, button(WORDS.use, () => dropped(taken)),
    button(WORDS.add, () => dropped(taken, true)), button(WORDS.save, () => save("board.zip", zipped(taken.map((one) => [one.path, one.bytes]))))));
  const [take] = found.takes;
  return WORDS.taken(take.samples, take.lost, number(take.rate));
});

/// Sends the model to a board in the field, signed if there is a key.
const sendUpdate = () => withBoard(WORDS.sending, async () => {
  const [key] = at("board-key").files, data = state.data ? ["--data", state.data] : [];
  if (key) await program.ask({ write: "key.pem", bytes: new Uint8Array(await key.arrayBuffer()) });
  try {
    await program.made(["export", state.modelFile, "--update", "model.update", "--update-version", at("board-version").value, ...data,
      ...(key ? ["--key", "key.pem"] : [])], ["model.update"]);
    return await program.run(["send", "model.update", ...atPort()], { board: true, progress: told });
  } finally {
    await program.ask({ remove: "key.pem" });
  }
});

function listenBoard() {
  at("board-connect").addEventListener("click", connect);
  at("board-leave").addEventListener("click", leave);
  at("board-run").addEventListener("click", compare);
  at("board-record").addEventListener("click", recordBoard);
  at("board-send").addEventListener("click", sendUpdate);
}
