// Files on servers.
import { StallTimer, blobOf, bytesFrom, bytesOf, streamOfPieces, type Asked } from './answer.js';
import { changed, failure, type OnnxarError } from './error.js';
import { BlobSource, type Source, type SourceOptions } from './source.js';
import { Retries, isTimeout, refused, shown, tooShort } from './retry.js';
import { Waiting, inPieces } from './waiting.js';

/** Size of the first request, for the end of the file: the end records, and for most models the directory and the graph. */
const SUFFIX = 1 << 17;
/** Largest whole file that is accepted instead of a range without asking for another range. */
const SMALL = 1 << 20;

/** Limits of a whole file, which a server sends if it ignores ranges: with and without a Content-Length. */
const [MOST_WHOLE, MOST_UNSAID] = [2 ** 32, 2 ** 28];

/** Identifies a version of a file. */
interface Version {
  etag: string | null;
  modified: string | null;
  size: number;
  /** The URL after redirects. */
  from: string;
}

/** Returns first byte and size of Content-Range, NaN if it is invalid; undefined if it is missing or not exposed by CORS. */
function contentRange(answer: Answer): { begin: number; size: number | undefined } | undefined {
  const text = answer.headers.get('Content-Range');
  if (text === null) return undefined;
  const found = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(text);
  return { begin: Number(found?.[1]), size: found && found[2] !== '*' ? Number(found[2]) : undefined };
}

interface Answer {
  status: number;
  headers: { get(name: string): string | null };
}

/** A file on a server, read in ranges. Every answer must be of the version of the first one. */
export class UrlSource implements Source {
  readonly url: string;
  readonly size: number;
  readonly version: Version;
  readonly isOwn: boolean;
  readonly #options: SourceOptions;
  readonly #tail: Uint8Array<ArrayBuffer>;
  readonly #waiting = new Waiting();

  constructor(url: string, version: Version, tail: Uint8Array<ArrayBuffer>, options: SourceOptions) {
    this.url = url;
    this.size = version.size;
    this.version = version;
    this.#tail = tail;
    this.#options = options;
    this.isOwn = !options.fetch;
  }

