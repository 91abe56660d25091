// What is in a model, without its weights: from a URL, with at most three requests, or a Blob. It shows what a file says
// and proves little of it: `open` is the reader that refuses what is damaged. With outline.ts, it imports nothing else.
import { Damage, MOST_VALUES, Model, counted, decoder, expect, named } from './outline.js';
import type { Bytes, Dtype, GraphMetadata } from './outline.js';

export type { Dtype, GraphMetadata, TensorInfo, ValueInfo } from './outline.js';

export interface OnnxMetadata {
  format: 'onnxar' | 'onnx';
  graphs: GraphMetadata[];
  /** Of all graphs together; data that several of them use counts once. */
  parameterCount: Record<Dtype, number>;
  parameterTotal: number;
  /** Bytes: of the file, of the models in it, and of the data of their tensors, in it or beside it. */
  size: { file: number; model: number; data: number };
  /** The entries or files with data, and how many bytes of them the tensors need. */
  dataFiles: Record<string, number>;
}

export interface MetadataOptions {
  /** Used in the place of the global `fetch`. */
  fetch?: typeof fetch;
  /** Headers, credentials, signal and the like of every request. */
  request?: RequestInit;
  /** Refuse models, or directories and models together, of more bytes (2^29). */
  maxModelSize?: number;
}

const TAIL = 1 << 20;
const MOST_ENTRIES = 2 ** 20;
/** Bytes of an answer that does not say how many it has. */
const MOST_UNSAID = 2 ** 28;
const NO_SIZE = 'the server does not say its size; download it, and give a Blob';

/** Reads the metadata of an archive, or of a plain model whose external data is not read. */
export async function parseOnnxMetadata(
  from: string | URL | Blob,
  options: MetadataOptions = {},
): Promise<OnnxMetadata> {
  const { maxModelSize: most = 2 ** 29 } = options;
  if (!(most >= 0)) throw new Error(`maxModelSize is ${most}; it has to be a number from 0 on`);
  const file = await (from instanceof Blob ? fileOf(from) : fileAt(String(from), options));
  try {
    const isZip = decoder.decode(file.first.subarray(0, 4)) === 'PK\x03\x04';
    if (isZip) return await ofArchive(file, most);
    return summary(file, 'onnx', [new Model('', await file.whole(most), MOST_VALUES)]);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    const what = `${error.message}; it is damaged, or neither an ONNX model nor an archive of one`;
    throw new Error(`${file.name}: ${what}`, { cause: error });
  }
}

// --- files -----------------------------------------------------------------------------------------------------------

interface FileLike {
  name: string;
  size: number;
  /** At least four bytes, if it has so many. */
  first: Bytes;
  read(begin: number, end: number): Promise<Bytes>;
  /** All bytes; for a URL, of the first request. */
  whole(most: number): Promise<Bytes>;
}

async function fileOf(blob: Blob): Promise<FileLike> {
  const name = 'name' in blob ? String(blob.name) : 'the Blob';
  const read = async (begin: number, end: number): Promise<Bytes> =>
    new Uint8Array(await blob.slice(begin, end).arrayBuffer());
  const whole = (most: number): Promise<Bytes> => (fits(name, blob.size, most), read(0, blob.size));
  return { name, size: blob.size, first: await read(0, 4), read, whole };
}

function fits(name: string, size: number, most: number): void {
  if (size > most) throw new Error(`${name}: ${size} bytes would have to be read; pack it, or raise maxModelSize`);
}

/** The bytes of an answer, in memory that grows as they come. */
class Body {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #bytes: Bytes = new Uint8Array(1 << 16);
  size = 0;

  constructor(answer: Response) {
    this.#reader = answer.body?.getReader();
  }

  get bytes(): Bytes {
    return this.#bytes.subarray(0, this.size);
  }

