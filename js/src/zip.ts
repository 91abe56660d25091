// Where the records of a zip are, and the numbers in them, for a reader that checks rules (container.ts) and one that does not
// (metadata.ts).
import type { FileView } from './file_view.js';
import type { Range } from './wire.js';

export const END = 0x06054b50;
export const END_SIZE = 22;
export const LOCATOR = 0x07064b50;
export const LOCATOR_SIZE = 20;
export const ZIP64_END = 0x06064b50;
export const ZIP64_END_SIZE = 56;
export const HEADER = 0x02014b50;
export const HEADER_SIZE = 46;
export const LOCAL = 0x04034b50;
export const LOCAL_SIZE = 30;
export const NONE_16 = 0xffff;
export const NONE_32 = 0xffffffff;
/** All end records together. */
export const ENDS_SIZE = END_SIZE + LOCATOR_SIZE + ZIP64_END_SIZE;
/** The range in which `readEnd` looks for an end record that is not last, to report it. */
export const SEARCHED = END_SIZE + NONE_16;
export const ZIP64_ID = 1;
export const PADDING_ID = 0xd935;
export const ALIGNMENT_ID = 0xa11e;

export interface Counts {
  count: bigint;
  size: bigint;
  offset: bigint;
}

/** Returns where the end record is, if it is the last of the file; otherwise undefined. */
export function findEnd(file: FileView): number | undefined {
  const at = file.end - END_SIZE;
  return file.has(END, at, END_SIZE) ? at : undefined;
}

/** Returns where the zip64 end record is, if a locator before the end record calls for one; otherwise undefined. */
export function findZip64(file: FileView, end: number): number | undefined {
  const locator = end - LOCATOR_SIZE;
  return file.has(LOCATOR, locator, LOCATOR_SIZE) ? locator - ZIP64_END_SIZE : undefined;
}

/** Returns the numbers of the end record. */
export function countsOf(file: FileView, at: number): Counts {
  return { count: BigInt(file.u16(at + 10)), size: BigInt(file.u32(at + 12)), offset: BigInt(file.u32(at + 16)) };
}

/** Returns the numbers of the zip64 end record. */
export function zip64CountsOf(file: FileView, at: number): Counts {
  return { count: file.u64(at + 32), size: file.u64(at + 40), offset: file.u64(at + 48) };
}

/** Where the parts of a directory header are. */
interface Parts {
  name: Range;
  extra: Range;
  /** After the comment. */
  end: number;
}

export function isHeader(file: FileView, at: number): boolean {
  return file.has(HEADER, at, HEADER_SIZE);
}

/** Returns what a directory header says of its parts, which may leave the file. */
export function partsOf(file: FileView, at: number): Parts {
  const begin = at + HEADER_SIZE;
  const end = begin + file.u16(at + 28);
  const extra = { begin: end, end: end + file.u16(at + 30) };
  return { name: { begin, end }, extra, end: extra.end + file.u16(at + 32) };
}

/** Returns what a directory header itself says, without its zip64 field. */
export function placeOf(file: FileView, at: number): [size: number, compressed: number, offset: number] {
  return [file.u32(at + 24), file.u32(at + 20), file.u32(at + 42)];
}

/** Returns the extra fields of a range one after the other. The last one ends after the range if they do not fill it. */
export function* extraFields(file: FileView, { begin, end }: Range): Generator<Range & { id: number }> {
  for (let at = begin; at < end;) {
    const value = at + 4;
    const isThere = value <= end;
    const field = { id: isThere ? file.u16(at) : -1, begin: value, end: isThere ? value + file.u16(at + 2) : Infinity };
    yield field;
    at = field.end;
  }
}

/** Returns the numbers of a zip64 field: all that are not in the header itself, in the order of `placeOf`. */
export function wideNumbers(file: FileView, { begin, end }: Range): bigint[] {
  return Array.from({ length: (end - begin) >> 3 }, (_, i) => file.u64(begin + 8 * i));
}

/** Returns where a local header says that it ends. */
export function statedLocalEnd(file: FileView, at: number): number {
  return at + LOCAL_SIZE + file.u16(at + 26) + file.u16(at + 28);
}
