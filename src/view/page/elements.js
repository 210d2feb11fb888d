// Parts of the page that panels make.

export function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else element.setAttribute(key, value);
  }
  element.append(...content);
  return element;
}

// Rows of texts or elements; the first cell of each names the row. `hasCaption`: false where the name is above it.
export function makeTable(name, header, rows, { hasCaption = true } = {}) {
  const table = hasCaption ? make("table", {}, make("caption", {}, name)) : make("table", { "aria-label": name });
  table.append(make("thead", {}, make("tr", {}, ...header.map((text) => make("th", { scope: "col" }, text)))));
  const body = make("tbody");
  for (const row of rows) {
    const [first, ...others] = row;
    body.append(make("tr", {}, make("th", { scope: "row" }, first), ...others.map((text) => make("td", {}, text))));
  }
  table.append(body);
  return table;
}

// A table that is opened on demand: the numbers of a picture.
export function makeFoldedTable(title, header, rows) {
  const folded = make("details", {}, make("summary", {}, title));
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
  folded.append(box);
  folded.addEventListener("toggle", () => {
    if (folded.open && !box.firstChild) box.append(makeTable(title, header, rows(), { hasCaption: false }));
  });
  return folded;
}

// A label, of a text or several parts, above a control.
export function makeField(text, control) {
  const label = make("label", { for: control.id }, ...[text].flat());
  return [label, control];
}

export function makeMenu(id, choices) {
  const menu = make("select", { id });
  for (const [text, value] of choices) menu.add(new Option(text, value));
  return menu;
}

export const withUnit = (name, unit) => (unit && unit !== "1" ? `${name} (${unit})` : name);

// "0.00123", "12.5", "447913".
export function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1e7 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

// "21.9 s": a value with its unit.
export const valueText = (value, unit) => (unit && unit !== "1" ? `${numberText(value)} ${unit}` : numberText(value));

// Calls the last of several calls that follow each other quickly.
export function debounce(act, ms) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...values), ms);
  };
}
