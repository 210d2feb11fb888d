// Which paths of a result are asked for: regions that they touch or do not touch, and groups that are on.
import { make, makeField, makeMenu } from "./elements.js";

const kinds = [
  ["include", "Must touch", "touch"],
  ["exclude", "Must not touch", "do not touch"],
];
const searchFrom = 20; // groups

const makeButton = (text, act, attributes = {}) => {
  const button = make("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", act);
  return button;
};

export class FibreChoice {
  // `regions`: {label, name} of the parcellation. `groupings`: {name, groups, fibres}. changed() is called after a change.
  constructor(regions, groupings, changed) {
    Object.assign(this, { regions, groupings, changed });
    this.labels = { include: [], exclude: [] };
    this.grouping = 0;
    this.hidden = new Set();
  }

  // The program's answer has the paths that pass all of this.
  request() {
    const request = { ...this.labels };
    if (this.hidden.size > 0) Object.assign(request, { grouping: this.grouping, hidden: [...this.hidden] });
    return request;
  }

  isActive() {
    return this.labels.include.length + this.labels.exclude.length + this.hidden.size > 0;
  }

  makeControls() {
    return [...this.makeRegionControls(), ...this.makeGroupControls()];
  }

  makeRegionControls() {
    if (this.regions.length === 0) return [];
    const menu = makeMenu("fibre-region", this.regions.map(({ label, name }) => [name, String(label)]));
    const buttons = kinds.map(([kind, text]) =>
      makeButton(text, () => this.addRegion(kind, Number(menu.value)), { id: `fibre-${kind}` }),
    );
    this.list = make("ul", { class: "choices", "aria-label": "Regions that paths touch or do not touch", hidden: "" });
    return [...makeField("Region", menu), make("div", { class: "buttons" }, ...buttons), this.list];
  }

  addRegion(kind, label) {
    for (const [other] of kinds) this.labels[other] = this.labels[other].filter((l) => l !== label);
    this.labels[kind].push(label);
    this.showRegions();
    this.changed();
  }

  showRegions() {
    const entries = kinds.flatMap(([kind, , words]) =>
      this.labels[kind].map((label) => {
        const { name } = this.regions.find((r) => r.label === label);
        const remove = () => {
          this.labels[kind] = this.labels[kind].filter((l) => l !== label);
          this.showRegions();
          document.getElementById("fibre-region").focus(); // the button that was pressed is not there any more
          this.changed();
        };
        const button = makeButton("Remove", remove, { "aria-label": `Remove ${name}` });
        return make("li", {}, make("span", {}, `${words} ${name}`), button);
      }),
    );
    this.list.replaceChildren(...entries);
    this.list.hidden = entries.length === 0;
  }

  makeGroupControls() {
    if (this.groupings.length === 0) return [];
    this.menu = makeMenu("fibre-grouping", this.groupings.map(({ name }, number) => [name, String(number)]));
    this.search = make("input", { id: "fibre-group-search", type: "search", placeholder: "part of a name" });
    this.boxes = make("ul", { class: "groups scroll", tabindex: "0", "aria-label": "Groups of paths" });
    const all = (isOn) => () => this.switchListed(isOn);
    this.folded = make(
      "details",
      { id: "fibre-groups" },
      make("summary", {}, "Groups"),
      ...makeField("Paths in groups by", this.menu),
      ...makeField("Search", this.search),
      make("div", { class: "buttons" }, makeButton("On", all(true)), makeButton("Off", all(false))),
      this.boxes,
    );
    this.menu.addEventListener("change", () => this.changeGrouping(Number(this.menu.value)));
    this.search.addEventListener("input", () => this.showGroups());
    this.showGroups();
    return [this.folded];
  }

  changeGrouping(number) {
    const wasActive = this.hidden.size > 0;
    this.grouping = number;
    this.hidden.clear();
    this.search.value = "";
    this.showGroups();
    if (wasActive) this.changed();
  }

  // Numbers of the groups whose names contain what is searched for.
  listed() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { groups } = this.groupings[this.grouping];
    const numbers = groups.map((_, number) => number);
    return numbers.filter((n) => words.every((word) => groups[n].toLowerCase().includes(word)));
  }

  switchListed(isOn) {
    for (const n of this.listed()) this.hidden[isOn ? "delete" : "add"](n);
    this.showGroups();
    this.changed();
  }

  showGroups() {
    const { groups, fibres } = this.groupings[this.grouping];
    this.search.hidden = this.search.previousSibling.hidden = groups.length < searchFrom;
    const entries = this.listed().map((n) => {
      const box = make("input", { type: "checkbox" });
      box.checked = !this.hidden.has(n);
      box.addEventListener("change", () => {
        this.hidden[box.checked ? "delete" : "add"](n);
        this.changed();
      });
      return make("li", {}, make("label", { class: "check" }, box, ` ${groups[n]} (${fibres[n]})`));
    });
    this.boxes.replaceChildren(...entries);
  }
}
