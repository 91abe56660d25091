// What is in a model, without its weights: from a URL, with at most three requests, or a Blob. One file that imports
// nothing. It shows what a file says and proves little of it: `open` is the reader that refuses what is damaged.

/** As in safetensors; types that it does not have are named in the same way (`U4`, `C64`, `STRING`). */
export type Dtype = string;

export interface TensorInfo {
  dtype: Dtype;
  /** Beyond 2^53 not exact. */
  shape: number[];
  /** Where the data is: the entry of the archive, or the file beside the model. Absent if it is in the model. */
  location?: string;
  /** In the entry or file, in bytes. */
  data_offsets?: [begin: number, end: number];
}

export interface ValueInfo {
  name: string;
  dtype: Dtype;
  /** Names are dimensions that inputs choose; '?' has no name. Absent if the model does not say a shape. */
  shape?: (number | string)[];
}

export interface GraphMetadata {
  /** `__MODEL_PROTO`, and `decoder.onnx` and the like of a family; '' for a plain model. */
  name: string;
  /** Bytes of the model, without data that is elsewhere. */
  size: number;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  opsets: Record<string, number>;
  producer: string;
  /** The initializers by name, also those of subgraphs. */
  header: { __metadata__: Record<string, string> } & Record<string, TensorInfo>;
  parameterCount: Record<Dtype, number>;
  parameterTotal: number;
}

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

/** Reads the metadata of an archive, or of a plain model whose external data is not read. */
export async function parseOnnxMetadata(
  from: string | URL | Blob,
  options: MetadataOptions = {},
): Promise<OnnxMetadata> {
  const file = await (from instanceof Blob ? fileOf(from) : fileAt(String(from), options));
  const most = options.maxModelSize ?? 2 ** 29;
  try {
    const isZip = text(file.first.subarray(0, 4)) === 'PK\x03\x04';
    return isZip ? await ofArchive(file, most) : summary(file, 'onnx', [readModel('', await file.whole(most))]);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    const what = `${error.message}; it is damaged, or neither an ONNX model nor an archive of one`;
    throw new Error(`${file.name}: ${what}`, { cause: error });
  }
}

class Damage extends Error {}

function expect(kept: boolean, what: string): asserts kept {
  if (!kept) throw new Damage(what);
}

// --- files -----------------------------------------------------------------------------------------------------------

type Bytes = Uint8Array<ArrayBuffer>;

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
  const read = (begin: number, end: number): Promise<Bytes> => joined([blob.slice(begin, end)]);
  const whole = (most: number): Promise<Bytes> => (fits(name, blob.size, most), read(0, blob.size));
  return { name, size: blob.size, first: await read(0, 4), read, whole };
}

function fits(name: string, size: number, most: number): void {
  if (size > most) throw new Error(`${name}: ${size} bytes would have to be read; pack it, or raise maxModelSize`);
}

