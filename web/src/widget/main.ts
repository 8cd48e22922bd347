// The map of a release in a notebook: the very page that readers get, in a frame of its own, and what is chosen in it.

import { TOLD, type Told } from "../map/telling";

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("iframe");
  frame.title = String(model.get("title"));
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, { width: "100%", height: `${Number(model.get("height"))}px`, border: "0", borderRadius: "10px" });
  frame.srcdoc = String(model.get("page"));
  const listen = (event: MessageEvent): void => {
    // Only this frame is listened to: a notebook holds many, and may hold others' pages.
    if (event.source !== frame.contentWindow) return;
    const told = (event.data as Partial<Record<typeof TOLD, Told>> | null)?.[TOLD];
    if (!told || !Object.values(told).every((value) => typeof value === "string")) return;
    model.set("chosen", told);
    model.save_changes();
  };
  window.addEventListener("message", listen);
  el.append(frame);
  return () => window.removeEventListener("message", listen);
}

export default { render };
