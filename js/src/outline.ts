// The tensors, inputs and outputs that the bytes of a model name.
import { isConstant } from './graphs.js';
import { BLOCK, VARINT, Wire, type Field, type Range } from './wire.js';

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
  /** A text names a dimension whose size the inputs choose, or is '?'. Absent if the model does not say a shape. */
  shape?: (number | string)[];
}

export interface GraphMetadata {
  /** `__MODEL_PROTO` or, in a family, a name such as `decoder.onnx`; '' for a plain model. */
  name: string;
  /** Bytes of the model, without data that is elsewhere. */
  size: number;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  opsets: Record<string, number>;
  producer: string;
  /** The initializers by name, and the values of Constant nodes by the name of the output, also those of subgraphs. */
  header: { __metadata__: Record<string, string> } & Record<string, TensorInfo>;
  parameterCount: Record<Dtype, number>;
  parameterTotal: number;
}

/** Thrown if a file is not a model or an archive. */
export class Unreadable extends Error {}

export function expect(isKept: boolean, what: string): asserts isKept {
  if (!isKept) throw new Unreadable(what);
}

/** The most tensors, inputs, outputs, dimensions, opsets and pairs of all graphs together. */
export const MOST_VALUES = 2 ** 20;

/** The name of each type, and the bits of an element, by the number of the type. */
const TYPES = (
  'NONE 0 F32 32 U8 8 I8 8 U16 16 I16 16 I32 32 I64 64 STRING 0 BOOL 8 F16 16 F64 64 U32 32 U64 64 C64 64 C128 128 ' +
  'BF16 16 F8_E4M3 8 F8_E4M3FNUZ 8 F8_E5M2 8 F8_E5M2FNUZ 8 U4 4 I4 4 F4 4 F8_E8M0 8 U2 2 I2 2 F6_E2M3 6 F6_E3M2 6'
).split(' ');
const typeName = (type: number): string => TYPES[2 * type] ?? `TYPE_${type}`;

/** The fields of a type; only one is set: tensor, sequence, map, opaque, sparse tensor, optional. */
const KINDS = [1, 4, 5, 7, 8, 9];

/** Returns an object without a prototype: names of a file may be `constructor`, or others that every object has. */
export const named = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** Reads a model in one pass, with memory only for what it finds. */
export class Model {
  readonly made: GraphMetadata;
  /** In the order of the file. */
  readonly tensors: TensorInfo[] = [];
  /** The number of values that are kept: each takes up to some hundred bytes of memory, and as little as one of the model. */
  values = 0;
  readonly #wire: Wire;
  readonly #most: number;
  /** The names of the initializers of the graph itself. */
  readonly #weights = new Set<string>();
  #copies = 1;

  constructor(name: string, bytes: Uint8Array, most: number) {
    [this.#wire, this.#most] = [new Wire(bytes), most];
    const header = Object.assign(named<TensorInfo>(), { __metadata__: named<string>() });
    const sides = { inputs: [], outputs: [], opsets: named<number>(), producer: '' };
    this.made = { name, size: bytes.length, ...sides, header, parameterCount: {}, parameterTotal: 0 };
    const graphs: Field[] = []; // of several, all fields count
    for (const field of this.#blocks({ begin: 0, end: bytes.length })) {
      if (field.number === 2) this.made.producer = this.#wire.text(field);
      if (field.number === 7 && graphs.push(field) > 1) this.#count();
      if (field.number === 8) this.#readOpset(field);
      if (field.number === 14) this.#readProperty(field);
    }
    expect(graphs.length > 0, 'it has no graph');
    for (const graph of graphs) this.#readGraph(graph, 0);
    this.made.inputs = this.made.inputs.filter(({ name }) => !this.#weights.has(name)); // IR version 3 names weights there, too
    [this.made.parameterCount, this.made.parameterTotal] = counted([this]);
  }

  /** Returns the fields of a message that are texts or messages one after the other. */
  *#blocks(message: Range): Generator<Field> {
    for (const field of this.#wire.fields(message)) if (field.type === BLOCK) yield field;
  }

  /** Returns a number with its sign. Beyond 2^53 it is not exact. */
  #int64(at: number, end: number): number {
    const low = this.#wire.varint(at, end);
    return (this.#wire.high | 0) * 2 ** 32 + low;
  }

  #readOpset(opset: Range): void {
    let [domain, version] = ['', 0];
    for (const field of this.#wire.fields(opset)) {
      if (field.number === 1 && field.type === BLOCK) domain = this.#wire.text(field);
      if (field.number === 2 && field.type === VARINT) version = this.#int64(field.begin, field.end);
    }
    this.#keep(this.made.opsets, domain || 'ai.onnx', version);
  }

  /** Reads a pair. Ignores a damaged one, as the reader does. */
  #readProperty(field: Range): void {
    const pair = this.#wire.anyPair(field);
    if (pair) this.#keep(this.made.header.__metadata__, ...pair);
  }

