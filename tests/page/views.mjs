// Pictures of every view, to be looked at: with the folder of PICTURES alone.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { command, dropped, folder, opened, openedToCompute, pictures, recordings, trained, withBrowser } from "./common.mjs";

withBrowser();

const LOOKS = [["light", { colorScheme: "light" }], ["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 844 } }]];

test("pictures of every view", { skip: !pictures }, async () => {
  writeFileSync(join(folder, "gait.csv"), recordings());
  const cut = ["--group", "subject", "--window", "100", "--hop", "50", "--effort", "quick"];
  command("fit", "gait.csv", ...cut, "-o", "gait.json", "--report", "fit.html");
  command("evaluate", "gait.csv", ...cut, "--report", "evaluate.html");
  command("page", "--model", "gait.json", "--score-only", "-o", "small.html");
  for (const [name, options] of LOOKS) {
    const picture = (page, view) => page.screenshot({ path: join(pictures, `${view}-${name}.png`), fullPage: true });
    const { page, close } = await openedToCompute(options);
    await picture(page, "begin");
    await dropped(page, "gait.csv", recordings());
    await trained(page);
    await page.locator("#confusion td.right").first().click();
    await page.locator("#lines rect.clickable").first().click({ force: true });
    await page.waitForSelector("#why svg");
    await picture(page, "trained");
    await close();
    for (const view of ["fit", "evaluate"]) {
      const one = await opened({ ...options, file: join(folder, `${view}.html`) });
      await picture(one.page, view);
      await one.close();
    }
    const small = await openedToCompute({ ...options, file: join(folder, "small.html") });
    await dropped(small.page, "gait.csv", recordings());
    await picture(small.page, "small");
    await small.close();
  }
});
