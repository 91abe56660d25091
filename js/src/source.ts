import { OnnxarError, type Rule } from './error.js';
import { openUrl } from './url.js';
import { Waiting, inPieces } from './waiting.js';

/** A file that ranges are read from. All ranges are of one version of the file. */
export interface Source {
  /** In bytes. */
  readonly size: number;
  /** The bytes from `begin` to `end`, or an error; never fewer. 0 <= begin <= end <= size. */
  read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** The same bytes in pieces, for ranges that are too large for memory. */
  stream?(begin: number, end: number, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Fills memory with the bytes from `begin` on before it returns; false if this is not the place to do that. */
  readSync?(into: Uint8Array, begin: number): boolean;
  /** The whole file as a Blob, if it is one or in memory. */
  blob?(): Blob;
  /** Where it is in the file system of Node. */
  readonly path?: string | undefined;
  close?(): Promise<void>;
}

interface Stats {
  isFile?(): boolean;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}

/** What `fs.promises.open` of Node gives. The caller closes it. */
export interface FileHandleLike {
  readonly fd?: number;
  stat(options: { bigint: true }): Promise<Stats>;
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
  /**
   * For URLs, in milliseconds: a request that gets no answer for this long, or less than 1 KiB/s, is sent again once,
   * and then given up (`remote.timeout`). 30000 unless it is given; 0: never. Reads that block have no limit.
   */
  timeout?: number;
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

const MOST_AT_ONCE = 1 << 30; // Node reads less than 2 GiB with one call

/** A file of Node. It is compared with its state at the beginning after each read. */
class HandleSource implements Source {
  readonly size: number;
  readonly path: string | undefined;
  readonly #handle: FileHandleLike;
  readonly #state: string;

  constructor(handle: FileHandleLike, stats: Stats, path?: string) {
    if (stats.isFile?.() === false) throw new OnnxarError('file');
    this.#handle = handle;
    this.size = Number(stats.size);
    this.#state = stateOf(stats);
    this.path = path;
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
    if (stateOf(await this.#handle.stat({ bigint: true })) !== this.#state) throw new OnnxarError('changed');
    return bytes;
  }

  readSync(into: Uint8Array, begin: number): boolean {
    const files = builtin('fs') as NodeFiles | undefined;
    if (!files || this.#handle.fd === undefined) return false;
    for (let filled = 0; filled < into.length;) {
      const most = Math.min(into.length - filled, MOST_AT_ONCE);
      const count = files.readSync(this.#handle.fd, into, filled, most, begin + filled);
      if (count === 0) throw new OnnxarError('changed', '', begin + filled);
      filled += count;
    }
    if (stateOf(files.fstatSync(this.#handle.fd, { bigint: true })) !== this.#state) throw new OnnxarError('changed');
    return true;
  }

  /** Only a file that was opened here is closed here. */
  async close(): Promise<void> {
    if (this.path !== undefined) await (this.#handle as Partial<{ close(): Promise<void> }>).close?.();
  }
}

const stateOf = ({ size, mtimeNs, ino }: Stats): string => `${size} ${mtimeNs} ${ino}`;

interface NodeFiles {
  fstatSync(fd: number, options: { bigint: true }): Stats;
  readSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  constants: { O_NONBLOCK?: number };
  promises: {
    open(path: string, flags: number): Promise<FileHandleLike & { close(): Promise<void> }>;
    realpath(path: string): Promise<string>;
  };
}

/** A module of Node; undefined elsewhere. No import, so that bundlers for browsers have nothing to resolve. */
export function builtin(name: string): unknown {
  const node = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  return node?.getBuiltinModule?.(name);
}

async function openFileUrl(url: string): Promise<Source> {
  const path = (builtin('url') as { fileURLToPath(url: string): string } | undefined)?.fileURLToPath(url);
  if (path === undefined) throw new OnnxarError('argument', '', undefined, 'file: URLs are for Node from 20.16 on');
  return openPath(path);
}

/** A file of Node. The path of the source has no symbolic links. */
export async function openPath(path: string): Promise<Source & { close(): Promise<void> }> {
  const { promises: files, constants } = builtin('fs') as NodeFiles;
  try {
    const real = await files.realpath(path);
    const handle = await files.open(real, constants.O_NONBLOCK ?? 0); // a FIFO does not wait for its other end
    try {
      return new HandleSource(handle, await handle.stat({ bigint: true }), real);
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    const rule = FAILURES[(error as { code: string }).code];
    throw rule
      ? new OnnxarError(rule, '', undefined, `${(error as Error).message}; look at path and permissions`)
      : error;
  }
}

/** Errors of Node that have a code of this package. */
const FAILURES: Record<string, Rule | undefined> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  EACCES: 'closed',
  EPERM: 'closed',
  ENXIO: 'file', // a socket
};

export function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new OnnxarError('cut', '', undefined, `${bytes.length} bytes came, not ${length}`);
  return bytes;
}

export async function openSource(from: Openable, options: SourceOptions = {}): Promise<Source> {
  if (typeof from === 'string' || from instanceof URL) {
    const url = from.toString();
    return /^file:/i.test(url) ? openFileUrl(url) : openUrl(url, options);
  }
  if (from instanceof Blob) return new BlobSource(from);
  if (from instanceof ArrayBuffer) return new BytesSource(new Uint8Array(from));
  if (from instanceof Uint8Array) return new BytesSource(from);
  const object = Object(from) as FileHandleLike | Source; // undefined is no source, either
  if ('stat' in object) return new HandleSource(object, await object.stat({ bigint: true }));
  if ('read' in object && 'size' in object) return object;
  throw new OnnxarError(
    'argument',
    '',
    undefined,
    'open takes a URL, Blob, ArrayBuffer, Uint8Array, file of Node or Source',
  );
}