/** A range of the whole file is asked for first, and broken off if it is an archive: its length is the file's. */
async function fileAt(url: string, { fetch: own, request }: MetadataOptions): Promise<FileLike> {
  const name = url.replace(/[?#].*$/, '').replace(/\/\/[^/]*@/, '//');
  let etag: string | null | undefined;
  let requests = 0;
  const ask = async (range: string): Promise<Response> => {
    if (requests++ === 3) throw new Error(`${name}: its graph is too far from its end for three requests; use onnxar`);
    const headers = new Headers(request?.headers);
    headers.set('Range', `bytes=${range}`);
    const answer = await (own ?? globalThis.fetch)(url, { ...request, headers });
    if (!answer.ok) throw new Error(`${name}: the server answered ${answer.status}; look whether the address is right`);
    if ((etag ??= answer.headers.get('ETag')) !== answer.headers.get('ETag')) {
      throw new Error(`${name} changed while it was read; read it again`);
    }
    return answer;
  };
  const answer = await ask('0-');
  const reader = answer.body!.getReader() as ReadableStreamDefaultReader<Bytes>;
  const pieces: Bytes[] = [];
  let got = 0;
  const next = async (): Promise<boolean> => {
    const { done, value = new Uint8Array(0) } = await reader.read();
    got += value.length;
    return pieces.push(value) > 0 && !done;
  };
  while (got < 4 && (await next()));
  const total = /\/(\d{1,15})$/.exec(answer.headers.get('Content-Range') ?? '')?.[1];
  const size = Number(total ?? answer.headers.get('Content-Length') ?? NaN);
  const whole = async (most: number): Promise<Bytes> => {
    do fits(name, Math.max(got, size || 0), most);
    while (await next());
    return joined(pieces);
  };
  const read = async (begin: number, end: number): Promise<Bytes> => {
    if (!(size > 0)) throw new Error(`${name}: the server does not say its size; download it, and give a Blob`);
    await reader.cancel();
    const part = await ask(`${begin}-${end - 1}`);
    if (part.status !== 206) throw new Error(`${name}: the server sends no ranges; download it, and give a Blob`);
    return new Uint8Array(await part.arrayBuffer());
  };
  return { name, size, first: await joined(pieces), read, whole };
}

const joined = async (pieces: (Bytes | Blob)[]): Promise<Bytes> => new Uint8Array(await new Blob(pieces).arrayBuffer());

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
    [tail, base] = [await joined([more, tail]), begin];
  };
  await extend(Math.max(0, base - TAIL));
  const { count, offset, end } = readEnd(tail, base);
  // Models are before the directory, and it is larger than a MiB: that they have eight times its size is a guess.
  if (offset < base) await extend(Math.max(0, offset - 8 * (end - offset)));
  const entries = readDirectory(tail.subarray(offset - base, end - base), count);
  const models = entries.filter(({ name }) => name === MODEL || /^[^/]+\.onnx$/.test(name));
  await extend(models.reduce((first, { begin }) => Math.min(first, begin), base));
  const graphs = models.reverse().map(({ name, begin, size }) => {
    const [view, at] = [viewOf(tail), begin - base];
    expect(at + 30 <= tail.length, `${name} is not there`);
    const data = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    expect(data + size <= tail.length, `${name} is not there`);
    return readModel(name, tail.subarray(data, data + size));
  });
  expect(graphs[0]?.name === MODEL, `its last entry is not ${MODEL}`);
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
    entries.push({ name: text(bytes.subarray(at + 46, extra)), begin: wide[0] ?? begin, size });
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

// --- models ----------------------------------------------------------------------------------------------------------

const decoder = new TextDecoder();
const text = (bytes: Bytes): string => decoder.decode(bytes);

/** A number has no bytes, and a message or text has the value 0. */
type Field = { number: number; value: number; bytes: Bytes };

function varint(bytes: Bytes, at: number): [value: number, next: number] {
  let value = 0;
  for (let scale = 1; scale < 2 ** 70; scale *= 128) {
    const byte = bytes[at++];
    expect(byte !== undefined, 'a number is cut');
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
  }
  throw new Damage('a number is too long');
}

/** The fields of a message; values of fixed width are passed over. */
function* fields(bytes: Bytes): Generator<Field> {
  for (let at = 0; at < bytes.length;) {
    const [tag, after] = varint(bytes, at);
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    expect(number > 0 && [0, 1, 2, 5].includes(type), 'a field has no number or type');
    const [value, begin] = type === 0 || type === 2 ? varint(bytes, after) : [type === 1 ? 8 : 4, after];
    at = type === 0 ? begin : begin + value;
    expect(at <= bytes.length, 'a field is cut');
    yield { number, value: type === 0 ? value : 0, bytes: bytes.subarray(begin, type === 2 ? at : begin) };
  }
}

const all = (bytes: Bytes, number: number): Bytes[] =>
  [...fields(bytes)].filter((field) => field.number === number).map((field) => field.bytes);
const last = (bytes: Bytes, number: number): Bytes => all(bytes, number).at(-1) ?? new Uint8Array(0);

/** The name of each type, and the bits of an element, by the number of the type. */
const TYPES = (
  'NONE 0 F32 32 U8 8 I8 8 U16 16 I16 16 I32 32 I64 64 STRING 0 BOOL 8 F16 16 F64 64 U32 32 U64 64 C64 64 C128 128 ' +
  'BF16 16 F8_E4M3 8 F8_E4M3FNUZ 8 F8_E5M2 8 F8_E5M2FNUZ 8 U4 4 I4 4 F4 4 F8_E8M0 8 U2 2 I2 2'
).split(' ');
const typeName = (type: number): string => TYPES[2 * type] ?? `TYPE_${type}`;

/** Names of a file may be those that every other object has, such as `constructor`. */
const named = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

type Walk = { made: GraphMetadata; copies: number };

function readModel(name: string, model: Bytes): GraphMetadata {
  const made: GraphMetadata = {
    name,
    size: model.length,
    inputs: [],
    outputs: [],
    opsets: named(),
    producer: text(last(model, 2)),
    header: Object.assign(named<TensorInfo>(), { __metadata__: named<string>() }),
    parameterCount: {},
    parameterTotal: 0,
  };
  for (const opset of all(model, 8)) {
    const version = [...fields(opset)].find(({ number }) => number === 2)?.value ?? 0;
    made.opsets[text(last(opset, 1)) || 'ai.onnx'] = version;
  }
  for (const pair of all(model, 14)) {
    try {
      made.header.__metadata__[text(last(pair, 1))] = text(last(pair, 2));
    } catch {
      continue; // the reader passes over a damaged one, too
    }
  }
  const graph = all(model, 7).at(-1);
  expect(graph !== undefined, 'it has no graph');
  readGraph({ made, copies: 1 }, graph, 0);
  made.inputs = made.inputs.filter((input) => !(input.name in made.header)); // IR version 3 names weights there, too
  [made.parameterCount, made.parameterTotal] = counted([made]);
  return made;
}

/** Initializers of a graph and, by way of the attributes of its nodes, of its subgraphs. */
function readGraph(walk: Walk, graph: Bytes, depth: number): void {
  expect(depth < 100, 'its graphs are nested too deep');
  for (const { number, bytes } of fields(graph)) {
    if (number === 1) {
      for (const attribute of all(bytes, 5)) {
        for (const each of [...all(attribute, 6), ...all(attribute, 11)]) readGraph(walk, each, depth + 1);
      }
    }
    if (number === 5) readTensor(walk, bytes);
    if (number === 15) readTensor(walk, last(bytes, 1)); // the values of a sparse one
    if (depth === 0 && number === 11) walk.made.inputs.push(readValue(bytes));
    if (depth === 0 && number === 12) walk.made.outputs.push(readValue(bytes));
  }
}

function readTensor(walk: Walk, tensor: Bytes): void {
  const { header } = walk.made;
  let [name, type, isExternal] = ['', 0, false];
  const shape: number[] = [];
  const link = new Map<string, string>();
  for (const { number, value, bytes } of fields(tensor)) {
    if (number === 1 && bytes.length === 0) shape.push(value);
    else if (number === 1) {
      for (let at = 0; at < bytes.length;) {
        const [dim, next] = varint(bytes, at);
        shape.push(dim);
        at = next;
      }
    } else if (number === 2) type = value;
    else if (number === 8) name = text(bytes);
    else if (number === 13) link.set(text(last(bytes, 1)), text(last(bytes, 2)));
    else if (number === 14) isExternal = value === 1;
  }
  const info: TensorInfo = { dtype: typeName(type), shape };
  if (isExternal) {
    const begin = Number(link.get('offset') ?? 0);
    const length = Number(link.get('length') ?? Math.ceil((elements(shape) * Number(TYPES[2 * type + 1] ?? 0)) / 8));
    expect(begin >= 0 && length >= 0, `the data of ${name} is nowhere`);
    Object.assign(info, { location: link.get('location') ?? '', data_offsets: [begin, begin + length] });
  }
  let key = name;
  while (key in header) key = `${name} (${++walk.copies})`; // of another subgraph
  header[key] = info;
}

const elements = (shape: number[]): number => shape.reduce((product, dim) => product * dim, 1);

function readValue(bytes: Bytes): ValueInfo {
  const name = text(last(bytes, 1));
  const [kind] = [...fields(last(bytes, 2))];
  if (kind?.number !== 1) return { name, dtype: 'OTHER' }; // a sequence, a map and the like
  const dtype = typeName([...fields(kind.bytes)].find(({ number }) => number === 1)?.value ?? 0);
  const [shape] = all(kind.bytes, 2);
  const dim = (one: Bytes): number | string => {
    const [said] = [...fields(one)].filter(({ number }) => number < 3);
    if (!said) return '?';
    return said.number === 1 ? said.value : text(said.bytes) || '?';
  };
  return shape ? { name, dtype, shape: all(shape, 1).map(dim) } : { name, dtype };
}

// --- sums ------------------------------------------------------------------------------------------------------------

const tensorsOf = ({ header }: GraphMetadata): TensorInfo[] =>
  Object.entries(header).flatMap(([name, info]) => (name === '__metadata__' ? [] : [info as TensorInfo]));

function counted(graphs: GraphMetadata[]): [count: Record<Dtype, number>, total: number] {
  const seen = new Set<string>();
  const count: Record<Dtype, number> = {};
  let total = 0;
  for (const { dtype, shape, location, data_offsets } of graphs.flatMap(tensorsOf)) {
    const data = `${location} ${data_offsets?.join()}`;
    if (location !== undefined && seen.has(data)) continue;
    seen.add(data);
    count[dtype] = (count[dtype] ?? 0) + elements(shape);
    total += elements(shape);
  }
  return [count, total];
}

function summary(file: FileLike, format: OnnxMetadata['format'], graphs: GraphMetadata[]): OnnxMetadata {
  const dataFiles = named<number>();
  for (const { location, data_offsets } of graphs.flatMap(tensorsOf)) {
    if (location !== undefined) dataFiles[location] = Math.max(dataFiles[location] ?? 0, data_offsets![1]);
  }
  const [parameterCount, parameterTotal] = counted(graphs);
  const model = graphs.reduce((sum, { size }) => sum + size, 0);
  const data = Object.values(dataFiles).reduce((sum, bytes) => sum + bytes, 0);
  return { format, graphs, parameterCount, parameterTotal, size: { file: file.size, model, data }, dataFiles };
}
