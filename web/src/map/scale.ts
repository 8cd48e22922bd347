// Figures, the colour ramp and the logarithmic scale that turns a volume into a colour.

export const NONE = 256; // index after the last colour: a zone with nothing to show
export const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });
export const significant = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

export function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? "not given" : grouped.format(value);
}

export function shortFigure(value: number): string {
  if (value >= 1e9) return significant.format(value / 1e9) + " bn";
  if (value >= 1e6) return significant.format(value / 1e6) + " M";
  if (value >= 1e5) return significant.format(value / 1e3) + " k";
  return value < 10 ? significant.format(value) : grouped.format(Math.round(value));
}

export function areaFigure(km2: number | null): string {
  if (km2 === null) return "not given";
  return km2 < 0.01 ? significant.format(km2 * 1e6) + " m²" : significant.format(km2) + " km²";
}

// Lightness, chroma and hue from pale straw over sea green to deep indigo, in OKLCH.
type Triple = [number, number, number];

export const RAMP_STOPS: Triple[] = [
  [0.94, 0.085, 104],
  [0.83, 0.11, 150],
  [0.66, 0.105, 200],
  [0.48, 0.125, 255],
  [0.27, 0.12, 288],
];

export function rampColours(dark: boolean): string[] {
  // On a dark ground the darkest tenth would be lost, so the ramp ends above it.
  const reach = dark ? 0.9 : 1;
  const fine = Array.from({ length: 1025 }, (_, i) => rampPoint((reach * i) / 1024));
  const walked = [0];
  for (let i = 1; i < fine.length; i++) {
    walked.push(walked[i - 1] + Math.hypot(...fine[i].map((part, axis) => part - fine[i - 1][axis])));
  }
  const length = walked[walked.length - 1];
  const colours: string[] = [];
  // Equal steps along the curve in OKLab, so that equal ratios of volume look equally far apart.
  for (let step = 0, i = 0; step < 256; step++) {
    while (walked[i] < (length * step) / 255 && i < fine.length - 1) i++;
    colours.push(cssColour(fine[i]));
  }
  return dark ? colours.reverse() : colours;
}

export function rampPoint(t: number): Triple {
  const place = t * (RAMP_STOPS.length - 1);
  const i = Math.min(Math.floor(place), RAMP_STOPS.length - 2);
  const at = (k: number): number => {
    const p = [i - 1, i, i + 1, i + 2].map((j) => RAMP_STOPS[Math.max(0, Math.min(RAMP_STOPS.length - 1, j))][k]);
    return catmullRom(p as [number, number, number, number], place - i);
  };
  const hue = (at(2) * Math.PI) / 180;
  return [at(0), at(1) * Math.cos(hue), at(1) * Math.sin(hue)];
}

export function catmullRom([a, b, c, d]: [number, number, number, number], t: number): number {
  return b + (t / 2) * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

export function cssColour([lightness, a, b]: Triple): string {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const bytes = linear.map((part) => {
    const inside = Math.max(0, Math.min(1, part));
    return Math.round(255 * (inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055));
  });
  return `rgb(${bytes.join(",")})`;
}

interface Tick {
  text: string;
  left: number;
  right: number;
}

export class LogScale {
  low: number;
  high: number;
  empty: boolean;

  constructor(values: Iterable<number>) {
    this.low = Infinity;
    this.high = -Infinity;
    for (const value of values) {
      if (value > 0 && value < this.low) this.low = value;
      if (value > this.high) this.high = value;
    }
    this.empty = !(this.high > 0);
  }

  // 0 at the smallest volume, 1 at the largest; one single volume sits in the upper middle.
  at(value: number): number {
    if (this.high <= this.low) return 0.65;
    const t = Math.log(value / this.low) / Math.log(this.high / this.low);
    return Math.max(0, Math.min(1, t));
  }

  colourIndex(value: number): number {
    return Number.isNaN(value) || this.empty ? NONE : Math.round(255 * this.at(value));
  }

  // Both ends, and as many of 1, 10, 100 ..., then 2, 20 ..., then 5, 50 ... as fit `width` pixels.
  ticks(width: number): Tick[] {
    if (this.empty) return [];
    if (this.high <= this.low) return [this.tick(this.low, width)];
    const kept = [this.tick(this.low, width), this.tick(this.high, width)];
    const [first, last] = [Math.floor(Math.log10(this.low)), Math.floor(Math.log10(this.high))];
    for (const multiple of [1, 2, 5]) {
      for (let power = first; power <= last; power++) {
        const value = multiple * 10 ** power;
        if (value <= this.low || value >= this.high) continue;
        const tick = this.tick(value, width);
        if (kept.every((other) => tick.left > other.right || tick.right < other.left)) kept.push(tick);
      }
    }
    return kept;
  }

  // A label with the room it takes: centred on its place, but never beyond the ends of the bar.
  tick(value: number, width: number): Tick {
    const text = shortFigure(value);
    const room = 7.5 * text.length + 10;
    const left = Math.max(0, Math.min(width - room, this.at(value) * width - room / 2));
    return { text, left, right: left + room };
  }
}
