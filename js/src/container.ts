// The rules of the container: end records (E), directory (D), places (P) and local headers (L).
import { OnnxarError, checkRule, type Rule } from './error.js';
import { checkNames, readName } from './names.js';
import type { FileView } from './file_view.js';
import { MODEL } from './graphs.js';
import type { Range } from './wire.js';
import {
  ALIGNMENT_ID,
  type Counts,
  END,
  END_SIZE,
  HEADER_SIZE,
  LOCAL,
  LOCAL_SIZE,
  LOCATOR_SIZE,
  NONE_16,
  NONE_32,
  PADDING_ID,
  SEARCHED,
  ZIP64_END,
  ZIP64_END_SIZE,
  ZIP64_ID,
  countsOf,
  extraFields,
  findEnd,
  findZip64,
  isHeader,
  partsOf,
  placeOf,
  statedLocalEnd,
  wideNumbers,
  zip64CountsOf,
} from './zip.js';

export interface Limits {
  maxEntries: number;
  maxDirectorySize: number;
  maxModelSize: number;
}

// --- the end of the file ---------------------------------------------------------------------------------------------

export interface Directory {
  count: number;
  offset: number;
  end: number;
  hasZip64: boolean;
}

/** Reads the end records, with which `file` ends (E1 to E8). */
export function readEnd(file: FileView): Directory {
  const at = findEnd(file) ?? refuseEnd(file);
  checkRule('E3', file.u16(at + 20) === 0, at);
  checkRule('E4', file.u32(at + 4) === 0 && file.u16(at + 8) === file.u16(at + 10), at);
  const zip64 = findZip64(file, at);
  const counts = readCounts(file, at, zip64);
  const end = zip64 ?? at;
  checkRule('E8', counts.offset + counts.size === BigInt(end), at);
  return { count: Number(counts.count), offset: Number(counts.offset), end, hasZip64: zip64 !== undefined };
}

function refuseEnd(file: FileView): never {
  for (let at = file.end - END_SIZE; at >= Math.max(file.base, file.end - SEARCHED); at--) {
    if (!file.has(END, at, END_SIZE)) continue;
    throw new OnnxarError(at + END_SIZE + file.u16(at + 20) === file.end ? 'E3' : 'E2', '', at);
  }
  throw new OnnxarError('E1', '', file.end);
}

/** Returns the numbers that are valid, by E4 to E7. */
function readCounts(file: FileView, end: number, zip64: number | undefined): Counts {
  const short = countsOf(file, end);
  const [none, keys] = [{ count: NONE_16, size: NONE_32, offset: NONE_32 }, ['count', 'size', 'offset'] as const];
  if (zip64 === undefined) {
    for (const key of keys) checkRule('E5', short[key] !== BigInt(none[key]), end);
    return short;
  }
  const locator = end - LOCATOR_SIZE;
  checkRule('E4', file.u32(locator + 4) === 0 && file.u32(locator + 16) === 1, locator);
  checkRule('E5', file.u64(locator + 8) === BigInt(zip64), locator);
  const isRecord = file.has(ZIP64_END, zip64, ZIP64_END_SIZE) && file.u64(zip64 + 4) === 44n;
  checkRule('E6', isRecord && isVersion(file.u16(zip64 + 14)), zip64);
  const counts = zip64CountsOf(file, zip64);
  checkRule('E4', file.u64(zip64 + 16) === 0n && file.u64(zip64 + 24) === counts.count, zip64);
  for (const key of keys) checkRule('E7', short[key] === BigInt(none[key]) || short[key] === counts[key], end);
  return counts;
}

const isVersion = (version: number): boolean => version >= 10 && version <= 45;

/** Checks E9 to E12. */
export function checkCounts({ count, offset, end }: Directory, limits: Limits): void {
  checkRule('E9', count > 0, offset);
  checkRule('E10', count <= Math.floor((end - offset) / HEADER_SIZE), offset);
  checkRule('E11', count <= limits.maxEntries, offset);
  checkRule('E12', end - offset <= limits.maxDirectorySize, offset);
}

// --- directory headers -----------------------------------------------------------------------------------------------

/** An entry, as the directory has it. */
export interface Entry {
  readonly name: string;
  readonly size: number;
  readonly crc32: number;
}

/** A directory header, with which the local header is compared. */
export interface Header extends Entry {
  at: number;
  offset: number;
  following: number;
  flags: number;
  time: number;
  alignment: number | undefined;
}

type Draft = Omit<Header, 'size' | 'offset' | 'following'> & { end: number; wideSize: bigint; wideOffset: bigint };

/** Reads the directory. Checks all rules D, N and P that need no local header. */
export function readDirectory(file: FileView, directory: Directory): Header[] {
  const drafts: Draft[] = [];
  let at = directory.offset;
  for (let i = 0; i < directory.count; i++) {
    checkRule('D1', isHeader(file, at), at);
    const draft = readHeader(file, at);
    drafts.push(draft);
    at = draft.end;
  }
  checkRule('E10', at === directory.end, at);
  const headers = placed(drafts, directory.offset);
  checkNames(headers);
  return headers;
}

