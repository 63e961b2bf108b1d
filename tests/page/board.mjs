// A board at the page: QEMU's, whose serial line is bridged to Web Serial; also with bytes that the line damages.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { command, dropped, folder, openedToCompute, recordings, withBrowser } from "./common.mjs";

withBrowser();

const BOARD = "mps2-an386", TARGET = "thumbv7em-none-eabihf";
const builds = process.env.FIRMWARE_TARGET;
const running = [];
after(() => running.forEach((one) => one.kill()));

/// Builds an image, and runs it under QEMU in the folder; the path of its serial line.
async function started(name, cwd, words = [], variables = {}) {
  execFileSync("cargo", ["build", "--release", "--quiet", ...words], { cwd, stdio: "inherit", env: { ...process.env, CARGO_TARGET_DIR: builds, ...variables } });
  const line = join(folder, `${name}.line`);
  running.push(spawn("qemu-system-arm", ["-machine", BOARD, "-icount", "shift=0", "-display", "none", "-monitor", "none",
    "-chardev", `socket,id=serial,path=${line},server=on,wait=on`, "-serial", "chardev:serial",
    "-semihosting-config", "enable=on,target=native", "-kernel", join(builds, TARGET, "release", name)], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] }));
  for (let tries = 0; !existsSync(line) && tries < 100; tries++) await new Promise((done) => setTimeout(done, 50));
  return line;
}

/// Builds a project of the command, and runs it.
function project(name, ...words) {
  command("new", name, "--board", BOARD, ...words);
  return started(name, join(folder, name));
}

/// Makes the line the one port of the page. `damage` changes what passes, in place.
const bridged = (path, damage = { toBoard: (bytes) => bytes, toPage: (bytes) => bytes }) => async (page) => {
  const socket = connect(path);
  await page.exposeBinding("boardTakes", (_, bytes) => { socket.write(Buffer.from(damage.toBoard(bytes))); });
  socket.on("data", (bytes) => page.evaluate((all) => window.boardSays?.(new Uint8Array(all)), [...damage.toPage(bytes)]).catch(() => {}));
  page.on("close", () => socket.destroy());
  await page.addInitScript(() => {
    const port = {
      async open() {
        this.readable = new ReadableStream({ start: (controller) => { window.boardSays = (bytes) => controller.enqueue(bytes); }, cancel: () => { window.boardSays = undefined; } });
        this.writable = new WritableStream({ write: (bytes) => window.boardTakes([...bytes]) });
      },
      async close() {},
    };
    Object.defineProperty(navigator, "serial", { value: { requestPort: async () => port } });
  });
};

const settled = (page) => page.waitForFunction(() => !document.getElementById("board-record").disabled
  && !/ …$/.test(document.getElementById("board-words").textContent), undefined, { timeout: 120000 });

