// The rules of the container: end records (E), directory (D), places (P) and local headers (L).
import { OnnxarError, require, type Rule } from './error.js';
import { checkNames, readName } from './names.js';
import type { FileView } from './file_view.js';
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

/** E1 to E8 of the file that ends where the window does. */
export function readEnd(file: FileView): Directory {
  const at = findEnd(file) ?? refuseEnd(file);
  require('E3', file.u16(at + 20) === 0, at);
  require('E4', file.u32(at + 4) === 0 && file.u16(at + 8) === file.u16(at + 10), at);
  const zip64 = findZip64(file, at);
  const counts = readCounts(file, at, zip64);
  const end = zip64 ?? at;
  require('E8', counts.offset + counts.size === BigInt(end), at);
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
    for (const key of keys) require('E5', short[key] !== BigInt(none[key]), end);
    return short;
  }
  const locator = end - LOCATOR_SIZE;
  require('E4', file.u32(locator + 4) === 0 && file.u32(locator + 16) === 1, locator);
  require('E5', file.u64(locator + 8) === BigInt(zip64), locator);
  const isRecord = file.has(ZIP64_END, zip64, ZIP64_END_SIZE) && file.u64(zip64 + 4) === 44n;
  require('E6', isRecord && isVersion(file.u16(zip64 + 14)), zip64);
  const counts = zip64CountsOf(file, zip64);
  require('E4', file.u64(zip64 + 16) === 0n && file.u64(zip64 + 24) === counts.count, zip64);
  for (const key of keys) require('E7', short[key] === BigInt(none[key]) || short[key] === counts[key], end);
  return counts;
}

const isVersion = (version: number): boolean => version >= 10 && version <= 45;

/** E9 to E12. */
export function checkCounts({ count, offset, end }: Directory, limits: Limits): void {
  require('E9', count > 0, offset);
  require('E10', count <= Math.floor((end - offset) / HEADER_SIZE), offset);
  require('E11', count <= limits.maxEntries, offset);
  require('E12', end - offset <= limits.maxDirectorySize, offset);
}

// --- directory headers -----------------------------------------------------------------------------------------------

/** An entry, as the directory has it. */
export interface Entry {
  readonly name: string;
  readonly size: number;
  readonly crc32: number;
}

/** What a local header is compared with. */
export interface Header extends Entry {
  at: number;
  offset: number;
  following: number;
  flags: number;
  time: number;
  alignment: number | undefined;
}

type Draft = Omit<Header, 'size' | 'offset' | 'following'> & { end: number; wideSize: bigint; wideOffset: bigint };

/** D, N and P: all of the directory, except what needs a look at local headers. */
export function readDirectory(file: FileView, directory: Directory): Header[] {
  const drafts: Draft[] = [];
  let at = directory.offset;
  for (let i = 0; i < directory.count; i++) {
    require('D1', isHeader(file, at), at);
    const draft = readHeader(file, at);
    drafts.push(draft);
    at = draft.end;
  }
  require('E10', at === directory.end, at);
  const headers = placed(drafts, directory.offset);
  checkNames(headers);
  return headers;
}

