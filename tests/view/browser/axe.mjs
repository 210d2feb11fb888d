// Accessibility of the page in light and dark: node axe.mjs ADDRESS SCREENSHOTS. Prints violations as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { openBrowser, timeout, waitForSolution } from "./browser.mjs";

const [address, screenshots] = process.argv.slice(2);
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await openBrowser();

async function look(colorScheme) {
  // The page's policy forbids other scripts.
  const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width: 1300, height: 850 } });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout });
  await page.selectOption("#from", "1");
  await page.selectOption("#to", "2");
  await waitForSolution(page);
  await page.click("#keep");
  await page.click("summary");
  await page.addScriptTag({ content: source });
  const { violations, passes } = await page.evaluate(() => axe.run());
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.screenshot({ path: join(screenshots, `${colorScheme}.png`) });
  await context.close();
  return {
    background,
    passes: passes.length,
    violations: violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`),
  };
}

console.log(JSON.stringify({ light: await look("light"), dark: await look("dark") }));
await browser.close();
