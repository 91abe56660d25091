import type { Archive } from './archive.js';
import { OnnxarError } from './error.js';
import { builtin } from './source.js';
import { REACH } from './tensors.js';

/** What tells the runtimes apart. */
export interface RuntimeEnv {
  readonly versions?: object;
  readonly wasm?: { readonly proxy?: boolean };
}

/** Called while weights are read, with bytes. */
export type OnProgress = (read: number, total: number) => void;

/** External data as onnxruntime takes it. */
export interface External {
  path: string;
  data: Uint8Array | Blob;
}

const isNode = ({ versions = {} }: RuntimeEnv): boolean => 'node' in versions && !('web' in versions);

/** Where onnxruntime-node maps the archive, if it is a file; undefined if the runtime is fed with its weights. */
export const mappedAt = (env: RuntimeEnv, { source }: Archive): string | undefined =>
  isNode(env) ? source.path : undefined;

/** What is made by mapping the archive at `path`; an error if another file took its place meanwhile. */
export async function unlessReplaced<T>(archive: Archive, path: string | undefined, made: Promise<T>): Promise<T> {
  const result = await made;
  if (path !== undefined && !(await archive.isAt(path))) throw new OnnxarError('stale');
  return result;
}

/**
 * Options of onnxruntime-node with which it maps the weights of links out of files in the folder of `path`, and the
 * name of the file there.
 */
export function mapping(path: string, given: object = {}): { name: string; options: object } {
  const { dirname, basename } = builtin('path') as { dirname(path: string): string; basename(path: string): string };
  const { extra } = given as { extra?: { session?: object } };
  const session = { ...extra?.session, model_external_initializers_file_folder_path: dirname(path) };
  return { name: basename(path), options: { ...given, extra: { ...extra, session } } };
}

export function withExternal(given: object = {}, externalData: External[]): object {
  const { externalData: own = [] } = given as { externalData?: External[] };
  return { ...given, externalData: [...own, ...externalData] };
}

/** The weights as the runtime can take them. Its threads and native code need memory that stays. */
export function weightsFor(env: RuntimeEnv, feed: Feed): Promise<External[]> {
  return isNode(env) || env.wasm?.proxy ? feed.whole() : feed.handed();
}

/**
 * Models of an archive for a runtime, with each entry that has weights as external data of its own. Weights that come as
 * streams are read before the session is made, and each is freed when the runtime has copied it: together they take
 * little more memory than the runtime's copies do in the end. Those of files are read when the runtime takes them.
 */
export class Feed {
  readonly #archive: Archive;
  readonly #onProgress: OnProgress | undefined;
  readonly #sizes: Map<string, number>;
  /** How many tensors are in each entry. */
  readonly #uses = new Map<string, number>();
  #memory = new Uint8Array(0);
  #read = 0;
  #total = 0;

  constructor(archive: Archive, onProgress?: OnProgress) {
    this.#archive = archive;
    this.#onProgress = onProgress;
    this.#sizes = new Map(archive.entries.map(({ name, size }) => [name, size]));
  }

  /** The bytes of a model. What the feed gives afterwards has its weights, too. */
  model(graph: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#archive.rewrite(graph, REACH.memory, (tensor) => {
      const location = tensor.entry!;
      const uses = this.#uses.get(location) ?? 0;
      if (uses === 0) this.#total += this.#sizes.get(location)!;
      this.#uses.set(location, uses + 1);
      return Promise.resolve({ location, begin: 0 });
    });
  }

  /** Bytes, for a runtime that takes all of them from another thread or language. */
  async whole(): Promise<External[]> {
    const made: External[] = [];
    for (const [path] of this.#wanted()) made.push({ path, data: await this.#archive.read(path, this.#count) });
    return made;
  }

  /** Bytes that are freed when the runtime has taken as many parts of them as there are tensors, and the next of others. */
  async handed(): Promise<External[]> {
    const { source } = this.#archive;
    if (!source.readSync?.(new Uint8Array(1), source.size - 1)) return this.whole();
    const made: External[] = [];
    let last: Weight | undefined;
    for (const [path, size] of this.#wanted()) {
      const bytes = source.stream && (await this.#archive.read(path, this.#count));
      const weight = new Weight(bytes, this.#uses.get(path)!);
      const offset = await this.#archive.offset(path);
      const take = (begin = 0, end = size): Uint8Array => {
        if (last !== weight) last?.freeIfUsed();
        last = weight;
        return weight.take(begin, end) ?? this.#readNow(offset + begin, offset + end);
      };
      const properties = { byteLength: { value: size }, length: { value: size }, subarray: { value: take } };
      made.push({ path, data: Object.defineProperties(new Uint8Array(0), properties) });
    }
    return made;
  }

  /** Parts of the archive's Blob, for a runtime that reads them when it takes them; undefined where that cannot be. */
  async slices(): Promise<External[] | undefined> {
    const blob = this.#archive.source.blob?.();
    if (!blob) return undefined;
    const made: External[] = [];
    for (const [path, size] of this.#wanted()) {
      const offset = await this.#archive.offset(path);
      made.push({ path, data: blob.slice(offset, offset + size) });
    }
    return made;
  }

  /** In the memory of the bytes before: runtimes copy them before they take others. */
  #readNow(begin: number, end: number): Uint8Array {
    const size = end - begin;
    if (size > this.#memory.length) this.#memory = new Uint8Array(size);
    const into = this.#memory.subarray(0, size);
    this.#archive.source.readSync!(into, begin);
    this.#count(size);
    return into;
  }

  *#wanted(): Generator<[name: string, size: number]> {
    for (const name of this.#uses.keys()) yield [name, this.#sizes.get(name)!];
  }

  #count = (bytes: number): void => {
    this.#read = Math.min(this.#read + bytes, this.#total); // some are read again
    this.#onProgress?.(this.#read, this.#total);
  };
}

/** The bytes of an entry, if they were read, until they are freed. */
class Weight {
  #bytes: Uint8Array | undefined;
  #uses: number;

  constructor(bytes: Uint8Array | undefined, uses: number) {
    this.#bytes = bytes;
    this.#uses = uses;
  }

  take(begin: number, end: number): Uint8Array | undefined {
    this.#uses--;
    return this.#bytes?.subarray(begin, end);
  }

  /** At once, where memory can be moved; else when garbage is collected. */
  freeIfUsed(): void {
    if (this.#uses > 0) return;
    const { buffer } = this.#bytes ?? {};
    this.#bytes = undefined;
    (buffer as Partial<{ transfer(size: number): void }> | undefined)?.transfer?.(0);
  }
}
