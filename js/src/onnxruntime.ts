import { Archive, open, type OpenOptions } from './archive.js';
import { MODEL } from './container.js';
import { Feed, isNode, mapping, withExternal, type OnProgress, type RuntimeEnv } from './feed.js';
import type { Openable } from './source.js';

/** What is needed of onnxruntime-web and onnxruntime-node. */
export interface Runtime<Session> {
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<Session> };
  readonly env: RuntimeEnv;
}

export interface SessionOptions {
  /** Which model of the archive: `__MODEL_PROTO`, or one of its graphs. */
  graph?: string;
  /** How the archive is opened; not for an archive that is open already. */
  open?: OpenOptions;
  /** Called while weights are read, with bytes. Not for files that onnxruntime-node maps. */
  onProgress?: OnProgress;
  /** Options of the runtime. */
  session?: object;
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
    return await (isNode(ort.env) && archive.source.path !== undefined
      ? mapped(ort, archive, archive.source.path, options)
      : fed(ort, archive, options));
  } finally {
    if (archive !== source) await archive.close();
  }
}

/** A link in memory; the runtime maps the weights out of the file. */
async function mapped<Session>(
  ort: Runtime<Session>,
  archive: Archive,
  path: string,
  { graph = MODEL, session }: SessionOptions,
): Promise<Session> {
  const { name, options } = mapping(path, session);
  return ort.InferenceSession.create(await archive.link(name, { graph }), options);
}

/** Blobs at first. A build without JSPI asks one for all of its bytes before it does anything else. */
async function fed<Session>(
  ort: Runtime<Session>,
  archive: Archive,
  { graph = MODEL, session, onProgress }: SessionOptions,
): Promise<Session> {
  const feed = new Feed(archive, onProgress);
  const model = await feed.model(graph);
  const create = ort.InferenceSession.create.bind(ort.InferenceSession);
  if (isNode(ort.env) || ort.env.wasm?.proxy) return create(model, withExternal(session, await feed.whole()));
  let isAsked = false as boolean; // set by a call
  try {
    return await create(
      model,
      withExternal(
        session,
        feed.blobs(() => (isAsked = true)),
      ),
    );
  } catch (error) {
    if (!isAsked) throw error;
  }
  return create(model, withExternal(session, await feed.views()));
}
