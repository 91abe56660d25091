// Opens archives, and reads entries, tensors and links.
import * as container from './container.js';
import type { Directory, Entry, Header, Limits } from './container.js';
import { crc32 } from './crc32.js';
import { OnnxarError, checkLength, checkRule, failure, numberFrom, tooLarge } from './error.js';
import { MODEL, isGraph } from './graphs.js';
import { openPath } from './node_file.js';
import { openSource, type Openable } from './openable.js';
import { counted, drain, piecesOf, streamOf, type Pieces } from './pieces.js';
import { exactly, type Source, type SourceOptions } from './source.js';
import { REACH, keeping, type Reach, type Site, type Tensor } from './tensors.js';
import { Walk, externalData, withoutLink, withoutMarkers, type Visit } from './walk.js';
import { FileView } from './file_view.js';
import { block, join, pair } from './wire.js';
import { ENDS_SIZE, SEARCHED } from './zip.js';

export interface OpenOptions extends SourceOptions {
  /** Refuse more entries (2^20). */
  maxEntries?: number;
  /** Refuse a larger directory, in bytes (256 MiB). */
  maxDirectorySize?: number;
  /** Refuse a larger model, in bytes (2^31 - 1). */
  maxModelSize?: number;
}

export interface LinkOptions {
  /** The model: `__MODEL_PROTO`, or one of `graphs()`. */
  graph?: string;
  /** Where the archive begins in the file that the link leads to: a multiple of 64. */
  offset?: number;
}

/** The bytes of a model, and where they are in the file. */
type Model = { model: Uint8Array; base: number };

const MOST_BYTES = 2 ** 31 - 1;
const AT_ONCE = 16; // requests at the same time
/** Data of fewer bytes is part of the link. */
const SMALLEST_LINKED = 128;

/**
 * An open archive. Its directory is checked when it is opened, an entry's local header before its bytes are returned,
 * and a tensor before it is returned. Calls may run at the same time.
 */
export class Archive {
  /** The entries in the order of the file; the model is the last. */
  readonly entries: readonly Entry[];
  readonly source: Source;
  /** The CRC-32 of the directory, which has each entry's CRC-32: equal numbers mean equal entries. */
  readonly directoryCrc32: number;
  readonly #directory: Directory;
  readonly #headers: Header[];
  readonly #byName: Map<string, Header>;
  readonly #places = new Map<Header, number>();

  private constructor(source: Source, directory: Directory, headers: Header[], directoryCrc: number) {
    this.source = source;
    this.#directory = directory;
    this.#headers = headers;
    this.directoryCrc32 = directoryCrc;
    this.#byName = new Map(headers.map((header) => [header.name, header]));
    this.entries = headers.map(({ name, size, crc32 }) => ({ name, size, crc32 }));
  }

  static async open(source: Source, limits: Limits): Promise<Archive> {
    const size = source.size;
    const tail = await readWindow(source, Math.max(0, size - SEARCHED), size);
    const directory = container.readEnd(tail);
    container.checkCounts(directory, limits);
    const isRead = directory.offset >= tail.base;
    const bytes = isRead
      ? tail.slice(directory.offset, directory.end)
      : await source.read(directory.offset, directory.end);
    const headers = container.readDirectory(new FileView(bytes, directory.offset), directory);
    const archive = new Archive(source, directory, headers, crc32(bytes));
    await inTurn(
      headers.filter((header) => !container.endsAsUsual(header)),
      (header) => archive.#place(header),
    );
    container.checkModel(headers, directory, limits);
    return archive;
  }

