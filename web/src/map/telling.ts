// What a page tells the page around it, if there is one, such as a notebook: what somebody has chosen on the map.

export const TOLD = "tripcloak";

// Names of released things alone; nothing where nothing is chosen any more.
export type Told = Record<string, string>;

export function tell(chosen: Told): void {
  if (window.parent !== window) window.parent.postMessage({ [TOLD]: chosen }, "*");
}
