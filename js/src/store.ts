// Keeps archives, so that sessions start without a request.
import { anyOf, unlessAborted } from './abort.js';
import { Archive, limitsOf, open, type OpenOptions } from './archive.js';
import { browserPlace } from './browser.js';
import { Download } from './download.js';
import { OnnxarError, changed, failure, numberFrom, type Rule } from './error.js';
import type { OnProgress } from './feed.js';
import { NodePlace } from './folder.js';
import { builtin } from './node_file.js';
import { openSource } from './openable.js';
import { lengthOf, type LockOptions, type Note, type Place } from './place.js';
import { shown } from './retry.js';
import { Reuse } from './reuse.js';
import { UrlSource } from './url.js';

const PIECE = 1 << 23; // bytes
/** Instead of a URL, the name of the lock for freeing space. */
const ROOM = 'room';

export interface StoreOptions {
  /** The largest size of all archives together, in bytes. The least recently used ones make room for a new one. */
  most?: number;
  /** Bytes of a piece, which one request fetches (8 MiB). An integer. */
  piece?: number;
  /** In Node: the folder; `~/.cache/onnxar` unless it is given. */
  folder?: string;
}

export interface GetOptions extends OpenOptions {
  /** Called with the number of stored bytes and the total. */
  onProgress?: OnProgress;
  /** Ask the server whether the archive changed, and download the new one if it did. */
  refresh?: boolean;
}

/** An archive in the store. */
export interface Kept {
  url: string;
  /** Bytes of the archive, also if not all are stored. */
  size: number;
  /** True if `get` returns it without asking the server. */
  complete: boolean;
  /** When `get` last returned it. */
  used: Date;
}

/**
 * Keeps archives of servers: in the Origin Private File System of the page's origin, in IndexedDB where there is none, and
 * in a folder in Node. Archives are downloaded in ranges, and what was stored stays: the next `get` continues from it.
 */
export class Store {
  readonly #most: number;
  readonly #piece: number;
  readonly #place: () => Promise<Place>;

  constructor({ most = Infinity, piece = PIECE, folder }: StoreOptions = {}) {
    this.#most = numberFrom(0, 'most', most);
    this.#piece = numberFrom(1, 'piece', piece);
    const isFolder = folder === undefined || (typeof folder === 'string' && folder !== '');
    if (!Number.isSafeInteger(piece) || !isFolder) {
      throw failure('usage.argument', `a store takes a whole number as piece, and the path of a folder`);
    }
    let place: Promise<Place> | undefined;
    this.#place = () => (place ??= builtin('fs') ? Promise.resolve(new NodePlace(folder)) : browserPlace());
  }

  /**
   * Returns the archive at a URL, for `open` and `createSession`: a Blob, or in Node a `file:` URL. If it is complete, no
   * request is made. Tabs and processes that ask for the same archive wait for the one that downloads it.
   */
  async get(url: string | URL, options: GetOptions = {}): Promise<Blob | URL> {
    const name = absolute(url);
    const signal = anyOf(options.signal, options.request?.signal);
    signal?.throwIfAborted();
    const place = await this.#place();
    const get = (held: AbortSignal | undefined): Promise<Blob | URL> => {
      return this.#get(place, name, held ? { ...options, signal: held } : options);
    };
    try {
      return (await locked(place, name, get, { signal }))!;
    } catch (error) {
      if (!isFull(error) && !isReadOnly(error)) throw error;
      const kept = options.refresh ? undefined : await complete(place, name); // a disk without locks can be read
      if (kept) return this.#use(place, kept, options.onProgress);
      throw unwritten(isFull(error) ? 'io.disk_full' : 'io.permission', name);
    }
  }

