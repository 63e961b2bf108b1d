// Recordings to firmware: drop, train, judge, export; bytes against those of the command.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { command, dropped, exported, folder, opened, openedToCompute, ready, recordings, saved, trained, withBrowser } from "./common.mjs";

withBrowser();

const below = (path) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  .map((one) => join(one.parentPath ?? one.path, one.name)).sort();

/// Equal bytes; a difference of megabytes is not printed.
const same = (one, other, what) => assert.equal(Buffer.compare(one, other), 0, `${what}: ${one.length} and ${other.length} B`);

/// The files of an archive, in one folder and unpacked by another program, against those of a folder.
function sameFiles(archive, there) {
  const unpacked = `${archive}.unpacked`;
  execFileSync("python3", ["-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", archive, unpacked]);
  const folders = readdirSync(unpacked);
  assert.equal(folders.length, 1, String(folders));
  const here = join(unpacked, folders[0]);
  assert.deepEqual(below(here).map((path) => path.slice(here.length)), below(there).map((path) => path.slice(there.length)));
  for (const path of below(there)) same(readFileSync(here + path.slice(there.length)), readFileSync(path), path);
}

test("what is trained and exported has the bytes of the command", async () => {
  const { page, faults, close } = await openedToCompute();
  const data = await dropped(page, "gait.csv", recordings());
  assert.match(await page.textContent("#summary"), /18 series, 3600 samples, 50 per second/);
  // The price is there before anything is trained, and moves with the sliders.
  await page.waitForFunction(() => /instructions per sample/.test(document.getElementById("price-words").textContent), undefined, { timeout: 60000 });
  const price = await page.textContent("#price-words");
  await page.locator("#hop").fill("25");
  assert.notEqual(await page.textContent("#price-words"), price);
  await page.locator("#hop").fill("50");
  const [window, hop] = (await page.evaluate(() => windowing())).map(String);
  await trained(page);
  const made = join(folder, "command");
  mkdirSync(made);
  command("fit", data, "--group", "subject", "--window", window, "--hop", hop, "--effort", "quick", "-o", "model.json");
  command("export", "model.json", "--artefact", "command/model.fishweir");
  same(await exported(page, "Artefact: the model's bytes for a device"), readFileSync(join(made, "model.fishweir")), "Artefact");
  command("export", "model.json", "--c-source", "command/model.c");
  // Once more: what was written is written over.
  for (let again = 0; again < 2; again++) writeFileSync(join(folder, "c.zip"), await exported(page, "C source and header"));
  mkdirSync(join(made, "model-c"));
  for (const name of ["model.c", "model.h"]) renameSync(join(made, name), join(made, "model-c", name));
  sameFiles(join(folder, "c.zip"), join(made, "model-c"));
  command("export", "model.json", "--rust", "command/model.rs");
  same(await exported(page, "Rust source"), readFileSync(join(made, "model.rs")), "Rust source");
  command("export", "model.json", "--c-source", "command/library");
  writeFileSync(join(folder, "library.zip"), await exported(page, "Arduino, PlatformIO, CMake, ESP-IDF, Zephyr library"));
  sameFiles(join(folder, "library.zip"), join(made, "library"));

  // Every digit of the model is the command's: a fit has the same bits on every platform.
  writeFileSync(join(folder, "own.json"), await exported(page, "Model: to be opened here again"));
  const numbers = (name) => { const { provenance, ...model } = JSON.parse(readFileSync(join(folder, name))).classifier; return model; };
  assert.deepEqual(numbers("own.json"), numbers("model.json"));
  mkdirSync(join(folder, "own"));
  writeFileSync(join(folder, "own/model.json"), readFileSync(join(folder, "own.json")));
  const own = (...words) => execFileSync(process.env.PROGRAM, words, { cwd: join(folder, "own"), stdio: ["ignore", "pipe", "ignore"] });
  await page.selectOption("#project-board", "nrf52840-dk");
  writeFileSync(join(folder, "project.zip"), await saved(page, "#project"));
  mkdirSync(join(folder, "own/data"));
  writeFileSync(join(folder, "own/data/gait.csv"), recordings());
  own("new", "nrf52840-dk-project", "--board", "nrf52840-dk", "--model", "model.json", "--data", "data/gait.csv");
  sameFiles(join(folder, "project.zip"), join(folder, "own/nrf52840-dk-project"));
  assert.equal((await exported(page, "Recipe: the options of this training")).toString(), own("info", "model.json", "--recipe").toString());
  const card = (await exported(page, "Model card")).toString();
  for (const title of ["Model Details", "Uses", "Bias, Risks, and Limitations", "Training Details", "Evaluation", "Technical Specifications"]) {
    assert.match(card, new RegExp(`^## ${title}$`, "m"));
  }
  assert.match(card, /\*\*accuracy:\*\* \d/);
  own("page", "--model", "model.json", "-o", "page.html");
  same(await exported(page, "This page with the model"), readFileSync(join(folder, "own/page.html")), "This page with the model");

  // The figures are those of the command.
  const judged = JSON.parse(command("evaluate", data, "--group", "subject", "--window", window, "--hop", hop,
    "--effort", "quick", "--classifier", "fisher", "--json"));
  const [one] = Object.values(judged.classifiers);
  assert.match(await page.textContent("#figure"), new RegExp(`^${Number((100 * one.accuracy).toPrecision(3))} % of ${one.windows} windows`));
  assert.match(await page.textContent("#roc h3"), new RegExp(`area ${Number(one.roc.area.toPrecision(3))}`));
  assert.equal(await page.locator("#calibration circle").count(), one.calibration.reliability.length);
  assert.equal(await page.locator("#boards tbody tr").count() > 4, true);
  // A cell's windows are those that it counts.
  const [truth, decided] = one.confusion.flatMap((row, i) => row.map((count, j) => [i, j, count])).find(([, , count]) => count > 0);
  await page.locator("#confusion tbody tr").nth(truth).locator("td").nth(decided).click();
  assert.equal(await page.locator("#windows tbody tr").count(), Math.min(50, one.confusion[truth][decided]));
  // Fewer windows kept, no fewer of them right.
  const accuracy = async () => Number(/: ([\d.]+) %/.exec(await page.textContent("#rejection p[role=status]"))[1]);
  const all = await accuracy();
  await page.locator("#rejection input").fill("60");
  assert.equal(await accuracy() >= all, true);

  // A window is explained at a click, and by the keyboard.
  await page.locator("#lines rect.clickable").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#why svg");
  assert.equal(await page.locator("#models svg circle.state").count() > 0, true);
  assert.deepEqual(faults, []);
  await close();
});