  #keep<T>(into: Record<string, T>, key: string, value: T): void {
    if (!(key in into)) this.#count();
    into[key] = value;
  }

  #count(): void {
    expect(++this.values <= this.#most, `it has more than ${MOST_VALUES} tensors, dimensions and other values`);
  }

  /** Reads initializers, values of Constant nodes, and those of subgraphs, which are in attributes of nodes. */
  #readGraph(graph: Range, depth: number): void {
    expect(depth < 100, 'its graphs are nested too deep');
    for (const field of this.#blocks(graph)) {
      if (field.number === 1) this.#readNode(field, depth);
      if (field.number === 5) this.#readTensor(field, depth);
      if (field.number === 15) this.#readSparse(field, depth);
      if (depth === 0 && field.number === 11) this.made.inputs.push(this.#readValue(field));
      if (depth === 0 && field.number === 12) this.made.outputs.push(this.#readValue(field));
    }
  }

  /** Reads a node twice, because the operator may follow the attributes, which may be too many to keep. */
  #readNode(node: Range, depth: number): void {
    let [output, operator, domain] = ['', '', '']; // the last of each
    for (const field of this.#blocks(node)) {
      if (field.number === 2) output = this.#wire.text(field);
      if (field.number === 4) operator = this.#wire.text(field);
      if (field.number === 7) domain = this.#wire.text(field);
    }
    for (const attribute of this.#blocks(node)) {
      if (attribute.number !== 5) continue;
      for (const field of this.#blocks(attribute)) {
        if (field.number === 6 || field.number === 11) this.#readGraph(field, depth + 1);
        if (field.number === 5 && isConstant(operator, domain)) this.#readTensor(field, depth, output);
      }
    }
  }

  /** Reads the values of a sparse tensor. */
  #readSparse(sparse: Range, depth: number): void {
    let values: Range = { begin: 0, end: 0 };
    for (const field of this.#blocks(sparse)) if (field.number === 1) values = field;
    this.#readTensor(values, depth);
  }

  /** Reads a tensor. `output` is that of the Constant node whose value it is: nodes refer to it by that name. */
  #readTensor(tensor: Range, depth: number, output = ''): void {
    this.#count();
    let [name, type, isExternal] = ['', 0, false];
    const shape: number[] = [];
    const link: Link = { location: '', offset: '0', length: undefined };
    for (const field of this.#wire.fields(tensor)) {
      const [number, isBlock] = [field.number, field.type === BLOCK];
      if (number === 1 && (isBlock || field.type === VARINT)) this.#readDims(field, shape);
      if (number === 8 && isBlock) name = this.#wire.text(field);
      if (number === 13 && isBlock) this.#readKey(field, link);
      const value = field.type === VARINT ? this.#wire.varint(field.begin, field.end) : NaN;
      if (number === 2 && value >= 0) type = value | 0; // int32
      if (number === 14 && value <= 1) isExternal = value === 1;
    }
    const info: TensorInfo = { dtype: typeName(type), shape };
    if (isExternal) Object.assign(info, placeOf(name, link, elements(shape) * Number(TYPES[2 * type + 1] ?? 0)));
    this.#add(info, output || name, depth);
  }

  #add(info: TensorInfo, name: string, depth: number): void {
    const { header } = this.made;
    if (depth === 0) this.#weights.add(name);
    let key = name;
    while (key in header) key = `${name} (${++this.#copies})`; // of another subgraph
    header[key] = info;
    this.tensors.push(info);
  }

  #readKey(field: Range, link: Link): void {
    const [key = '', text] = this.#wire.anyPair(field) ?? [];
    if (Object.hasOwn(link, key)) link[key] = text;
  }

  /** Reads a dimension, or a packed run of them. */
  #readDims({ begin, end }: Range, shape: number[]): void {
    for (let at = begin; at < end; at = this.#wire.next) {
      this.#count();
      const dim = this.#int64(at, end);
      expect(dim >= 0, 'a dimension of a tensor is negative');
      shape.push(dim);
    }
  }

  #readValue(value: Range): ValueInfo {
    this.#count();
    let made: ValueInfo = { name: '', dtype: 'OTHER' }; // a sequence or a map
    for (const field of this.#blocks(value)) {
      if (field.number === 1) made.name = this.#wire.text(field);
      if (field.number !== 2) continue;
      for (const kind of this.#blocks(field)) {
        if (!KINDS.includes(kind.number)) continue;
        if (kind.number !== 1) made = { name: made.name, dtype: 'OTHER' };
        else if (made.dtype === 'OTHER') made.dtype = typeName(0);
        if (kind.number === 1) this.#readTensorType(kind, made); // of several, all fields count
      }
    }
    return made;
  }

  #readTensorType(type: Range, made: ValueInfo): void {
    for (const field of this.#wire.fields(type)) {
      if (field.number === 1 && field.type === VARINT)
        made.dtype = typeName(this.#wire.varint(field.begin, field.end) | 0);
      if (field.number === 2 && field.type === BLOCK) made.shape = [...(made.shape ?? []), ...this.#readShape(field)];
    }
  }

  #readShape(dims: Range): (number | string)[] {
    const shape: (number | string)[] = [];
    for (const dim of this.#blocks(dims)) {
      if (dim.number !== 1) continue;
      this.#count();
      let value: number | string = '?';
      for (const field of this.#wire.fields(dim)) {
        if (field.number === 1 && field.type === VARINT) value = this.#int64(field.begin, field.end);
        if (field.number === 2 && field.type === BLOCK) value = this.#wire.text(field) || '?';
      }
      shape.push(value);
    }
    return shape;
  }
}

type Link = Record<string, string | undefined>;

function placeOf(name: string, { location, offset, length }: Link, bits: number): Partial<TensorInfo> {
  const [begin, size] = [Number(offset), length === undefined ? Math.ceil(bits / 8) : Number(length)];
  expect(begin >= 0 && size >= 0, `the data of ${name} is nowhere`);
  return { location: location!, data_offsets: [begin, begin + size] };
}

const elements = (shape: number[]): number =>
  shape.includes(0) ? 0 : shape.reduce((product, dim) => product * dim, 1);

/** Returns the number of parameters (initializers and values of Constant nodes), by type and in total. Shared data counts once. */
export function counted(models: Model[]): [count: Record<Dtype, number>, total: number] {
  const seen = new Set<string>();
  const count: Record<Dtype, number> = {};
  let total = 0;
  for (const { tensors } of models) {
    for (const { dtype, shape, location, data_offsets } of tensors) {
      if (location !== undefined) {
        const data = `${data_offsets!.join()} ${location}`;
        if (seen.has(data)) continue; // that another tensor also has
        seen.add(data);
      }
      const parameters = elements(shape);
      count[dtype] = (count[dtype] ?? 0) + parameters;
      total += parameters;
    }
  }
  return [count, total];
}
