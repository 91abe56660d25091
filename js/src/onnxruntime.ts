// Makes sessions of onnxruntime-web and onnxruntime-node.
import { pause } from './abort.js';
import { Archive, open, type OpenOptions } from './archive.js';
import { MODEL } from './graphs.js';
import { Feed, mappedAt, mapping, unlessReplaced, withExternal } from './feed.js';
import type { OnProgress, RuntimeEnv } from './feed.js';
import type { Openable } from './openable.js';

/** The part of onnxruntime-web and onnxruntime-node that is used. */
export interface Runtime<Session> {
  readonly InferenceSession: { create(model: Uint8Array, options?: object): Promise<Session> };
  readonly env: RuntimeEnv;
}

export interface SessionOptions {
  /** The model of the archive: `__MODEL_PROTO`, or one of its graphs. */
  graph?: string;
  /** How the archive is opened; not for an archive that is open already. */
  open?: OpenOptions;
  /** Receives the number of bytes read, and the total. Not called for files that onnxruntime-node maps. */
  onProgress?: OnProgress;
  /**
   * True if the runtime is a JSPI build of onnxruntime-web 1.30 or newer, which reads Blobs itself. The weights of a
   * Blob, such as a store returns, are then not read ahead, and their CRC-32s are not compared again.
   */
  blobs?: boolean;
  /** Options of the runtime. */
  session?: object;
}

/**
 * Makes a session of an archive. onnxruntime-node maps the weights, if the archive is a file (a `file:` URL). Otherwise
 * they are read before the session is made; for onnxruntime-web, each is freed as soon as the runtime has copied it.
 */
export async function createSession<Session>(
  ort: Runtime<Session>,
  source: Openable | Archive,
  options: SessionOptions = {},
): Promise<Session> {
  const archive = source instanceof Archive ? source : await open(source, options.open);
  try {
    const path = mappedAt(ort.env, archive);
    const made = path === undefined ? fed(ort, archive, options) : mapped(ort, archive, path, options);
    return await unlessReplaced(archive, path, made);
  } finally {
    if (archive !== source) await archive.close();
  }
}

/** Creates the session of a link in memory; the runtime maps the weights from the file. */
async function mapped<Session>(
  ort: Runtime<Session>,
  archive: Archive,
  path: string,
  { graph = MODEL, session }: SessionOptions,
): Promise<Session> {
  const { name, options } = mapping(path, session);
  return ort.InferenceSession.create(await archive.link(name, { graph }), options);
}

async function fed<Session>(
  ort: Runtime<Session>,
  archive: Archive,
  { graph = MODEL, session, onProgress, blobs }: SessionOptions,
): Promise<Session> {
  const feed = new Feed(archive, ort.env, onProgress);
  const model = await feed.model(graph);
  const slices = blobs ? await feed.slices(graph) : undefined;
  if (!slices) await feed.read(graph);
  await pause(0); // in which the engine frees what reading left; while the runtime takes the weights it does not
  return ort.InferenceSession.create(model, withExternal(session, slices ?? feed.externals(graph)));
}
