// Runs the program: one run for each message, over files that stay. Or the scorer, which keeps a model and a stream.
"use strict";

const files = new Files();
let program, scorer, board;

async function run(id, words, withBoard) {
  if (withBoard && !WebAssembly.Suspending) return postMessage({ id, noBoard: true });
  const text = { out: [], err: [] };
  let line = "";
  const said = (stream, bytes) => {
    text[stream].push(bytes);
    if (stream !== "err") return;
    line += new TextDecoder().decode(bytes);
    const lines = line.split("\n");
    line = lines.pop();
    for (const one of lines) {
      const [, position, length] = /^progress (\d+) (\d+) /.exec(one) ?? [];
      if (position) postMessage({ id, position: Number(position), length: Number(length) });
    }
  };
  const joined = async (parts) => new Blob(parts).text();
  board = withBoard ? new Board((bytes) => postMessage({ toBoard: bytes })) : undefined;
  const system = new System(["fishweir", ...words, "--message-format", "json"], files, said, board);
  let code, broken;
  try {
    code = await system.run(program);
  } catch (error) {
    // A panic, or no memory left: the run is lost, the files are not.
    [code, broken] = [134, String(error)];
  }
  board = undefined;
  postMessage({ id, code, broken, out: await joined(text.out), err: await joined(text.err) });
}

async function heard(data) {
  const { id } = data;
  try {
    if (data.module) {
      program = await WebAssembly.compile(unpacked(data.module));
      postMessage({ id, module: program });
    } else if (data.scorer) {
      scorer = await Scorer.of(data.scorer instanceof WebAssembly.Module ? data.scorer : await WebAssembly.compile(unpacked(data.scorer)));
      postMessage({ id });
    } else if (data.load) {
      postMessage({ id, ...scorer.load(data.load) });
    } else if (data.decide) {
      postMessage({ id, ...scorer.decide(data.decide) });
    } else if (data.rows) {
      postMessage({ id, ...scorer.push(data.rows, data.begin) });
    } else if (data.words) {
      await run(id, data.words, data.board);
    } else if (data.write) {
      files.write(data.write, data.bytes);
      postMessage({ id });
    } else if (data.remove) {
      files.remove(data.remove);
      postMessage({ id });
    } else if (data.read) {
      // A file, or all files of a folder.
      const paths = files.read(data.read) ? [""] : files.list(data.read).map((path) => `/${path}`);
      const found = paths.map((path) => [path.slice(1), files.read(data.read + path).slice()]);
      postMessage({ id, found });
    }
  } catch (error) {
    postMessage({ id, broken: String(error) });
  }
}

// One after the other, but for what the board sends to the one that runs.
let last = Promise.resolve();
onmessage = ({ data }) => {
  if (data.fromBoard !== undefined) board?.hear(data.fromBoard);
  else last = last.then(() => heard(data));
};
