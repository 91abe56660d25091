// Keeps archives in the browser's private files, or in IndexedDB.
import { changed, failure } from './error.js';
import { NOTE, isFolder, lengthOf, newFolder, parsed, pieceCount, written } from './place.js';
import type { Bytes, LockOptions, Note, Place } from './place.js';

/** Returns what the browser has of the StorageManager, which is only for https: and localhost. */
const storage = (): Partial<StorageManager> | undefined => (navigator as Partial<Navigator>).storage;

/** Returns the Origin Private File System or, where there is none, IndexedDB. */
export async function browserPlace(): Promise<Place> {
  const root = await storage()
    ?.getDirectory?.()
    .catch(() => undefined); // some private windows have none
  if (root && 'createWritable' in FileSystemFileHandle.prototype) {
    return new FilePlace(await root.getDirectoryHandle('onnxar', { create: true }));
  }
  return new DatabasePlace(await openDatabase());
}

/** Keeps each piece as a Blob. A Blob of all of them is the archive, and the browser reads only the parts that are used. */
abstract class BlobPlace {
  abstract note(folder: string, note: Note): Promise<void>;
  protected abstract blob(folder: string, index: number): Promise<Blob | undefined>;
  protected abstract indices(folder: string): Promise<number[]>;

  async pieces(folder: string, note: Note): Promise<number[]> {
    const there: number[] = [];
    for (const index of await this.indices(folder)) {
      if ((await this.blob(folder, index))?.size === lengthOf(note, index)) there.push(index);
    }
    return there;
  }

  async adopt(folder: string, note: Note): Promise<string> {
    await this.note(folder, note);
    return folder;
  }

  leave(): Promise<void> {
    return Promise.resolve();
  }

  /** Locks among all tabs of an origin, if the browser has Web Locks. */
  async locked<T>(
    name: string,
    work: (signal: AbortSignal | undefined) => Promise<T>,
    { signal, isTry }: LockOptions,
  ): Promise<T | undefined> {
    const { locks } = navigator as Partial<Navigator>;
    if (!locks) return work(signal);
    const options: globalThis.LockOptions = isTry ? { ifAvailable: true } : signal ? { signal } : {};
    return locks.request(`onnxar ${name}`, options, (lock) => (lock ? work(signal) : undefined));
  }

  async whole(folder: string, note: Note): Promise<Blob> {
    const blob = new Blob(await this.#some(folder, 0, pieceCount(note)));
    if (blob.size !== note.size) throw changed();
    return blob;
  }

  async read(folder: string, { piece }: Note, begin: number, end: number): Promise<Uint8Array> {
    const first = Math.floor(begin / piece);
    const blob = new Blob(await this.#some(folder, first, Math.ceil(end / piece)));
    return new Uint8Array(await blob.slice(begin - first * piece, end - first * piece).arrayBuffer());
  }

  async room(): Promise<number> {
    const estimate = await storage()?.estimate?.();
    return estimate?.quota === undefined ? Infinity : estimate.quota - (estimate.usage ?? 0);
  }

  #some(folder: string, begin: number, end: number): Promise<Blob[]> {
    const indices = Array.from({ length: Math.max(end - begin, 0) }, (_, i) => begin + i);
    return Promise.all(indices.map(async (index) => (await this.blob(folder, index)) ?? new Blob()));
  }
}

const PIECE = /^(0|[1-9]\d{0,14})\.piece$/;
const pieceName = (index: number): string => `${index}.piece`;

class FilePlace extends BlobPlace implements Place {
  readonly #root: FileSystemDirectoryHandle;

  constructor(root: FileSystemDirectoryHandle) {
    super();
    this.#root = root;
  }

