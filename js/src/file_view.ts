/** Reads numbers of a part of a file, which begins at the offset `base`. All offsets are those of the file. */
export class FileView {
  readonly bytes: Uint8Array;
  readonly base: number;
  readonly end: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, base: number) {
    this.bytes = bytes;
    this.base = base;
    this.end = base + bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  u16(at: number): number {
    return this.#view.getUint16(at - this.base, true);
  }
  u32(at: number): number {
    return this.#view.getUint32(at - this.base, true);
  }
  u64(at: number): bigint {
    return this.#view.getBigUint64(at - this.base, true);
  }
  slice(begin: number, end: number): Uint8Array {
    return this.bytes.subarray(begin - this.base, end - this.base);
  }
  /** True if a record of `size` bytes with this signature is at `at`. */
  has(signature: number, at: number, size: number): boolean {
    return at >= this.base && at + size <= this.end && this.u32(at) === signature;
  }
}
