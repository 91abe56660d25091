// Frees memory before the garbage collector does, which does not run during a synchronous call.

/** Frees memory that nothing else uses: at once if the engine can transfer it, else by garbage collection. */
export function free(buffer: ArrayBufferLike | undefined): void {
  (buffer as Partial<{ transfer(size: number): void }> | undefined)?.transfer?.(0);
}
