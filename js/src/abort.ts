// Waits that a caller can end.

/** Returns the promise's value. Throws the signal's reason if that is aborted first. */
export async function unlessAborted<T>(promise: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => (stop = (): void => reject(signal.reason as Error)));
  signal.addEventListener('abort', stop); // Node's fetch leaves some reads waiting when its own signal is aborted
  if (signal.aborted) stop();
  try {
    return await Promise.race([stopped, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<void>((done) => (timer = setTimeout(done, ms)));
  await unlessAborted(ended, signal).finally(() => clearTimeout(timer));
}

/** Returns a signal that is aborted when one of these is; undefined if there is none. */
export function anyOf(...signals: (AbortSignal | null | undefined)[]): AbortSignal | undefined {
  const [first, ...others] = signals.filter((signal) => signal != null);
  return first && others.length > 0 ? AbortSignal.any([first, ...others]) : first;
}
