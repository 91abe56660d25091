// Makes transformers.js read archives.
import { open, type Archive, type OpenOptions } from './archive.js';
import { MODEL } from './graphs.js';
import { Feed, mappedAt, mapping, unlessReplaced, withExternal } from './feed.js';
import type { OnProgress, RuntimeEnv } from './feed.js';
import type { Openable } from './openable.js';
import { BLOCK, Wire } from './wire.js';

/** A cache of transformers.js. */
export interface FileCache {
  match(request: string): Promise<unknown>;
  put(request: string, response: Response, onProgress?: unknown): Promise<void>;
}

/** The part of `env` of transformers.js that is used. */
export interface Environment {
  fetch(input: string | URL, init?: unknown): Promise<unknown>;
  useCustomCache: boolean;
  customCache: FileCache | null;
  useBrowserCache: boolean;
  cacheKey: string;
  remotePathTemplate: string;
  backends: { onnx: RuntimeEnv };
}

export interface LoadOptions {
  /** How the archive is opened. */
  open?: OpenOptions;
  /** Receives the number of bytes read, and the total. Not called for files that onnxruntime-node maps. */
  onProgress?: OnProgress;
  /** Options of the runtime. */
  session?: object;
}

/** The options that `pipeline` and `from_pretrained` take besides the model's name. */
export interface ModelOptions {
  session_options: object;
  use_external_data_format: false;
}

/**
 * Loads a model of transformers.js from one archive: its side files are the files of the model's folder (`config.json`,
 * `tokenizer.json`), and so are its graphs (`onnx/model_q4.onnx`). `load` gets the name and the options for `pipeline` or
 * `from_pretrained`, and returns what it made, once everything is loaded:
 *
 *     withArchive(env, url, (name, options) => pipeline('text-classification', name, options))
 *
 * Only the weights of requested graphs are read. A graph in the root is found in every folder: a request for
 * `onnx/decoder.onnx` gets `decoder.onnx`. A graph serves every `dtype`, such as `onnx/decoder_q4.onnx`, unless there are
 * graphs for several. The model serves every other `.onnx` file or, if it has a name (`onnxar.model.name`), only the file
 * of that name.
 *
 * Until `load` is done, `env.fetch` and `env.customCache` are those of this package, which pass requests for other models
 * on. Files that the archive lacks are not requested elsewhere, and nothing of the archive is put into a cache.
 */
export async function withArchive<T>(
  env: Environment,
  source: Openable,
  load: (name: string, options: ModelOptions) => Promise<T>,
  options: LoadOptions = {},
): Promise<T> {
  const archive = await open(source, options.open);
  try {
    const { model, session } = prepared(env, archive, options);
    const { name, release } = shared(env).add(new Folder(archive, model, await ownName(archive)));
    try {
      const made = load(name, { session_options: session, use_external_data_format: false });
      return await unlessReplaced(archive, mappedAt(env.backends.onnx, archive), made);
    } finally {
      release();
    }
  } finally {
    await archive.close();
  }
}

/** A model for the runtime, and a call that must end before its session is created. */
interface Model {
  bytes: Uint8Array<ArrayBuffer>;
  read: () => Promise<void>;
}

/** Returns the models of an archive, and the options with which the runtime finds the weights of those that were read. */
function prepared(
  env: Environment,
  archive: Archive,
  { session, onProgress }: LoadOptions,
): { model: (graph: string) => Promise<Model>; session: object } {
  const ort = env.backends.onnx;
  const path = mappedAt(ort, archive);
  if (path !== undefined) {
    const file = mapping(path, session);
    const model = async (graph: string): Promise<Model> => ({
      bytes: await archive.link(file.name, { graph }),
      read: () => Promise.resolve(),
    });
    return { model, session: file.options };
  }
  const feed = new Feed(archive, ort, onProgress);
  const model = async (graph: string): Promise<Model> => ({
    bytes: await feed.model(graph),
    read: () => feed.read(graph),
  });
  return { model, session: withExternal(session, feed.externals()) };
}

// --- files -----------------------------------------------------------------------------------------------------------

const DTYPE = /_(fp16|int8|uint8|quantized|q[124](f16)?|bnb4)$/;

/** The files that transformers.js finds in an archive. */
class Folder {
  readonly #archive: Archive;
  readonly #model: (graph: string) => Promise<Model>;
  readonly #models = new Map<string, Promise<Model>>();
  /** The names of files without `.onnx`, and the graphs that they are. */
  readonly #graphs: Map<string, string>;
  readonly #hasName: boolean;

  constructor(archive: Archive, model: (graph: string) => Promise<Model>, ownName: string | undefined) {
    this.#archive = archive;
    this.#model = model;
    this.#hasName = ownName !== undefined;
    const others = archive.graphs().slice(1);
    this.#graphs = new Map(others.map((graph) => [graph.slice(0, -'.onnx'.length), graph]));
    if (ownName !== undefined) this.#graphs.set(ownName, MODEL);
  }

