// Answers of servers: waiting for their parts, and reading their bodies.
import { anyOf, unlessAborted } from './abort.js';
import { OnnxarError, failure, numberFrom } from './error.js';
import { LEAST_SPEED, Retries, TIMEOUT, refused, shown, tooShort } from './retry.js';

const BLOCK = 1 << 20; // bytes

/**
 * Waits for the parts of an answer, and ends the request if it gets less than 1 KiB/s for the time limit. The time starts
 * again whenever the bytes since then reach that speed. Only the time spent in `wait` counts: a consumer may be slow.
 */
export class StallTimer {
  readonly #url: string;
  readonly #limit: number;
  readonly #ended = new AbortController();
  #outer: AbortSignal | undefined;
  #waited = 0;
  #bytes = 0;

  /** Takes the limit in ms; 0 means none. */
  constructor(url: string, limit: number = TIMEOUT) {
    this.#url = url;
    this.#limit = numberFrom(0, 'timeout', limit) || Infinity;
  }

  /** Returns the signal for the request, which is aborted by `end`, or by the caller's signal. */
  signal(outer?: AbortSignal): AbortSignal {
    this.#outer = outer;
    return anyOf(this.#ended.signal, outer)!;
  }

  /** Ends the request. */
  end(): void {
    this.#ended.abort();
  }

  /** Returns the part. Throws if it fails or is too slow, or if the caller's signal is aborted. */
  async wait<T>(part: Promise<T>): Promise<T> {
    const outer = this.#outer;
    try {
      return await unlessAborted(this.#limit === Infinity ? part : this.#inTime(part), outer);
    } catch (error) {
      if (outer?.aborted || error instanceof OnnxarError) throw error;
      const what = error instanceof Error ? error.message : String(error);
      throw refused(this.#url, 0, `the connection failed: ${what}`);
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

  /** Counts received bytes. Throws if they are too few for the time. */
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
    return failure('remote.timeout', `${shown(this.#url)}: ${what}; set a longer timeout, or 0 for no limit`);
  }
}

/** An answer of `fetch`, and the time limit of its body. */
export interface Asked {
  answer: Response;
  timer: StallTimer;
}

const tooMany = (): OnnxarError => failure('remote.answer', 'more bytes came than requested');

/** Returns the body in pieces. Throws `error()` if it has more than `most` bytes. */
export async function* bodyOf(
  { answer, timer }: Asked,
  most: number,
  error = tooMany,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await timer.wait(reader.read());
      if (done) return;
      timer.note(value.length);
      most -= value.length;
      if (most < 0) throw error();
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // its failure was thrown, or the caller stopped reading
  }
}

/** Returns the bytes of the body. Throws if there are more than `most`. */
export async function bytesOf(asked: Asked, most: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await blobOf(asked, most)).arrayBuffer());
}

/** Returns the same as a Blob. Joins small pieces: a server may send single bytes, and each piece needs memory. */
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

/** Returns the bytes from `begin` to `end`. When a request fails, the rest is asked for again. */
export async function* bytesFrom(
  begin: number,
  end: number,
  ask: (begin: number, end: number) => Promise<Asked>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const retries = new Retries();
  while (begin < end) {
    const first = begin;
    try {
      for await (const piece of bodyOf(await ask(begin, end), end - begin)) {
        begin += piece.length;
        yield piece;
      }
      if (begin < end) throw tooShort(begin - first, end - first);
    } catch (error) {
      await retries.next(error, begin - first, signal);
    }
  }
}

/** Returns a stream that takes one piece at a time. */
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
