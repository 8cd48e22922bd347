// The page: reads the release, keeps what is hovered and selected, and asks the panels to draw.

const SMOOTH = 12; // milliseconds a full drawing may take and still be made on every frame

class Atlas {
  constructor(release) {
    this.volume = release.volume;
    this.zones = {};
    for (const axis of AXES) this.zones[axis] = new Zones(axis, release[axis], release.volume.zone);
    this.projection = new Projection(AXES.map((axis) => this.zones[axis]));
    for (const axis of AXES) this.zones[axis].project(this.projection);
    this.flows = new Flows(release.flows, release.volume.flow, this.zones);
    // One scale for all zones and one for all flows: the same colour means the same volume everywhere.
    this.zoneScale = new LogScale(AXES.flatMap((axis) => Array.from(this.zones[axis].volume)));
    this.flowScale = new LogScale(this.flows.volume);
    this.view = new View(this.projection.box);
    this.hover = this.selected = this.pointer = null;
    this.tip = document.querySelector(".tip");
    this.speech = document.querySelector(".spoken");
    this.side = new Side(
      document.querySelector(".side"), this, (zone) => this.select(zone), () => this.select(null), (zone) => this.glance(zone),
    );
    this.panels = {};
    for (const axis of AXES) this.panels[axis] = this.makePanel(axis);
    this.listen();
  }

  makePanel(axis) {
    const root = document.querySelector(`.panel[data-axis=${axis}]`);
    const panel = new Panel(root, this.zones[axis], this.projection, this.view);
    const middle = () => [panel.width / 2, panel.height / 2];
    const zoom = (factor, place) => {
      const [left, top] = place || middle();
      this.view.zoom(factor, left - panel.width / 2, top - panel.height / 2);
      this.leave("view");
    };
    new Gestures(panel.stage, {
      pan: (dx, dy) => (this.view.pan(dx, dy), this.leave("view")),
      zoom,
      reset: () => this.reset(),
      point: (place) => this.point(panel, place),
      leave: () => this.leave(),
      centre: () => (this.point(panel, middle(), true), this.speak(panel)),
      choose: (place) => this.choose(panel, place || middle()),
    });
    root.querySelector(".nearer").addEventListener("click", () => zoom(1.6));
    root.querySelector(".farther").addEventListener("click", () => zoom(1 / 1.6));
    root.querySelector(".whole").addEventListener("click", () => this.reset());
    root.querySelector(".unselect").addEventListener("click", () => this.select(null));
    return panel;
  }

  listen() {
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.select(null));
    // The tooltip stands still on the screen, so it would point at the wrong zone on a scrolled page.
    document.addEventListener("scroll", () => this.leave(), { passive: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.resize()).observe(document.querySelector("main"));
    this.resize();
  }

  repaint() {
    this.theme = readTheme();
    this.shade();
  }

  resize() {
    for (const axis of AXES) this.panels[axis].resize();
    const { width, height } = this.panels.origin;
    if (!this.view.moved) this.view.fit(width, height);
    this.repaint();
    this.paint();
  }

  reset() {
    this.view.fit(this.panels.origin.width, this.panels.origin.height);
    this.touch("view");
  }

  point(panel, place, keys = false) {
    const zone = panel.pick(place);
    this.pointer = { axis: panel.zones.axis, place, at: panel.toPlane(place), keys };
    this.hover = zone < 0 ? null : { axis: panel.zones.axis, zone };
    this.touch("marks");
  }

  // Shows where a zone named in a table lies, without moving anything.
  glance(zone) {
    this.pointer = null;
    this.hover = zone;
    this.touch("marks");
  }

  leave(stale = "marks") {
    this.hover = this.pointer = null;
    this.touch(stale);
  }

  choose(panel, place) {
    const zone = panel.pick(place);
    const same = this.selected && this.selected.axis === panel.zones.axis && this.selected.zone === zone;
    this.select(zone < 0 || same ? null : { axis: panel.zones.axis, zone });
  }

  select(zone) {
    if (!zone && !this.selected) return;
    this.selected = zone;
    if (zone) this.bringIntoSight(zone);
    this.side.show(zone);
    this.shade();
    this.speech.textContent = zone
      ? `Selected ${this.side.spoken(zone.axis, zone.zone, null)}. The other map shows its flows.`
      : "Selection cleared.";
  }

  bringIntoSight({ axis, zone }) {
    const panel = this.panels[axis];
    const [x, y] = this.zones[axis].centre(zone);
    const [left, top] = panel.toScreen(x, y);
    if (left > 0 && left < panel.width && top > 0 && top < panel.height) return;
    this.view.pan(panel.width / 2 - left, panel.height / 2 - top);
  }

  speak(panel) {
    const { hover } = this;
    this.speech.textContent = hover
      ? this.side.spoken(hover.axis, hover.zone, this.selected)
      : `No ${panel.zones.axis} zone here.`;
  }