  async notes(): Promise<Map<string, Note>> {
    const found = new Map<string, Note>();
    for await (const folder of this.#root.keys()) {
      const note = isFolder(folder) && parsed(await (await this.#file(folder, NOTE))?.text());
      if (note) found.set(folder, note); // if not, another tab is making it, or was closed
    }
    return found;
  }

  async create(note: Note): Promise<string> {
    const all: string[] = [];
    for await (const name of this.#root.keys()) all.push(name);
    for (const name of all.filter(isFolder)) await this.#clean(name);
    const folder = newFolder();
    await this.#root.getDirectoryHandle(folder, { create: true });
    await this.note(folder, note);
    return folder;
  }

  /** Deletes a folder that has nothing, or an empty note: a tab was closed while it made the folder, or deleted it. */
  async #clean(folder: string): Promise<void> {
    if ((await this.#file(folder, NOTE))?.size === 0) {
      await (await this.#root.getDirectoryHandle(folder)).removeEntry(NOTE).catch(() => undefined);
    }
    await this.#root.removeEntry(folder).catch(() => undefined); // not if it has a file
  }

  async note(folder: string, note: Note): Promise<void> {
    await this.#write(folder, NOTE, [written(note)]);
  }

  put(folder: string, index: number, _: Note, bytes: AsyncIterable<Bytes>): Promise<void> {
    return this.#write(folder, pieceName(index), bytes);
  }

  async drop(folder: string, index: number): Promise<void> {
    await (await this.#root.getDirectoryHandle(folder)).removeEntry(pieceName(index));
  }

  /** Deletes the files that a store makes, the note last, and then the folder, unless somebody put a file into it. */
  async delete(folder: string): Promise<void> {
    const place = await this.#root.getDirectoryHandle(folder);
    for (const index of await this.indices(folder)) await place.removeEntry(pieceName(index));
    await place.removeEntry(NOTE);
    await this.#root.removeEntry(folder).catch(() => undefined);
  }

  protected async indices(folder: string): Promise<number[]> {
    const found: number[] = [];
    const place = await this.#root.getDirectoryHandle(folder);
    for await (const name of place.keys()) {
      const [, index] = PIECE.exec(name) ?? [];
      if (index !== undefined) found.push(Number(index));
    }
    return found;
  }

  protected blob(folder: string, index: number): Promise<Blob | undefined> {
    return this.#file(folder, pieceName(index));
  }

  async #file(folder: string, name: string): Promise<File | undefined> {
    try {
      return await (await (await this.#root.getDirectoryHandle(folder)).getFileHandle(name)).getFile();
    } catch {
      return undefined;
    }
  }

  /** Replaces the file when all is written: an empty file is one whose write did not end. */
  async #write(folder: string, name: string, all: Iterable<string> | AsyncIterable<Bytes>): Promise<void> {
    const place = await this.#root.getDirectoryHandle(folder);
    const file = await (await place.getFileHandle(name, { create: true })).createWritable();
    try {
      for await (const each of all) await file.write(each);
      await file.close();
    } catch (error) {
      await file.abort().catch(() => undefined); // a failed write has ended it already
      throw error;
    }
  }
}

// --- IndexedDB -------------------------------------------------------------------------------------------------------

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = (): void => resolve(request.result);
    request.onerror = (): void => reject(request.error!);
  });
}

async function openDatabase(): Promise<IDBDatabase> {
  try {
    const opening = indexedDB.open('onnxar', 1);
    opening.onupgradeneeded = (): void => {
      opening.result.createObjectStore('notes');
      opening.result.createObjectStore('pieces');
    };
    return await done(opening);
  } catch {
    throw failure('io.permission', 'this page may not keep files; read the archive by its URL instead');
  }
}

interface Stores {
  all: IDBTransaction;
  notes: IDBObjectStore;
  pieces: IDBObjectStore;
}

class DatabasePlace extends BlobPlace implements Place {
  readonly #database: IDBDatabase;

  constructor(database: IDBDatabase) {
    super();
    this.#database = database;
  }

  async notes(): Promise<Map<string, Note>> {
    const { notes } = this.#stores('readonly');
    const [folders, all] = await Promise.all([done(notes.getAllKeys()), done(notes.getAll() as IDBRequest<Note[]>)]);
    return new Map(folders.map((folder, i) => [folder as string, all[i]!]));
  }

  async create(note: Note): Promise<string> {
    const folder = newFolder();
    await this.#change(({ notes }) => notes.add(note, folder));
    return folder;
  }

  async note(folder: string, note: Note): Promise<void> {
    await this.#change((stores) => this.#ifThere(stores, folder, () => stores.notes.put(note, folder)));
  }

  async put(folder: string, index: number, _: Note, bytes: AsyncIterable<Bytes>): Promise<void> {
    const all: Blob[] = [];
    for await (const each of bytes) all.push(new Blob([each]));
    const put = (stores: Stores): unknown => stores.pieces.put(new Blob(all), [folder, index]);
    await this.#change((stores) => this.#ifThere(stores, folder, () => put(stores)));
  }

  async drop(folder: string, index: number): Promise<void> {
    await this.#change(({ pieces }) => pieces.delete([folder, index]));
  }

  async delete(folder: string): Promise<void> {
    await this.#change(({ notes, pieces }) => {
      notes.delete(folder);
      pieces.delete(IDBKeyRange.bound([folder], [folder, []]));
    });
  }

  protected blob(folder: string, index: number): Promise<Blob | undefined> {
    return done(this.#stores('readonly').pieces.get([folder, index]) as IDBRequest<Blob | undefined>);
  }

  protected async indices(folder: string): Promise<number[]> {
    const keys = await done(this.#stores('readonly').pieces.getAllKeys(IDBKeyRange.bound([folder], [folder, []])));
    return keys.map((key) => (key as [string, number])[1]);
  }

  /** Ends the change if another tab deleted the folder. */
  #ifThere({ all, notes }: Stores, folder: string, write: () => void): void {
    notes.getKey(folder).onsuccess = ({ target }): void => {
      if ((target as IDBRequest).result === undefined) all.abort();
      else write();
    };
  }

  #stores(mode: IDBTransactionMode): Stores {
    const all = this.#database.transaction(['notes', 'pieces'], mode);
    return { all, notes: all.objectStore('notes'), pieces: all.objectStore('pieces') };
  }

  /** Ends when the change is on the disk; a full one fails only then. */
  #change(make: (stores: Stores) => void): Promise<void> {
    const stores = this.#stores('readwrite');
    const { all } = stores;
    return new Promise((resolve, reject) => {
      all.oncomplete = (): void => resolve();
      all.onabort = (): void => reject(all.error ?? changed());
      make(stores);
    });
  }
}