test("a page with a model decides, judges and explains without training", async () => {
  const data = join(folder, "judged.csv");
  writeFileSync(data, recordings());
  command("fit", data, "--window", "100", "--hop", "50", "--effort", "quick", "-o", "given.json");
  command("page", "--model", "given.json", "-o", "given.html");
  const { page, faults, close } = await openedToCompute({ file: join(folder, "given.html") });
  assert.match(await page.textContent("#model-words"), /given\.json.*run.*still.*walk/);
  assert.equal(await page.isVisible("#live"), true);
  await dropped(page, "judged.csv", recordings());
  const { decisions } = JSON.parse(command("predict", data, "--model", "given.json", "--json"));
  assert.deepEqual(await page.evaluate(() => state.decisions), decisions);
  const judged = JSON.parse(command("evaluate", data, "--model", "given.json", "--json"));
  assert.match(await page.textContent("#figure"), new RegExp(`^${Number((100 * judged.accuracy).toPrecision(3))} % of ${judged.windows}`));
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
  command("page", kept, "-o", "kept.html");
  const { page, close } = await opened({ file: join(folder, "kept.html") });
  await page.waitForFunction(() => /2 series/.test(document.getElementById("summary").textContent), undefined, { timeout: 60000 });
  assert.match(await page.textContent("#summary"), /run \(1\), still \(1\)/);
  await close();
});

