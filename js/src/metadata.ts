// Metadata of a model, without its weights: from a URL, with at most three requests, or a Blob. It shows what a file says
// and proves little of it: `open` is the reader that refuses what is damaged. It uses no function that throws OnnxarError,
// whose table of rules would make up half of a page that imports only this.
import { MODEL, isGraph } from './graphs.js';
import type { Rule } from './error.js';
import { MOST_VALUES, Model, Unreadable, counted, expect, named } from './outline.js';
import type { Dtype, GraphMetadata } from './outline.js';
import { FileView } from './file_view.js';
import { Damage, decoder, join, type Range } from './wire.js';
import * as zip from './zip.js';

export type { Dtype, GraphMetadata, TensorInfo, ValueInfo } from './outline.js';

export interface OnnxMetadata {
  format: 'onnxar' | 'onnx';
  graphs: GraphMetadata[];
  /** The number of parameters of all graphs; shared data counts once. */
  parameterCount: Record<Dtype, number>;
  parameterTotal: number;
  /** Bytes: of the file, of the models in it, and of the data of their tensors, in it or beside it. */
  size: { file: number; model: number; data: number };
  /** The entries or files with data, and how many bytes of them the tensors need. */
  dataFiles: Record<string, number>;
}

export interface MetadataOptions {
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Options of every request, such as headers, credentials and signal. */
  request?: RequestInit;
  /** Refuse a model, or a directory and its models together, of more bytes than this (2^29). */
  maxModelSize?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

const TAIL = 1 << 20;
const MOST_ENTRIES = 2 ** 20;
/** Bytes of an answer that does not say how many it has. */
const MOST_UNSAID = 2 ** 28;
const DAMAGED_DIRECTORY = 'its directory is damaged';
const NO_SIZE = 'the server does not say its size; download it, and pass a Blob';

/** The rules of the wire format in words; the others are about tags. */
const BREACHES: Partial<Record<Rule, string>> = { M2: 'a field is cut', M3: 'a number is too long' };

/** Reads the metadata of an archive, or of a plain model whose external data is not read. */
export async function parseOnnxMetadata(
  from: string | URL | Blob,
  options: MetadataOptions = {},
): Promise<OnnxMetadata> {
  const { maxModelSize: most = 2 ** 29 } = options;
  if (!(most >= 0)) throw new Error(`maxModelSize is ${most}; it must be a number from 0 on`);
  const file = await (from instanceof Blob ? fileOf(from) : fileAt(String(from), options));
  try {
    const isZip = decoder.decode(file.first.subarray(0, 4)) === 'PK\x03\x04';
    if (isZip) return await ofArchive(file, most);
    return summary(file, 'onnx', [new Model('', await file.whole(most), MOST_VALUES)]);
  } catch (error) {
    if (!(error instanceof Damage || error instanceof Unreadable)) throw error;
    const what = error instanceof Damage ? (BREACHES[error.rule] ?? 'a field has no number or type') : error.message;
    const kind = 'it is damaged, or neither an ONNX model nor an archive of one';
    throw new Error(`${file.name}: ${what}; ${kind}`, { cause: error });
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
  if (size > most) throw new Error(`${name}: ${size} bytes must be read; pack it, or raise maxModelSize`);
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

/** Requests the whole file as a range, which says its size, and cancels that if it is an archive. */
async function fileAt(url: string, { fetch: own, request }: MetadataOptions): Promise<FileLike> {
  const name = url.replace(/[?#].*$/, '').replace(/\/\/[^/]*@/, '//');
  let etag: string | null | undefined;
  let requests = 0;
  const ask = async (begin: number, end = ''): Promise<Response> => {
    if (requests++ === 3) throw new Error(`${name}: its graph is too far from its end for three requests; use onnxar`);
    const headers = new Headers(request?.headers);
    headers.set('Range', `bytes=${begin}-${end}`);
    const answer = await (own ?? globalThis.fetch)(url, { ...request, headers });
    if (!answer.ok) throw new Error(`${name}: the server answered ${answer.status}; check the address`);
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
    if (part.status !== 206) throw new Error(`${name}: the server sends no ranges; download it, and pass a Blob`);
    const rest = new Body(part);
    while (rest.size <= end - begin && (await rest.more()));
    if (rest.size > end - begin) await rest.cancel();
    return rest.bytes;
  };
  return { name, size, first: body.bytes.slice(0, 4), read, whole };
}

// --- archives --------------------------------------------------------------------------------------------------------

/** Asks for the end of the file, and for what is missing of the directory and the models with one more request. */
async function ofArchive(file: FileLike, most: number): Promise<OnnxMetadata> {
  let tail = new FileView(new Uint8Array(0), file.size);
  const extend = async (begin: number): Promise<void> => {
    if (begin >= tail.base) return;
    fits(file.name, tail.base - begin, most);
    const more = await file.read(begin, tail.base);
    expect(more.length === tail.base - begin, 'the server sent another number of bytes than it was asked for');
    tail = new FileView(join([more, tail.bytes]), begin);
  };
  await extend(Math.max(0, file.size - TAIL));
  const { count, offset, end } = readEnd(tail);
  // Models are before the directory, and it is larger than a MiB: that they have eight times its size is a guess.
  if (offset < tail.base) await extend(Math.max(0, offset - 8 * (end - offset)));
  const entries = readDirectory(new FileView(tail.slice(offset, end), offset), count);
  const models = entries.filter(({ name }) => name === MODEL || isGraph(name));
  await extend(models.reduce((first, { begin }) => Math.min(first, begin), tail.base));
  let [bytes, values] = [0, MOST_VALUES]; // that models may still have
  const graphs = models.reverse().map(({ name, begin, size }) => {
    const missing = `${name} is not there`;
    expect(begin + zip.LOCAL_SIZE <= tail.end, missing);
    const data = zip.statedLocalEnd(tail, begin);
    expect(data + size <= tail.end && (bytes += size) <= tail.bytes.length, missing);
    const model = new Model(name, tail.slice(data, data + size), values);
    values -= model.values;
    return model;
  });
  expect(graphs[0]?.made.name === MODEL, `its last entry is not ${MODEL}`);
  return summary(file, 'onnxar', graphs);
}

function readEnd(file: FileView): { count: number; offset: number; end: number } {
  const at = zip.findEnd(file);
  expect(at !== undefined, 'it does not end in an end record');
  const found = zip.findZip64(file, at);
  const zip64 = found !== undefined && found >= file.base ? found : undefined;
  const { count, offset } = zip64 === undefined ? zip.countsOf(file, at) : zip.zip64CountsOf(file, zip64);
  const end = zip64 ?? at;
  expect(offset <= end, 'its directory is not there');
  return { count: Number(count), offset: Number(offset), end };
}

interface Entry {
  name: string;
  /** Where the local header is. */
  begin: number;
  size: number;
}

/** Returns the entries of the directory that `file` consists of. */
function readDirectory(file: FileView, count: number): Entry[] {
  expect(count <= MOST_ENTRIES, `it has more than ${MOST_ENTRIES} entries`);
  const entries: Entry[] = [];
  for (let at = file.base; entries.length < count;) {
    expect(zip.isHeader(file, at), DAMAGED_DIRECTORY);
    const { name, extra, end } = zip.partsOf(file, at);
    expect(extra.end <= file.end, DAMAGED_DIRECTORY);
    let [size, , begin] = zip.placeOf(file, at);
    const wide = zip64Numbers(file, extra);
    if (wide.length >= 3 || size === zip.NONE_32) size = wide.splice(0, 2)[0] ?? size; // and the compressed size
    begin = wide[0] ?? begin;
    entries.push({ name: decoder.decode(file.slice(name.begin, name.end)), begin, size });
    at = end;
  }
  return entries;
}

/** Returns the numbers of the zip64 field; none if there is no such field. */
function zip64Numbers(file: FileView, extra: Range): number[] {
  for (const field of zip.extraFields(file, extra)) {
    const isWhole = field.id === zip.ZIP64_ID && field.end <= extra.end;
    if (isWhole) return zip.wideNumbers(file, field).map(Number);
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
