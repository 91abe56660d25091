// Which failed requests are sent again, and when. A test compares these rules with those of src/remote.
import { pause } from './abort.js';
import { OnnxarError, failure, type Rule } from './error.js';

const RETRIES = 5; // of a request that brought fewer than ENOUGH bytes
const STALLS = 1; // of these, for servers that were too slow: each takes long
const ENOUGH = 1 << 16; // bytes
const PAUSE = 250; // ms before the first retry; doubles each time, and up to half of it is left out at random
const LONGEST_PAUSE = 60_000; // ms that a server may ask for
const STATUSES = [408, 425, 429, 500, 502, 503, 504];
export const TIMEOUT = 30_000; // ms without an answer, or with less than LEAST_SPEED
export const LEAST_SPEED = 1024; // bytes a second

/** Returns a text without the name, password and query of URLs, which may be secrets. */
export function shown(text: string): string {
  return text.replace(/[?#]\S*/g, '').replace(/\/\/[^/\s]*@/g, '//');
}

/** Errors after which the same request may succeed, and the ms that the server asks to wait. */
const transient = new WeakMap<object, number>();

/** Returns the code of an answer that is not asked for again. `fetch` hides status 407. */
function codeOf(status: number): Rule {
  if (status === 404 || status === 410) return 'io.not_found';
  if (status === 401 || status === 403) return 'io.permission';
  return status === 200 || status === 206 ? 'remote.answer' : 'remote.refused';
}

/** Returns an error for a failed or unexpected answer; `status` is 0 if there was none. */
export function refused(url: string, status: number, what: string, headers?: Pick<Headers, 'get'>): OnnxarError {
  const isTransient = status === 0 || STATUSES.includes(status);
  const code = isTransient ? 'remote.unreachable' : codeOf(status);
  const error = failure(code, `${shown(url)}: ${shown(what)}${status ? ` (HTTP ${status})` : ''}`);
  const asked = Number(headers?.get('Retry-After')) * 1000 || 0; // it may be a date
  if (isTransient) transient.set(error, Math.min(asked, LONGEST_PAUSE));
  return error;
}

/** Returns an error for a body that ended before all bytes came. */
export function tooShort(count: number, wanted: number): OnnxarError {
  const error = failure('remote.unreachable', `${count} bytes came, not ${wanted}`);
  transient.set(error, 0);
  return error;
}

export function isTimeout(error: unknown): boolean {
  return error instanceof OnnxarError && error.code === 'remote.timeout';
}

/** Counts the failures of a request. */
export class Retries {
  #failures = 0;
  #stalls = 0;

  /** Waits until the request may be sent again. Throws the error if it may not. `received` is how many bytes came. */
  async next(error: unknown, received: number, signal: AbortSignal | undefined): Promise<void> {
    if (received >= ENOUGH) this.#failures = this.#stalls = 0;
    const asked = isTimeout(error) ? 0 : transient.get(error as object);
    if (isTimeout(error)) this.#stalls++;
    if (asked === undefined || signal?.aborted || this.#stalls > STALLS || this.#failures === RETRIES) throw error;
    const own = PAUSE * 2 ** this.#failures++ * (0.5 + Math.random() / 2);
    await pause(Math.max(own, asked), signal);
  }
}
