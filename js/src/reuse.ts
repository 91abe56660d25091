// An update of an archive: what the old version has of the new one, and what is requested from the server.
import { bytesOf as bodyOf } from './answer.js';
import { open, type Archive } from './archive.js';
import { endsAsUsual } from './container.js';
import { OnnxarError, checkLength } from './error.js';
import { piecesOf } from './pieces.js';
import type { Bytes } from './place.js';
import type { Source, SourceOptions } from './source.js';
import { UrlSource, ask, isSameOrigin } from './url.js';

/** Smaller entries, in bytes, are downloaded: if the server sends several ranges in an answer, and if it does not. */
const [LEAST, LEAST_ALONE] = [1 << 12, 1 << 16];
/** The most bytes between two entries that are requested together with those between others. */
const SMALL = 1 << 13;
const AT_ONCE = 100; // ranges of a request
const PART_HEAD = 1024; // bytes that a server adds to a range

interface Range {
  begin: number;
  end: number;
}

/** Bytes of the new version that the old one has, from `from` on. */
interface Run extends Range {
  from: number;
}

/** Reads the new version of an archive: entries of the same size and CRC-32 from the old version, the rest from the server. */
export class Reuse {
  readonly #old: Archive;
  readonly #remote: UrlSource;
  readonly #options: SourceOptions;
  /** In the order of the new version. */
  readonly #runs: Run[];
  /** Bytes between runs: of a number of gaps, by their begin. */
  readonly #gaps = new Map<number, Promise<Map<number, Bytes>>>();

  private constructor(old: Archive, remote: UrlSource, options: SourceOptions, runs: Run[]) {
    this.#old = old;
    this.#remote = remote;
    this.#options = options;
    this.#runs = runs;
  }

