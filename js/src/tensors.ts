// Reads the fields of a TensorProto, and finds its bytes.
import { failure, type Rule } from './error.js';
import { BLOCK, FIXED32, FIXED64, VARINT, type Field, type Wire } from './wire.js';

type Type = [name: string, bits: number, field: number, values: number];

/** Types by number, from 1 on: name, bits of an element, field of typed values, values an element in that field (1). */
const TYPES = (
  'float32 32 4,uint8 8 5,int8 8 5,uint16 16 5,int16 16 5,int32 32 5,int64 64 7,string 0 6,bool 8 5,' +
  'float16 16 5,float64 64 10,uint32 32 11,uint64 64 11,complex64 64 4 2,complex128 128 10 2,bfloat16 16 5,' +
  'float8e4m3fn 8 5,float8e4m3fnuz 8 5,float8e5m2 8 5,float8e5m2fnuz 8 5,uint4 4 5,int4 4 5,float4e2m1 4 5,' +
  'float8e8m0 8 5,uint2 2 5,int2 2 5,float6e2m3 6 5,float6e3m2 6 5'
)
  .split(',')
  .map((row): Type => {
    const [name, ...numbers] = row.split(' ');
    const [bits, field, values = 1] = numbers.map(Number);
    return [name!, bits!, field!, values];
  });
const typeOf = (dataType: number): Type | undefined => TYPES[dataType - 1];
const STRING = 8;
const RAW_DATA = 9;

/** A tensor of a model. */
export interface Tensor {
  readonly name: string;
  /** `float32`, `int4`, ...; `type 99` for a number that this reader does not know. */
  readonly type: string;
  /** The number of the type in onnx.proto. */
  readonly dataType: number;
  /** The dimensions; beyond 2^53 not exact. */
  readonly shape: number[];
  /** The entry that has its data; absent if the data is in the model. */
  readonly entry?: string;
  /** The offset of the data in the entry, or else in the model's bytes; absent if it is in typed fields. */
  readonly offset?: number;
  readonly length?: number;
  /** The entry of the model that the tensor is in. */
  readonly graph: string;
}

/**
 * Where runtimes look for the external data of a tensor. For tensors in attributes: nowhere. For tensors in subgraphs,
 * functions and sparse tensors: in files. For tensors in the graph of the model itself: also in memory that was passed
 * by name. A Constant is treated like its graph.
 */
export type Reach = (typeof REACH)[keyof typeof REACH];
export const REACH = { none: 0, file: 1, memory: 2 } as const;

/** A tensor, and where it is in its model. */
export interface Site extends Tensor {
  begin: number;
  end: number;
  reach: Reach;
}

/** The sizes of entries by name. */
export type Sizes = (name: string) => number | undefined;

/** Messages may nest so deep (M6). */
export const DEEPEST = 100;

const KEYS = ['location', 'offset', 'length', 'checksum'];
const MOST_DIMS = 1024;
/** Tensors in memory at the same time, and their dimensions: each takes up to some hundred bytes of memory, and one to four of a model. */
const MOST_VALUES = 2 ** 22;

interface Draft {
  at: number;
  name: string;
  dims: bigint[];
  dataType: number;
  raw: Field | undefined;
  /** How many values each typed field holds. */
  typed: Map<number, number>;
  isLinked: boolean;
  keys: Map<string, string>;
}

/** Reads a tensor. Checks M10 and M17 on the way, and M8 to M21 at the end. */
export function readTensor(wire: Wire, message: Field, depth: number, reach: Reach, graph: string, sizes: Sizes): Site {
  const draft: Draft = {
    at: message.begin,
    name: '',
    dims: [],
    dataType: 0,
    raw: undefined,
    typed: new Map(),
    isLinked: false,
    keys: new Map(),
  };
  for (let at = message.begin; at < message.end;) {
    const field = wire.field(at, message.end);
    at = field.end;
    readField(wire, draft, field, depth);
  }
  const elements = product(draft.dims);
  const size = bytesOf(elements, draft.dataType);
  wire.check('M17', size === undefined || (elements < 1n << 64n && size < 1n << 64n), draft.at);
  addRuns(wire, draft, message);
  const place = draft.isLinked ? readLink(wire, draft, size, graph, sizes) : checkInline(wire, draft, elements, size);
  const shape = draft.dims.map(Number);
  const type = typeOf(draft.dataType)?.[0] ?? `type ${draft.dataType}`;
  const { name, dataType } = draft;
  return { name, type, dataType, shape, ...place, graph, begin: message.begin, end: message.end, reach };
}

function readField(wire: Wire, draft: Draft, field: Field, depth: number): void {
  const { number, type } = field;
  if (number === 1 && (type === VARINT || type === BLOCK)) readDims(wire, draft, field);
  else if (number === 2 && type === VARINT)
    draft.dataType = wire.varint(field.begin, field.end) | 0; // int32
  else if (number === 8 && type === BLOCK) draft.name = wire.text(field);
  else if (number === RAW_DATA && type === BLOCK) draft.raw = field;
  else if (number === 13 && type === BLOCK) readKey(wire, draft, field, depth);
  else if (number === 14 && type === VARINT) {
    const value = wire.varint(field.begin, field.end);
    if (value <= 1) draft.isLinked = value === 1;
  } else if (VALUE[number] === type) addValues(draft, number, 1);
}

/** The typed fields, and the wire type of their values. */
const VALUE: Record<number, number> = { 4: FIXED32, 5: VARINT, 6: BLOCK, 7: VARINT, 10: FIXED64, 11: VARINT };

function addValues(draft: Draft, field: number, count: number): void {
  if (count > 0) draft.typed.set(field, (draft.typed.get(field) ?? 0) + count);
}

