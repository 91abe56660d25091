// The tensors, inputs and outputs that the bytes of a model name.

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
  /** The initializers by name, and the values of Constant nodes by the name of the output, also those of subgraphs. */
  header: { __metadata__: Record<string, string> } & Record<string, TensorInfo>;
  parameterCount: Record<Dtype, number>;
  parameterTotal: number;
}

/** No Error, which takes long to make: a model may have one damaged pair for every three bytes. */
export class Damage {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function expect(kept: boolean, what: string): asserts kept {
  if (!kept) throw new Damage(what);
}

/** What all graphs together have of what is kept: tensors, inputs, outputs, dimensions, opsets and pairs. */
export const MOST_VALUES = 2 ** 20;

export type Bytes = Uint8Array<ArrayBuffer>;
export const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Gets a field of a message: the range of a text or message, or a number, whose range is empty and begins at -1. */
type OnField = (number: number, begin: number, end: number, value: number) => void;

/** The name of each type, and the bits of an element, by the number of the type. */
const TYPES = (
  'NONE 0 F32 32 U8 8 I8 8 U16 16 I16 16 I32 32 I64 64 STRING 0 BOOL 8 F16 16 F64 64 U32 32 U64 64 C64 64 C128 128 ' +
  'BF16 16 F8_E4M3 8 F8_E4M3FNUZ 8 F8_E5M2 8 F8_E5M2FNUZ 8 U4 4 I4 4 F4 4 F8_E8M0 8 U2 2 I2 2 F6_E2M3 6 F6_E3M2 6'
).split(' ');
const typeName = (type: number): string => TYPES[2 * type] ?? `TYPE_${type}`;

/** The fields of a type; one counts: tensor, sequence, map, opaque, sparse tensor, optional. */
const KINDS = [1, 4, 5, 7, 8, 9];

/** Names of a file may be those that every other object has, such as `constructor`. */
export const named = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** Reads a model in one pass, with memory for what it finds alone. */
export class Model {
  readonly made: GraphMetadata;
  /** In the order of the file. */
  readonly tensors: TensorInfo[] = [];
  /** How many values are kept: each takes up to some hundred bytes of memory, and as little as one of the model. */
  values = 0;
  readonly #bytes: Bytes;
  readonly #most: number;
  /** The names of the initializers of the graph itself. */
  readonly #weights = new Set<string>();
  /** Where the number that was read last ends, and its lower 32 bits, the bits of an int32 or an enum. */
  #next = 0;
  #low = 0;
  #copies = 1;

  constructor(name: string, bytes: Bytes, most: number) {
    [this.#bytes, this.#most] = [bytes, most];
    const header = Object.assign(named<TensorInfo>(), { __metadata__: named<string>() });
    const sides = { inputs: [], outputs: [], opsets: named<number>(), producer: '' };
    this.made = { name, size: bytes.length, ...sides, header, parameterCount: {}, parameterTotal: 0 };
    const graphs: [begin: number, end: number][] = []; // of several, all fields count
    this.#fields(0, bytes.length, (number, begin, end) => {
      if (begin < 0) return;
      if (number === 2) this.made.producer = this.#text(begin, end);
      if (number === 7 && graphs.push([begin, end]) > 1) this.#count();
      if (number === 8) this.#readOpset(begin, end);
      if (number === 14) this.#readProperty(begin, end);
    });
    expect(graphs.length > 0, 'it has no graph');
    for (const graph of graphs) this.#readGraph(...graph, 0);
    this.made.inputs = this.made.inputs.filter(({ name }) => !this.#weights.has(name)); // IR version 3 names weights there, too
    [this.made.parameterCount, this.made.parameterTotal] = counted([this]);
  }

  /** A number of 64 bits with a sign. */
  #varint(at: number, end: number): number {
    let [value, rest, low] = [0, 0, 0];
    for (let scale = 1, shift = 0; scale < 2 ** 70; scale *= 128, shift += 7) {
      if (at >= end) throw new Damage('a number is cut');
      const byte = this.#bytes[at++]!;
      value += (byte & 127) * scale;
      if (shift < 32) low |= (byte & 127) << shift;
      if (byte < 128) {
        [this.#next, this.#low] = [at, low];
        return scale === 2 ** 63 && byte === 1 ? -1 - rest : value; // exact, as -1 is near to 2^64
      }
      rest += (127 - (byte & 127)) * scale;
    }
    throw new Damage('a number is too long');
  }

