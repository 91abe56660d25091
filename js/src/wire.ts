import { OnnxarError, require } from './error.js';

export const VARINT = 0;
export const FIXED64 = 1;
export const BLOCK = 2;
export const FIXED32 = 5;

export interface Field {
  /** The offset of the tag in the message's file. */
  at: number;
  number: number;
  type: number;
  /** The value, after tag and length. */
  begin: number;
  end: number;
}

/** Thrown where no caller sees the error. A model may have an error in every three bytes, and an Error takes long to make. */
const DAMAGED = Symbol('damaged');

/** Reads protobuf's wire format (M2 to M5). Offsets are those of the bytes; errors add `base`. */
export class Wire {
  readonly bytes: Uint8Array;
  readonly #base: number;
  readonly name: string;
  /** After `varint`: the upper 32 bits of its value, and where it ended. */
  high = 0;
  next = 0;
  #isQuiet = false;

  constructor(bytes: Uint8Array, base: number, name: string) {
    this.bytes = bytes;
    this.#base = base;
    this.name = name;
  }

  fail(rule: 'M2' | 'M3' | 'M4' | 'M5' | 'M6' | 'M7' | 'M10' | 'M17', at: number): never {
    if (this.#isQuiet) throw DAMAGED;
    throw new OnnxarError(rule, this.name, this.#base + at);
  }

  /** For rules of one tensor. */
  keeps(rule: Parameters<typeof require>[0], kept: boolean, at: number, detail?: string): asserts kept {
    require(rule, kept, this.#base + at, this.name, detail);
  }

  /** The lower 32 bits of a number. */
  varint(at: number, end: number): number {
    let [low, high, shift] = [0, 0, 0];
    for (let index = 0; index < 10; index++, shift += 7) {
      if (at + index >= end) this.fail('M2', at);
      const byte = this.bytes[at + index]!;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift > 25) high |= shift < 32 ? bits >> (32 - shift) : bits << (shift - 32);
      if (byte < 0x80) {
        if (index === 9 && byte > 1) this.fail('M3', at);
        this.high = high >>> 0;
        this.next = at + index + 1;
        return low >>> 0;
      }
    }
    return this.fail('M3', at);
  }

  *fields(begin: number, end: number): Generator<Field> {
    for (let at = begin; at < end;) {
      const field = this.field(at, end);
      yield field;
      at = field.end;
    }
  }

  field(at: number, end: number): Field {
    const tag = this.varint(at, end);
    let begin = this.next;
    const [number, type] = [tag >>> 3, tag & 7];
    if (begin - at > 5 || this.high !== 0 || number === 0) this.fail('M4', at);
    let stop = begin;
    if (type === VARINT) {
      this.varint(begin, end);
      stop = this.next;
    } else if (type === BLOCK) {
      const length = this.varint(begin, end) + this.high * 2 ** 32;
      begin = this.next;
      stop = begin + length;
    } else if (type === FIXED64 || type === FIXED32) {
      stop = begin + (type === FIXED64 ? 8 : 4);
    } else {
      this.fail('M5', at);
    }
    if (stop > end) this.fail('M2', at);
    return { at, number, type, begin, end: stop };
  }

  /** A number, or the numbers of a packed run, each with its upper 32 bits in `high`. */
  *varints({ begin, end }: Field): Generator<number> {
    for (let at = begin; at < end;) {
      const low = this.varint(at, end);
      at = this.next;
      yield low;
    }
  }

  text({ begin, end }: Field): string {
    return decoder.decode(this.bytes.subarray(begin, end));
  }

  /** Key and value of a StringStringEntryProto. */
  pair({ begin, end }: Field): [key: string, value: string] {
    const pair: [string, string] = ['', ''];
    for (let at = begin; at < end;) {
      const each = this.field(at, end);
      at = each.end;
      if (each.type === BLOCK && (each.number === 1 || each.number === 2)) pair[each.number - 1] = this.text(each);
    }
    return pair;
  }

  /** The bytes of the fields between two offsets that `isKept` is true for. */
  kept(begin: number, end: number, isKept: (field: Field) => boolean): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(end - begin);
    let size = 0;
    for (let at = begin, run = begin; at < end;) {
      const field = this.field(at, end);
      const keeps = isKept(field);
      at = field.end;
      if (keeps && at < end) continue; // fields that follow each other are copied together
      const stop = keeps ? at : field.at;
      out.set(this.bytes.subarray(run, stop), size);
      size += stop - run;
      run = at;
    }
    return out.subarray(0, size);
  }

  /** The same as `pair`; two empty strings if it is damaged. */
  anyPair(field: Field): [key: string, value: string] {
    this.#isQuiet = true;
    try {
      return this.pair(field);
    } catch {
      return ['', ''];
    } finally {
      this.#isQuiet = false;
    }
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// --- writing ---------------------------------------------------------------------------------------------------------

export type Pieces = Uint8Array[];

function sizeOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

export function join(pieces: Pieces): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(sizeOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  bytes.push(value);
  return new Uint8Array(bytes);
}

/** Tag and length of a field of `size` bytes. */
export function blockHead(number: number, size: number): Pieces {
  return [varint((number << 3) | BLOCK), varint(size)];
}

export function block(number: number, pieces: Pieces): Pieces {
  return [...blockHead(number, sizeOf(pieces)), ...pieces];
}

export function number(field: number, value: number): Pieces {
  return [varint(field << 3), varint(value)];
}

const encoder = new TextEncoder();

export function pair(field: number, key: string, value: string): Pieces {
  return block(field, [...block(1, [encoder.encode(key)]), ...block(2, [encoder.encode(value)])]);
}