  shade() {
    for (const axis of AXES) {
      const panel = this.panels[axis];
      const partner = this.selected && this.selected.axis !== axis;
      const values = partner ? this.flowValues(axis) : this.zones[axis].volume;
      panel.shade(values, partner ? this.flowScale : this.zoneScale, this.theme, this.caption(axis, partner));
      this.head(panel, axis, partner);
    }
    this.touch("shade");
  }

  flowValues(axis) {
    const values = new Float64Array(this.zones[axis].size).fill(NaN);
    for (const flow of this.flows.of(this.selected.axis, this.selected.zone)) {
      values[this.flows.table[axis][flow]] = this.flows.volume[flow];
    }
    return values;
  }

  caption(axis, partner) {
    const measure = partner ? this.volume.flow : this.volume.zone;
    const subject = measure === "population" ? "Population of trips" : capital(measure);
    const way = partner
      ? { origin: "to the selected zone", destination: "from the selected zone" }
      : { origin: "starting in each zone", destination: "ending in each zone" };
    return `${subject} ${way[axis]}, log scale`;
  }

  head(panel, axis, partner) {
    const zones = this.zones[axis];
    const total = (values) => values.reduce((sum, value) => sum + (value || 0), 0);
    const zonesInAll = `${figure(zones.size)} ${zones.size === 1 ? "zone" : "zones"}`;
    const note = partner ? `${figure(this.flows.degree(this.selected.axis, this.selected.zone))} of ${zonesInAll}` : zonesInAll;
    const measure = partner ? this.volume.flow : this.volume.zone;
    panel.root.querySelector(".note").textContent = `${note}, ${amount(total(panel.values), measure)}`;
    const chip = panel.root.querySelector(".unselect");
    chip.hidden = !this.selected || this.selected.axis !== axis;
    if (!chip.hidden) chip.firstElementChild.textContent = zones.id[this.selected.zone];
  }

  // what: "marks" (outlines and labels), "view" (moved) or "shade" (other colours).
  touch(what) {
    if (what !== "marks" && this.stale !== "shade") this.stale = what;
    this.frame = this.frame || requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const panels = AXES.map((axis) => this.panels[axis]);
    if (this.stale) this.drawGround(panels);
    this.stale = null;
    for (const panel of panels) {
      panel.drawMarks(this.outlines(panel.zones.axis), this.cross(panel.zones.axis));
      this.annotate(panel);
    }
    this.showTip();
  }

  // Many zones take longer than a frame: while the view moves, the last drawing slides along.
  drawGround(panels) {
    const cost = panels.reduce((sum, panel) => sum + panel.cost, 0);
    if (this.stale === "shade" || cost <= SMOOTH) {
      for (const panel of panels) panel.drawZones();
      return;
    }
    for (const panel of panels) panel.slide();
    this.settling =
      this.settling ||
      setTimeout(() => {
        this.settling = 0;
        this.touch("shade");
      }, Math.max(120, 4 * cost));
  }

  outlines(axis) {
    const { selected, hover } = this;
    const found = [];
    for (const [chosen, strong] of [[hover, false], [selected, true]]) {
      if (!chosen) continue;
      const id = this.zones[chosen.axis].id[chosen.zone];
      // The other map may have the very same zone: outlining it there ties the two together.
      const zone = chosen.axis === axis ? chosen.zone : this.zones[axis].code.get(id);
      if (zone !== undefined) found.push({ zone, strong: strong && chosen.axis === axis });
    }
    return found;
  }

  cross(axis) {
    return this.pointer && (this.pointer.axis !== axis || this.pointer.keys) ? this.pointer.at : null;
  }

  annotate(panel) {
    const { hover, pointer } = this;
    const own = hover && hover.axis === panel.zones.axis;
    panel.legend.point(own ? panel.values[hover.zone] : NaN);
    const [x, y] = pointer ? pointer.at : [0, 0];
    panel.root.querySelector(".where").textContent = pointer
      ? `${degreeLabel(y, 0.0001, "N", "S")}, ${degreeLabel(this.projection.longitude(x), 0.0001, "E", "W")}`
      : "";
  }

  showTip() {
    const { hover, pointer, tip } = this;
    tip.hidden = !(hover && pointer);
    if (tip.hidden) return;
    this.side.fillTip(tip, hover.axis, hover.zone, this.selected);
    const frame = this.panels[hover.axis].stage.getBoundingClientRect();
    const [left, top] = [frame.left + pointer.place[0], frame.top + pointer.place[1]];
    const right = left + 18 + tip.offsetWidth < innerWidth;
    const below = top + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(4, right ? left + 16 : left - 16 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(4, below ? top + 16 : top - 16 - tip.offsetHeight)}px`;
  }
}

const atlas = new Atlas(JSON.parse(document.getElementById("release").textContent));
atlas.side.show(null);
