// One map with its controls: which ends of trips, how many flows, those within a zone; words of what is pointed at.

import { readTheme } from "../map/panel";
import { type Axis, MEASURES, type Point } from "../map/payload";
import { Legend } from "../map/panel";
import { areaFigure, figure } from "../map/scale";
import { amount, capital, element } from "../map/side";
import { type Content, type ReportMap } from "./content";
import { LightView } from "./light_view";
import { type Line, MapModel } from "./model";
import { type MapView, type Wanted } from "./view";
import { WebglView } from "./webgl_view";

const FIRST = 60; // flows that are drawn at first
const FINE = 300; // flows up to which a step of the slider is one of them
const STEPS = 300;
const PAPER = 640; // pixels that a map on paper is wide: names are as large as the words around it

export class MapCard {
  root: HTMLElement;
  told: ReportMap;
  model: MapModel;
  content: Content;
  view: MapView;
  legend: Legend;
  axis: Axis = "origin";
  chosen = -1;
  linked: MapCard[] = [];
  following = false;
  tip: HTMLElement;

  constructor(root: HTMLElement, told: ReportMap, content: Content) {
    this.root = root;
    this.told = told;
    this.model = new MapModel(told.payload);
    this.content = content;
    this.view = new LightView(this.stage(), this.model, content);
    this.legend = new Legend(this.part(".scale"));
    this.tip = this.part(".tip");
    this.offer();
    this.listen();
    this.adopt(this.view);
    this.draw();
  }

  // A place for a map of its own, above what is there.
  stage(): HTMLElement {
    const ground = this.part(".ground");
    const stage = element("div", { class: "layer", role: "group", "aria-label": ground.getAttribute("aria-label") ?? "Map" });
    ground.append(stage);
    return stage;
  }

  // From the plain canvas to the graphics card, at the same place, as soon as that one has drawn.
  upgrade(): Promise<void> {
    return new Promise((done) => {
      const [light, stage] = [this.view, this.stage()];
      const view = new WebglView(stage, this.model, this.content, () => {
        const focused = this.part(".ground").contains(document.activeElement);
        light.remove();
        stage.previousElementSibling?.remove();
        if (focused) stage.querySelector<HTMLElement>("canvas")?.focus();
        done();
      });
      view.look(light.seen);
      this.adopt(view);
      this.draw();
    });
  }

  // The same map as a picture for paper, which prints no graphics card; on screens it is not shown.
  print(on: boolean): void {
    const frame = this.part(".frame");
    frame.querySelector(".printed")?.remove();
    if (!on) return;
    const stage = element("div", { class: "layer paper" });
    const { clientWidth, clientHeight } = this.part(".ground");
    // As much is seen as on the screen, whatever the size of the paper.
    stage.style.height = `${(PAPER * clientHeight) / Math.max(1, clientWidth)}px`;
    stage.style.width = `${PAPER}px`;
    frame.append(stage);
    const view = new LightView(stage, this.model, this.content, 3);
    const { centre, zoom } = this.view.seen;
    view.look({ centre, zoom: zoom + Math.log2(PAPER / Math.max(1, clientWidth)) });
    view.draw(this.wanted(), readTheme());
    frame.append(element("img", { class: "printed", src: view.picture(), alt: this.told.title }));
    stage.remove();
  }

  adopt(view: MapView): void {
    this.view = view;
    view.pointed = (zone, place) => this.point(zone, place);
    view.chosen = (zone) => this.choose(zone === this.chosen ? -1 : zone);
    view.moved = () => this.lead();
  }

  part(selector: string): HTMLElement {
    return this.root.querySelector<HTMLElement>(selector)!;
  }

  input(name: string): HTMLInputElement {
    return this.root.querySelector<HTMLInputElement>(`[name=${name}]`)!;
  }

  offer(): void {
    const { lines, within } = this.model;
    const top = this.input("top");
    const all = lines.length;
    top.max = String(all > FINE ? STEPS : all);
    top.value = String(all > FINE ? Math.round((STEPS * Math.log(FIRST)) / Math.log(all)) : Math.min(all, FIRST));
    this.part(".flow-controls").hidden = !lines.length;
    this.part(".within-control").hidden = !within.length;
    this.part(".axes").hidden = this.model.areas.destination.length === 0;
  }

