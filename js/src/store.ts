import { Archive, limitsOf, open, type OpenOptions } from './archive.js';
import { browserPlace } from './browser.js';
import { Download } from './download.js';
import { OnnxarError } from './error.js';
import type { OnProgress } from './feed.js';
import { NodePlace } from './folder.js';
import { shown } from './patience.js';
import type { Note, Place } from './place.js';
import { builtin, openSource } from './source.js';
import { UrlSource } from './url.js';

const PIECE = 1 << 23; // bytes

export interface StoreOptions {
  /** Most bytes of all archives together. Those that were not used for longest are deleted for a new one. */
  most?: number;
  /** Bytes of a piece: what is asked for at once (8 MiB). */
  piece?: number;
  /** In Node: the folder; `~/.cache/onnxar` unless it is given. */
  folder?: string;
}

export interface GetOptions extends OpenOptions {
  /** Called with the bytes that are there, and all. */
  onProgress?: OnProgress;
  /** Also asks the server whether the archive changed, and gets the new one if so. */
  refresh?: boolean;
}

/** An archive in the store. */
export interface Kept {
  url: string;
  size: number;
  /** Whether `get` gives it without asking the server. */
  complete: boolean;
  used: Date;
}

/**
 * Keeps archives of servers: in the Origin Private File System of the page's origin, in IndexedDB where there is none, and
 * in a folder in Node. An archive comes by ranges, and what is there stays: the next `get` goes on from it.
 */
export class Store {
  readonly #most: number;
  readonly #piece: number;
  readonly #place: () => Promise<Place>;

  constructor({ most = Infinity, piece = PIECE, folder }: StoreOptions = {}) {
    this.#most = most;
    this.#piece = piece;
    let place: Promise<Place> | undefined;
    this.#place = () => (place ??= builtin('fs') ? Promise.resolve(new NodePlace(folder)) : browserPlace());
  }

  /**
   * The archive at a URL, as `open` and `createSession` take it: a Blob, or in Node a `file:` URL. If it is complete, no
   * request is made. Tabs that want the same archive wait for the one that gets it.
   */
  async get(url: string | URL, options: GetOptions = {}): Promise<Blob | URL> {
    const name = absolute(url);
    const place = await this.#place();
    return locked(name, options.signal, async () => {
      const kept = await complete(place, name);
      if (kept && !options.refresh) return this.#use(place, kept, options.onProgress);
      try {
        return await this.#fetch(place, name, options);
      } catch (error) {
        if (!(error instanceof OnnxarError && error.code === 'io.changed')) throw error;
        return this.#fetch(place, name, options); // the pieces of the old file are of no use
      }
    });
  }

