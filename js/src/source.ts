import { OnnxarError } from './error.js';
import { openUrl } from './url.js';

/** A file that ranges are read from. All ranges are of one version of the file. */
export interface Source {
  /** In bytes. */
  readonly size: number;
  /** The bytes from `begin` to `end`, or an error; never fewer. 0 <= begin <= end <= size. */
  read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** The same bytes in pieces, for ranges that are too large for memory. */
  stream?(begin: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** The whole file as a Blob, if it is one or in memory. */
  blob?(): Blob;
}

/** What `fs.promises.open` of Node gives. The caller closes it. */
export interface FileHandleLike {
  stat(options: { bigint: true }): Promise<{ size: bigint; mtimeNs: bigint; ino: bigint }>;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** What `open` takes: a URL (a string, resolved against the page), a Blob or File, bytes, a file of Node, a Source. */
export type Openable = string | URL | Blob | ArrayBuffer | Uint8Array | FileHandleLike | Source;

export interface SourceOptions {
  /** For URLs: headers, credentials and the like of every request. */
  request?: RequestInit;
  /** For URLs: used in the place of the global `fetch`. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
}

class BytesSource implements Source {
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
    return new Blob([this.#bytes as Uint8Array<ArrayBuffer>]);
  }
}

class BlobSource implements Source {
  readonly size: number;
  readonly #blob: Blob;

  constructor(blob: Blob) {
    this.#blob = blob;
    this.size = blob.size;
  }

  async read(begin: number, end: number): Promise<Uint8Array> {
    return exactly(new Uint8Array(await this.#blob.slice(begin, end).arrayBuffer()), end - begin);
  }

  blob(): Blob {
    return this.#blob;
  }
}

const MOST_AT_ONCE = 1 << 30; // Node reads less than 2 GiB with one call

/** A file of Node. It is compared with its state at the beginning after each read. */
class HandleSource implements Source {
  readonly size: number;
  readonly #handle: FileHandleLike;
  readonly #state: string;

  constructor(handle: FileHandleLike, size: number, state: string) {
    this.#handle = handle;
    this.size = size;
    this.#state = state;
  }

  async read(begin: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(end - begin);
    let filled = 0;
    while (filled < bytes.length) {
      const most = Math.min(bytes.length - filled, MOST_AT_ONCE);
      const { bytesRead } = await this.#handle.read(bytes, filled, most, begin + filled);
      if (bytesRead === 0) throw new OnnxarError('changed', '', begin + filled);
      filled += bytesRead;
    }
    if ((await stateOf(this.#handle)).state !== this.#state) throw new OnnxarError('changed');
    return bytes;
  }
}

async function stateOf(handle: FileHandleLike): Promise<{ size: bigint; state: string }> {
  const { size, mtimeNs, ino } = await handle.stat({ bigint: true });
  return { size, state: `${size} ${mtimeNs} ${ino}` };
}

async function openHandle(handle: FileHandleLike): Promise<Source> {
  const { size, state } = await stateOf(handle);
  return new HandleSource(handle, Number(size), state);
}

export function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new OnnxarError('cut', '', undefined, `${bytes.length} bytes came, not ${length}`);
  return bytes;
}

export async function openSource(from: Openable, options: SourceOptions = {}): Promise<Source> {
  if (typeof from === 'string' || from instanceof URL) return openUrl(String(from), options);
  if (from instanceof Blob) return new BlobSource(from);
  if (from instanceof ArrayBuffer) return new BytesSource(new Uint8Array(from));
  if (from instanceof Uint8Array) return new BytesSource(from);
  if ('stat' in from) return openHandle(from);
  if ('read' in from && 'size' in from) return from;
  throw new OnnxarError('argument', '', undefined, 'open takes a URL, Blob, ArrayBuffer, Uint8Array, file of Node or Source');
}
