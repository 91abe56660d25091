// Describes where a store keeps archives.
export type Bytes = Uint8Array<ArrayBuffer>;

/** The record of one version of an archive in a store. */
export interface Note {
  url: string;
  size: number;
  /** Bytes of a piece; the last one may have fewer. */
  piece: number;
  version: string;
  /** True if all pieces are stored and every CRC-32 was right. */
  complete: boolean;
  /** When it was last asked for, in ms. */
  used: number;
  /** In Node: the id of the thread that writes to the folder; '' if none does. */
  by?: string;
}

export interface LockOptions {
  /** Ends the wait for the lock. */
  signal?: AbortSignal | undefined;
  /** Does not wait: returns undefined if another holds the lock. */
  isTry?: boolean;
}

/**
 * Where a store keeps pieces of archives: a folder for each download. A piece is there as a whole or not at all. The name
 * of a folder is never used again: a download that continues after its folder was deleted fails, and does not see the
 * pieces of another one. Folders and files of others are never touched.
 */
export interface Place {
  notes(): Promise<Map<string, Note>>;
  /** Creates a folder. Returns its name. */
  create(note: Note): Promise<string>;
  /** Returns the folder in which another's download continues, and to which only this one writes. Writes the note. */
  adopt(folder: string, note: Note): Promise<string>;
  /** Marks the folder as no longer written to, until it is adopted. */
  leave(folder: string, note: Note): Promise<void>;
  /** Writes another note into a folder that is there. */
  note(folder: string, note: Note): Promise<void>;
  /** Returns the stored pieces; undefined if the folder is damaged. The cost depends on their number, not on the size. */
  pieces(folder: string, note: Note): Promise<number[] | undefined>;
  put(folder: string, index: number, note: Note, bytes: AsyncIterable<Bytes>): Promise<void>;
  drop(folder: string, index: number): Promise<void>;
  /** Returns bytes of stored pieces. */
  read(folder: string, note: Note, begin: number, end: number): Promise<Uint8Array>;
  /** Returns the whole archive, for `open`. Throws if a piece is missing. */
  whole(folder: string, note: Note): Promise<Blob | URL>;
  delete(folder: string): Promise<void>;
  /** Returns the free space in bytes. */
  room(): Promise<number>;
  /** Calls `work` when no other tab or process holds the lock of this name. `work` must end when its signal is aborted. */
  locked<T>(
    name: string,
    work: (signal: AbortSignal | undefined) => Promise<T>,
    options: LockOptions,
  ): Promise<T | undefined>;
}

/** The name of the file that has the note, where notes are files. */
export const NOTE = 'note.json';

/** How notes begin. A store does not own a folder that has no such note. */
const MARK = '{"onnxar":"store 1",';

export function written(note: Note): string {
  return JSON.stringify({ onnxar: 'store 1', ...note });
}

export function parsed(text: string | undefined): Note | undefined {
  if (!text?.startsWith(MARK)) return undefined;
  try {
    const { url, size, piece, version, complete, used, by } = JSON.parse(text) as Record<keyof Note, unknown>;
    const isNote = typeof url === 'string' && isCount(size) && isCount(piece) && isCount(used);
    const rest = { version: String(version), complete: complete === true, by: String(by) };
    return isNote ? { url, size, piece, used, ...rest } : undefined;
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** Returns 128 random bits in hexadecimal. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export const newFolder = (): string => `onnxar-${randomName()}`;
export const isFolder = (name: string): boolean => /^onnxar-[0-9a-f]{32}$/.test(name);

export const pieceCount = ({ size, piece }: Note): number => Math.ceil(size / piece);
export const lengthOf = ({ size, piece }: Note, index: number): number => Math.min(piece, size - index * piece);
