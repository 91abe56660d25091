// Downloads one version of an archive, piece by piece.
import type { Archive } from './archive.js';
import { OnnxarError } from './error.js';
import type { OnProgress } from './feed.js';
import { lengthOf, pieceCount, type Note, type Place } from './place.js';
import { bytesOf, type Reuse } from './reuse.js';
import type { Source } from './source.js';

const AT_ONCE = 4; // pieces

export interface DownloadOptions {
  onProgress?: OnProgress;
  signal?: AbortSignal;
}

/** Downloads an archive into a store. Reads take stored pieces from the store, and others from the server. */
export class Download implements Source {
  readonly size: number;
  readonly #place: Place;
  readonly #remote: Source;
  readonly #options: DownloadOptions;
  readonly #there = new Set<number>();
  /** The first missing piece. */
  #first = 0;
  /** Entries whose CRC-32 is not known to be right, in the order of the file. */
  #unchecked: string[] = [];
  #archive!: Archive;
  #folder = '';
  #note!: Note;
  #reuse: Reuse | undefined;
  #bytes = 0;

  constructor(place: Place, remote: Source, options: DownloadOptions) {
    this.#place = place;
    this.#remote = remote;
    this.#options = options;
    this.size = remote.size;
  }

  async read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    (signal ?? this.#options.signal)?.throwIfAborted();
    if (!this.#isThere(begin, end)) return this.#remote.read(begin, end, signal);
    return this.#place.read(this.#folder, this.#note, begin, end);
  }

  /** Sets the archive, which was opened with this source, the pieces that are stored already, and what has others. */
  begin(archive: Archive, folder: string, note: Note, pieces: number[], reuse: Reuse | undefined): void {
    this.#archive = archive;
    this.#reuse = reuse;
    this.#folder = folder;
    this.#note = note;
    for (const index of pieces) this.#add(index);
  }

  /** Downloads what is missing, and compares all CRC-32s. Drops the pieces of damaged entries, and then throws. */
  async run(): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, ...(this.#options.signal ? [this.#options.signal] : [])]);
    const damaged = new Map<string, OnnxarError>();
    const missing = this.#missing();
    this.#unchecked = this.#archive.entries.map(({ name }) => name);
    let checking = Promise.resolve();
    const check = (): Promise<void> => (checking = checking.then(() => this.#check(damaged, signal)));
    const worker = async (): Promise<void> => {
      try {
        for (const index of missing) {
          await this.#get(index, signal);
          await check();
        }
        await check();
      } catch (error) {
        ended.abort(error); // the others need not go on
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    ended.signal.throwIfAborted();
    for (const name of damaged.keys()) await this.#drop(name);
    for (const error of damaged.values()) throw error;
  }

  /** Returns the missing pieces one by one, so that a size that a server claims takes no memory. */
  *#missing(): Generator<number> {
    for (let index = 0; index < pieceCount(this.#note); index++) if (!this.#there.has(index)) yield index;
  }

  async #get(index: number, signal: AbortSignal): Promise<void> {
    const begin = index * this.#note.piece;
    const size = lengthOf(this.#note, index);
    const bytes = this.#reuse
      ? this.#reuse.bytes(begin, begin + size, signal)
      : bytesOf(this.#remote, begin, begin + size, signal);
    await this.#place.put(this.#folder, index, this.#note, bytes);
    this.#add(index);
  }

  /** Compares the CRC-32s of entries, in their order, as far as they are there. */
  async #check(damaged: Map<string, OnnxarError>, signal: AbortSignal): Promise<void> {
    for (let name = this.#unchecked[0]; name !== undefined; name = this.#unchecked[0]) {
      while (this.#there.has(this.#first)) this.#first++;
      if (this.#archive.extent(name).end > this.#first * this.#note.piece && this.#first < pieceCount(this.#note))
        return;
      try {
        await this.#archive.verify(name, signal);
      } catch (error) {
        if (!(error instanceof OnnxarError)) throw error;
        damaged.set(name, error);
      }
      this.#unchecked.shift();
    }
  }

  async #drop(name: string): Promise<void> {
    const { begin, end } = this.#archive.extent(name);
    const { piece } = this.#note;
    for (let index = Math.floor(begin / piece); index * piece < end; index++) {
      if (!this.#there.delete(index)) continue; // two entries share a piece
      this.#first = Math.min(this.#first, index);
      this.#bytes -= lengthOf(this.#note, index);
      await this.#place.drop(this.#folder, index);
    }
  }

  #add(index: number): void {
    this.#there.add(index);
    this.#bytes += lengthOf(this.#note, index);
    this.#options.onProgress?.(this.#bytes, this.size);
  }

  /** Ends at the first piece that is missing. */
  #isThere(begin: number, end: number): boolean {
    if (this.#there.size === 0) return false;
    const { piece } = this.#note;
    for (let index = Math.floor(begin / piece); index * piece < end; index++) {
      if (!this.#there.has(index)) return false;
    }
    return true;
  }
}