/** D1 to D16 and the rules of one name. */
function readHeader(file: FileView, at: number): Draft {
  const { name: raw, extra: fields, end } = partsOf(file, at);
  require('D1', end <= file.end, at);
  const name = readName(file.slice(raw.begin, raw.end), at);
  const keeps = (rule: Rule, kept: boolean): void => require(rule, kept, at, name);
  const flags = file.u16(at + 8);
  keeps('D2', (flags & 0x2041) === 0);
  keeps('D3', (flags & 8) === 0);
  keeps('D4', (flags & ~0x800) === 0);
  keeps('D5', file.u16(at + 10) === 0);
  keeps('D6', isVersion(file.u16(at + 6)));
  keeps('D7', file.u16(at + 34) === 0);
  keeps('D8', end === fields.end);
  keeps('D9', [0, 3].includes(file.u16(at + 4) >> 8) && (file.u16(at + 36) & ~1) === 0);
  keeps('D9', (file.u32(at + 38) & 0x418) === 0 && [0, 0o100000].includes(file.u16(at + 40) & 0o170000));
  const extra = readExtra(file, fields, [ZIP64_ID, ALIGNMENT_ID], ['D10', 'D11', 'D12'], keeps);
  const wide = readWide(file, at, extra.get(ZIP64_ID));
  keeps('D13', wide !== undefined);
  const [size, compressed, offset, disk] = wide!;
  keeps('D7', disk === 0);
  keeps('D14', size === compressed);
  const crc32 = file.u32(at + 16);
  keeps('D15', size > 0n || crc32 === 0);
  const alignment = extra.get(ALIGNMENT_ID);
  const stated = alignment && alignment.end - alignment.begin === 2 ? file.u16(alignment.begin) : undefined;
  keeps('D16', !alignment || (stated !== undefined && isAlignment(ALIGNMENT_ID, stated)));
  const time = file.u32(at + 12);
  return { name, at, end, flags, time, crc32, alignment: stated, wideSize: size, wideOffset: offset };
}

function isAlignment(id: number, value: number): boolean {
  return value >= 64 && value <= (id === ALIGNMENT_ID ? 16384 : 32768) && (value & (value - 1)) === 0;
}

type Keeps = (rule: Rule, kept: boolean) => void;

/** D10 to D12, or L4 to L6. Both padding records count as one id. */
function readExtra(
  file: FileView,
  range: Range,
  known: number[],
  rules: [Rule, Rule, Rule],
  keeps: Keeps,
): Map<number, Range> {
  const fields = new Map<number, Range>();
  const isPadding = (id: number): boolean => id === PADDING_ID || id === ALIGNMENT_ID;
  for (const { id, begin, end } of extraFields(file, range)) {
    keeps(rules[0], end <= range.end);
    keeps(rules[1], known.includes(id));
    keeps(rules[2], ![...fields.keys()].some((other) => other === id || (isPadding(other) && isPadding(id))));
    fields.set(id, { begin, end });
  }
  return fields;
}

type Wide = [size: bigint, compressed: bigint, offset: bigint, disk: number];

/** Size, compressed size, offset and disk that count; undefined breaks D13. */
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

/** P1 to P4. Numbers are exact afterwards: all are less than the file's size. */
function placed(drafts: Draft[], directory: number): Header[] {
  require('P1', drafts[0]!.wideOffset === 0n, drafts[0]!.at, drafts[0]!.name);
  return drafts.map((draft, i) => {
    const { wideSize, wideOffset, end: _, ...rest } = draft;
    const next = drafts[i + 1];
    const following = next ? next.wideOffset : BigInt(directory);
    if (next) require('P2', wideOffset < following, next.at, next.name);
    else require('P4', wideOffset < following, draft.at, draft.name);
    const least = wideOffset + BigInt(LOCAL_SIZE + draft.name.length) + wideSize;
    require(next ? 'P3' : 'P4', least <= following, wideOffset, draft.name);
    return { ...rest, size: Number(wideSize), offset: Number(wideOffset), following: Number(following) };
  });
}

// --- the model --------------------------------------------------------------------------------------------------------

export const MODEL = '__MODEL_PROTO';

/** True for the names of further models over the same weights. */
export const isGraph = (name: string): boolean => /[^/]\.onnx$/.test(name);

/** P6 to P8 and N13. */
export function checkModel(headers: Header[], directory: Directory, limits: Limits): void {
  const model = headers.find(({ name }) => name === MODEL);
  require('P6', model !== undefined, directory.offset);
  require('P7', model === headers.at(-1), model.at, MODEL);
  require('P8', model.size <= limits.maxModelSize, model.at, MODEL);
  for (const { name, at } of headers) require('N13', name === MODEL || !/^__[A-Z]/.test(name), at, name);
}

