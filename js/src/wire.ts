// Protobuf's wire format: reading (M2 to M5) and writing.
import type { Rule } from './error.js';

export const VARINT = 0;
export const FIXED64 = 1;
export const BLOCK = 2;
export const FIXED32 = 5;

/** Offsets of the first byte and of the byte after the last one. */
export interface Range {
  begin: number;
  end: number;
}

/** A field of a message. Its range is that of the value, after tag and length. */
export interface Field extends Range {
  /** The offset of the tag. */
  at: number;
  number: number;
  type: number;
}

/**
 * Thrown for a damaged message: the rule that it breaks, and the offset in its bytes. It is not an Error, which takes long
 * to make: a model may have a damaged pair in every three bytes.
 */
export class Damage {
  readonly rule: Rule;
  readonly at: number;
  readonly detail: string | undefined;

  constructor(rule: Rule, at: number, detail?: string) {
    this.rule = rule;
    this.at = at;
    this.detail = detail;
  }
}

/** Reads messages. Throws `Damage`. */
export class Wire {
  readonly bytes: Uint8Array;
  /** After `varint`: the upper 32 bits of its value, and where it ended. */
  high = 0;
  next = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  fail(rule: Rule, at: number): never {
    throw new Damage(rule, at);
  }

  check(rule: Rule, isKept: boolean, at: number, detail?: string): asserts isKept {
    if (!isKept) throw new Damage(rule, at, detail);
  }

  /** Returns the lower 32 bits of a number. */
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

  /** Returns the fields of a message one after the other; of all bytes if none is given. */
  *fields({ begin, end }: Range = { begin: 0, end: this.bytes.length }): Generator<Field> {
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

  text({ begin, end }: Range): string {
    return decoder.decode(this.bytes.subarray(begin, end));
  }

  /** Returns key and value of a StringStringEntryProto. */
  pair({ begin, end }: Range): [key: string, value: string] {
    const pair: [string, string] = ['', ''];
    for (let at = begin; at < end;) {
      const each = this.field(at, end);
      at = each.end;
      if (each.type === BLOCK && (each.number === 1 || each.number === 2)) pair[each.number - 1] = this.text(each);
    }
    return pair;
  }

  /** Returns the bytes of those fields between two offsets for which `isKept` is true. */
  filtered(begin: number, end: number, isKept: (field: Field) => boolean): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(end - begin);
    let size = 0;
    for (let at = begin, run = begin; at < end;) {
      const field = this.field(at, end);
      const isWanted = isKept(field);
      at = field.end;
      if (isWanted && at < end) continue; // fields that follow each other are copied together
      const stop = isWanted ? at : field.at;
      out.set(this.bytes.subarray(run, stop), size);
      size += stop - run;
      run = at;
    }
    return out.subarray(0, size);
  }

  /** Returns the same as `pair`, or undefined if it is damaged. */
  anyPair(range: Range): [key: string, value: string] | undefined {
    try {
      return this.pair(range);
    } catch {
      return undefined;
    }
  }
}

export const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

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

/** Returns tag and length of a field of `size` bytes. */
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
