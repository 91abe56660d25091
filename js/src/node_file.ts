// Files of Node.
import { OnnxarError, changed, failure, type Rule } from './error.js';
import type { Source } from './source.js';

interface Stats {
  isFile?(): boolean;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}

/** A file handle, as `fs.promises.open` of Node returns it. The caller closes it. */
export interface FileHandleLike {
  readonly fd?: number;
  stat(options: { bigint: true }): Promise<Stats>;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

const MOST_AT_ONCE = 1 << 30; // Node reads less than 2 GiB with one call

/** A file of Node. It is compared with its state at the beginning after each read. */
export class HandleSource implements Source {
  readonly size: number;
  readonly path: string | undefined;
  readonly #handle: FileHandleLike;
  readonly #state: string;

  constructor(handle: FileHandleLike, stats: Stats, path?: string) {
    if (stats.isFile?.() === false) throw failure('io.not_a_file', 'it is not a regular file');
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
      if (bytesRead === 0) throw changed(begin + filled);
      filled += bytesRead;
    }
    if (stateOf(await this.#handle.stat({ bigint: true })) !== this.#state) throw changed();
    return bytes;
  }

  readSync(into: Uint8Array, begin: number): boolean {
    const files = builtin('fs') as NodeFiles | undefined;
    if (!files || this.#handle.fd === undefined) return false;
    for (let filled = 0; filled < into.length;) {
      const most = Math.min(into.length - filled, MOST_AT_ONCE);
      const count = files.readSync(this.#handle.fd, into, filled, most, begin + filled);
      if (count === 0) throw changed(begin + filled);
      filled += count;
    }
    if (stateOf(files.fstatSync(this.#handle.fd, { bigint: true })) !== this.#state) throw changed();
    return true;
  }

  /** Closes the file if `openPath` opened it. */
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

/** Returns a module of Node; undefined elsewhere. Not an import, which bundlers for browsers would have to resolve. */
export function builtin(name: string): unknown {
  const node = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  return node?.getBuiltinModule?.(name);
}

export async function openFileUrl(url: string): Promise<Source> {
  const path = (builtin('url') as { fileURLToPath(url: string): string } | undefined)?.fileURLToPath(url);
  if (path === undefined) throw failure('usage.argument', 'file: URLs are for Node from 20.16 on');
  return openPath(path);
}

/** Opens a file of Node. The path of the source has no symbolic links. */
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
    if (error instanceof OnnxarError) throw error;
    const code = FAILURES[(error as { code: string }).code];
    throw failure(code ?? 'io.failed', `${(error as Error).message}${code ? '; look at path and permissions' : ''}`);
  }
}

/** The codes of Node's errors; others are `io.failed`. */
const FAILURES: Record<string, Rule | undefined> = {
  ENOENT: 'io.not_found',
  ENOTDIR: 'io.not_found',
  EACCES: 'io.permission',
  EPERM: 'io.permission',
  ENXIO: 'io.not_a_file', // a socket
};