  listen(): void {
    for (const name of ["flows", "within", "top"]) this.input(name).addEventListener("input", () => this.draw());
    for (const button of this.root.querySelectorAll<HTMLButtonElement>(".axes button")) {
      button.addEventListener("click", () => this.turn(button.dataset.axis as Axis));
    }
    this.part(".clear").addEventListener("click", () => this.choose(-1));
    this.part(".home").addEventListener("click", () => this.view.whole());
  }

  turn(axis: Axis): void {
    this.axis = axis;
    this.choose(-1);
  }

  choose(zone: number): void {
    this.chosen = zone;
    this.draw();
  }

  // Maps that show the same place move together.
  lead(): void {
    if (this.following) return;
    for (const other of this.linked) {
      other.following = true;
      other.view.look(this.view.seen);
      other.following = false;
    }
  }

  lines(): Line[] {
    const { flows } = this.told.payload;
    const own = this.chosen < 0 ? this.model.lines : this.model.lines.filter((line) => flows[this.axis][line.flow] === this.chosen);
    return own.slice(0, this.top());
  }

  // How many flows the slider asks for: of many, every step adds a share, so that a few can be told apart as well.
  top(): number {
    const [all, at] = [this.model.lines.length, Number(this.input("top").value)];
    return all <= FINE || at === 0 ? at : Math.round(all ** (at / STEPS));
  }

  wanted(): Wanted {
    return { axis: this.axis, chosen: this.chosen, flows: this.input("flows").checked, within: this.input("within").checked, lines: this.lines() };
  }

  draw(): void {
    const theme = readTheme();
    const wanted = this.wanted();
    this.view.draw(wanted, theme);
    for (const button of this.root.querySelectorAll<HTMLButtonElement>(".axes button")) {
      button.setAttribute("aria-pressed", String(button.dataset.axis === this.axis));
    }
    const way = !this.model.lines.length && !this.model.within.length ? "in each cell" : this.axis === "origin" ? "starting in each zone" : "ending in each zone";
    this.legend.show(this.model.zoneScale, theme, `${capital(this.told.volume)} ${way}, log scale`, false);
    this.part(".clear").hidden = this.chosen < 0;
    this.say(wanted.lines);
  }

  say(lines: Line[]): void {
    this.input("top").setAttribute("aria-valuetext", `${figure(lines.length)} flows`);
    const { model, told } = this;
    const all = model.lines.reduce((sum, line) => sum + line.volume, 0);
    const some = lines.reduce((sum, line) => sum + line.volume, 0);
    const inside = model.within.reduce((sum, one) => sum + one.volume, 0);
    const whose = this.chosen < 0 ? "" : ` of ${model.name(this.axis, this.chosen)}`;
    const parts = model.lines.length
      ? [`The ${figure(lines.length)} largest flows${whose} between different zones: ${figure(some)} ${told.volume}, ${((100 * some) / Math.max(all, 1)).toFixed(1)} % of all such.`]
      : [];
    if (model.within.length) parts.push(`Within one zone: ${figure(inside)} ${told.volume}.`);
    this.part(".said").textContent = parts.join(" ");
  }

  point(zone: number, place: Point | null): void {
    this.tip.hidden = zone < 0 || !place;
    if (this.tip.hidden || !place) return;
    const table = this.told.payload[this.axis];
    const rows = MEASURES.filter((name) => table[name]).map((name) => (MEASURES.some((one) => one === this.told.volume) ? amount(table[name]![zone], name) : `${figure(table[name]![zone])} ${this.told.volume}`));
    const id = table.name ? [element("span", { class: "id" }, table.zone[zone])] : [];
    this.tip.replaceChildren(element("b", {}, this.model.name(this.axis, zone)), ...id, element("span", {}, rows.join(", ")), element("span", {}, areaFigure(table.area_km2[zone])));
    const room = this.part(".ground").clientWidth - this.tip.offsetWidth - 8;
    this.tip.style.left = `${Math.max(4, Math.min(room, place[0] + 12))}px`;
    this.tip.style.top = `${place[1] + 12}px`;
  }
}