  async #get(place: Place, name: string, options: GetOptions): Promise<Blob | URL> {
    try {
      const kept = await complete(place, name);
      if (kept && !options.refresh) return await this.#use(place, kept, options.onProgress);
      return await this.#fetch(place, name, options);
    } catch (error) {
      if (!isChanged(error) && !isDamaged(error)) throw error;
      return await this.#fetch(place, name, options, isChanged(error)); // what is right of it stays
    }
  }

  /** Returns the archives in the store, also those that are not complete. */
  async list(): Promise<Kept[]> {
    const place = await this.#place();
    const kept = [...(await place.notes())].map(async ([folder, note]): Promise<Kept> => {
      const { url, size, used } = note;
      const isThere = (): Promise<boolean> => place.whole(folder, note).then(Boolean, () => false);
      return { url, size, complete: note.complete && (await isThere()), used: new Date(used) };
    });
    return Promise.all(kept);
  }

  /** Deletes an archive, after a running `get` of it has ended. Blobs of it cannot be read afterwards. */
  async delete(url: string | URL): Promise<void> {
    const name = absolute(url);
    const place = await this.#place();
    try {
      await locked(place, name, () => deleteOthers(place, name), {});
    } catch (error) {
      throw isReadOnly(error) ? unwritten('io.permission', name) : error;
    }
  }

  async #use(place: Place, [folder, note]: Found, onProgress?: OnProgress): Promise<Blob | URL> {
    await place.note(folder, { ...note, used: Date.now() }).catch(() => undefined); // a full disk can be read
    const whole = await place.whole(folder, note);
    onProgress?.(note.size, note.size);
    return whole;
  }

  /** Downloads the archive. Copies what the old version has, if it `mayReuse`: a damaged one may be what was wrong before. */
  async #fetch(place: Place, url: string, options: GetOptions, mayReuse = true): Promise<Blob | URL> {
    const request: RequestInit = { cache: 'no-store', ...options.request }; // one copy on the disk is enough
    const all = { ...options, request };
    const source = await openSource(url, all);
    const { size } = source;
    const download = new Download(place, source, options);
    let reuse: Reuse | undefined;
    try {
      const archive = await Archive.open(download, limitsOf(options));
      const etag = source instanceof UrlSource ? source.version.etag : null;
      const version = `${etag} ${archive.directoryCrc32}`;
      const note = { url, size, piece: this.#piece, version, complete: false, used: Date.now() };
      const before = await complete(place, url);
      if (before && isSame(before[1], { ...note, piece: before[1].piece })) {
        return await this.#use(place, before, options.onProgress);
      }
      if (before && mayReuse) {
        reuse = await Reuse.open(await place.whole(...before), archive, source, all);
      }
      const [folder, pieces] = await this.#begin(place, note, before?.[0], options.signal);
      download.begin(archive, folder, note, pieces, reuse);
      options.signal?.throwIfAborted();
      await this.#run(download, place, url).catch(async (error: unknown) => {
        await place.leave(folder, note).catch(() => undefined);
        throw error;
      });
      const whole = await unlessDamaged(place, folder, note, archive);
      await place.note(folder, { ...note, complete: true, used: Date.now() });
      await deleteOthers(place, url, folder).catch(() => undefined); // a file that is in use stays in Windows
      return whole;
    } catch (error) {
      if (isFull(error)) throw tooFull(url, size);
      if (hasName(error, 'EFBIG')) throw tooLarge(url, size);
      if (isChanged(error) && !(error instanceof OnnxarError)) throw changed();
      throw error;
    } finally {
      await reuse?.close();
      await source.close?.();
    }
  }

  /** Continues in the folder of an earlier download, or creates one. Returns its name, and the pieces that it has. */
  async #begin(
    place: Place,
    note: Note,
    before: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<[folder: string, pieces: number[]]> {
    let [folder] = [...(await place.notes())].find(([, other]) => !other.complete && isSame(other, note)) ?? [];
    let pieces = folder === undefined ? undefined : await place.pieces(folder, note);
    if (pieces === undefined) folder = undefined; // it is damaged
    pieces ??= [];
    await deleteOthers(place, note.url, folder, before);
    const missing = note.size - bytesOf(note, pieces);
    const reserve = async (): Promise<string> => {
      await this.#makeRoom(place, folder, missing, note);
      return folder === undefined ? place.create(note) : place.adopt(folder, note);
    };
    return [(await locked(place, ROOM, reserve, { signal }))!, pieces];
  }

  /** Runs the download. A browser reports a full quota only by a failed write: then others are deleted. */
  async #run(download: Download, place: Place, url: string): Promise<void> {
    try {
      await download.run();
    } catch (error) {
      if (!isFull(error) || !(await deleteOldest(place, url))) throw error;
      await this.#run(download, place, url);
    }
  }

  /**
   * Deletes other archives as far as the limit, or the browser's estimate (which may be too high), requires. Deletes none
   * for an archive that would not fit even then.
   */
  async #makeRoom(place: Place, folder: string | undefined, missing: number, { url, size }: Note): Promise<void> {
    for (;;) {
      const all = [...(await place.notes())].filter(([other]) => other !== folder);
      const others = all.filter(([, note]) => note.url !== url); // an old version stays until the new one is complete
      const [disk, limit] = [await place.room(), this.#most - size + missing - (sizeOf(all) - sizeOf(others))];
      const room = Math.min(disk, limit - sizeOf(others));
      if (missing <= room) return;
      const isHopeless = missing > Math.min(disk + (await held(place, others)), limit);
      if (isHopeless || !(await deleteOldest(place, url))) throw tooFull(url, missing, room);
    }
  }
}

type Found = [folder: string, note: Note];

/** Returns the newest complete archive: there may be several, as Windows cannot delete a file that is in use. */
async function complete(place: Place, url: string): Promise<Found | undefined> {
  const all = [...(await place.notes())].filter(([, note]) => note.url === url && note.complete);
  for (const found of all.sort(([, a], [, b]) => b.used - a.used)) {
    const whole = await place.whole(...found).catch(() => undefined); // some of it was deleted
    if (whole) return found;
  }
  return undefined;
}

