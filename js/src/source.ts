// Files that ranges are read from, and those in memory.
import { checkLength } from './error.js';
import { Waiting, inPieces } from './waiting.js';

/** A file that ranges are read from. All ranges are of one version of the file. */
export interface Source {
  /** In bytes. */
  readonly size: number;
  /** Returns the bytes from `begin` to `end`, never fewer. Throws otherwise. 0 <= begin <= end <= size. */
  read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Returns the same bytes in pieces, for ranges that are too large for memory. */
  stream?(begin: number, end: number, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** True if no one else has the memory of the pieces of `stream`. */
  readonly isOwn?: boolean;
  /** Fills memory with the bytes from `begin` on, synchronously. Returns false if that is impossible here. */
  readSync?(into: Uint8Array, begin: number): boolean;
  /** Returns the whole file as a Blob, if it is one or in memory. */
  blob?(): Blob;
  /** The path in the file system of Node. */
  readonly path?: string | undefined;
  close?(): Promise<void>;
}

export interface SourceOptions {
  /** For URLs: options of every request, such as headers and credentials. */
  request?: RequestInit;
  /** For URLs: used instead of the global `fetch`. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
  /**
   * For URLs, in milliseconds: a request that gets no answer for this long, or less than 1 KiB/s, is sent again once,
   * and then fails (`remote.timeout`). 30000 unless it is given; 0: never. Reads that block have no limit.
   */
  timeout?: number;
}

export class BytesSource implements Source {
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  read(begin: number, end: number): Promise<Uint8Array> {
    return Promise.resolve(this.#bytes.subarray(begin, end));
  }

  blob(): Blob {
    return piped(new Blob([this.#bytes as Uint8Array<ArrayBuffer>]));
  }
}

/**
 * The same object, which streams through another stream. In Chromium 156, streams of Blobs that fill memory of their reader, as
 * those that onnxruntime-web reads, sometimes stop for ever.
 */
function piped(blob: Blob): Blob {
  return Object.assign(blob, {
    stream: () => Blob.prototype.stream.call(blob).pipeThrough(new TransformStream()),
    slice: (...range: [number?, number?]) => piped(Blob.prototype.slice.apply(blob, range)),
  });
}

export class BlobSource implements Source {
  readonly size: number;
  readonly #blob: Blob;
  readonly #waiting = new Waiting();

  constructor(blob: Blob) {
    this.#blob = piped(blob.slice());
    this.size = blob.size;
  }

  async read(begin: number, end: number): Promise<Uint8Array> {
    return exactly(new Uint8Array(await this.#blob.slice(begin, end).arrayBuffer()), end - begin);
  }

  stream(begin: number, end: number): Promise<ReadableStream<Uint8Array>> {
    return Promise.resolve(this.#blob.slice(begin, end).stream());
  }

  readSync(into: Uint8Array, begin: number): boolean {
    return this.#waiting.isHere && inPieces(into, (piece, at) => this.#waiting.blob(this.#blob, begin + at, piece));
  }

  blob(): Blob {
    return this.#blob;
  }
}

/** Returns the bytes. Throws if there are not `length` of them. */
export function exactly(bytes: Uint8Array, length: number): Uint8Array {
  checkLength(bytes.length, length);
  return bytes;
}