// --- local headers ---------------------------------------------------------------------------------------------------

const MIB = 1 << 20;
const align = (offset: number, to: number): number => Math.ceil(offset / to) * to;

/** The shortcut of P5: whether the entry ends where usual writers put its end. */
export function endsAsUsual({ name, offset, size, following }: Header): boolean {
  const least = offset + LOCAL_SIZE + name.length + (size >= NONE_32 ? 20 : 0);
  const begins = [align(least + 6, size >= MIB ? 4096 : 64), align(least, 64), align(least + 6, 64)];
  return begins.some((begin) => begin + size === following);
}

/** How many bytes a usual local header has at most. */
export function usualLocalSize({ name, size }: Header): number {
  return LOCAL_SIZE + name.length + 26 + (size >= MIB ? 4096 : 64);
}

/** Returns where an entry's local header ends. Throws L1 if that is after the entry, or there is no header. */
export function localEnd(file: FileView, entry: Header): number {
  const { offset, following, name } = entry;
  const isThere = offset + LOCAL_SIZE <= following && file.has(LOCAL, offset, LOCAL_SIZE);
  require('L1', isThere, offset, name);
  const end = statedLocalEnd(file, offset);
  require('L1', end <= following, offset, name);
  return end;
}

/** L1 to L15; gives where the data begins. The window has the local header. */
export function readLocal(file: FileView, entry: Header): number {
  const at = entry.offset;
  const data = localEnd(file, entry);
  const keeps = (rule: Rule, kept: boolean): void => require(rule, kept, at, entry.name);
  keeps('L15', data - at <= 65535);
  const extraAt = at + LOCAL_SIZE + file.u16(at + 26);
  const name = file.slice(at + LOCAL_SIZE, extraAt);
  keeps('L2', name.length === entry.name.length && name.every((byte, i) => byte === entry.name.charCodeAt(i)));
  keeps('L3', ((file.u16(at + 6) ^ entry.flags) & ~0x800) === 0 && file.u16(at + 8) === 0);
  keeps('L3', file.u32(at + 10) === entry.time && file.u32(at + 14) === entry.crc32);
  keeps('L13', isVersion(file.u16(at + 4)));
  const known = [ZIP64_ID, PADDING_ID, ALIGNMENT_ID];
  const extra = readExtra(file, { begin: extraAt, end: data }, known, ['L4', 'L5', 'L6'], keeps);
  checkLocalSizes(file, entry, extra.get(ZIP64_ID), keeps);
  extra.delete(ZIP64_ID);
  checkPadding(file, entry, extra, data, keeps);
  return data;
}

function checkLocalSizes(file: FileView, entry: Header, field: Range | undefined, keeps: Keeps): void {
  const own = [file.u32(entry.offset + 22), file.u32(entry.offset + 18)];
  keeps('L7', field ? field.end - field.begin === 16 : !own.includes(NONE_32));
  const size = BigInt(entry.size);
  if (field) keeps('L8', file.u64(field.begin) === size && file.u64(field.begin + 8) === size);
  keeps(
    'L8',
    own.every((said) => said === entry.size || (field !== undefined && said === NONE_32)),
  );
}

/** L10 to L12 and L14. */
function checkPadding(file: FileView, entry: Header, extra: Map<number, Range>, data: number, keeps: Keeps): void {
  const [id, record] = [...extra][0] ?? [0, undefined];
  keeps('L10', !record || record.end - record.begin >= 2);
  const alignment = record ? file.u16(record.begin) : 64;
  keeps('L11', !record || isAlignment(id, alignment));
  keeps('L12', data % alignment === 0);
  keeps('L14', entry.alignment === undefined || (id === ALIGNMENT_ID && entry.alignment === alignment));
  keeps('L10', !record || file.slice(record.begin + 2, record.end).every((byte) => byte === 0));
}
