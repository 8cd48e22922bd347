// Both maps as one picture, with the title and what the colours mean.

import { type Atlas } from "./atlas";
import { AXES } from "./payload";
import { capital } from "./side";

const MARGIN = 16;
const HEAD = 64;
const FOOT = 30;

export function pictureOf(atlas: Atlas): HTMLCanvasElement {
  const panels = AXES.map((axis) => atlas.panels[axis]);
  const { width, height, density } = panels[0];
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((2 * width + 3 * MARGIN) * density);
  canvas.height = Math.round((HEAD + height + FOOT + MARGIN) * density);
  const pen = canvas.getContext("2d")!;
  const { theme } = atlas;
  pen.scale(density, density);
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = theme.ink;
  pen.font = `600 17px ${theme.font}`;
  pen.fillText(document.title, MARGIN, 26);
  panels.forEach((panel, n) => {
    const left = MARGIN + n * (width + MARGIN);
    pen.fillStyle = theme.ink;
    pen.font = `600 13px ${theme.font}`;
    pen.fillText(`${capital(AXES[n])}s`, left, HEAD - 14);
    for (const layer of [panel.ground, panel.marks]) pen.drawImage(layer, left, HEAD, width, height);
    pen.fillStyle = theme.quiet;
    pen.font = `12px ${theme.font}`;
    pen.fillText(panel.legend.caption.textContent ?? "", left, HEAD + height + 20);
  });
  return canvas;
}

export function savePicture(atlas: Atlas): void {
  const link = document.createElement("a");
  link.download = "map.png";
  link.href = pictureOf(atlas).toDataURL("image/png");
  link.click();
}
