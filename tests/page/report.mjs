// Reports as pages, and the cards of models.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { command, dropped, folder, opened, ready, recordings, withBrowser } from "./common.mjs";

withBrowser();

const report = async (...words) => {
  command(...words, "--report", "report.html");
  assert.equal(statSync(join(folder, "report.html")).size < 1_000_000, true);
  const one = await opened({ file: join(folder, "report.html") });
  return { ...one, seen: async (...ids) => { for (const id of ids) assert.equal(await one.page.isVisible(`#${id}`), true, id); } };
};

test("reports are the page without a program, and with their model", async () => {
  writeFileSync(join(folder, "gait.csv"), recordings());
  const cut = ["--group", "subject", "--window", "100", "--hop", "50", "--effort", "quick"];
  const fit = await report("fit", "gait.csv", ...cut, "-o", "gait.json");
  await fit.seen("timeline", "learnt", "device", "card", "text");
  assert.equal(await fit.page.isVisible("#training"), false);
  assert.match(await fit.page.textContent("#card-sections"), /CRC-32/);
  const { decisions } = JSON.parse(command("predict", "gait.csv", "--model", "gait.json", "--json"));
  assert.equal(await fit.page.evaluate(() => state.decisions.length), decisions.length);
  // Its model decides on what is dropped, as the command does.
  await ready(fit.page);
  const [head, ...lines] = recordings().trim().split("\n");
  await dropped(fit.page, "some.csv", `${[head, ...lines.slice(200, 1000)].join("\n")}\n`);
  const some = JSON.parse(command("predict", "some.csv", "--model", "gait.json", "--json")).decisions;
  assert.deepEqual(await fit.page.evaluate(() => state.decisions.map((one) => one.class)), some.map((one) => one.class));
  assert.deepEqual(fit.faults, []);
  await fit.close();

  const evaluated = await report("evaluate", "gait.csv", ...cut);
  await evaluated.seen("accuracy", "roc", "calibration", "rejection", "timeline");
  assert.equal(await evaluated.page.locator("#classifiers option").count(), 2);
  await evaluated.page.locator("#confusion td.cell").first().click();
  assert.match(await evaluated.page.textContent("#windows"), /windows of/);
  assert.deepEqual(evaluated.faults, []);
  await evaluated.close();

  const judged = await report("evaluate", "gait.csv", "--model", "gait.json", "--group", "subject");
  await judged.seen("accuracy", "by-group", "timeline", "learnt", "card");
  assert.match(await judged.page.textContent("#card-sections"), /macro-F1/);
  assert.deepEqual(judged.faults, []);
  await judged.close();
});

test("a spotter's report has its events, and one of records its confusion", async () => {
  // Three gestures in a quiet series.
  const lines = ["series,mark,t,x"];
  for (let series = 0; series < 6; series++) {
    for (let t = 0; t < 600; t++) {
      const within = t % 200 >= 120 && t % 200 < 170, wave = within ? 2 * Math.sin(0.6 * t) : 0;
      lines.push(`${series},${within ? "wave" : ""},${(t / 50).toFixed(2)},${(wave + 0.1 * Math.sin(37.1 * t * (series + 1))).toFixed(3)}`);
    }
  }
  writeFileSync(join(folder, "events.csv"), `${lines.join("\n")}\n`);
  const spot = await report("spot", "events.csv", "--marks", "mark", "-o", "spotter.json");
  await spot.seen("timeline", "card", "text");
  assert.equal(await spot.page.locator("#lines svg rect title", { hasText: /^wave/ }).count() >= 3, true);
  assert.deepEqual(spot.faults, []);
  await spot.close();

  const records = ["colour,size,kind"];
  for (let i = 0; i < 60; i++) records.push(`${["red", "green", "blue"][i % 3]},${["small", "large"][i % 2]},${i % 3 === 0 ? "a" : "b"}`);
  writeFileSync(join(folder, "records.csv"), `${records.join("\n")}\n`);
  const network = await report("network", "fit", "records.csv", "--class", "kind", "-o", "kind.json");
  await network.seen("card", "text");
  await network.close();
  const found = await report("network", "evaluate", "records.csv", "--class", "kind");
  await found.seen("accuracy", "confusion", "text");
  assert.match(await found.page.textContent("#figure"), /60 records/);
  assert.deepEqual(found.faults, []);
  await found.close();
});

test("a card is Markdown whose text no name breaks", async () => {
  const hostile = "<img src=x onerror=alert(1)>";
  writeFileSync(join(folder, "hostile.csv"), recordings().replaceAll(",walk,", `,"${hostile}",`));
  command("fit", "hostile.csv", "--window", "100", "--effort", "quick", "-o", "hostile.json", "--report", "hostile.html");
  writeFileSync(join(folder, "figures.json"), command("evaluate", "hostile.csv", "--model", "hostile.json", "--json"));
  const card = command("card", "hostile.json", "--evaluation", "figures.json").toString();
  assert.match(card, /\\<img/);
  assert.equal(/(^|[^\\])<img/m.test(card), false);
  assert.match(card, /^---\nlibrary_name: fishweir\n/);
  assert.match(card, /type: accuracy\n {6}value: \d/);
  const { page, faults, close } = await opened({ file: join(folder, "hostile.html") });
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await page.textContent("#card-sections"), /<img src=x/);
  assert.deepEqual(faults, []);
  await close();
  assert.throws(() => command("card", "hostile.json", "--evaluation", "hostile.json"));
  assert.equal(readFileSync(join(folder, "hostile.html"), "utf8").includes("<img src"), false);
});