  /** Waits for more bytes; false at the end. */
  async more(): Promise<boolean> {
    const { value } = (await this.#reader?.read()) ?? {};
    if (!value) return false;
    const before = this.bytes;
    const size = this.size + value.length;
    if (size > this.#bytes.length) (this.#bytes = new Uint8Array(Math.max(size, 2 * before.length))).set(before);
    this.#bytes.set(value, this.size);
    this.size = size;
    return true;
  }

  /** Ends the request. */
  async cancel(): Promise<void> {
    await this.#reader?.cancel();
  }
}

/** A range of the whole file is asked for first, and broken off if it is an archive: its length is the file's. */
async function fileAt(url: string, { fetch: own, request }: MetadataOptions): Promise<FileLike> {
  const name = url.replace(/[?#].*$/, '').replace(/\/\/[^/]*@/, '//');
  let etag: string | null | undefined;
  let requests = 0;
  const ask = async (begin: number, end = ''): Promise<Response> => {
    if (requests++ === 3) throw new Error(`${name}: its graph is too far from its end for three requests; use onnxar`);
    const headers = new Headers(request?.headers);
    headers.set('Range', `bytes=${begin}-${end}`);
    const answer = await (own ?? globalThis.fetch)(url, { ...request, headers });
    if (!answer.ok) throw new Error(`${name}: the server answered ${answer.status}; look whether the address is right`);
    if ((etag ??= answer.headers.get('ETag')) !== answer.headers.get('ETag')) {
      throw new Error(`${name} changed while it was read; read it again`);
    }
    const range = answer.headers.get('Content-Range'); // other servers may hide it
    if (range && !range.startsWith(`bytes ${begin}-`)) throw new Error(`${name}: the server sent another range`);
    return answer;
  };
  const answer = await ask(0);
  const body = new Body(answer);
  while (body.size < 4 && (await body.more()));
  const total = /\/(\d{1,15})$/.exec(answer.headers.get('Content-Range') ?? '')?.[1];
  const size = Number(total ?? answer.headers.get('Content-Length') ?? NaN);
  const whole = async (most: number): Promise<Bytes> => {
    do {
      fits(name, Math.max(body.size, size || 0), most);
      if (!(size >= 0) && body.size > MOST_UNSAID) throw new Error(`${name}: ${NO_SIZE}`);
    } while (!(body.size > size && total !== undefined) && (await body.more()));
    if (total === undefined || body.size === size) return body.bytes;
    await body.cancel();
    throw new Error(`${name}: the server sent ${body.size} bytes of ${size}; read it again`);
  };
  const read = async (begin: number, end: number): Promise<Bytes> => {
    if (!(size > 0)) throw new Error(`${name}: ${NO_SIZE}`);
    await body.cancel();
    const part = await ask(begin, String(end - 1));
    if (part.status !== 206) throw new Error(`${name}: the server sends no ranges; download it, and give a Blob`);
    const rest = new Body(part);
    while (rest.size <= end - begin && (await rest.more()));
    if (rest.size > end - begin) await rest.cancel();
    return rest.bytes;
  };
  return { name, size, first: body.bytes.slice(0, 4), read, whole };
}

// --- archives --------------------------------------------------------------------------------------------------------

const MODEL = '__MODEL_PROTO';

/** Asks for the end of the file, and for what is missing of the directory and the models with one more request. */
async function ofArchive(file: FileLike, most: number): Promise<OnnxMetadata> {
  let [tail, base]: [Bytes, number] = [new Uint8Array(0), file.size];
  const extend = async (begin: number): Promise<void> => {
    if (begin >= base) return;
    fits(file.name, base - begin, most);
    const more = await file.read(begin, base);
    expect(more.length === base - begin, 'the server sent another number of bytes than it was asked for');
    const both = new Uint8Array(more.length + tail.length);
    both.set(more);
    both.set(tail, more.length);
    [tail, base] = [both, begin];
  };
  await extend(Math.max(0, base - TAIL));
  const { count, offset, end } = readEnd(tail, base);
  // Models are before the directory, and it is larger than a MiB: that they have eight times its size is a guess.
  if (offset < base) await extend(Math.max(0, offset - 8 * (end - offset)));
  const entries = readDirectory(tail.subarray(offset - base, end - base), count);
  const models = entries.filter(({ name }) => name === MODEL || /[^/]\.onnx$/.test(name));
  await extend(models.reduce((first, { begin }) => Math.min(first, begin), base));
  let [bytes, values] = [0, MOST_VALUES]; // that models may still have
  const graphs = models.reverse().map(({ name, begin, size }) => {
    const [view, at] = [viewOf(tail), begin - base];
    expect(at + 30 <= tail.length, `${name} is not there`);
    const data = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    expect(data + size <= tail.length && (bytes += size) <= tail.length, `${name} is not there`);
    const model = new Model(name, tail.subarray(data, data + size), values);
    values -= model.values;
    return model;
  });
  expect(graphs[0]?.made.name === MODEL, `its last entry is not ${MODEL}`);
  return summary(file, 'onnxar', graphs);
}

const viewOf = (bytes: Bytes): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

function readEnd(tail: Bytes, base: number): { count: number; offset: number; end: number } {
  const view = viewOf(tail);
  const at = tail.length - 22;
  expect(at >= 0 && view.getUint32(at, true) === 0x06054b50, 'it does not end in an end record');
  const is64 = at >= 76 && view.getUint32(at - 20, true) === 0x07064b50;
  const [count, offset] = is64
    ? [Number(view.getBigUint64(at - 76 + 32, true)), Number(view.getBigUint64(at - 76 + 48, true))]
    : [view.getUint16(at + 10, true), view.getUint32(at + 16, true)];
  const end = base + at - (is64 ? 76 : 0);
  expect(offset <= end, 'its directory is not there');
  return { count, offset, end };
}

function readDirectory(bytes: Bytes, count: number): { name: string; begin: number; size: number }[] {
  expect(count <= MOST_ENTRIES, `it has more than ${MOST_ENTRIES} entries`);
  const [view, entries, message] = [viewOf(bytes), [] as ReturnType<typeof readDirectory>, 'its directory is damaged'];
  for (let at = 0, i = 0; i < count; i++) {
    expect(at + 46 <= bytes.length && view.getUint32(at, true) === 0x02014b50, message);
    const extra = at + 46 + view.getUint16(at + 28, true);
    const end = extra + view.getUint16(at + 30, true);
    expect(end <= bytes.length, message);
    const begin = view.getUint32(at + 42, true);
    let size = view.getUint32(at + 24, true);
    const wide = wideOf(bytes.subarray(extra, end));
    if (wide.length >= 3 || size === 0xffffffff) size = wide.splice(0, 2)[0] ?? size; // and the compressed size
    entries.push({ name: decoder.decode(bytes.subarray(at + 46, extra)), begin: wide[0] ?? begin, size });
    at = end + view.getUint16(at + 32, true);
  }
  return entries;
}

/** The numbers of the zip64 field. */
function wideOf(extra: Bytes): number[] {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    const end = at + 4 + view.getUint16(at + 2, true);
    if (view.getUint16(at, true) !== 1 || end > extra.length) continue;
    const count = (end - at - 4) >> 3;
    return Array.from({ length: count }, (_, i) => Number(view.getBigUint64(at + 4 + 8 * i, true)));
  }
  return [];
}

// --- sums ------------------------------------------------------------------------------------------------------------

function summary(file: FileLike, format: OnnxMetadata['format'], models: Model[]): OnnxMetadata {
  const dataFiles = named<number>();
  for (const { tensors } of models) {
    for (const { location, data_offsets } of tensors) {
      if (location !== undefined) dataFiles[location] = Math.max(dataFiles[location] ?? 0, data_offsets![1]);
    }
  }
  const [parameterCount, parameterTotal] = counted(models);
  const graphs = models.map(({ made }) => made);
  const model = graphs.reduce((sum, { size }) => sum + size, 0);
  const data = Object.values(dataFiles).reduce((sum, bytes) => sum + bytes, 0);
  return { format, graphs, parameterCount, parameterTotal, size: { file: file.size, model, data }, dataFiles };
}