  async read(begin: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const known = this.#inTail(begin, end);
    if (known) return known;
    const bytes = new Uint8Array(end - begin);
    let filled = 0;
    for await (const piece of this.#bytes(begin, end, signal)) {
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return bytes;
  }

  readSync(into: Uint8Array, begin: number): boolean {
    if (!this.#waiting.isHere || this.#options.fetch) return false;
    return inPieces(into, (piece, at) => this.#fill(piece, begin + at));
  }

  #fill(into: Uint8Array, begin: number): void {
    const known = this.#inTail(begin, begin + into.length);
    if (known) {
      into.set(known);
      return;
    }
    const own = Object.fromEntries(new Headers(this.#options.request?.headers));
    this.#waiting.get(this.url, { ...own, ...this.headers(begin, begin + into.length) }, into, (request) =>
      this.check({ status: request.status, headers: { get: (name) => request.getResponseHeader(name) } }, begin),
    );
  }

  stream(begin: number, end: number, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const known = this.#inTail(begin, end);
    return Promise.resolve(known ? new Blob([known]).stream() : streamOfPieces(this.#bytes(begin, end, signal)));
  }

  /** Returns the headers of a request for a range. Sends If-Range only to the page's own server: CORS would need a preflight. */
  headers(begin: number, end: number): Record<string, string> {
    const { etag } = this.version;
    const asks = etag && !etag.startsWith('W/') && isSameOrigin(this.version.from) ? { 'If-Range': etag } : {};
    return { Range: `bytes=${begin}-${end - 1}`, ...asks };
  }

  /** Throws unless the answer has the range of this version of the file. */
  check(answer: Answer, begin: number): void {
    const { etag, modified, size } = this.version;
    const range = contentRange(answer);
    if (![200, 206, 416].includes(answer.status)) {
      throw refused(this.url, answer.status, 'the server refused a range', answer.headers);
    }
    const differs =
      (etag ?? answer.headers.get('ETag')) !== answer.headers.get('ETag') ||
      modified !== answer.headers.get('Last-Modified') ||
      (range?.size ?? size) !== size;
    if (differs || answer.status !== 206) throw changed(begin, shown(this.url));
    if ((range?.begin ?? begin) !== begin) throw refused(this.url, answer.status, 'the server sent another range');
  }

  #inTail(begin: number, end: number): Uint8Array<ArrayBuffer> | undefined {
    const base = this.size - this.#tail.length;
    if (begin === end) return new Uint8Array(0);
    return begin >= base ? this.#tail.subarray(begin - base, end - base) : undefined;
  }

  #bytes(begin: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const ask = (from: number, to: number): Promise<Asked> => this.#ask(from, to, signal);
    return bytesFrom(begin, end, ask, signal ?? this.#options.signal);
  }

  async #ask(begin: number, end: number, signal?: AbortSignal): Promise<Asked> {
    const asked = await ask(this.url, this.#options, this.headers(begin, end), 'GET', signal);
    try {
      this.check(asked.answer, begin);
    } catch (error) {
      asked.timer.end();
      throw error;
    }
    return asked;
  }
}

export function isSameOrigin(url: string): boolean {
  const here = (globalThis as { location?: Location }).location;
  return !here || new URL(url, here.href).origin === here.origin;
}

export async function ask(
  url: string,
  options: SourceOptions,
  headers: Record<string, string>,
  method = 'GET',
  signal = options.signal,
): Promise<Asked> {
  const all = new Headers(options.request?.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  const timer = new StallTimer(url, options.timeout);
  const outer = signal ?? options.request?.signal ?? undefined;
  const init: RequestInit = { ...options.request, method, headers: all, signal: timer.signal(outer) };
  return { answer: await timer.wait((options.fetch ?? globalThis.fetch)(url, init)), timer };
}

function versionOf(url: string, answer: Response, size: number): Version {
  return {
    etag: answer.headers.get('ETag'),
    modified: answer.headers.get('Last-Modified'),
    size,
    from: answer.url || url,
  };
}

function lengthOf(answer: Response): number | undefined {
  const stated = answer.headers.get('Content-Length');
  return /^\d{1,15}$/.test(stated ?? '') && !answer.headers.get('Content-Encoding') ? Number(stated) : undefined;
}

/**
 * Opens a file by reading its end. A page asks other servers for the size first: a range from the end is not among the
 * headers that CORS lets pass without a request of its own (a preflight), and few servers answer that one.
 */
export async function openUrl(url: string, options: SourceOptions): Promise<Source> {
  for (const retries = new Retries(); ;) {
    try {
      return await openOnce(url, options);
    } catch (error) {
      await retries.next(error, 0, options.signal);
    }
  }
}

async function openOnce(url: string, options: SourceOptions): Promise<Source> {
  if (!isSameOrigin(url)) return openByHead(url, options);
  let first: Asked;
  try {
    first = await ask(url, options, { Range: `bytes=-${SUFFIX}` });
  } catch (error) {
    if (options.signal?.aborted || isTimeout(error) || !('location' in globalThis)) throw error;
    return openByHead(url, options); // redirected to another server, perhaps
  }
  const { answer } = first;
  if (answer.status === 206) {
    const bytes = await bytesOf(first, SUFFIX);
    const range = contentRange(answer);
    if (range && range.begin + bytes.length === range.size) {
      return new UrlSource(url, versionOf(url, answer, range.size), bytes, options);
    }
    return openByHead(url, options);
  }
  if (answer.status === 200) return openWithoutSuffix(url, options, first);
  first.timer.end();
  if (![400, 416, 501].includes(answer.status)) throw refused(url, answer.status, 'the server refused', answer.headers);
  return openByHead(url, options);
}

/** Opens a file whose server ignored the range; perhaps it ignores only ranges from the end. */
async function openWithoutSuffix(url: string, options: SourceOptions, first: Asked): Promise<Source> {
  const size = lengthOf(first.answer);
  if (size === undefined || size <= SMALL) return wholeOf(url, first, size);
  first.timer.end();
  return openBySize(url, options, size);
}

/** Reads the whole file into memory. Throws if it is too large for that. */
async function wholeOf(url: string, asked: Asked, size: number | undefined): Promise<Source> {
  const most = size === undefined ? MOST_UNSAID : MOST_WHOLE;
  const what = `the server ignores ranges, and the file has more than ${most} bytes; download it first`;
  const tooLarge = (): OnnxarError => failure('remote.no_ranges', `${shown(url)}: ${what}`);
  if (size === undefined) return new BlobSource(await blobOf(asked, most, tooLarge));
  if (size <= most) return new BlobSource(await blobOf(asked, size));
  asked.timer.end();
  throw tooLarge();
}

async function openByHead(url: string, options: SourceOptions): Promise<Source> {
  const { answer: head } = await ask(url, options, {}, 'HEAD');
  const size = head.ok ? lengthOf(head) : undefined;
  if (size === undefined) throw refused(url, head.status, 'the server does not say the size of the file', head.headers);
  return openBySize(url, options, size);
}

async function openBySize(url: string, options: SourceOptions, size: number): Promise<Source> {
  const begin = Math.max(0, size - SUFFIX);
  const asked = await ask(url, options, size > 0 ? { Range: `bytes=${begin}-${size - 1}` } : {});
  const { answer } = asked;
  if (answer.status === 200) return wholeOf(url, asked, size);
  const source = new UrlSource(url, versionOf(url, answer, size), new Uint8Array(0), options);
  source.check(answer, begin);
  const tail = await bytesOf(asked, size - begin);
  if (tail.length < size - begin) throw tooShort(tail.length, size - begin);
  return new UrlSource(url, source.version, tail, options);
}