/** Reads a header (D1 to D16, and the rules of one name). */
function readHeader(file: FileView, at: number): Draft {
  const { name: raw, extra: fields, end } = partsOf(file, at);
  checkRule('D1', end <= file.end, at);
  const name = readName(file.slice(raw.begin, raw.end), at);
  const check = (rule: Rule, isKept: boolean): void => checkRule(rule, isKept, at, name);
  const flags = file.u16(at + 8);
  check('D2', (flags & 0x2041) === 0);
  check('D3', (flags & 8) === 0);
  check('D4', (flags & ~0x800) === 0);
  check('D5', file.u16(at + 10) === 0);
  check('D6', isVersion(file.u16(at + 6)));
  check('D7', file.u16(at + 34) === 0);
  check('D8', end === fields.end);
  check('D9', [0, 3].includes(file.u16(at + 4) >> 8) && (file.u16(at + 36) & ~1) === 0);
  check('D9', (file.u32(at + 38) & 0x418) === 0 && [0, 0o100000].includes(file.u16(at + 40) & 0o170000));
  const extra = readExtra(file, fields, [ZIP64_ID, ALIGNMENT_ID], ['D10', 'D11', 'D12'], check);
  const wide = readWide(file, at, extra.get(ZIP64_ID));
  check('D13', wide !== undefined);
  const [size, compressed, offset, disk] = wide!;
  check('D7', disk === 0);
  check('D14', size === compressed);
  const crc32 = file.u32(at + 16);
  check('D15', size > 0n || crc32 === 0);
  const alignment = extra.get(ALIGNMENT_ID);
  const stated = alignment && alignment.end - alignment.begin === 2 ? file.u16(alignment.begin) : undefined;
  check('D16', !alignment || (stated !== undefined && isAlignment(ALIGNMENT_ID, stated)));
  const time = file.u32(at + 12);
  return { name, at, end, flags, time, crc32, alignment: stated, wideSize: size, wideOffset: offset };
}

function isAlignment(id: number, value: number): boolean {
  return value >= 64 && value <= (id === ALIGNMENT_ID ? 16384 : 32768) && (value & (value - 1)) === 0;
}

type Check = (rule: Rule, isKept: boolean) => void;

/** Reads extra fields (D10 to D12, or L4 to L6). Both padding records count as one id. */
function readExtra(
  file: FileView,
  range: Range,
  known: number[],
  rules: [Rule, Rule, Rule],
  check: Check,
): Map<number, Range> {
  const fields = new Map<number, Range>();
  const isPadding = (id: number): boolean => id === PADDING_ID || id === ALIGNMENT_ID;
  for (const { id, begin, end } of extraFields(file, range)) {
    check(rules[0], end <= range.end);
    check(rules[1], known.includes(id));
    check(rules[2], ![...fields.keys()].some((other) => other === id || (isPadding(other) && isPadding(id))));
    fields.set(id, { begin, end });
  }
  return fields;
}

type Wide = [size: bigint, compressed: bigint, offset: bigint, disk: number];

/** Returns the valid size, compressed size, offset and disk; undefined if D13 is broken. */
function readWide(file: FileView, at: number, field: Range | undefined): Wide | undefined {
  const own = placeOf(file, at);
  const none = own.map((value) => value === NONE_32);
  if (!field) return none.includes(true) ? undefined : ([...own.map(BigInt), 0] as Wide);
  const values = wideNumbers(file, field);
  const length = field.end - field.begin;
  if (length === 24 || length === 28) {
    const agree = own.every((value, i) => none[i] || BigInt(value) === values[i]);
    const inStep = none.every((is, i) => i === 0 || !is || none[i - 1]);
    const disk = length === 28 ? file.u32(field.begin + 24) : 0;
    return agree && inStep ? ([...values, disk] as Wide) : undefined;
  }
  if (length !== 8 * none.filter(Boolean).length) return undefined;
  return [...own.map((value, i) => (none[i] ? values.shift()! : BigInt(value))), 0] as Wide;
}

/** Checks P1 to P4. The numbers of the result are exact: all are less than the file's size. */
function placed(drafts: Draft[], directory: number): Header[] {
  checkRule('P1', drafts[0]!.wideOffset === 0n, drafts[0]!.at, drafts[0]!.name);
  return drafts.map((draft, i) => {
    const { wideSize, wideOffset, end: _, ...rest } = draft;
    const next = drafts[i + 1];
    const following = next ? next.wideOffset : BigInt(directory);
    if (next) checkRule('P2', wideOffset < following, next.at, next.name);
    else checkRule('P4', wideOffset < following, draft.at, draft.name);
    const least = wideOffset + BigInt(LOCAL_SIZE + draft.name.length) + wideSize;
    checkRule(next ? 'P3' : 'P4', least <= following, wideOffset, draft.name);
    return { ...rest, size: Number(wideSize), offset: Number(wideOffset), following: Number(following) };
  });
}

