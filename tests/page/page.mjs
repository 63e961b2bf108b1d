// The page in a headless Chromium: drop, train, judge, export; bytes against those of the command.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const [program, page_, executablePath, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "page-"));
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--allow-file-access-from-files"] });
});
after(() => browser.close());

/// Two people, three motions, two takes each; labels and columns as one names them oneself.
function recordings(heads = "series,subject,label,t,ax,ay") {
  let seed = 1;
  const noise = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  const lines = [heads];
  let series = 0;
  for (const person of ["ann", "bob", "cat"]) {
    for (const [motion, size, pace] of [["still", 0, 1], ["walk", 1, 0.35], ["run", 2.5, 0.7]]) {
      for (let take = 0; take < 2; take++, series++) {
        for (let t = 0; t < 200; t++) {
          const x = size * Math.sin(pace * t) + 0.4 * noise(), y = 1 - 0.4 * size * Math.cos(pace * t) + 0.4 * noise();
          lines.push(`${series},${person},${motion},${(t / 50).toFixed(2)},${x.toFixed(3)},${y.toFixed(3)}`);
        }
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

async function opened(options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("dialog", (dialog) => { faults.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(`file://${page_}`);
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Ready"), undefined, { timeout: 60000 });
  return { page, faults, close: () => context.close() };
}

async function dropped(page, name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  await page.setInputFiles("#files", path);
  await page.waitForFunction(() => !document.getElementById("read").hidden || document.getElementById("data-error").textContent);
  return path;
}

async function trained(page) {
  await page.selectOption("#overlap", "2");
  await page.click("#train");
  await page.waitForFunction(
    () => !document.getElementById("accuracy").hidden || document.getElementById("train-error").textContent, undefined, { timeout: 240000 });
  assert.equal(await page.textContent("#train-error"), "");
}

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#exports button:text-is("${button}")`)])
    .catch(async (error) => { throw new Error(`${error.message}: ${await page.textContent("#export-error")}`); });
  return readFileSync(await download.path());
}

test("what is trained and exported has the bytes of the command", async () => {
  const { page, faults, close } = await opened();
  const data = await dropped(page, "gait.csv", recordings());
  assert.match(await page.textContent("#summary"), /18 series, 3600 samples, 50 per second/);
  const [window, hop] = await page.evaluate(() => cut());
  await trained(page);
  const made = join(folder, "command");
  mkdirSync(made);
  const command = (...words) => execFileSync(program, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  command("fit", data, "--group", "subject", "--window", String(window), "--hop", String(hop), "--effort", "quick", "-o", "model.json");
  await saved(page, "Model");
  command("export", "model.json", "--artefact", "command/model.fishweir");
  assert.deepEqual(await saved(page, "Artefact"), readFileSync(join(made, "model.fishweir")));
  command("export", "model.json", "--c-source", "command/model.c");
  assert.deepEqual(await saved(page, "C source, one file"), readFileSync(join(made, "model.c")));
  command("export", "model.json", "--rust", "command/model.rs");
  assert.deepEqual(await saved(page, "Rust source"), readFileSync(join(made, "model.rs")));

  const judged = JSON.parse(command("evaluate", data, "--group", "subject", "--window", String(window), "--hop", String(hop),
    "--effort", "quick", "--classifier", "fisher", "--json"));
  const [one] = Object.values(judged.classifiers);
  assert.match(await page.textContent("#figure"), new RegExp(`^${Number((100 * one.accuracy).toPrecision(3))} % of ${one.windows} windows`));
  assert.equal(await page.locator("#boards tbody tr").count() > 4, true);

  // The archive is one that others unpack, and has the files of the command.
  command("export", "model.json", "--c-source", "command/library");
  const archive = join(folder, "library.zip");
  writeFileSync(archive, await saved(page, "Arduino, PlatformIO, CMake, ESP-IDF, Zephyr library"));
  execFileSync("python3", ["-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", archive, join(folder, "unpacked")]);
  const below = (path) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .map((one) => join(one.parentPath ?? one.path, one.name)).sort();
  const [there, here] = [join(made, "library"), join(folder, "unpacked")];
  assert.deepEqual(below(here).map((path) => path.slice(here.length)), below(there).map((path) => path.slice(there.length)));
  for (const path of below(there)) assert.deepEqual(readFileSync(here + path.slice(there.length)), readFileSync(path));

  // A window is explained at a click.
  await page.locator("#lines rect.clickable").first().click({ force: true });
  await page.waitForSelector("#why svg");
  assert.deepEqual(faults, []);
  await close();
});

test("a page opens with the recordings that it was made with", async () => {
  // A folder a class: files of one name stay apart.
  const kept = join(folder, "kept");
  const [head, ...lines] = recordings().trim().split("\n");
  for (const motion of ["still", "run"]) {
    mkdirSync(join(kept, motion), { recursive: true });
    const own = lines.filter((line) => line.split(",")[2] === motion && line.startsWith(motion === "still" ? "0," : "4,"));
    const cut = (line) => line.split(",").slice(3).join(",");
    writeFileSync(join(kept, motion, "1.csv"), `${[head, ...own].map(cut).join("\n")}\n`);
  }
  const made = join(folder, "kept.html");
  execFileSync(program, ["page", kept, "-o", made], { stdio: "ignore" });
  const page = await (await browser.newContext()).newPage();
  await page.goto(`file://${made}`);
  await page.waitForFunction(() => /2 series/.test(document.getElementById("summary").textContent), undefined, { timeout: 60000 });
  assert.match(await page.textContent("#summary"), /run \(1\), still \(1\)/);
  await page.context().close();
});

test("columns that the reader does not know are chosen in the menus", async () => {
  const { page, faults, close } = await opened();
  await dropped(page, "own.csv", recordings("take,subject,kind_of_motion,stamp,ax,ay"));
  for (const [menu, column] of [["Label", "kind_of_motion"], ["Series", "take"], ["Time", "stamp"]]) {
    await page.locator("#menus label", { hasText: menu }).locator("select").selectOption(column);
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Ready"));
  }
  await page.waitForFunction(() => /18 series/.test(document.getElementById("summary").textContent));
  assert.match(await page.textContent("#summary"), /still \(6\)/);
  assert.equal(await page.isVisible("#train"), true);
  assert.deepEqual(faults, []);
  await close();
});

test("what is hostile is text, and nothing is connected to", async () => {
  const { page, faults, close } = await opened();
  const hostile = "<img src=x onerror=alert(1)>";
  const text = recordings(`series,subject,label,t,"${hostile}",ay`).replaceAll(",walk,", `,"${hostile}",`);
  await dropped(page, "<b onmouseover=alert(2)>.csv", text);
  assert.match(await page.textContent("#summary"), /<img src=x/);
  assert.equal(await page.locator("img, b").count(), 0);
  const reached = await page.evaluate(async () => {
    const tries = [() => fetch("https://example.org"), () => fetch("file:///etc/hostname")];
    const results = await Promise.all(tries.map((attempt) => attempt().then(() => true, () => false)));
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return [...results, window.ran === true];
  });
  assert.deepEqual(reached, [false, false, false]);
  assert.deepEqual(faults, []);
  await close();
});

test("what cannot be read is said in the program's words, and a training is cancelled", async () => {
  const { page, close } = await opened();
  await dropped(page, "broken.csv", "series,label,t,x\n0,a,0,1\n0,a,1,oops\n");
  assert.match(await page.textContent("#data-error"), /line 3/);
  await dropped(page, "gait.csv", recordings());
  await page.waitForFunction(() => !document.getElementById("training").hidden);
  await page.selectOption("#effort", "normal");
  await page.click("#train");
  await page.waitForTimeout(500);
  await page.click("#cancel");
  await page.waitForFunction(() => document.getElementById("train-error").textContent === "Cancelled.");
  await page.selectOption("#effort", "quick");
  await trained(page);
  await close();
});

test("a motion sensor is recorded, trained on and decided on; a pasted stream is decided as the command decides", async () => {
  const { page, faults, close } = await opened();
  // A sensor that is played: of each class its own motion, some 60 events a second.
  await page.evaluate(() => {
    window.motion = { size: 0, pace: 1 };
    let t = 0;
    setInterval(() => {
      const { size, pace } = window.motion;
      t += 1;
      const wave = size * Math.sin(pace * t / 3) + 0.2 * Math.random();
      dispatchEvent(new DeviceMotionEvent("devicemotion", {
        accelerationIncludingGravity: { x: wave, y: 0.5 * wave, z: 9.81 }, rotationRate: { alpha: 10 * wave, beta: 0, gamma: 0 }, interval: 16,
      }));
    }, 16);
  });
  await page.click("#data details summary");
  await page.fill("#record-seconds", "3");
  for (const [label, motion] of [["still", { size: 0, pace: 1 }], ["shake", { size: 5, pace: 1 }], ["still", { size: 0, pace: 1 }], ["shake", { size: 5, pace: 1 }]]) {
    await page.evaluate((one) => { window.motion = one; }, motion);
    await page.fill("#record-label", label);
    await page.click("#record");
    await page.waitForFunction(() => !document.getElementById("record").disabled, undefined, { timeout: 20000 });
    assert.equal(await page.textContent("#record-error"), "");
  }
  await page.click("#record-use");
  await page.waitForFunction(() => !document.getElementById("training").hidden);
  await page.evaluate(() => { at("window").value = "50"; });
  await trained(page);
  await page.click("#live-start");
  await page.waitForFunction(() => document.getElementById("decision").textContent === "shake", undefined, { timeout: 15000 });
  await page.evaluate(() => { window.motion = { size: 0, pace: 1 }; });
  await page.waitForFunction(() => document.getElementById("decision").textContent === "still", undefined, { timeout: 15000 });
  await page.click("#live-stop");

  // One window, pasted: the margin that the command prints.
  writeFileSync(join(folder, "own.json"), await saved(page, "Model"));
  const rows = Array.from({ length: 50 }, (_, t) => [4 * Math.sin(t / 3), 2 * Math.sin(t / 3), 9.81, 0, 0, 40 * Math.sin(t / 3)].map((x) => x.toFixed(3)));
  await page.click("#live details summary");
  await page.fill("#pasted", rows.map((row) => row.join(" ")).join("\n"));
  await page.click("#paste");
  await page.waitForFunction(() => document.getElementById("decided").children.length === 1);
  const table = rows.map((row, t) => `live,,${(t / 50).toFixed(4)},${row}`);
  writeFileSync(join(folder, "live.csv"), `series,label,t,ax,ay,az,gx,gy,gz\n${table.join("\n")}\n`);
  const told = execFileSync(program, ["predict", "live.csv", "--model", "own.json", "--json"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const { decisions: [one] } = JSON.parse(told);
  assert.equal(await page.textContent("#decided li"), await page.evaluate(({ class: name, margin }) => `${name}, ${number(margin)}`, one));
  await page.fill("#pasted", "1 2 3 4 5 6\n1 2 x 4 5 6\n");
  await page.click("#paste");
  assert.match(await page.textContent("#live-error"), /Line 2/);
  assert.deepEqual(faults, []);
  await close();
});

test("pictures of every view", { skip: !pictures }, async () => {
  for (const [name, options] of [["light", { colorScheme: "light" }], ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 390, height: 844 } }]]) {
    const { page, close } = await opened(options);
    await dropped(page, "gait.csv", recordings());
    await trained(page);
    await page.locator("#lines rect.clickable").first().click({ force: true });
    await page.waitForSelector("#why svg");
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    await close();
  }
});
