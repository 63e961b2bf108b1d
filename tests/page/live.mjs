// What listens: a motion sensor and a microphone that are played, a stream that is pasted; and the small page, which only decides.
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { command, dropped, exported, folder, opened, openedToCompute, ready, recordings, trained, withBrowser } from "./common.mjs";

/// A WAV file of sound: of each moment in seconds its value.
function wav(seconds, rate, value) {
  const count = seconds * rate, bytes = Buffer.alloc(44 + 2 * count);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + 2 * count, 4);
  bytes.write("WAVEfmt ", 8);
  [[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, rate, 4], [28, 2 * rate, 4], [32, 2, 2], [34, 16, 2]].forEach(([place, number, size]) => bytes.writeUIntLE(number, place, size));
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * count, 40);
  for (let i = 0; i < count; i++) bytes.writeInt16LE(Math.round(32000 * value(i / rate)), 44 + 2 * i);
  return bytes;
}

/// Hum and hiss, by turns of two seconds.
const hum = (t) => 0.5 * Math.sin(2 * Math.PI * 220 * t) + 0.05 * (Math.random() - 0.5);
const hiss = () => 0.8 * (Math.random() - 0.5);
const turns = join(folder, "turns.wav");
writeFileSync(turns, wav(8, 48000, (t) => (t % 4 < 2 ? hum(t) : hiss(t))));

/// The microphone of the browser.
withBrowser(["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${turns}`, "--autoplay-policy=no-user-gesture-required"]);

test("a motion sensor is recorded, trained on and decided on; a pasted stream is decided as the command decides", async () => {
  const { page, faults, close } = await openedToCompute();
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
  await page.click("#recording summary");
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
  await page.evaluate(() => { at("window").value = "50"; at("hop").value = "25"; });
  await trained(page);
  await page.click("#live-start");
  await page.waitForFunction(() => document.getElementById("decision").textContent === "shake", undefined, { timeout: 15000 });
  await page.evaluate(() => { window.motion = { size: 0, pace: 1 }; });
  await page.waitForFunction(() => document.getElementById("decision").textContent === "still", undefined, { timeout: 15000 });
  await page.click("#live-stop");

  // Samples at the stream's rate take a small share of a core.
  const share = Number(/takes ([\d.e-]+) %/.exec(await page.textContent("#decision-words"))[1]);
  assert.equal(share < 5, true, `${share} %`);

  // One window, pasted: the margin that the command prints.
  writeFileSync(join(folder, "own.json"), await exported(page, "Model: to be opened here again"));
  const rows = Array.from({ length: 50 }, (_, t) => [4 * Math.sin(t / 3), 2 * Math.sin(t / 3), 9.81, 0, 0, 40 * Math.sin(t / 3)].map((x) => x.toFixed(3)));
  await page.locator("#live summary").first().click();
  await page.fill("#pasted", rows.map((row) => row.join(" ")).join("\n"));
  await page.click("#paste");
  await page.waitForFunction(() => document.getElementById("decided").children.length === 1);
  const table = rows.map((row, t) => `live,,${(t / 50).toFixed(4)},${row}`);
  writeFileSync(join(folder, "live.csv"), `series,label,t,ax,ay,az,gx,gy,gz\n${table.join("\n")}\n`);
  const { decisions: [one] } = JSON.parse(command("predict", "live.csv", "--model", "own.json", "--json"));
  assert.equal(await page.textContent("#decided li"), await page.evaluate(({ class: name, margin }) => `${name}, ${number(margin)}`, one));
  await page.fill("#pasted", "1 2 3 4 5 6\n1 2 x 4 5 6\n");
  await page.click("#paste");
  assert.match(await page.textContent("#live-error"), /Line 2/);
  assert.deepEqual(faults, []);
  await close();
});

test("sound is recorded, trained on through a front end, and decided on", async () => {
  const { page, faults, close } = await openedToCompute();
  await page.click("#recording summary");
  await page.selectOption("#record-sensor", "microphone");
  await page.fill("#record-seconds", "1");
  for (const [label, since] of [["hum", 300], ["hiss", 2300], ["hum", 500], ["hiss", 2500]]) {
    // The file begins with the microphone: the count-down is as long as the sound before.
    await page.evaluate((milliseconds) => { countDown = () => pause(milliseconds); }, since);
    await page.fill("#record-label", label);
    await page.click("#record");
    await page.waitForFunction(() => !document.getElementById("record").disabled, undefined, { timeout: 20000 });
    assert.equal(await page.textContent("#record-error"), "");
  }
  await page.click("#record-use");
  await page.waitForFunction(() => !document.getElementById("training").hidden, undefined, { timeout: 60000 });
  assert.match(await page.textContent("#summary"), /4 series, \d+ samples, 16 000 per second. hiss \(2\), hum \(2\)/);
  assert.match(await page.inputValue("#front"), /^cepstra=.*@16000$/);
  await page.evaluate(() => { at("window").value = "8000"; at("hop").value = "4000"; });
  await trained(page);
  await page.click("#live-hear");
  for (const name of ["hum", "hiss", "hum"]) {
    await page.waitForFunction((wanted) => document.getElementById("decision").textContent === wanted, name, { timeout: 20000 });
  }
  await page.click("#live-stop");
  assert.equal(await page.textContent("#live-error"), "");
  assert.deepEqual(faults, []);
  await close();
});

test("the small page decides as the command does, and refuses what does not fit", async () => {
  writeFileSync(join(folder, "small.csv"), recordings());
  command("fit", "small.csv", "--window", "100", "--hop", "50", "--effort", "quick", "-o", "small.json");
  command("page", "--model", "small.json", "--score-only", "-o", "small.html");
  const size = statSync(join(folder, "small.html")).size;
  assert.equal(size <= 600_000, true, `${size} B`);
  const { page, faults, close } = await openedToCompute({ file: join(folder, "small.html") });
  await dropped(page, "small.csv", recordings());
  assert.equal(await page.textContent("#data-error"), "");
  const { decisions } = JSON.parse(command("predict", "small.csv", "--model", "small.json", "--json"));
  const own = await page.evaluate(() => state.decisions);
  assert.equal(own.length, decisions.length);
  own.forEach((one, i) => {
    const { start, end, class: name, margin } = decisions[i];
    assert.deepEqual([one.start, one.end, one.class, Math.fround(one.margin)], [start, end, name, Math.fround(margin)]);
  });
  assert.equal(await page.isVisible("#timeline"), true);
  assert.equal(await page.isVisible("#training"), false);
  await dropped(page, "slow.csv", recordings().split("\n").map((line, i) => (i === 0 ? line : line.replace(/^((?:[^,]*,){3})([^,]*)/, (_, before, t) => `${before}${(3 * Number(t)).toFixed(2)}`))).join("\n"));
  assert.match(await page.textContent("#data-error"), /16\.7 samples per second.*takes 50/);
  await dropped(page, "other.csv", "t,b\n0,1\n");
  assert.match(await page.textContent("#data-error"), /ax/);
  assert.deepEqual(faults, []);
  await close();
});