  /** Returns a file, which is read with its body, a model together with its weights; undefined if there is no such file. */
  async answer(file: string): Promise<Response | undefined> {
    const graph = this.#graphOf(file);
    if (graph === undefined) {
      const entry = this.#archive.entries.find(({ name }) => name === file);
      return entry && answer(this.#archive.stream(file), entry.size);
    }
    const model = this.#models.get(graph) ?? this.#model(graph);
    this.#models.set(graph, model);
    const { bytes, read } = await model;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller): Promise<void> {
          await read();
          controller.enqueue(bytes);
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return answer(body, bytes.length);
  }

  #graphOf(file: string): string | undefined {
    if (!file.endsWith('.onnx')) return undefined;
    const name = file.slice(0, -'.onnx'.length);
    const names = [name, name.slice(name.lastIndexOf('/') + 1)];
    for (const each of names) {
      const exact = this.#graphs.get(each);
      if (exact !== undefined) return exact;
    }
    for (const each of names) {
      const similar = [...this.#graphs].filter(([other]) => other.replace(DTYPE, '') === each.replace(DTYPE, ''));
      if (similar.length > 0) return similar.length === 1 ? similar[0]![1] : undefined;
    }
    return this.#hasName ? undefined : MODEL;
  }
}

/** Returns the name that the model would have as a graph (G4); undefined if it has none. */
async function ownName(archive: Archive): Promise<string | undefined> {
  const wire = new Wire(await archive.bytes(MODEL));
  try {
    for (const field of wire.fields()) {
      const [key, value] = (field.number === 14 && field.type === BLOCK && wire.anyPair(field)) || [];
      if (key === 'onnxar.model.name') return value;
    }
  } catch {
    return undefined; // the model is damaged, which is reported when it is read
  }
  return undefined;
}

function answer(body: BodyInit, size: number): Response {
  return new Response(body, { headers: { 'Content-Length': String(size) } });
}

// --- hooks -----------------------------------------------------------------------------------------------------------

const hooks = new WeakMap<Environment, Hooks>();
let loads = 0;

function shared(env: Environment): Hooks {
  const made = hooks.get(env) ?? new Hooks(env, () => hooks.delete(env));
  hooks.set(env, made);
  return made;
}

/** `fetch` and cache of transformers.js while archives are loaded. */
class Hooks implements FileCache {
  readonly #env: Environment;
  readonly #before: Pick<Environment, 'fetch' | 'useCustomCache' | 'customCache'>;
  readonly #others: Promise<FileCache>;
  readonly #folders = new Map<string, Folder>();
  readonly #onEnd: () => void;

  constructor(env: Environment, onEnd: () => void) {
    const { fetch, useCustomCache, customCache } = env;
    this.#env = env;
    this.#before = { fetch, useCustomCache, customCache };
    this.#others = cacheOf(env);
    this.#onEnd = onEnd;
    Object.assign(env, { fetch: this.#fetch, useCustomCache: true, customCache: this });
  }

  /** Adds a load under a new name: transformers.js remembers files by the name of their model. */
  add(folder: Folder): { name: string; release: () => void } {
    const name = `onnxar/archive-${++loads}`;
    this.#folders.set(name, folder);
    const release = (): void => {
      this.#folders.delete(name);
      if (this.#folders.size > 0) return;
      Object.assign(this.#env, this.#before);
      this.#onEnd();
    };
    return { name, release };
  }

  async match(request: string): Promise<unknown> {
    const found = this.#find(request);
    return found ? found.folder.answer(found.file) : (await this.#others).match(request);
  }

  async put(request: string, response: Response, onProgress?: unknown): Promise<void> {
    if (!this.#find(request)) await (await this.#others).put(request, response, onProgress);
  }

  #fetch = (input: string | URL, init?: unknown): Promise<unknown> => {
    const found = this.#find(String(input));
    if (!found) return this.#before.fetch(input, init);
    return found.folder.answer(found.file).then((file) => file ?? new Response(null, { status: 404 }));
  };

  /** Returns the archive and the file that a path or URL of transformers.js names. */
  #find(request: string): { folder: Folder; file: string } | undefined {
    const [, name = '', rest = ''] = /(onnxar\/archive-\d+)(\/.+)$/.exec(request) ?? [];
    const folder = this.#folders.get(name);
    if (!folder) return undefined;
    const remote = this.#env.remotePathTemplate.replace(/^.*{model}/, '').replace('{revision}', 'main');
    return { folder, file: rest.startsWith(remote) ? rest.slice(remote.length) : rest.slice(1) };
  }
}

/** Returns a cache for other files meanwhile: that of transformers.js, or memory if transformers.js uses the file system, a cache that it does not share. */
async function cacheOf({ useCustomCache, customCache, useBrowserCache, cacheKey }: Environment): Promise<FileCache> {
  if (useCustomCache && customCache) return customCache;
  const kept = new Map<string, Blob>();
  const memory: FileCache = {
    match: (request) => Promise.resolve(kept.has(request) ? new Response(kept.get(request)) : undefined),
    put: async (request, response) => void kept.set(request, await response.blob()),
  };
  if (!useBrowserCache || !('caches' in globalThis)) return memory;
  return caches.open(cacheKey).catch(() => memory);
}
