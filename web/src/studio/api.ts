// What the page asks the server for: the HTTP API that anybody may use.

export interface Option {
  name: string; flag: string; help: string; kind: string; values: string[]; default: unknown; told_default: string;
  group: string; metavar: string | null; names_a_path: boolean; methods: string[];
}
export interface Method { name: string; summary: string; source: string; options: string[] }
export interface Settings { options: Option[]; methods: Method[] }
export interface Input { id: number; name: string; path: string; wing: Wing; uploaded: boolean; added: string; there: boolean }
export type Wing = "trips" | "trajectories";
export type Chosen = Record<string, unknown>;
export interface Recipe { command: string; toml: string; python: string; notebook: unknown }
// What a command prints differs by command; views look for what they show.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Result = any;
export interface Run {
  id: number; command: string; wing: Wing; input: number; input_name: string; settings: Chosen; of_run: number | null;
  state: string; words: string; made: string; ended: string | null; seconds: number | null;
  progress: { what?: string; done?: number; total?: number | null }; result?: Result; recipe?: Recipe;
  // Every measure: its name, its value, and what it is.
  measured?: [string, string, string][];
}

export const ENDED = ["done", "failed", "cancelled", "interrupted"];

export async function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method, headers: body === undefined || body instanceof Blob ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch {
    throw new Error("The studio does not answer. Is it still running? Start it again with: tripcloak studio");
  }
  const text = await answer.text();
  let told: unknown = null;
  try { told = JSON.parse(text); } catch { /* words, and no JSON */ }
  if (answer.ok) return told as T;
  const words = (told as { error?: string } | null)?.error ?? text;
  throw new Error(words || `The studio answered with ${answer.status}.`);
}

const known = new Map<string, Promise<Settings>>();

export function settingsOf(wing: Wing, command: string): Promise<Settings> {
  const key = `${wing}/${command}`;
  if (!known.has(key)) known.set(key, ask<Settings>(`/api/settings/${key}`));
  return known.get(key)!;
}

export function start(command: string, input: number, settings: Chosen, of?: number): Promise<Run> {
  return ask<Run>("/api/runs", "POST", { command, input, settings, of_run: of ?? null });
}

/** Calls with the state of a run until it ended, or until whoever asked has gone. */
export async function follow(id: number, told: (run: Run) => void, gone: () => boolean): Promise<Run> {
  for (let wait = 150; ; wait = Math.min(wait * 1.3, 800)) {
    const run = await ask<Run>(`/api/runs/${id}`);
    if (gone()) return run;
    told(run);
    if (ENDED.includes(run.state)) return run;
    await new Promise((done) => window.setTimeout(done, wait));
  }
}