  async list(): Promise<Kept[]> {
    const notes = [...(await (await this.#place()).notes()).values()];
    return notes.map(({ url, size, complete, used }) => ({ url, size, complete, used: new Date(used) }));
  }

  /** Deletes what is there of an archive. Blobs that `get` gave cannot be read any more. */
  async delete(url: string | URL): Promise<void> {
    const name = absolute(url);
    const place = await this.#place();
    await locked(name, undefined, () => deleteOthers(place, name));
  }

  async #use(place: Place, [folder, note]: Found, onProgress?: OnProgress): Promise<Blob | URL> {
    await place.note(folder, { ...note, used: Date.now() });
    onProgress?.(note.size, note.size);
    return place.whole(folder, note);
  }

  async #fetch(place: Place, url: string, options: GetOptions): Promise<Blob | URL> {
    const request: RequestInit = { cache: 'no-store', ...options.request }; // one copy on the disk is enough
    const source = await openSource(url, { ...options, request });
    const { size } = source;
    const download = new Download(place, source, options);
    try {
      const archive = await Archive.open(download, limitsOf(options));
      const etag = source instanceof UrlSource ? source.version.etag : null;
      const version = `${etag} ${archive.directoryCrc32}`;
      const note = { url, size, piece: this.#piece, version, complete: false, used: Date.now() };
      const folder = await folderOf(note);
      const before = await complete(place, url);
      if (before?.[0] === folder) return await this.#use(place, before, options.onProgress);
      await deleteOthers(place, url, folder, before?.[0]);
      await place.note(folder, note);
      const missing = await download.begin(archive, folder, note);
      await this.#makeRoom(place, folder, missing, note);
      await this.#run(download, place, url);
      const whole = await place.whole(folder, note);
      await expectSame(archive, whole);
      await place.note(folder, { ...note, complete: true });
      await deleteOthers(place, url, folder);
      return whole;
    } catch (error) {
      if (isFull(error)) throw tooFull(url, size);
      throw error;
    } finally {
      await source.close?.();
    }
  }

  /** The browser tells only by a failed write that its quota is full. */
  async #run(download: Download, place: Place, url: string): Promise<void> {
    try {
      await download.run();
    } catch (error) {
      if (!isFull(error) || !(await deleteOldest(place, url))) throw error;
      await this.#run(download, place, url);
    }
  }

  /** Deletes others, as far as the limit or the browser's estimate, which may be too high, calls for it. */
  async #makeRoom(place: Place, folder: string, missing: number, { url, size }: Note): Promise<void> {
    for (;;) {
      const others = [...(await place.notes())].filter(([other]) => other !== folder);
      const kept = others.reduce((sum, [, note]) => sum + note.size, size);
      const room = Math.min(await place.room(), this.#most - kept + missing);
      if (missing <= room) return;
      if (!(await deleteOldest(place, url))) throw tooFull(url, missing, room);
    }
  }
}

type Found = [folder: string, note: Note];

async function complete(place: Place, url: string): Promise<Found | undefined> {
  const found = [...(await place.notes())].find(([, note]) => note.url === url && note.complete);
  if (!found) return undefined;
  return place.whole(...found).then(
    () => found,
    () => undefined, // the browser deleted some of it
  );
}

/** Deletes all versions of an archive, except some. */
async function deleteOthers(place: Place, url: string, ...except: (string | undefined)[]): Promise<void> {
  for (const [folder, note] of await place.notes()) {
    if (note.url === url && !except.includes(folder)) await place.delete(folder);
  }
}

/** Deletes the archive that was not used for longest, and that no tab gets at this time; false if there is none. */
async function deleteOldest(place: Place, except: string): Promise<boolean> {
  const notes = [...(await place.notes())].filter(([, { url }]) => url !== except);
  for (const [folder, { url }] of notes.sort(([, a], [, b]) => a.used - b.used)) {
    if (await isLocked(url)) continue;
    await place.delete(folder);
    return true;
  }
  return false;
}

async function expectSame(archive: Archive, whole: Blob | URL): Promise<void> {
  const kept = await open(whole);
  await kept.close();
  if (kept.directoryCrc32 !== archive.directoryCrc32) throw new OnnxarError('changed');
}

/** Without `crypto`, which only https: has, names are those of IndexedDB, which may be long. */
async function folderOf({ url, size, piece, version }: Note): Promise<string> {
  const text = `${url} ${size} ${piece} ${version}`;
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  if (!subtle) return text;
  const digest = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function absolute(url: string | URL): string {
  const made = new URL(url, (globalThis as { location?: Location }).location?.href);
  made.hash = '';
  return made.href;
}

function isFull(error: unknown): boolean {
  const { name, code } = Object(error) as { name?: string; code?: string };
  return name === 'QuotaExceededError' || code === 'ENOSPC';
}

function tooFull(url: string, missing: number, room?: number): OnnxarError {
  const there = room === undefined ? '' : `, and there is room for ${Math.max(room, 0)}`;
  const what = `${shown(url)} needs ${missing} bytes${there}; delete others, or read it by its URL`;
  return new OnnxarError('full', '', undefined, what);
}

// --- one at a time ---------------------------------------------------------------------------------------------------

const running = new Map<string, Promise<unknown>>();
const lockName = (url: string): string => `onnxar ${url}`;
const locks = (): LockManager | undefined => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;

async function isLocked(url: string): Promise<boolean> {
  const { held = [] } = (await locks()?.query()) ?? {};
  return running.has(url) || held.some(({ name }) => name === lockName(url));
}

/** One after the other for each URL: in all tabs of an origin where there are Web Locks, else in this one. */
async function locked<T>(url: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const before = Promise.resolve(running.get(url)).catch(() => undefined);
  const next = async (): Promise<T> =>
    locks()?.request(lockName(url), signal ? { signal } : {}, work) ?? before.then(work);
  const ended = next().finally(() => running.get(url) === ended && running.delete(url));
  running.set(url, ended);
  return ended;
}
