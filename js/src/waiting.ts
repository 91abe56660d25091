// Reads blobs synchronously, in workers and windows.
import { checkLength } from './error.js';
import { free } from './free.js';

const PIECE = 1 << 22; // a window gets bytes as text, of twice their size

interface BlobReader {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
type Globals = Partial<{ FileReaderSync: new () => BlobReader; XMLHttpRequest: new () => XMLHttpRequest }>;

/** Fills memory piece after piece. */
export function inPieces(into: Uint8Array, fill: (piece: Uint8Array, at: number) => void): true {
  for (let at = 0; at < into.length; at += PIECE) fill(into.subarray(at, at + PIECE), at);
  return true;
}

/** Synchronous reads of pages and workers. They share one request, as each request keeps its answer for a while. */
export class Waiting {
  readonly isHere = 'XMLHttpRequest' in globalThis;
  #request: XMLHttpRequest | undefined;

  /** Bytes of a Blob. */
  blob(blob: Blob, begin: number, into: Uint8Array): void {
    const part = blob.slice(begin, begin + into.length);
    const { FileReaderSync: Reader } = globalThis as Globals;
    if (Reader) {
      fill(into, new Reader().readAsArrayBuffer(part));
      return;
    }
    const url = URL.createObjectURL(part);
    try {
      this.get(url, {}, into);
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  /** Reads the body of an answer for which `check` does not throw. A window gets text in which each character is a byte. */
  get(url: string, headers: Record<string, string>, into: Uint8Array, check?: (request: XMLHttpRequest) => void): void {
    const request = (this.#request ??= new XMLHttpRequest());
    request.open('GET', url, false);
    const isWindow = typeof document !== 'undefined';
    if (isWindow) request.overrideMimeType('text/plain; charset=x-user-defined');
    else request.responseType = 'arraybuffer';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.send();
    check?.(request);
    if (isWindow) fillFromText(into, request.responseText);
    else fill(into, request.response as ArrayBuffer);
  }
}

/** Copies the bytes, and frees their own memory. */
function fill(into: Uint8Array, bytes: ArrayBuffer): void {
  checkLength(bytes.byteLength, into.length);
  into.set(new Uint8Array(bytes));
  free(bytes);
}

/** Copies the lower 8 bits of each character. */
function fillFromText(into: Uint8Array, text: string): void {
  checkLength(text.length, into.length);
  for (let i = 0; i < text.length; i++) into[i] = text.charCodeAt(i);
}
