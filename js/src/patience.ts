import { unlessAborted } from './abort.js';
import { OnnxarError, failure, numberFrom } from './error.js';

const USUAL = 30_000; // ms
const LEAST_SPEED = 1024; // bytes a second
/** So many bytes after a failure make the next one count as the first. */
const ENOUGH = 1 << 16;
const BLOCK = 1 << 20; // bytes

/** URLs in a text without name, password and query, which may be secrets. */
export function shown(text: string): string {
  return text.replace(/[?#]\S*/g, '').replace(/\/\/[^/\s]*@/g, '//');
}

const passing = new WeakSet();

/** A failed or unexpected answer; `status` is 0 if there was none. */
export function refused(url: string, status: number, what: string): OnnxarError {
  const said = `${shown(url)}: ${shown(what)}${status ? ` (HTTP ${status})` : ''}`;
  const error = failure('http', said);
  if (status === 0 || status === 429 || status >= 500) passing.add(error);
  return error;
}

/** Whether the same request may succeed later: the connection broke, or the server has too much to do. */
export function isPassing(error: unknown): boolean {
  return error instanceof OnnxarError && (error.code === 'io.short_read' || passing.has(error));
}

/**
 * Waits for the parts of an answer, and ends the request when less than 1 KiB/s came for the time limit. The time begins
 * anew whenever the bytes since its begin reach that speed. Only time that is waited for counts: a consumer may be slow.
 */
export class Patience {
  readonly #url: string;
  readonly #limit: number;
  readonly #ended = new AbortController();
  #outer: AbortSignal | undefined;
  #waited = 0;
  #bytes = 0;

  /** A limit of 0: never. */
  constructor(url: string, limit: number = USUAL) {
    this.#url = url;
    this.#limit = numberFrom(0, 'timeout', limit) || Infinity;
  }

  /** For the request: aborts when this ends it, or when the caller's signal does. */
  signal(outer?: AbortSignal): AbortSignal {
    this.#outer = outer;
    return outer ? AbortSignal.any([this.#ended.signal, outer]) : this.#ended.signal;
  }

  /** Ends the request, whose answer is not wanted any more. */
  end(): void {
    this.#ended.abort();
  }

  /** The part. Throws if it fails, does not come in time, or the caller's signal is aborted. */
  async wait<T>(part: Promise<T>): Promise<T> {
    const outer = this.#outer;
    try {
      return await unlessAborted(this.#limit === Infinity ? part : this.#inTime(part), outer);
    } catch (error) {
      if (outer?.aborted || error instanceof OnnxarError) throw error;
      const what = error instanceof Error ? error.message : String(error);
      throw refused(this.#url, 0, `no answer, or it broke off: ${what}`);
    }
  }

  async #inTime<T>(part: Promise<T>): Promise<T> {
    const begin = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      // Timers take at most 2^31 - 1 ms. What came while a page was asleep is there at once.
      const left = Math.min(Math.max(this.#limit - this.#waited, 50), 2 ** 31 - 1);
      timer = setTimeout(() => {
        reject(this.#late()); // before the failure of the part that is ended
        this.end();
      }, left);
    });
    try {
      return await Promise.race([part, late]);
    } finally {
      clearTimeout(timer);
      this.#waited += performance.now() - begin;
    }
  }

  /** Notes that so many bytes came. Throws if they are too few for the time. */
  note(count: number): void {
    this.#bytes += count;
    if (this.#bytes * 1000 >= LEAST_SPEED * this.#waited) this.#waited = this.#bytes = 0;
    else if (this.#waited >= this.#limit) {
      this.end();
      throw this.#late();
    }
  }

  #late(): OnnxarError {
    const what = `no answer, or less than 1 KiB/s, for ${this.#limit} ms`;
    return failure('timeout', `${shown(this.#url)}: ${what}; a longer timeout waits longer, and 0 without end`);
  }
}

export function isTimeout(error: unknown): boolean {
  return error instanceof OnnxarError && error.code === 'remote.timeout';
}

/** Calls once more what was too slow. */
export async function again<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return call();
  }
}

/** An answer of `fetch`, and the patience with its body. */
export interface Asked {
  answer: Response;
  patience: Patience;
}

const tooMany = (): OnnxarError => failure('cut', 'more bytes came than were asked for');

/** The body in pieces. Throws the error if it has more than `most` bytes. */
export async function* bodyOf(
  { answer, patience }: Asked,
  most: number,
  error = tooMany,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await patience.wait(reader.read());
      if (done) return;
      patience.note(value.length);
      most -= value.length;
      if (most < 0) throw error();
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // its failure was told, or nobody reads it any more
  }
}

/** All bytes of the body, `most` at most. */
export async function bytesOf(asked: Asked, most: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await blobOf(asked, most)).arrayBuffer());
}

/** The same as a Blob. Bytes are put together, as a server may send them one by one, and each piece needs memory. */
export async function blobOf(asked: Asked, most: number, error = tooMany): Promise<Blob> {
  const blobs: Blob[] = [];
  const block = new Uint8Array(Math.min(most, BLOCK));
  let used = 0;
  for await (const piece of bodyOf(asked, most, error)) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + block.length - used);
      block.set(part, used);
      [at, used] = [at + part.length, used + part.length];
      if (used < block.length) continue;
      blobs.push(new Blob([block]));
      used = 0;
    }
  }
  return new Blob([...blobs, block.subarray(0, used)]);
}

/** The bytes from `begin` to `end`; where an answer is too slow, it is asked for the rest once more. */
export async function* bytesFrom(
  begin: number,
  end: number,
  ask: (begin: number, end: number) => Promise<Asked>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let last = begin; // of the failure
  for (let failures = 0; begin < end;) {
    try {
      for await (const piece of bodyOf(await ask(begin, end), end - begin)) {
        begin += piece.length;
        yield piece;
      }
      return;
    } catch (error) {
      if (begin - last >= ENOUGH) failures = 0;
      if (!isTimeout(error) || ++failures > 1) throw error;
      last = begin;
    }
  }
}

/** A stream of the pieces, one of which is made at a time. */
export function streamOfPieces(
  pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await pieces.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
