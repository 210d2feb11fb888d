// A page in Debian's Chromium, which renders without a GPU.
import { chromium } from "playwright-core";

export const timeout = 180000; // the machine may be busy

export async function openBrowser(options = []) {
  return chromium.launch({
    executablePath: process.env.VOXHERD_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
      "--no-first-run",
      ...options,
    ],
  });
}

// Notes what the page complains about, and every address that it asks for.
export async function openViewer(browser, address, size = { width: 1300, height: 850 }) {
  const page = await browser.newPage({ viewport: size });
  const complaints = [];
  const addresses = new Set();
  page.on("console", (message) => {
    if (!/GPU stall due to ReadPixels/.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) addresses.add(new URL(request.url()).host);
  });
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout });
  return { page, complaints, addresses };
}

export async function waitForSolution(page) {
  await page.waitForFunction(() => document.documentElement.dataset.solved === "yes", null, { timeout });
}

export const textOf = (page, id) => page.textContent(`#${id}`);
