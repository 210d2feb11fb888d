// Times of the steps from a click to the pictures; shown with ?timing in the address.
const isShown = new URLSearchParams(location.search).has("timing");

export class Timing {
  constructor() {
    this.last = performance.now();
    this.start = this.last;
    this.times = {};
  }

  // Notes the time since the last step, and with `view` waits until its picture exists.
  step(name, view) {
    if (isShown && view) view.finish();
    const now = performance.now();
    this.times[name] = now - this.last;
    this.last = now;
  }

  // Notes the time since the start.
  sum(name) {
    this.times[name] = performance.now() - this.start;
  }

  show() {
    if (!isShown) return;
    const table = document.getElementById("timing");
    table.hidden = false;
    table.tBodies[0].replaceChildren();
    for (const [name, ms] of Object.entries(this.times)) {
      const row = table.tBodies[0].insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = ms.toFixed(1);
    }
  }
}