  /** Takes the old version, and the new one, which was opened with these options. Returns undefined if nothing can be reused. */
  static async open(
    kept: Blob | URL,
    archive: Archive,
    remote: Source,
    options: SourceOptions,
  ): Promise<Reuse | undefined> {
    if (!(remote instanceof UrlSource)) return undefined; // all of it was sent
    const old = await open(kept).catch(unlessDamaged);
    if (!old) return undefined;
    try {
      const several = new Reuse(old, remote, options, await runsOf(old, archive, LEAST));
      if (isSameOrigin(remote.version.from) && (await several.#gapsFrom(0, options.signal)).size > 0) return several;
      return new Reuse(old, remote, options, await runsOf(old, archive, LEAST_ALONE));
    } catch (error) {
      await old.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#old.close();
  }

  /** Returns the bytes from `begin` to `end` of the new version. */
  async *bytes(begin: number, end: number, signal: AbortSignal): AsyncGenerator<Bytes> {
    for (let index = this.#firstAfter(begin); begin < end;) {
      const run = this.#runs[index] ?? { begin: end, end, from: 0 };
      if (begin < run.begin) {
        const stop = Math.min(end, run.begin);
        const gaps = await this.#gapsFrom(index, signal);
        const known = gaps.get(begin);
        gaps.delete(begin);
        if (known?.length === stop - begin) yield known;
        else yield* bytesOf(this.#remote, begin, stop, signal);
        begin = stop;
      } else {
        const [from, stop] = [run.from + begin - run.begin, Math.min(end, run.end)];
        yield* bytesOf(this.#old.source, from, from + stop - begin, signal);
        begin = stop;
        index++;
      }
    }
  }

  /** Returns the index of the first run that ends after `at`. */
  #firstAfter(at: number): number {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]!.end > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Returns the bytes of small gaps before runs, among which is that before the run `index`; none if they come one by one. */
  #gapsFrom(index: number, signal: AbortSignal | undefined): Promise<Map<number, Bytes>> {
    const first = index - (index % AT_ONCE);
    let gaps = this.#gaps.get(first);
    if (!gaps) {
      const runs = this.#runs.slice(first, first + AT_ONCE);
      const all = runs.map(({ begin }, i) => ({ begin: this.#runs[first + i - 1]?.end ?? 0, end: begin }));
      const small = all.filter(({ begin, end }) => begin < end && end - begin <= SMALL);
      gaps = several(this.#remote, this.#options, small, signal);
      this.#gaps.set(first, gaps);
    }
    return gaps;
  }
}

const unlessDamaged = (error: unknown): undefined => {
  if (!(error instanceof OnnxarError)) throw error;
};

/** Returns what `old` has of `archive`, except entries of fewer than `least` bytes. Makes no request. */
async function runsOf(old: Archive, archive: Archive, least: number): Promise<Run[]> {
  const known = new Map(old.entries.map((entry) => [`${entry.size} ${entry.crc32}`, entry.name]));
  const runs: Run[] = [];
  for (const { name, size, crc32 } of archive.entries) {
    const same = size < least ? undefined : known.get(`${size} ${crc32}`);
    const from = same === undefined ? undefined : await old.offset(same).catch(unlessDamaged);
    if (from === undefined) continue;
    const { begin: offset, end: following } = archive.extent(name);
    // Opening has read the local headers of the others.
    const isUsual = endsAsUsual({ name, size, offset, following });
    const begin = isUsual ? following - size : await archive.offset(name);
    runs.push({ begin, end: begin + size, from });
  }
  return runs;
}

/** Requests ranges in one request. Returns their bytes by their begin: none if that fails, as they can come one by one. */
async function several(
  remote: UrlSource,
  options: SourceOptions,
  ranges: Range[],
  signal: AbortSignal | undefined,
): Promise<Map<number, Bytes>> {
  const found = new Map<number, Bytes>();
  if (ranges.length < 2) return found;
  try {
    const headers = remote.headers(ranges[0]!.begin, ranges[0]!.end);
    headers['Range'] = `bytes=${ranges.map(({ begin, end }) => `${begin}-${end - 1}`).join()}`;
    const asked = await ask(remote.url, options, headers, 'GET', signal);
    try {
      remote.check(asked.answer, ranges[0]!.begin);
      const most = ranges.reduce((sum, { begin, end }) => sum + end - begin + PART_HEAD, PART_HEAD);
      for (const [begin, bytes] of partsOf(await bodyOf(asked, most), remote.size)) found.set(begin, bytes);
    } finally {
      asked.timer.end();
    }
  } catch {
    signal?.throwIfAborted();
  }
  return found;
}

/** Returns the parts of a body of the type multipart/byteranges: where each begins in a file of this size, and its bytes. */
function* partsOf(body: Bytes, size: number): Generator<[begin: number, bytes: Bytes]> {
  const text = new TextDecoder('latin1').decode(body); // a character for each byte
  for (let at = 0; ;) {
    const begin = text.indexOf('\r\n\r\n', at) + 4;
    const [, first, last] = /\ncontent-range: *bytes (\d{1,15})-(\d{1,15})\/\d+\s/i.exec(text.slice(at, begin)) ?? [];
    if (begin < 4 || first === undefined) return;
    at = begin + Number(last) + 1 - Number(first);
    if (begin <= at && at <= body.length && Number(last) < size) yield [Number(first), body.subarray(begin, at)];
    else return;
  }
}

/** Returns the bytes of a range of a source. Throws if there are not as many. */
export async function* bytesOf(source: Source, begin: number, end: number, signal: AbortSignal): AsyncGenerator<Bytes> {
  const pieces = await piecesOf(source, begin, end, signal);
  let count = 0;
  try {
    let bytes = await pieces.next(new Uint8Array(pieces.most));
    while (bytes.length > 0) {
      count += bytes.length;
      yield bytes;
      bytes = await pieces.next(new Uint8Array(bytes.buffer));
    }
    checkLength(count, end - begin);
  } finally {
    await pieces.cancel().catch(() => undefined); // its failure was thrown already
  }
}