test("columns that the reader does not know are chosen in the menus", async () => {
  const { page, faults, close } = await openedToCompute();
  await dropped(page, "own.csv", recordings("take,subject,kind_of_motion,stamp,ax,ay"));
  for (const [menu, column] of [["Label", "kind_of_motion"], ["Series", "take"], ["Time", "stamp"]]) {
    await page.locator("#menus label", { hasText: menu }).locator("select").selectOption(column);
    await ready(page);
  }
  await page.waitForFunction(() => /18 series/.test(document.getElementById("summary").textContent));
  assert.match(await page.textContent("#summary"), /still \(6\)/);
  assert.equal(await page.isVisible("#train"), true);
  assert.deepEqual(faults, []);
  await close();
});

test("what is hostile is text, and nothing is connected to", async () => {
  const { page, faults, close } = await openedToCompute();
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
  // The browser reports what the policy stopped, and nothing else.
  assert.deepEqual(faults.filter((fault) => !/Content Security Policy|Not allowed to load/.test(fault)), []);
  await close();
});

test("what cannot be read is said in the program's words, and a training is cancelled", async () => {
  const { page, close } = await openedToCompute();
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

test("a table whose label changes is cut, and a model is opened again", async () => {
  const { page, faults, close } = await openedToCompute();
  const lines = ["t,activity,x"];
  for (let i = 0; i < 1200; i++) lines.push(`${(i / 50).toFixed(2)},${Math.floor(i / 200) % 2 ? "walk" : "run"},${Math.sin(i * (Math.floor(i / 200) % 2 ? 0.3 : 0.9)).toFixed(3)}`);
  await dropped(page, "one.csv", `${lines.join("\n")}\n`);
  if (await page.isHidden("#training")) {
    await page.selectOption('#menus label:has-text("Label") select', "activity");
    await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Ready"));
    await page.check('#menus input[type="checkbox"]');
    await page.waitForFunction(() => !document.getElementById("training").hidden, undefined, { timeout: 30000 });
  }
  assert.match(await page.textContent("#summary"), /6 series, 1200 samples/);
  // Options are for a command line; a chart has the time, where there is one.
  assert.doesNotMatch(await page.textContent("#notes"), /--/);
  assert.equal(await page.locator("#raw .unit").first().textContent(), "s");
  await trained(page);
  const model = await exported(page, "Model: to be opened here again");
  // Settings that the model was not trained with are said.
  await page.locator("#hop").fill("7");
  assert.match(await page.textContent("#window-words"), /train again/);
  await close();

  const again = await openedToCompute();
  writeFileSync(join(folder, "kept.json"), model);
  await again.page.setInputFiles("#files", join(folder, "kept.json"));
  for (const id of ["export", "live"]) await again.page.waitForSelector(`#${id}:not([hidden])`, { timeout: 60000 });
  await again.close();
  assert.deepEqual([...faults, ...again.faults], []);
});

test("files without a time are read when it is said, and a clock among channels shows", async () => {
  const { page, faults, close } = await openedToCompute();
  const rows = (wave) => `count,x\n${Array.from({ length: 200 }, (_, i) => `${i},${Math.sin(wave * i).toFixed(3)}`).join("\n")}\n`;
  const files = ["a/1", "a/2", "b/1", "b/2"].map((name) => join(folder, "plain", `${name}.csv`));
  for (const one of ["a", "b"]) mkdirSync(join(folder, "plain", one), { recursive: true });
  files.forEach((path, i) => writeFileSync(path, rows(i < 2 ? 0.2 : 0.8)));
  await page.setInputFiles("#folders", join(folder, "plain"));
  await page.waitForSelector("#menus select", { timeout: 60000 });
  assert.doesNotMatch(await page.textContent("#data-error"), /--/);
  await page.selectOption('#menus label:has-text("Time") select', "none");
  await page.waitForFunction(() => !document.getElementById("training").hidden, undefined, { timeout: 30000 });
  assert.match(await page.textContent("#notes"), /count rises/);
  assert.equal(await page.locator("#raw .unit").first().textContent(), "sample");
  assert.deepEqual(faults, []);
  await close();
});
