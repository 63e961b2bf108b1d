// Runs the program: one run for each message, over files that stay.
"use strict";

const files = new Files();
let program;

async function inflated(blob) {
  return new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function run(id, words) {
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
  const system = new System(["fishweir", ...words, "--message-format", "json"], files, said);
  let code, broken;
  try {
    code = await system.run(program);
  } catch (error) {
    // A panic, or no memory left: the run is lost, the files are not.
    [code, broken] = [134, String(error)];
  }
  postMessage({ id, code, broken, out: await joined(text.out), err: await joined(text.err) });
}

async function heard(data) {
  const { id } = data;
  try {
    if (data.program) {
      program = await WebAssembly.compile(await inflated(data.program));
      postMessage({ id });
    } else if (data.words) {
      await run(id, data.words);
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

// One after the other.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => heard(data));
};
