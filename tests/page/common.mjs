// What the tests share: the browser, pages in it, recordings, the command.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

/// The command, the page without a model, and the folder for pictures, if any.
export const { PROGRAM: program, PAGE: page_, CHROMIUM: executablePath, PICTURES: pictures } = process.env;
export const folder = mkdtempSync(join(tmpdir(), "page-"));
let browser;

/// Opens the browser before the tests of a file, and closes it after them.
export function withBrowser(args = []) {
  before(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--allow-file-access-from-files", ...args] });
  });
  after(() => browser.close());
}

/// Runs the command; what it prints.
export const command = (...words) => execFileSync(program, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1e9 });

/// Two people, three motions, two takes each; labels and columns as one names them oneself.
export function recordings(heads = "series,subject,label,t,ax,ay") {
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

/// Opens a page; the faults that it reports. `prepare` gets it before it loads.
export async function opened({ file = page_, prepare, ...options } = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  page.on("dialog", (dialog) => { faults.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  await prepare?.(page);
  await page.goto(`file://${file}`);
  return { page, faults, close: () => context.close() };
}

/// Waits until the page computes.
export const ready = (page) =>
  page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Ready"), undefined, { timeout: 60000 });

export async function openedToCompute(options) {
  const one = await opened(options);
  await ready(one.page);
  return one;
}

export async function dropped(page, name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  await page.setInputFiles("#files", path);
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Ready")
    && (!document.getElementById("read").hidden || document.getElementById("data-error").textContent), undefined, { timeout: 60000 });
  return path;
}

export async function trained(page) {
  await page.click("#train");
  await page.waitForFunction(
    () => document.getElementById("busy").hidden, undefined, { timeout: 240000 });
  assert.equal(await page.textContent("#train-error"), "");
  assert.equal(await page.isVisible("#accuracy"), true);
}

/// What a button saves.
export async function saved(page, selector) {
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60000 }), page.click(selector)])
    .catch(async (error) => { throw new Error(`${error.message}: ${await page.textContent("#export-error")}`); });
  return readFileSync(await download.path());
}
export const exported = (page, words) => saved(page, `#exports button:text-is("${words}")`);
