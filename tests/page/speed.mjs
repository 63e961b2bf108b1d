// How fast the page is: training against the command on one thread, a live stream, the time until somebody can do something.
// tests/web --speed prints a table; it ends with 1 if a limit is broken.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import assert from "node:assert/strict";
import { folder, opened, openedToCompute, program, ready, withBrowser } from "./common.mjs";

withBrowser();

const WATCH = process.env.WATCH;
const measured = [];
after(() => console.table(measured));

function limited(what, value, most, unit) {
  measured.push({ what, value: Number(value.toPrecision(3)), "at most": most, unit });
  assert.equal(value <= most, true, `${what}: ${value} ${unit}`);
}

/// The least of several runs: what others do on the machine only adds.
const least = async (runs, run) => {
  let best = Infinity;
  for (let i = 0; i < runs; i++) best = Math.min(best, await run());
  return best;
};

test("training the watch set", async () => {
  const words = ["fit", "watch.csv.gz", "--group", "subject", "--window", "200", "--hop", "200"];
  writeFileSync(join(folder, "watch.csv.gz"), readFileSync(WATCH));
  const { page, close } = await openedToCompute();
  const bytes = readFileSync(WATCH).toString("base64");
  await page.evaluate((base) => program.write("watch.csv.gz", Uint8Array.from(atob(base), (c) => c.charCodeAt(0))), bytes);
  // In turn: what else runs on the machine slows both.
  let [native, inPage] = [Infinity, Infinity];
  for (let round = 0; round < 4; round++) {
    const since = performance.now();
    execFileSync(program, [...words, "-o", "watch.json", "--threads", "1"], { cwd: folder, stdio: "ignore" });
    native = Math.min(native, performance.now() - since);
    inPage = Math.min(inPage, await page.evaluate(async (all) => {
      const began = performance.now();
      await program.made([...all, "-o", "watch.json"], "watch.json");
      return performance.now() - began;
    }, words));
  }
  await close();
  measured.push({ what: "fit, command on one thread", value: Math.round(native), unit: "ms" }, { what: "fit, page", value: Math.round(inPage), unit: "ms" });
  limited("page against command", inPage / native, 2.2, "times");
});

test("a live stream of 100 samples per second and six channels", async () => {
  const lines = ["series,label,t,a,b,c,d,e,f"];
  for (let series = 0; series < 8; series++) {
    for (let t = 0; t < 1000; t++) {
      const row = [0, 1, 2, 3, 4, 5].map((c) => (Math.sin((series % 2 ? 0.2 : 0.5) * t + c) + 0.3 * Math.sin(12.9898 * (t + 1000 * series + 7 * c) ** 2)).toFixed(3));
      lines.push(`${series},${series % 2 ? "slow" : "fast"},${(t / 100).toFixed(2)},${row}`);
    }
  }
  writeFileSync(join(folder, "six.csv"), `${lines.join("\n")}\n`);
  execFileSync(program, ["fit", "six.csv", "--window", "200", "--hop", "100", "-o", "six.json"], { cwd: folder, stdio: "ignore" });
  execFileSync(program, ["page", "--model", "six.json", "-o", "six.html"], { cwd: folder, stdio: "ignore" });
  const { page, close } = await openedToCompute({ file: join(folder, "six.html") });
  // A minute of samples, as they come ten times per second.
  const share = await page.evaluate(async () => {
    let spent = 0;
    for (let piece = 0; piece < 600; piece++) {
      const rows = Array.from({ length: 10 }, (_, t) => [0, 1, 2, 3, 4, 5].map((c) => Math.sin(0.2 * (10 * piece + t) + c)));
      const since = performance.now();
      await live.ask({ rows, begin: piece === 0 });
      spent += performance.now() - since;
    }
    return spent / 60000;
  });
  await close();
  limited("share of a core", 100 * share, 5, "%");
});

test("the first interaction", async () => {
  const first = await least(3, async () => {
    const { page, close } = await opened();
    await page.waitForSelector("#choose:enabled");
    const milliseconds = await page.evaluate(() => performance.now());
    await ready(page);
    measured.push({ what: "until the program is unpacked", value: Math.round(await page.evaluate(() => performance.now())), unit: "ms" });
    await close();
    return milliseconds;
  });
  limited("until files can be chosen", first, 1000, "ms");
});
