// The worker that runs the program, seen from the page.
"use strict";

const at = (id) => document.getElementById(id);

/// What the page knows: how the data are read, the data, the model, decisions and what was judged.
const state = {
  reading: {}, group: "", data: undefined, tidy: undefined, dropped: [],
  model: undefined, modelFile: undefined, info: undefined, decisions: [], events: [], marks: [], judged: undefined,
};

/// Path of the board's port in the program's files.
const PORT = "/dev/board";

class Program {
  constructor() {
    this.pending = new Map();
    this.next = 0;
    this.kept = new Map();
    /// Takes the bytes that the program sends to the board.
    this.toBoard = undefined;
  }
  get isThere() {
    return at("program").textContent !== "";
  }
  async start() {
    const text = at("worker-source").textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.heard(data);
    ({ module: this.module } = await this.ask({ module: at("program").textContent }));
    for (const [path, content] of this.kept) await this.ask({ write: path, bytes: content });
  }
  heard(message) {
    if (message.toBoard) return this.toBoard?.(message.toBoard);
    const one = this.pending.get(message.id);
    if (!one) return undefined;
    if (message.position !== undefined) return one.progress?.(message);
    this.pending.delete(message.id);
    return one.done(message);
  }
  ask(message, progress) {
    const id = this.next++;
    return new Promise((done) => {
      this.pending.set(id, { done, progress });
      this.worker.postMessage({ ...message, id });
    });
  }
  /// Bytes that the board sent; `undefined` when it is gone.
  fromBoard(bytes) {
    this.worker.postMessage({ fromBoard: bytes ?? null });
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
    for (const path of this.kept.keys()) if (path !== state.modelFile) await this.remove(path);
  }
  async remove(path) {
    this.kept.delete(path);
    await this.ask({ remove: path });
  }
  /// Runs a command; its output. Throws what the program says is wrong, with its output as `out`. `board` says that it talks
  /// with the board.
  async run(words, { progress, board = false } = {}) {
    const answer = await this.ask({ words, board }, progress);
    if (answer.cancelled) throw new Error(WORDS.cancelled);
    if (answer.noBoard) throw new Error(WORDS.noSuspending);
    if (answer.broken) throw new Error(WORDS.broken);
    const said = messages(answer.err);
    state.notes = said.filter(({ note }) => note).map(({ note }) => own(note.message));
    if (answer.code !== 0) {
      const error = new Error(own(said.find(({ error }) => error)?.error.message ?? answer.err.trim()));
      throw Object.assign(error, { out: answer.out, code: answer.code });
    }
    return answer.out;
  }
  async json(words, options) {
    return JSON.parse(await this.run([...words, "--json"], options));
  }
  /// Files that a command writes at some paths: [name, bytes] of each, or of all of a folder.
  async made(words, paths, options) {
    // What is there the program would not write over.
    for (const path of paths) await this.ask({ remove: path });
    await this.run(words, options);
    const found = [];
    for (const path of paths) found.push(...(await this.ask({ read: path })).found.map(([name, bytes]) => [name || path, bytes]));
    return found;
  }
  /// The document that a command writes as its report, whatever its exit code.
  async report(words, options) {
    const [[, bytes]] = await this.made([...words, "--report", "report.json"], ["report.json"], options);
    return JSON.parse(new TextDecoder().decode(bytes));
  }
}

/// A message without what is of a command line: options in brackets, sentences that name one, and the folder that files are in here.
function own(text) {
  const plain = text.replace(/ \([^()]*--[a-z][^()]*\)/g, "").replace(/^data\//, "");
  return plain.split(/(?<=\.) (?=[A-Z-])/).filter((sentence, i) => i === 0 || !/--[a-z]/.test(sentence)).join(" ");
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

function fail(where, error) {
  at(where).textContent = error.message;
  at("state").textContent = WORDS.ready;
}
function show(...ids) {
  for (const id of ids) at(id).hidden = false;
}
function hide(...ids) {
  for (const id of ids) at(id).hidden = true;
}

function save(name, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