  /** True if the file that is now at a path of Node has the same directory: the same entries at the same offsets. */
  async isAt(path: string): Promise<boolean> {
    const [file, { offset, end }] = [await openPath(path), this.#directory];
    try {
      return file.size === this.source.size && crc32(await file.read(offset, end)) === this.directoryCrc32;
    } finally {
      await file.close();
    }
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Returns the names of the model and of the other models that share its weights. */
  graphs(): string[] {
    return [MODEL, ...this.#headers.map(({ name }) => name).filter(isGraph)];
  }

  /** Returns the range from an entry's local header to the next one. Uses only the directory. */
  extent(name: string): { begin: number; end: number } {
    const { offset, following } = this.#header(name);
    return { begin: offset, end: following };
  }

  /** Returns the offset of an entry's data in the file. */
  async offset(name: string): Promise<number> {
    return this.#place(this.#header(name));
  }

  /** Returns bytes of an entry; a view if the source is in memory. Needs one read if the archive has the usual layout. */
  async bytes(name: string, begin = 0, end = this.#header(name).size, signal?: AbortSignal): Promise<Uint8Array> {
    const header = this.#header(name);
    checkPart(header, begin, end);
    if (!this.#places.has(header) && begin === 0) return this.#withHeader(header, end, signal);
    const data = await this.#place(header, signal);
    return this.source.read(data + begin, data + end, signal);
  }

  /** Returns the same bytes in pieces. If they are the whole entry and its CRC-32 is wrong, the stream fails at its end. */
  stream(name: string, begin = 0, end?: number): ReadableStream<Uint8Array<ArrayBuffer>> {
    const header = this.#header(name);
    return streamOf(() => this.#pieces(header, begin, end));
  }

  /**
   * Returns all bytes of an entry. Throws `zip.data.crc` if their CRC-32 is wrong. Streams, because JavaScript can free that memory:
   * browsers keep the memory of whole answers for a while.
   */
  async read(name: string, onBytes?: (count: number) => void): Promise<Uint8Array> {
    const header = this.#header(name);
    if (!this.source.stream) {
      const all = await this.bytes(name);
      checkRule('T1', crc32(all) === header.crc32, await this.#place(header), name);
      onBytes?.(all.length);
      return all;
    }
    const bytes = new Uint8Array(header.size);
    await drain(await this.#pieces(header, 0), (piece, at) => {
      bytes.set(piece, at);
      onBytes?.(piece.length);
    });
    return bytes;
  }

  /** Reads an entry, and keeps nothing of it. Throws `zip.data.crc` if its CRC-32 is wrong. */
  async verify(name: string, signal?: AbortSignal): Promise<void> {
    await drain(await this.#pieces(this.#header(name), 0, undefined, signal));
  }

  /** Returns all tensors of a model in the order of its bytes. Throws if one of them is invalid. */
  async tensors(graph: string = MODEL): Promise<Tensor[]> {
    const tensors: Tensor[] = [];
    const keep = keeping(tensors);
    const walk = this.#walk(graph, await this.#model(graph), ({ begin: _, end: __, reach: ___, ...tensor }) => {
      keep(tensor);
      return undefined;
    });
    walk.run();
    return tensors;
  }

  /** Returns a tensor's data in a `buffer` with no other bytes; undefined if it is in typed fields, as strings always are. */
  async tensorBytes({ graph, entry = graph, offset, length }: Tensor): Promise<Uint8Array | undefined> {
    if (offset === undefined) return undefined;
    const bytes = await this.bytes(entry, offset, offset + length!);
    return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
  }

  /**
   * Returns a ModelProto whose external data is the archive itself (spec/links.md), for runtimes that take a model and a file.
   * `location` is the name of the file for the runtime. Reads the local headers of all linked entries.
   */
  async link(location: string, options: LinkOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { graph = MODEL, offset = 0 } = options;
    const isOffset = Number.isSafeInteger(offset) && offset >= 0 && offset % 64 === 0;
    if (!isOffset || !Number.isSafeInteger(offset + this.source.size) || typeof location !== 'string' || !location) {
      throw failure('usage.argument', 'a link takes a name, and an offset that is a multiple of 64');
    }
    const own = this.#headers.find(({ name }) => name.toLowerCase() === location.toLowerCase());
    if (own) throw failure('usage.own_name', 'an entry has the name of the archive in the link', own.name);
    const marker = [
      ...pair(14, 'onnxar.link.archive', location),
      ...(offset ? pair(14, 'onnxar.link.offset', String(offset)) : []),
      ...pair(14, 'onnxar.link.size', String(this.source.size)),
      ...pair(14, 'onnxar.link.model_crc32', String(this.#headers.at(-1)!.crc32)),
      ...pair(14, 'onnxar.link.directory_crc32', String(this.directoryCrc32)),
    ];
    const linked = await this.rewrite(graph, REACH.file, async ({ entry }) => ({
      location,
      begin: offset + (await this.#place(this.#header(entry!))),
    }));
    return join([withoutMarkers(linked), ...marker]);
  }

  /**
   * Returns the model with every link replaced by one to `location` at `begin` plus its own offset. Tensors of less
   * than 128 bytes, and those whose own reach is less than `reach`, get their data inside the model.
   */
  async rewrite(
    graph: string,
    reach: Reach,
    place: (tensor: Tensor) => Promise<{ location: string; begin: number }>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const read = await this.#model(graph);
    const linked: Site[] = [];
    const keep = keeping(linked);
    this.#walk(graph, read, (site) => {
      if (site.entry !== undefined) keep(site);
      return undefined;
    }).run();
    const isInline = (site: Site): boolean => site.length! < SMALLEST_LINKED || site.reach < reach;
    const total = linked.filter(isInline).reduce((sum, { length }) => sum + length!, read.model.length);
    if (total > MOST_BYTES) throw tooLarge(graph);
    const fields: Uint8Array[] = [];
    await inTurn(linked, async (site, index) => {
      const kept = withoutLink(read.model, site);
      if (isInline(site)) {
        const data = await this.bytes(site.entry!, site.offset, site.offset! + site.length!);
        fields[index] = join([kept, ...block(9, [data])]);
      } else {
        const { location, begin } = await place(site);
        fields[index] = join([kept, ...externalData(location, begin + site.offset!, site.length!)]);
      }
    });
    let next = 0;
    const walk = this.#walk(graph, read, ({ entry }) => (entry === undefined ? undefined : fields[next++]));
    const size = walk.run();
    if (size > MOST_BYTES) throw tooLarge(graph);
    return walk.rewritten(size);
  }

  /** Closes the file if `open` opened it. */
  async close(): Promise<void> {
    await this.source.close?.();
  }

  #size = (name: string): number | undefined => this.#byName.get(name)?.size;

  #header(name: string): Header {
    const found = this.#byName.get(name);
    if (!found) throw failure('usage.no_such_entry', 'there is no such entry', name);
    return found;
  }

  async #model(graph: string): Promise<Model> {
    const header = this.#header(graph);
    checkRule('G2', header.size <= MOST_BYTES, header.at, graph);
    return { model: await this.bytes(graph), base: await this.#place(header) };
  }

  #walk(graph: string, { model, base }: Model, visit: Visit): Walk {
    return new Walk(model, base, graph, this.#size, visit);
  }

  /** Returns the entry's first `end` bytes. Reads them together with the local header. */
  async #withHeader(header: Header, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const most = Math.min(header.following, header.offset + container.usualLocalSize(header) + end);
    const file = await readWindow(this.source, header.offset, most, signal);
    const data = await this.#prove(header, file, signal);
    if (data + end <= file.end) return file.slice(data, data + end);
    return this.source.read(data, data + end, signal);
  }

  async #place(header: Header, signal?: AbortSignal): Promise<number> {
    const known = this.#places.get(header);
    if (known !== undefined) return known;
    const end = Math.min(header.following, header.offset + container.usualLocalSize(header));
    return this.#prove(header, await readWindow(this.source, header.offset, end, signal), signal);
  }

  /** Checks an entry's local header, with which `file` begins, and what follows its data (stage use). */
  async #prove(header: Header, file: FileView, signal?: AbortSignal): Promise<number> {
    const end = container.localEnd(file, header);
    const whole = end <= file.end ? file : await readWindow(this.source, header.offset, end, signal);
    const data = container.readLocal(whole, header);
    await this.#checkGap(header, data + header.size, signal);
    this.#places.set(header, data);
    return data;
  }

  /** Checks P3 to P5: nothing follows the data, except what an edit left. */
  async #checkGap({ name, offset, following }: Header, end: number, signal?: AbortSignal): Promise<void> {
    const isLast = following === this.#directory.offset;
    checkRule(isLast ? 'P4' : 'P3', end <= following, offset, name);
    if (end === following) return;
    checkRule('P5', !isLast, end, name);
    const ends = await readWindow(this.source, Math.max(0, following - ENDS_SIZE), following, signal);
    checkRule('P5', isSuperseded(ends, end, this.#directory), end, name);
  }

  async #pieces(header: Header, begin: number, end = header.size, signal?: AbortSignal): Promise<Pieces> {
    checkPart(header, begin, end);
    const data = await this.#place(header, signal);
    const pieces = await piecesOf(this.source, data + begin, data + end, signal);
    return counted(pieces, end - begin, (bytes, crc) => {
      checkLength(bytes, end - begin, header.name);
      checkRule('T1', begin > 0 || end < header.size || crc === header.crc32, data, header.name);
    });
  }
}

export function limitsOf(options: OpenOptions): Limits {
  const { maxEntries = 2 ** 20, maxDirectorySize = 2 ** 28, maxModelSize = MOST_BYTES } = options;
  for (const [name, value] of Object.entries({ maxEntries, maxDirectorySize, maxModelSize }))
    numberFrom(0, name, value);
  return { maxEntries, maxDirectorySize, maxModelSize: Math.min(maxModelSize, MOST_BYTES) };
}

/** Opens an archive: reads its end and proves its directory. */
export async function open(from: Openable, options: OpenOptions = {}): Promise<Archive> {
  const source = await openSource(from, options);
  try {
    return await Archive.open(source, limitsOf(options));
  } catch (error) {
    if (source !== from) await source.close?.();
    throw error;
  }
}

function checkPart({ name, size }: Header, begin: number, end: number): void {
  if (Number.isSafeInteger(begin) && Number.isSafeInteger(end) && begin >= 0 && begin <= end && end <= size) return;
  throw failure('usage.argument', `bytes ${begin} to ${end} of an entry of ${size}`, name);
}

async function readWindow(source: Source, begin: number, end: number, signal?: AbortSignal): Promise<FileView> {
  return new FileView(exactly(await source.read(begin, end, signal), end - begin), begin);
}

/** Calls `one` for all, some at a time. Throws the error of the first one, in their order, that fails. */
async function inTurn<T>(all: T[], one: (each: T, index: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const done = await Promise.allSettled(all.slice(at, at + AT_ONCE).map((each, i) => one(each, at + i)));
    for (const each of done) if (each.status === 'rejected') throw each.reason;
  }
}

/** True if `ends` is the end of an archive whose directory is after `begin` (P5c). */
function isSuperseded(ends: FileView, begin: number, now: Directory): boolean {
  try {
    const before = container.readEnd(ends);
    return before.offset >= begin && (now.hasZip64 || !before.hasZip64);
  } catch (error) {
    if (error instanceof OnnxarError) return false;
    throw error;
  }
}
