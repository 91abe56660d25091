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

export const isNode = ({ versions = {} }: RuntimeEnv): boolean => 'node' in versions && !('web' in versions);

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

/** Models of an archive for a runtime, with each entry that has weights as external data of its own. */
export class Feed {
  readonly #archive: Archive;
  readonly #onProgress: OnProgress | undefined;
  readonly #sizes: Map<string, number>;
  readonly #names = new Set<string>();
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
      this.#total += this.#names.has(location) ? 0 : this.#sizes.get(location)!;
      this.#names.add(location);
      return Promise.resolve({ location, begin: 0 });
    });
  }

  /** Read as streams. `onWhole` is called by a runtime that wants all bytes of one instead, which it does not get. */
  blobs(onWhole: () => void): External[] {
    return [...this.#names].map((path) => ({
      path,
      data: new EntryBlob(this.#archive, path, this.#sizes.get(path)!, this.#count, onWhole),
    }));
  }

  /** Read when the runtime takes a part of them, or now, where this is no place to wait. */
  async views(): Promise<External[]> {
    const { source } = this.#archive;
    const isSync = this.#names.size > 0 && source.readSync?.(0, 1) !== undefined;
    if (!isSync) return this.whole();
    const read = (begin: number, end: number): Uint8Array => {
      this.#count(end - begin);
      return source.readSync!(begin, end)!;
    };
    const made: External[] = [];
    for (const path of this.#names) {
      made.push({ path, data: entryView(read, await this.#archive.offset(path), this.#sizes.get(path)!) });
    }
    return made;
  }

  /** In memory. */
  async whole(): Promise<External[]> {
    const made: External[] = [];
    for (const path of this.#names) {
      made.push({ path, data: await this.#archive.bytes(path) });
      this.#count(this.#sizes.get(path)!);
    }
    return made;
  }

  #count = (bytes: number): void => {
    this.#read += bytes;
    this.#onProgress?.(Math.min(this.#read, this.#total), this.#total);
  };
}

/** An entry as a Blob that is read from the archive when it is streamed. */
class EntryBlob extends Blob {
  readonly #archive: Archive;
  readonly #name: string;
  readonly #size: number;
  readonly #count: (bytes: number) => void;
  readonly #onWhole: () => void;

  constructor(archive: Archive, name: string, size: number, count: (bytes: number) => void, onWhole: () => void) {
    super();
    this.#archive = archive;
    this.#name = name;
    this.#size = size;
    this.#count = count;
    this.#onWhole = onWhole;
  }

  override get size(): number {
    return this.#size;
  }

  override slice(begin = 0, end = this.#size): Blob {
    const stream = (): ReadableStream<Uint8Array> => {
      this.#count(end - begin);
      return this.#archive.stream(this.#name, begin, end);
    };
    return Object.assign(new Blob(), { stream });
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    this.#onWhole();
    return Promise.reject(new OnnxarError('argument', this.#name, undefined, 'this build of the runtime has no JSPI'));
  }
}

/** An entry as bytes that are read when the runtime takes a part of them. */
function entryView(read: (begin: number, end: number) => Uint8Array, data: number, size: number): Uint8Array {
  const subarray = (begin = 0, end = size): Uint8Array => read(data + begin, data + end);
  const properties = { byteLength: { value: size }, length: { value: size }, subarray: { value: subarray } };
  return Object.defineProperties(new Uint8Array(0), properties);
}
