// Where the tensors of a model are, and the model with other tensors in their places.
import { OnnxarError } from './error.js';
import { isConstant } from './graphs.js';
import { DEEPEST, REACH, readTensor, type Reach, type Site, type Sizes } from './tensors.js';
import { BLOCK, Damage, Wire, block, blockHead, join, number, pair, type Field, type Pieces } from './wire.js';

type Message = 'Model' | 'TrainingInfo' | 'Function' | 'Graph' | 'Node' | 'Attribute' | 'SparseTensor' | 'Tensor';
type Children = Record<number, [message: Message, isRepeated: boolean]>;

const CHILDREN: Record<Message, Children> = {
  Model: { 7: ['Graph', false], 20: ['TrainingInfo', true], 25: ['Function', true] },
  TrainingInfo: { 1: ['Graph', false], 2: ['Graph', false] },
  Function: { 7: ['Node', true], 11: ['Attribute', true] },
  Graph: { 1: ['Node', true], 5: ['Tensor', true], 15: ['SparseTensor', true] },
  Node: { 5: ['Attribute', true] },
  Attribute: {
    5: ['Tensor', false],
    6: ['Graph', false],
    10: ['Tensor', true],
    11: ['Graph', true],
    22: ['SparseTensor', false],
    23: ['SparseTensor', true],
  },
  SparseTensor: { 1: ['Tensor', false], 2: ['Tensor', false] },
  Tensor: {},
};

/** Returns new fields for a tensor; undefined if it stays as it is. */
export type Visit = (site: Site) => Uint8Array | undefined;

/** A range of the model, and what takes its place. */
interface Edit {
  begin: number;
  end: number;
  bytes: Uint8Array;
}

/**
 * Visits every tensor of a model in the order of its bytes (M1 to M21). Returns the model with the replaced tensors. Needs
 * memory for the replaced tensors and the messages around them, and none for other fields.
 */
export class Walk {
  readonly #wire: Wire;
  readonly #base: number;
  readonly #graph: string;
  readonly #sizes: Sizes;
  readonly #visit: Visit;
  /** In the order of the file. */
  readonly #edits: Edit[] = [];

  constructor(model: Uint8Array, base: number, graph: string, sizes: Sizes, visit: Visit) {
    this.#wire = new Wire(model);
    this.#base = base;
    this.#graph = graph;
    this.#sizes = sizes;
    this.#visit = visit;
  }

  /** Visits all tensors. Returns the size of the model with the replaced tensors. */
  run(): number {
    const { length } = this.#wire.bytes;
    try {
      return length + this.#message('Model', 0, length, 0, REACH.memory);
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      throw new OnnxarError(error.rule, this.#graph, this.#base + error.at, error.detail);
    }
  }

  /** Returns the new model, of the size that `run` returned. */
  rewritten(size: number): Uint8Array<ArrayBuffer> {
    const model = this.#wire.bytes;
    const out = new Uint8Array(size);
    let [copied, at] = [0, 0];
    for (const { begin, end, bytes } of this.#edits) {
      out.set(model.subarray(copied, begin), at);
      at += begin - copied;
      out.set(bytes, at);
      at += bytes.length;
      copied = end;
    }
    out.set(model.subarray(copied), at);
    return out;
  }

  /** Returns by how many bytes the message grows. `outer` is the reach of the innermost graph or node. */
  #message(message: Message, begin: number, end: number, depth: number, outer: Reach): number {
    let seen = 0; // a bit for each field
    let reach = outer;
    if (message === 'Function' || (message === 'Graph' && depth > 1)) reach = REACH.file;
    if (message === 'SparseTensor') reach = Math.min(reach, REACH.file) as Reach;
    if (message === 'Node' && !this.#isConstant(begin, end)) reach = REACH.none;
    let grown = 0;
    for (let at = begin; at < end;) {
      const field = this.#wire.field(at, end);
      at = field.end;
      const child = CHILDREN[message][field.number];
      if (!child || field.type !== BLOCK) continue;
      const bit = 1 << field.number;
      if (!child[1] && seen & bit) this.#wire.fail('M7', field.at);
      if (depth >= DEEPEST) this.#wire.fail('M6', field.at);
      seen |= bit;
      grown += child[0] === 'Tensor' ? this.#tensor(field, depth, reach) : this.#child(child[0], field, depth, reach);
    }
    this.#wire.check('M1', message !== 'Model' || (seen & (1 << 7)) !== 0, begin);
    return grown;
  }

  #tensor(field: Field, depth: number, reach: Reach): number {
    const fields = this.#visit(readTensor(this.#wire, field, depth + 1, reach, this.#graph, this.#sizes));
    if (!fields) return 0;
    const bytes = join(block(field.number, [fields]));
    this.#edits.push({ begin: field.at, end: field.end, bytes });
    return bytes.length - (field.end - field.at);
  }

  /** Visits a message. If something in it is replaced, its length is replaced too. */
  #child(message: Message, field: Field, depth: number, reach: Reach): number {
    const head: Edit = { begin: field.at, end: field.begin, bytes: this.#wire.bytes.subarray(0, 0) };
    const index = this.#edits.push(head) - 1;
    const grown = this.#message(message, field.begin, field.end, depth + 1, reach);
    if (this.#edits.length === index + 1) {
      this.#edits.pop();
      return 0;
    }
    head.bytes = join(blockHead(field.number, field.end - field.begin + grown));
    return grown + head.bytes.length - (head.end - head.begin);
  }

  /** True if a node is a Constant. Reads up to the first damaged field, which the walk reports. */
  #isConstant(begin: number, end: number): boolean {
    let [type, domain] = ['', ''];
    try {
      for (let at = begin; at < end;) {
        const field = this.#wire.field(at, end);
        at = field.end;
        if (field.type !== BLOCK) continue;
        if (field.number === 4) type = this.#wire.text(field);
        if (field.number === 7) domain = this.#wire.text(field);
      }
    } catch {
      return false;
    }
    return isConstant(type, domain);
  }
}

/** Returns the fields of a tensor without those that say where its data is. */
export function withoutLink(model: Uint8Array, { begin, end }: Site): Uint8Array {
  return new Wire(model).filtered(begin, end, ({ number }) => number !== 13 && number !== 14);
}

/** Returns the fields of a tensor that say where its data is. */
export function externalData(location: string, offset: number, length: number): Pieces {
  const pairs = { location, offset: String(offset), length: String(length) };
  return [...Object.entries(pairs).flatMap(([key, value]) => pair(13, key, value)), ...number(14, 1)];
}

/** Returns a model without the marks of other links, and without its name in its archive (K4, G4). */
export function withoutMarkers(model: Uint8Array): Uint8Array {
  const wire = new Wire(model);
  const isMarker = (key: string): boolean => key.startsWith('onnxar.link.') || key === 'onnxar.model.name';
  return wire.filtered(0, model.length, (field) => {
    return field.number !== 14 || field.type !== BLOCK || !isMarker(wire.anyPair(field)?.[0] ?? ''); // a damaged pair stays
  });
}