test("a board computes the page's bits, and a damaged byte is counted", async () => {
  const data = join(folder, "twin.csv");
  writeFileSync(data, recordings());
  command("fit", data, "--window", "100", "--hop", "50", "--effort", "quick", "-o", "twin.json");
  command("page", "--model", "twin.json", "-o", "twin.html");
  const line = await project("twin", "--application", "stream", "--model", "twin.json");
  // Pieces until one is damaged: the first ones say what the board is.
  let left = Infinity;
  const damage = {
    toBoard: (bytes) => bytes,
    toPage: (bytes) => {
      left -= 1;
      // A piece may be a few bytes.
      if (left <= 0 && bytes.length > 6) {
        bytes[bytes.length - 6] ^= 4;
        left = Infinity;
      }
      return bytes;
    },
  };
  const { page, faults, close } = await openedToCompute({ file: join(folder, "twin.html"), prepare: bridged(line, damage) });
  await dropped(page, "twin.csv", recordings());
  await page.click("#board-connect");
  await page.waitForSelector("#board-tasks:not([hidden])");
  await page.fill("#board-limit", "300");
  await page.click("#board-run");
  await settled(page);
  assert.equal(await page.textContent("#board-error"), "");
  assert.match(await page.textContent("#parity-figure"), /^All bits agree: \d+ numbers of 300 samples/);

  // One answer is damaged: it is lost, and no bit is wrong.
  left = 40;
  await page.click("#board-run");
  await settled(page);
  assert.match(await page.textContent("#board-error"), /1 samples or answers were lost/);
  assert.match(await page.locator("#parity-facts tr", { hasText: "lost answers" }).textContent(), /1$/);
  assert.match(await page.textContent("#parity-figure"), /^All bits agree/);

  assert.deepEqual(faults, []);
  await close();

  // Another model than the board's: the first bit that differs is named, and marked in its series.
  writeFileSync(join(folder, "else.csv"), recordings().replaceAll(/(\d)$/gm, (digit) => String((Number(digit) + 3) % 10)));
  command("fit", "else.csv", "--window", "100", "--hop", "50", "--effort", "quick", "-o", "else.json");
  command("page", "--model", "else.json", "-o", "else.html");
  const other = await openedToCompute({ file: join(folder, "else.html"), prepare: bridged(line) });
  await dropped(other.page, "twin.csv", recordings());
  await other.page.click("#board-connect");
  await other.page.waitForSelector("#board-tasks:not([hidden])");
  await other.page.fill("#board-limit", "120");
  await other.page.click("#board-run");
  await settled(other.page);
  assert.match(await other.page.textContent("#board-error"), /bits differ|another model/);
  assert.match(await other.page.textContent("#parity-figure"), /bits differ. The first: stream 1, sample \d+: /);
  assert.equal(await other.page.locator("#parity-facts svg rect title", { hasText: "on the host" }).count(), 1);
  await other.close();
});

test("samples of a board are recorded with labels", async () => {
  const line = await project("recorder", "--application", "record", "--channels", "x,y", "--rate", "50");
  const { page, faults, close } = await openedToCompute({ prepare: bridged(line) });
  await page.click("#board-connect");
  await page.waitForSelector("#board-tasks:not([hidden])");
  await page.fill("#board-seconds", "1");
  for (const label of ["still", "still"]) {
    await page.fill("#board-label", label);
    await page.click("#board-record");
    await settled(page);
    assert.equal(await page.textContent("#board-error"), "");
  }
  assert.match(await page.textContent("#board-words"), /^\d+ samples, 0 of them lost/);
  await page.locator("#board-figures button", { hasText: "Use" }).click();
  await page.waitForFunction(() => /2 series/.test(document.getElementById("summary").textContent), undefined, { timeout: 30000 });
  assert.match(await page.textContent("#summary"), /still \(2\)/);
  assert.deepEqual(faults, []);
  await close();
});

test("a signed update reaches a board in the field, and one without its signature does not", async () => {
  writeFileSync(join(folder, "field.csv"), recordings());
  command("fit", "field.csv", "--window", "100", "--hop", "50", "--effort", "quick", "-o", "field.json");
  command("export", "field.json", "--artefact", "field.fishweir");
  command("page", "--model", "field.json", "-o", "field.html");
  command("keygen", "private.pem");
  const firmware = join(builds, "..");
  const line = await started("field", firmware, ["--package", "fishweir-images", "--bin", "field", "--target", TARGET, "--no-default-features", "--features", "image,field"], {
    FISHWEIR_BOARD: join(firmware, "boards", BOARD), FISHWEIR_ARTEFACT: join(folder, "field.fishweir"), FISHWEIR_UPDATE_KEY: join(folder, "private.pub"),
  });
  const { page, faults, close } = await openedToCompute({ file: join(folder, "field.html"), prepare: bridged(line) });
  await dropped(page, "field.csv", recordings());
  await page.click("#board-connect");
  await page.waitForSelector("#board-tasks:not([hidden])");
  await page.fill("#board-version", "2");
  await page.click("#board-send");
  await settled(page);
  assert.match(await page.textContent("#board-error"), /signature/);
  await page.setInputFiles("#board-key", join(folder, "private.pem"));
  await page.click("#board-send");
  await settled(page);
  assert.equal(await page.textContent("#board-error"), "");
  assert.match(await page.textContent("#board-words"), /version 2, .* has checked it/);
  assert.deepEqual(faults, []);
  await close();
});
