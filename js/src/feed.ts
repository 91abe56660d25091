// Hands weights to ONNX Runtime without more copies than it needs.
import type { Archive } from './archive.js';
import { failure } from './error.js';
import { free } from './free.js';
import { builtin } from './node_file.js';
import { REACH } from './tensors.js';

/** The part of a runtime's `env` that identifies it. */
export interface RuntimeEnv {
  readonly versions?: object;
  readonly wasm?: { readonly proxy?: boolean };
}

/** Called while weights are read, with the number of bytes read and the total. */
export type OnProgress = (read: number, total: number) => void;

/** External data as onnxruntime takes it. */
export interface External {
  path: string;
  data: Uint8Array | Blob;
}

/** In place of weights that were not read: onnxruntime-node refuses data without bytes. */
const NOTHING = new Uint8Array(1);

const isNode = ({ versions = {} }: RuntimeEnv): boolean => 'node' in versions && !('web' in versions);

/** Returns the path from which onnxruntime-node maps the archive; undefined if weights are passed in memory. */
export const mappedAt = (env: RuntimeEnv, { source }: Archive): string | undefined =>
  isNode(env) ? source.path : undefined;

/** Returns what was made by mapping the archive at `path`. Throws if the file was replaced meanwhile. */
export async function unlessReplaced<T>(archive: Archive, path: string | undefined, made: Promise<T>): Promise<T> {
  const result = await made;
  if (path !== undefined && !(await archive.isAt(path))) {
    throw failure('onnx.link.stale', 'the archive was replaced while the session was created; create it again');
  }
  return result;
}

/**
 * Returns options with which onnxruntime-node maps the weights of links from files in the folder of `path`, and the
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

/**
 * Models of an archive for a runtime, with each entry that has weights as external data of its own. Weights of a model are
 * read with `read`, before its session is made. Where the runtime takes them in this thread, each is freed when it was
 * taken: together they take little more memory than the runtime's copies do in the end. Weights of files are then read
 * only when they are taken.
 */
export class Feed {
  readonly #archive: Archive;
  readonly #env: RuntimeEnv;
  readonly #onProgress: OnProgress | undefined;
  readonly #weights = new Map<string, Weight>();
  /** The number of tensors of each model in each entry. */
  readonly #uses = new Map<string, Map<Weight, number>>();
  #canHand: boolean | undefined;
  #last: Weight | undefined;
  #memory = new Uint8Array(0);
  #read = 0;
  #total = 0;

  constructor(archive: Archive, env: RuntimeEnv, onProgress?: OnProgress) {
    this.#archive = archive;
    this.#env = env;
    this.#onProgress = onProgress;
    for (const { name, size } of archive.entries) this.#weights.set(name, new Weight(name, size));
  }

  /** Returns the bytes of a model. Reads no weights. */
  model(graph: string): Promise<Uint8Array<ArrayBuffer>> {
    const uses = new Map<Weight, number>();
    this.#uses.set(graph, uses);
    return this.#archive.rewrite(graph, REACH.memory, (tensor) => {
      const weight = this.#weights.get(tensor.entry!)!;
      uses.set(weight, (uses.get(weight) ?? 0) + 1);
      return Promise.resolve({ location: weight.name, begin: 0 });
    });
  }

  /** Reads the weights of a model, as far as the runtime does not take them out of the file. */
  async read(graph: string): Promise<void> {
    const uses = this.#uses.get(graph)!;
    for (const [weight, count] of uses) this.#total += weight.want(count);
    for (const weight of uses.keys()) {
      if (!this.#isHanded || this.#archive.source.stream) {
        await weight.read(() => this.#archive.read(weight.name, this.#count));
      }
      weight.offset = await this.#archive.offset(weight.name);
    }
  }

  /** Returns external data for the runtime: of one model, or all entries; only those that were read have bytes. */
  externals(graph?: string): External[] {
    const weights = graph === undefined ? this.#weights.values() : this.#uses.get(graph)!.keys();
    return Array.from(weights, (weight) => {
      if (this.#isHanded) return { path: weight.name, data: this.#handed(weight) };
      return { path: weight.name, get data() { return weight.bytes ?? NOTHING; } }; // prettier-ignore
    });
  }

  /** Returns slices of the archive's Blob, which the runtime reads itself; undefined if the archive is not a Blob. */
  async slices(graph: string): Promise<External[] | undefined> {
    const blob = this.#archive.source.blob?.();
    if (!blob) return undefined;
    const made: External[] = [];
    for (const { name, size } of this.#uses.get(graph)!.keys()) {
      const offset = await this.#archive.offset(name);
      made.push({ path: name, data: blob.slice(offset, offset + size) });
    }
    return made;
  }

  /** True if the runtime takes weights in this thread, where more can be read meanwhile. Otherwise all must stay in memory. */
  get #isHanded(): boolean {
    const { source } = this.#archive;
    this.#canHand ??=
      !isNode(this.#env) && !this.#env.wasm?.proxy && !!source.readSync?.(new Uint8Array(1), source.size - 1);
    return this.#canHand;
  }

  /** Returns bytes that are freed when all tensors of the entry were taken, and the runtime takes one of another entry. */
  #handed(weight: Weight): Uint8Array {
    const { size } = weight;
    const take = (begin = 0, end = size): Uint8Array => {
      if (this.#last !== weight) this.#last?.freeIfUsed();
      this.#last = weight;
      return weight.take(begin, end) ?? this.#readNow(weight.offset + begin, weight.offset + end);
    };
    const properties = { byteLength: { value: size }, length: { value: size }, subarray: { value: take } };
    return Object.defineProperties(new Uint8Array(0), properties);
  }

  /** Reads into the same memory each time: runtimes copy the bytes before they take others. */
  #readNow(begin: number, end: number): Uint8Array {
    const size = end - begin;
    if (size > this.#memory.length) this.#memory = new Uint8Array(size);
    const into = this.#memory.subarray(0, size);
    this.#archive.source.readSync!(into, begin);
    this.#count(size);
    return into;
  }

  #count = (bytes: number): void => {
    this.#read = Math.min(this.#read + bytes, this.#total); // some are read again
    this.#onProgress?.(this.#read, this.#total);
  };
}

/** The bytes of an entry, from when they are read until they are freed. */
class Weight {
  readonly name: string;
  readonly size: number;
  offset = 0;
  bytes: Uint8Array | undefined;
  /** Tensors of models that were read, and have not taken the bytes. */
  #uses: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(name: string, size: number) {
    this.name = name;
    this.size = size;
  }

  /** Counts the tensors of a model. Returns how many bytes have to be read for the first one. */
  want(uses: number): number {
    const size = this.#uses === undefined ? this.size : 0;
    this.#uses = (this.#uses ?? 0) + uses;
    return size;
  }

  /** Reads the bytes, only once for calls at the same time. */
  async read(bytes: () => Promise<Uint8Array>): Promise<void> {
    if (this.bytes) return;
    this.#reading ??= bytes().then((all) => void (this.bytes = all));
    await this.#reading.finally(() => (this.#reading = undefined));
  }

  take(begin: number, end: number): Uint8Array | undefined {
    this.#uses!--;
    return this.bytes?.subarray(begin, end);
  }

  /** Frees the bytes if all tensors took them. */
  freeIfUsed(): void {
    if (this.#uses! > 0) return;
    free(this.bytes?.buffer);
    this.bytes = undefined;
  }
}
