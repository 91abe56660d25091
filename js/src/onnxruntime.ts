import { Archive, open, type OpenOptions } from './archive.js';
import { MODEL } from './container.js';
import { OnnxarError } from './error.js';
import { builtin, type Openable } from './source.js';

/** What is needed of onnxruntime-web and onnxruntime-node. */
export interface Runtime<Session> {
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<Session> };
  readonly env: { readonly versions: object; readonly wasm?: { readonly proxy?: boolean } };
}

export interface SessionOptions {
  /** Which model of the archive: `__MODEL_PROTO`, or one of its graphs. */
  graph?: string;
  /** How the archive is opened; not for an archive that is open already. */
  open?: OpenOptions;
  /** Called while weights are read, with bytes. Not for files that onnxruntime-node maps. */
  onProgress?: (read: number, total: number) => void;
  /** Options of the runtime. */
  session?: object;
}

interface External {
  path: string;
  data: Uint8Array | Blob;
}

/**
 * Makes a session of an archive. Weights are read when the runtime asks for them, one at a time, and are not kept:
 *
 * - onnxruntime-node maps them, if the archive is a file (a `file:` URL);
 * - a build of onnxruntime-web with JSPI reads them as streams;
 * - other builds wait for each: in a worker, or from a Blob or URL in a window (which does not react meanwhile).
 *
 * Elsewhere, and if the runtime runs in a proxy worker, they are read before the session is made.
 */
export async function createSession<Session>(
  ort: Runtime<Session>,
  source: Openable | Archive,
  options: SessionOptions = {},
): Promise<Session> {
  const archive = source instanceof Archive ? source : await open(source, options.open);
  try {
    return await new Feed(ort, archive, options).session();
  } finally {
    if (archive !== source) await archive.close();
  }
}

class Feed<Session> {
  readonly #ort: Runtime<Session>;
  readonly #archive: Archive;
  readonly #options: SessionOptions;
  readonly #sizes: Map<string, number>;
  #read = 0;
  #total = 0;

  constructor(ort: Runtime<Session>, archive: Archive, options: SessionOptions) {
    this.#ort = ort;
    this.#archive = archive;
    this.#options = options;
    this.#sizes = new Map(archive.entries.map(({ name, size }) => [name, size]));
  }

  async session(): Promise<Session> {
    const isNode = 'node' in this.#ort.env.versions && !('web' in this.#ort.env.versions);
    if (isNode && this.#archive.source.path !== undefined) return this.#mapped(this.#archive.source.path);
    const names = new Set<string>();
    const model = await this.#archive.rewrite(this.#options.graph ?? MODEL, (tensor) => {
      this.#total += names.has(tensor.entry!) ? 0 : this.#sizeOf(tensor.entry!);
      names.add(tensor.entry!);
      return Promise.resolve({ location: tensor.entry!, begin: 0 });
    });
    if (isNode || this.#ort.env.wasm?.proxy) return this.#create(model, await this.#whole([...names]));
    return this.#lazy(model, [...names]);
  }

  /** A link in memory; the runtime maps the weights out of the file in this folder. */
  async #mapped(path: string): Promise<Session> {
    const { dirname, basename } = builtin<{ dirname(path: string): string; basename(path: string): string }>('path')!;
    const linkOptions = this.#options.graph === undefined ? {} : { graph: this.#options.graph };
    const link = await this.#archive.link(basename(path), linkOptions);
    const given = (this.#options.session ?? {}) as { extra?: { session?: object } };
    const folder = { model_external_initializers_file_folder_path: dirname(path) };
    const extra = { ...given.extra, session: { ...given.extra?.session, ...folder } };
    return this.#ort.InferenceSession.create(link, { ...given, extra });
  }

  /** Blobs at first. A build without JSPI asks one for all of its bytes before it does anything else. */
  async #lazy(model: Uint8Array, names: string[]): Promise<Session> {
    let isAsked = false;
    const blobs = names.map((path) => ({
      path,
      data: new EntryBlob(this.#archive, path, this.#sizeOf(path), this.#count, () => (isAsked = true)),
    }));
    try {
      return await this.#create(model, blobs);
    } catch (error) {
      if (!isAsked) throw error;
    }
    return this.#create(model, await this.#views(names));
  }

  async #views(names: string[]): Promise<External[]> {
    const { source } = this.#archive;
    const isSync = names.length > 0 && source.readSync?.(0, 1) !== undefined;
    if (!isSync) return this.#whole(names);
    const read = (begin: number, end: number): Uint8Array => {
      this.#count(end - begin);
      return source.readSync!(begin, end)!;
    };
    const made: External[] = [];
    for (const path of names) {
      made.push({ path, data: entryView(read, await this.#archive.offset(path), this.#sizeOf(path)) });
    }
    return made;
  }

  async #whole(names: string[]): Promise<External[]> {
    const made: External[] = [];
    for (const path of names) {
      made.push({ path, data: await this.#archive.bytes(path) });
      this.#count(this.#sizeOf(path));
    }
    return made;
  }

  #create(model: Uint8Array, externalData: External[]): Promise<Session> {
    const given = (this.#options.session ?? {}) as { externalData?: External[] };
    const all = [...(given.externalData ?? []), ...externalData];
    return this.#ort.InferenceSession.create(model, { ...given, externalData: all });
  }

  #sizeOf(name: string): number {
    return this.#sizes.get(name)!;
  }

  #count = (bytes: number): void => {
    this.#read += bytes;
    this.#options.onProgress?.(Math.min(this.#read, this.#total), this.#total);
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
    return Object.assign(new Blob(), { stream }) as Blob;
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