  /** Gives the fields of a message; values of fixed width are passed over. */
  #fields(begin: number, end: number, onField: OnField): void {
    for (let at = begin; at < end;) {
      const tag = this.#varint(at, end);
      const [number, type] = [Math.floor(tag / 8), tag % 8];
      if (number < 1 || (type > 2 && type !== 5)) throw new Damage('a field has no number or type');
      const from = this.#next;
      const value = type === 0 || type === 2 ? this.#varint(from, end) : 0;
      at = type === 0 || type === 2 ? this.#next : from + (type === 1 ? 8 : 4);
      if (type === 2) at += value;
      if (at > end || (type === 2 && value < 0)) throw new Damage('a field is cut');
      if (type === 0) onField(number, -1, -1, value);
      if (type === 2) onField(number, at - value, at, 0);
    }
  }

  #text(begin: number, end: number): string {
    return decoder.decode(this.#bytes.subarray(begin, end));
  }

  #readOpset(begin: number, end: number): void {
    let [domain, version] = ['', 0];
    this.#fields(begin, end, (number, from, to, value) => {
      if (number === 1 && from >= 0) domain = this.#text(from, to);
      if (number === 2 && from < 0) version = value;
    });
    this.#keep(this.made.opsets, domain || 'ai.onnx', version);
  }

  #readProperty(begin: number, end: number): void {
    const [key, value] = this.#pair(begin, end) ?? [];
    if (key !== undefined) this.#keep(this.made.header.__metadata__, key, value!);
  }

  /** undefined for a damaged pair, which is passed over, as the reader does. */
  #pair(begin: number, end: number): [key: string, value: string] | undefined {
    const pair = ['', '', ''];
    try {
      this.#fields(begin, end, (number, from, to) => {
        if (from >= 0 && number < 3) pair[number] = this.#text(from, to);
      });
    } catch {
      return undefined;
    }
    return [pair[1]!, pair[2]!];
  }

  #keep<T>(into: Record<string, T>, key: string, value: T): void {
    if (!(key in into)) this.#count();
    into[key] = value;
  }

  #count(): void {
    expect(++this.values <= this.#most, `it has more than ${MOST_VALUES} tensors, dimensions and the like`);
  }

  /** Initializers of a graph, values of its Constant nodes, and those of its subgraphs, in attributes of nodes. */
  #readGraph(begin: number, end: number, depth: number): void {
    expect(depth < 100, 'its graphs are nested too deep');
    this.#fields(begin, end, (number, from, to) => {
      if (from < 0) return;
      if (number === 1) this.#readNode(from, to, depth);
      if (number === 5) this.#readTensor(from, to, depth);
      if (number === 15) this.#readSparse(from, to, depth);
      if (depth === 0 && number === 11) this.made.inputs.push(this.#readValue(from, to));
      if (depth === 0 && number === 12) this.made.outputs.push(this.#readValue(from, to));
    });
  }

  /** Read twice, as the operator may stand behind the attributes, which may be too many to keep. */
  #readNode(begin: number, end: number, depth: number): void {
    const said = ['', '', '', '', '', '', '', '']; // the last text of fields 2 (output), 4 (operator) and 7 (domain)
    this.#fields(begin, end, (number, from, to) => {
      if (from >= 0 && [2, 4, 7].includes(number)) said[number] = this.#text(from, to);
    });
    const isConstant = said[4] === 'Constant' && (said[7] === '' || said[7] === 'ai.onnx');
    const onAttribute: OnField = (number, from, to) => {
      if (from < 0) return;
      if (number === 6 || number === 11) this.#readGraph(from, to, depth + 1);
      if (number === 5 && isConstant) this.#readTensor(from, to, depth, said[2]);
    };
    this.#fields(begin, end, (number, from, to) => {
      if (number === 5 && from >= 0) this.#fields(from, to, onAttribute);
    });
  }

  /** The values of a sparse tensor. */
  #readSparse(begin: number, end: number, depth: number): void {
    let values = [begin, begin] as [number, number];
    this.#fields(begin, end, (number, from, to) => {
      if (number === 1 && from >= 0) values = [from, to];
    });
    this.#readTensor(...values, depth);
  }

  /** `output`: of the Constant node whose value it is; nodes refer to it by that name. */
  #readTensor(begin: number, end: number, depth: number, output = ''): void {
    this.#count();
    let [name, type, isExternal] = ['', 0, false];
    const shape: number[] = [];
    const link: Record<string, string | undefined> = { location: '', offset: '0', length: undefined };
    const add = (dim: number): void => {
      this.#count();
      expect(dim >= 0, 'a dimension of a tensor is negative');
      shape.push(dim);
    };
    this.#fields(begin, end, (number, from, to, value) => {
      if (number === 1 && from < 0) add(value);
      else if (number === 1) for (let at = from; at < to; at = this.#next) add(this.#varint(at, to));
      else if (number === 2 && from < 0) type = this.#low;
      else if (number === 8 && from >= 0) name = this.#text(from, to);
      else if (number === 13 && from >= 0) {
        const [key = '', text] = this.#pair(from, to) ?? [];
        if (Object.hasOwn(link, key)) link[key] = text;
      } else if (number === 14 && from < 0 && (this.#low === 0 || this.#low === 1)) isExternal = this.#low === 1;
    });
    const info: TensorInfo = { dtype: typeName(type), shape };
    if (isExternal) {
      const { location, offset, length } = link;
      const bits = elements(shape) * Number(TYPES[2 * type + 1] ?? 0);
      const [first, size] = [Number(offset), length === undefined ? Math.ceil(bits / 8) : Number(length)];
      expect(first >= 0 && size >= 0, `the data of ${name} is nowhere`);
      Object.assign(info, { location, data_offsets: [first, first + size] });
    }
    const { header } = this.made;
    name = output || name;
    if (depth === 0) this.#weights.add(name);
    let key = name;
    while (key in header) key = `${name} (${++this.#copies})`; // of another subgraph
    header[key] = info;
    this.tensors.push(info);
  }

  #readValue(begin: number, end: number): ValueInfo {
    this.#count();
    let made: ValueInfo = { name: '', dtype: 'OTHER' }; // a sequence or a map
    const onTensor: OnField = (number, from, to) => {
      if (number === 1 && from < 0) made.dtype = typeName(this.#low);
      if (number === 2 && from >= 0) made.shape = [...(made.shape ?? []), ...this.#readShape(from, to)];
    };
    const onKind: OnField = (number, from, to) => {
      if (from < 0 || !KINDS.includes(number)) return;
      if (number !== 1) made = { name: made.name, dtype: 'OTHER' };
      else if (made.dtype === 'OTHER') made.dtype = typeName(0);
      if (number === 1) this.#fields(from, to, onTensor);
    };
    this.#fields(begin, end, (number, from, to) => {
      if (from >= 0 && number === 1) made.name = this.#text(from, to);
      if (from >= 0 && number === 2) this.#fields(from, to, onKind); // of several, all fields count
    });
    return made;
  }

  #readShape(begin: number, end: number): (number | string)[] {
    const shape: (number | string)[] = [];
    const onDim: OnField = (number, from, to, value) => {
      if (number === 1 && from < 0) shape[shape.length - 1] = value;
      if (number === 2 && from >= 0) shape[shape.length - 1] = this.#text(from, to) || '?';
    };
    this.#fields(begin, end, (number, from, to) => {
      if (number !== 1 || from < 0) return;
      this.#count();
      shape.push('?');
      this.#fields(from, to, onDim);
    });
    return shape;
  }
}

const elements = (shape: number[]): number =>
  shape.includes(0) ? 0 : shape.reduce((product, dim) => product * dim, 1);

/** The number of parameters (initializers and values of Constant nodes), by type and in all. Data of several tensors counts once. */
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