// --- the model --------------------------------------------------------------------------------------------------------

/** Checks P6 to P8 and N13. */
export function checkModel(headers: Header[], directory: Directory, limits: Limits): void {
  const model = headers.find(({ name }) => name === MODEL);
  checkRule('P6', model !== undefined, directory.offset);
  checkRule('P7', model === headers.at(-1), model.at, MODEL);
  checkRule('P8', model.size <= limits.maxModelSize, model.at, MODEL);
  for (const { name, at } of headers) checkRule('N13', name === MODEL || !/^__[A-Z]/.test(name), at, name);
}

// --- local headers ---------------------------------------------------------------------------------------------------

/** The alignment that usual writers give an entry of this size. */
const usualAlignment = (size: number): number => (size >= 1 << 20 ? 4096 : 64);
const align = (offset: number, to: number): number => Math.ceil(offset / to) * to;

type Placed = Pick<Header, 'name' | 'offset' | 'size' | 'following'>;

/** True if the entry ends where usual writers end it (the shortcut of P5). */
export function endsAsUsual({ name, offset, size, following }: Placed): boolean {
  const least = offset + LOCAL_SIZE + name.length + (size >= NONE_32 ? 20 : 0);
  const begins = [align(least + 6, usualAlignment(size)), align(least, 64), align(least + 6, 64)];
  return begins.some((begin) => begin + size === following);
}

/** Returns the largest size of a usual local header. */
export function usualLocalSize({ name, size }: Header): number {
  return LOCAL_SIZE + name.length + 26 + usualAlignment(size);
}

/** Returns where an entry's local header ends. Throws L1 if that is after the entry, or there is no header. */
export function localEnd(file: FileView, entry: Header): number {
  const { offset, following, name } = entry;
  const isThere = offset + LOCAL_SIZE <= following && file.has(LOCAL, offset, LOCAL_SIZE);
  checkRule('L1', isThere, offset, name);
  const end = statedLocalEnd(file, offset);
  checkRule('L1', end <= following, offset, name);
  return end;
}

/** Checks L1 to L15. Returns the offset of the data. `file` must contain the local header. */
export function readLocal(file: FileView, entry: Header): number {
  const at = entry.offset;
  const data = localEnd(file, entry);
  const check = (rule: Rule, isKept: boolean): void => checkRule(rule, isKept, at, entry.name);
  check('L15', data - at <= 65535);
  const extraAt = at + LOCAL_SIZE + file.u16(at + 26);
  const name = file.slice(at + LOCAL_SIZE, extraAt);
  check('L2', name.length === entry.name.length && name.every((byte, i) => byte === entry.name.charCodeAt(i)));
  check('L3', ((file.u16(at + 6) ^ entry.flags) & ~0x800) === 0 && file.u16(at + 8) === 0);
  check('L3', file.u32(at + 10) === entry.time && file.u32(at + 14) === entry.crc32);
  check('L13', isVersion(file.u16(at + 4)));
  const known = [ZIP64_ID, PADDING_ID, ALIGNMENT_ID];
  const extra = readExtra(file, { begin: extraAt, end: data }, known, ['L4', 'L5', 'L6'], check);
  checkLocalSizes(file, entry, extra.get(ZIP64_ID), check);
  extra.delete(ZIP64_ID);
  checkPadding(file, entry, extra, data, check);
  return data;
}

function checkLocalSizes(file: FileView, entry: Header, field: Range | undefined, check: Check): void {
  const own = [file.u32(entry.offset + 22), file.u32(entry.offset + 18)];
  check('L7', field ? field.end - field.begin === 16 : !own.includes(NONE_32));
  const size = BigInt(entry.size);
  if (field) check('L8', file.u64(field.begin) === size && file.u64(field.begin + 8) === size);
  check(
    'L8',
    own.every((stated) => stated === entry.size || (field !== undefined && stated === NONE_32)),
  );
}

/** Checks L10 to L12 and L14. */
function checkPadding(file: FileView, entry: Header, extra: Map<number, Range>, data: number, check: Check): void {
  const [id, record] = [...extra][0] ?? [0, undefined];
  check('L10', !record || record.end - record.begin >= 2);
  const alignment = record ? file.u16(record.begin) : 64;
  check('L11', !record || isAlignment(id, alignment));
  check('L12', data % alignment === 0);
  check('L14', entry.alignment === undefined || (id === ALIGNMENT_ID && entry.alignment === alignment));
  check('L10', !record || file.slice(record.begin + 2, record.end).every((byte) => byte === 0));
}
