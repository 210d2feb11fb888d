// Connects points and takes a picture: node picture.mjs ADDRESS PICTURE FROM TO PLACE. Points are x,y,z in mm. Prints the
// times of the last of several connections.
import { openBrowser, openViewer, timeout, waitForSolution } from "./browser.mjs";

const [address, picture, ...points] = process.argv.slice(2);
const [from, to, place] = points.map((text) => text.split(",").map(Number));
const repeats = 5;

const browser = await openBrowser();
const { page } = await openViewer(browser, address.replace("/#", "/?timing#"), { width: 1400, height: 860 });

async function setEnd(side, mm) {
  await page.evaluate((at) => voxherd.moveTo(at), mm);
  await page.click(`#set-${side}`);
}

await setEnd("from", from);
await setEnd("to", to);
await waitForSolution(page);
const all = [];
for (let i = 0; i < repeats; i++) {
  await page.evaluate(() => voxherd.connect.solve());
  all.push(await page.evaluate(() => voxherd.timing));
}
const least = {};
for (const name of Object.keys(all[0])) least[name] = Math.min(...all.map((times) => times[name]));
for (const [name, ms] of Object.entries(least)) console.log(`${name.padEnd(30)} ${ms.toFixed(0).padStart(6)} ms`);

await page.evaluate((at) => voxherd.moveTo(at), place);
await page.fill("#epsilon", "10");
await page.check("#fibres");
await page.waitForFunction(() => /^\d+$/.test(document.getElementById("fibre-count").textContent), null, { timeout });
await page.evaluate(() => (document.getElementById("timing").hidden = true));
await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 2000)));
await page.screenshot({ path: picture });
await browser.close();