const isSame = (a: Note, b: Note): boolean =>
  a.url === b.url && a.size === b.size && a.piece === b.piece && a.version === b.version;

const bytesOf = (note: Note, pieces: number[]): number => pieces.reduce((sum, index) => sum + lengthOf(note, index), 0);

const sizeOf = (all: Found[]): number => all.reduce((sum, [, note]) => sum + note.size, 0);

/** Returns the bytes that are stored of archives, whose sizes servers may only have claimed. */
async function held(place: Place, all: Found[]): Promise<number> {
  let sum = 0;
  for (const [folder, note] of all) {
    sum += note.complete ? note.size : bytesOf(note, (await place.pieces(folder, note)) ?? []);
  }
  return sum;
}

/** Deletes all versions of an archive, except some. */
async function deleteOthers(place: Place, url: string, ...except: (string | undefined)[]): Promise<void> {
  for (const [folder, note] of await place.notes()) {
    if (note.url === url && !except.includes(folder)) await place.delete(folder);
  }
}

/** Deletes the least recently used archive that no tab or process is downloading; false if there is none. */
async function deleteOldest(place: Place, except: string): Promise<boolean> {
  const notes = [...(await place.notes())].filter(([, { url }]) => url !== except);
  for (const [folder, { url, used }] of notes.sort(([, a], [, b]) => a.used - b.used)) {
    const remove = async (): Promise<boolean> => {
      if ((await place.notes()).get(folder)?.used !== used) return false; // it was used meanwhile
      await place.delete(folder);
      return true;
    };
    if (await locked(place, url, remove, { isTry: true })) return true;
  }
  return false;
}

/** Returns the archive after checking the parts that no CRC-32 covers. Deletes a damaged one, or the next get would find it. */
async function unlessDamaged(place: Place, folder: string, note: Note, archive: Archive): Promise<Blob | URL> {
  try {
    const whole = await place.whole(folder, note);
    const kept = await open(whole);
    try {
      if (kept.directoryCrc32 !== archive.directoryCrc32) throw changed();
      for (const { name } of kept.entries) await kept.offset(name);
    } finally {
      await kept.close();
    }
    return whole;
  } catch (error) {
    await place.delete(folder);
    throw error instanceof OnnxarError ? changed() : error;
  }
}

function absolute(url: string | URL): string {
  const made = new URL(url, (globalThis as { location?: Location }).location?.href);
  made.hash = '';
  return made.href;
}

const hasName = (error: unknown, ...names: string[]): boolean => {
  const { name = '', code = '' } = Object(error) as { name?: string; code?: string };
  return names.includes(name) || names.includes(code);
};
const isReadOnly = (error: unknown): boolean => hasName(error, 'EROFS', 'EACCES', 'EPERM');
const unwritten = (code: Rule, name: string): OnnxarError =>
  failure(code, `${shown(name)}: the store's folder cannot be written; give another, or read the archive by its URL`);
const isFull = (error: unknown): boolean => hasName(error, 'QuotaExceededError', 'ENOSPC', 'EDQUOT');
/** True if received bytes were wrong: they may be right when they are requested again. */
const isDamaged = (error: unknown): boolean => error instanceof OnnxarError && error.rule !== '';
/** True if the file at the server changed, or the stored one. */
const isChanged = (error: unknown): boolean => hasName(error, 'io.changed', 'NotFoundError', 'ENOENT');

function tooFull(url: string, missing: number, room?: number): OnnxarError {
  const there = room === undefined ? '' : `, and there is room for ${Math.max(room, 0)}`;
  const what = `${shown(url)} needs ${missing} bytes${there}; delete others, or read it by its URL`;
  return failure('io.disk_full', what);
}

function tooLarge(url: string, size: number): OnnxarError {
  const what = `${shown(url)} has ${size} bytes, more than the system lets a file have; give another folder`;
  return failure('io.disk_full', what);
}

// --- one at a time ---------------------------------------------------------------------------------------------------

const running = new Map<string, Promise<unknown>>();

/**
 * Calls `work` for one caller at a time for each URL: here, and then among all tabs or processes. Returns undefined if
 * `isTry` is set and another is at work.
 */
async function locked<T>(
  place: Place,
  url: string,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  options: LockOptions,
): Promise<T | undefined> {
  const before = running.get(url);
  if (before && options.isTry) return undefined;
  const next = async (): Promise<T | undefined> => {
    await unlessAborted(before, options.signal);
    return place.locked(url, work, options);
  };
  const own = next();
  const ended: Promise<unknown> = Promise.allSettled([before, own]).then(() => {
    if (running.get(url) === ended) running.delete(url);
  });
  running.set(url, ended);
  return own;
}
