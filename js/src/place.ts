export type Bytes = Uint8Array<ArrayBuffer>;

/** What a store knows of one version of an archive. */
export interface Note {
  url: string;
  size: number;
  /** Bytes of a piece; the last one may have fewer. */
  piece: number;
  version: string;
  /** Whether all pieces are there and every CRC-32 was right. */
  complete: boolean;
  /** When it was last asked for, in ms. */
  used: number;
}

/** Where a store keeps pieces of archives: a folder for each version of one. A piece is there as a whole or not at all. */
export interface Place {
  notes(): Promise<Map<string, Note>>;
  note(folder: string, note: Note): Promise<void>;
  has(folder: string, index: number, note: Note): Promise<boolean>;
  put(folder: string, index: number, note: Note, bytes: AsyncIterable<Bytes>): Promise<void>;
  drop(folder: string, index: number): Promise<void>;
  /** Bytes of pieces that are there. */
  read(folder: string, note: Note, begin: number, end: number): Promise<Uint8Array>;
  /** The whole archive, as `open` takes it. Throws if a piece is missing. */
  whole(folder: string, note: Note): Promise<Blob | URL>;
  delete(folder: string): Promise<void>;
  /** Bytes that there is room for. */
  room(): Promise<number>;
}

/** The name of the file that has the note, where notes are files. */
export const NOTE = 'note.json';

export function parsed(text: string | undefined): Note | undefined {
  try {
    return text ? (JSON.parse(text) as Note) : undefined;
  } catch {
    return undefined;
  }
}

export const pieceCount = ({ size, piece }: Note): number => Math.ceil(size / piece);
export const lengthOf = ({ size, piece }: Note, index: number): number => Math.min(piece, size - index * piece);
