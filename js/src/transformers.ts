import { open, type Archive, type OpenOptions } from './archive.js';
import { MODEL } from './container.js';
import { Feed, mappedAt, mapping, unlessReplaced, weightsFor, withExternal } from './feed.js';
import type { OnProgress, RuntimeEnv } from './feed.js';
import type { Openable } from './source.js';
import { BLOCK, Wire } from './wire.js';

/** A cache of transformers.js. */
export interface FileCache {
  match(request: string): Promise<unknown>;
  put(request: string, response: Response, onProgress?: unknown): Promise<void>;
}

/** What is needed of `env` of transformers.js. */
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
  /** Called while weights are read, with bytes. Not for files that onnxruntime-node maps. */
  onProgress?: OnProgress;
  /** Options of the runtime. */
  session?: object;
}

/** What `pipeline` and `from_pretrained` take beside the model's name. */
export interface ModelOptions {
  session_options: object;
  use_external_data_format: false;
}

/**
 * Loads a model of transformers.js from one archive: its side files are the files of the model's folder (`config.json`,
 * `tokenizer.json`), and its graphs are the files of `onnx/`. `load` gets the name and the options for `pipeline` or
 * `from_pretrained`, and gives what it made, once all is loaded:
 *
 *     withArchive(env, url, (name, options) => pipeline('text-classification', name, options))
 *
 * A graph `decoder.onnx` is also `onnx/decoder_q4.onnx`, whatever the `dtype`, unless there are graphs for several. The
 * model is every `.onnx` file that no graph is, or only that of its own name, if it has one (`onnxar.model.name`).
 *
 * Until `load` is done, `env.fetch` and `env.customCache` are those of this package, which pass requests for other models
 * on. Files that an archive does not have are not asked for elsewhere, and nothing of it is put into a cache.
 */
export async function withArchive<T>(
  env: Environment,
  source: Openable,
  load: (name: string, options: ModelOptions) => Promise<T>,
  options: LoadOptions = {},
): Promise<T> {
  const archive = await open(source, options.open);
  try {
    const { models, session } = await prepared(env, archive, options);
    const { name, release } = shared(env).add(new Folder(archive, models, await ownName(archive)));
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

/** The models of an archive, and the options with which the runtime finds the weights of all of them. */
async function prepared(
  env: Environment,
  archive: Archive,
  { session, onProgress }: LoadOptions,
): Promise<{ models: Map<string, Uint8Array<ArrayBuffer>>; session: object }> {
  const ort = env.backends.onnx;
  const path = mappedAt(ort, archive);
  const file = path === undefined ? undefined : mapping(path, session);
  const feed = new Feed(archive, onProgress);
  const models = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const graph of archive.graphs()) {
    models.set(graph, await (file ? archive.link(file.name, { graph }) : feed.model(graph)));
  }
  if (file) return { models, session: file.options };
  return { models, session: withExternal(session, await weightsFor(ort, feed)) };
}

// --- files -----------------------------------------------------------------------------------------------------------

const DTYPE = /_(fp16|int8|uint8|quantized|q[124](f16)?|bnb4)$/;

/** The files that transformers.js finds in an archive. */
class Folder {
  readonly #archive: Archive;
  readonly #models: Map<string, Uint8Array<ArrayBuffer>>;
  /** The names of files without `.onnx`, and the graphs that they are. */
  readonly #graphs: Map<string, string>;
  readonly #hasName: boolean;

  constructor(archive: Archive, models: Map<string, Uint8Array<ArrayBuffer>>, ownName: string | undefined) {
    this.#archive = archive;
    this.#models = models;
    this.#hasName = ownName !== undefined;
    const others = archive.graphs().filter((graph) => graph !== MODEL);
    this.#graphs = new Map(others.map((graph) => [graph.slice(0, -'.onnx'.length), graph]));
    if (ownName !== undefined) this.#graphs.set(ownName, MODEL);
  }

  /** A file, which is read when its body is; undefined if it is not there. */
  answer(file: string): Response | undefined {
    const model = this.#models.get(this.#graphOf(file) ?? '');
    if (model) return answer(model, model.length);
    const entry = this.#archive.entries.find(({ name }) => name === file);
    return entry && answer(this.#archive.stream(file), entry.size);
  }

  #graphOf(file: string): string | undefined {
    const [, name] = /([^/]+)\.onnx$/.exec(file) ?? [];
    if (name === undefined) return undefined;
    const exact = this.#graphs.get(name);
    if (exact !== undefined) return exact;
    const similar = [...this.#graphs].filter(([other]) => other.replace(DTYPE, '') === name.replace(DTYPE, ''));
    if (similar.length > 0) return similar.length === 1 ? similar[0]![1] : undefined;
    return this.#hasName ? undefined : MODEL;
  }
}

/** What the model would be called as a graph (G4). */
async function ownName(archive: Archive): Promise<string | undefined> {
  const wire = new Wire(await archive.bytes(MODEL), 0, MODEL);
  for (const field of wire.fields(0, wire.bytes.length)) {
    const [key, value] = field.number === 14 && field.type === BLOCK ? wire.anyPair(field) : [];
    if (key === 'onnxar.model.name') return value;
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

  /** Each load has a name of its own: transformers.js remembers files by the name of their model. */
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
    return Promise.resolve(found.folder.answer(found.file) ?? new Response(null, { status: 404 }));
  };

  /** The archive and the file that a path or URL of transformers.js means. */
  #find(request: string): { folder: Folder; file: string } | undefined {
    const [, name = '', rest = ''] = /(onnxar\/archive-\d+)(\/.+)$/.exec(request) ?? [];
    const folder = this.#folders.get(name);
    if (!folder) return undefined;
    const remote = this.#env.remotePathTemplate.replace(/^.*{model}/, '').replace('{revision}', 'main');
    return { folder, file: rest.startsWith(remote) ? rest.slice(remote.length) : rest.slice(1) };
  }
}

/** Where transformers.js keeps other files meanwhile; in memory, if that is the file system, which it does not share. */
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