/** Counts the values of packed runs, in a second pass: a run may be empty, so there may be too many to keep. */
function addRuns(wire: Wire, draft: Draft, message: Field): void {
  for (let at = message.begin; at < message.end;) {
    const field = wire.field(at, message.end);
    at = field.end;
    const isRun = field.type === BLOCK && field.number in VALUE && VALUE[field.number] !== BLOCK;
    if (isRun) addValues(draft, field.number, countRun(wire, field));
  }
}

/** Reads a dimension, or a packed run of them. */
function readDims(wire: Wire, { dims }: Draft, { at: tag, begin, end }: Field): void {
  for (let at = begin; at < end; at = wire.next) {
    const low = wire.varint(at, end);
    dims.push((BigInt(wire.high) << 32n) | BigInt(low));
    if (wire.high >= 2 ** 31 || dims.length > MOST_DIMS) wire.fail('M17', tag);
  }
}

function readKey(wire: Wire, draft: Draft, field: Field, depth: number): void {
  if (depth >= DEEPEST) wire.fail('M6', field.at);
  const [key, value] = wire.pair(field);
  if (!KEYS.includes(key)) return;
  if (draft.keys.has(key)) wire.fail('M10', field.begin);
  draft.keys.set(key, value);
}

/** Returns the product; beyond 2^80 any such number, which is too many for every type. */
function product(dims: bigint[]): bigint {
  if (dims.includes(0n)) return 0n;
  let count = 1n;
  for (const dim of dims) if (count >> 80n === 0n) count *= dim;
  return count;
}

/** Returns the size of the data; undefined for types whose size the format does not know. */
function bytesOf(elements: bigint, dataType: number): bigint | undefined {
  if (elements === 0n) return 0n;
  const bits = typeOf(dataType)?.[1];
  return bits ? (elements * BigInt(bits) + 7n) / 8n : undefined;
}

function countRun(wire: Wire, run: Field): number {
  const width = { 4: 4, 10: 8 }[run.number];
  if (width === undefined) {
    let count = 0;
    for (let at = run.begin; at < run.end; at = wire.next, count++) wire.varint(at, run.end);
    return count;
  }
  if ((run.end - run.begin) % width !== 0) wire.fail('M2', run.at);
  return (run.end - run.begin) / width;
}

type Place = Pick<Tensor, 'entry' | 'offset' | 'length'>;

/** Checks M8 to M16, M18, M19 and G6. */
function readLink(wire: Wire, draft: Draft, size: bigint | undefined, graph: string, sizes: Sizes): Place {
  const check = (rule: Rule, isKept: boolean): void => wire.check(rule, isKept, draft.at);
  const { keys } = draft;
  check('M19', draft.dataType !== 0);
  check('M15', draft.dataType !== STRING);
  check('M16', !draft.raw && draft.typed.size === 0);
  const entry = keys.get('location') ?? '';
  check('M8', entry !== '');
  check('M14', !entry.startsWith('*/_ORT_') && !entry.startsWith('#onnxar:'));
  const offset = plainDecimal(keys.get('offset') ?? '0');
  check('M11', offset !== undefined);
  const text = keys.get('length');
  const stated = text === undefined ? size : plainDecimal(text);
  check('M12', text === undefined || stated !== undefined);
  check('M18', size === undefined || size === stated);
  const room = sizes(entry);
  wire.check('M9', room !== undefined, draft.at, `a linked tensor names the missing entry ${JSON.stringify(entry)}`);
  const rest = BigInt(room) - offset!;
  const length = stated ?? (rest > 0n ? rest : 0n);
  check('M13', offset! + length <= BigInt(room));
  const folder = graph.slice(0, graph.lastIndexOf('/') + 1);
  check('G6', folder === '' || sizes(folder + entry) === undefined);
  return { entry, offset: Number(offset), length: Number(length) };
}

function plainDecimal(text: string): bigint | undefined {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < 1n << 64n ? value : undefined;
}

/** Checks M18 to M21 for a tensor that is not linked. */
function checkInline(wire: Wire, draft: Draft, elements: bigint, size: bigint | undefined): Place {
  const check = (rule: Rule, isKept: boolean): void => wire.check(rule, isKept, draft.at);
  check('M19', draft.dataType !== 0);
  const raw = draft.raw && draft.raw.end - draft.raw.begin;
  const held = raw ? [RAW_DATA, ...draft.typed.keys()] : [...draft.typed.keys()];
  check('M20', held.length <= 1);
  const [, bits, own, values = 1] = typeOf(draft.dataType) ?? [];
  for (const field of own ? held : []) check('M21', field === own || (field === RAW_DATA && own !== 6));
  check('M18', elements !== 0n || held.length === 0);
  check('M18', raw === undefined || size === undefined || BigInt(raw) >= size);
  const needed = bits === 2 || bits === 4 ? size! : elements * BigInt(values); // a value a byte, or some an element
  check('M18', own === undefined || !held.includes(own) || BigInt(draft.typed.get(own)!) >= needed);
  if (!raw) return elements === 0n ? { offset: 0, length: 0 } : {};
  return { offset: draft.raw!.begin, length: size === undefined ? raw : Number(size) };
}

/** Returns a function that adds tensors. It throws if there are too many for memory. */
export function keeping<T extends Tensor>(tensors: T[]): (tensor: T) => void {
  let values = 0;
  return (tensor) => {
    values += 1 + tensor.shape.length;
    const what = `the model has more than ${MOST_VALUES} tensors and dimensions`;
    if (values > MOST_VALUES) throw failure('onnx.model.expansion', what, tensor.graph);
    tensors.push(tensor);
  };
}
