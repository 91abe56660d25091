// Reads ranges in pieces, and computes their CRC-32.
import { crc32 } from './crc32.js';
import { free } from './free.js';
import type { Source } from './source.js';

const PIECE = 1 << 22; // bytes read at once where the whole is not needed at once
const STREAMED = 1 << 20;

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads a range piece after piece, without new memory where the source can do that. */
export interface Pieces {
  /** The largest piece that the source fills memory for. */
  readonly most: number;
  /**
   * The next bytes, which the caller then owns; none at the end. They are in the memory of `into`, which is then detached, or
   * in other memory, and `into` is unchanged.
   */
  next(into: Bytes): Promise<Bytes>;
  cancel(): Promise<void>;
}

export async function piecesOf(source: Source, begin: number, end: number, signal?: AbortSignal): Promise<Pieces> {
  const stream = begin < end ? await source.stream?.(begin, end, signal) : undefined;
  const most = Math.min(STREAMED, end - begin);
  if (stream) return streamed(stream, most, source.isOwn);
  let at = begin;
  const next = async (): Promise<Bytes> => {
    const stop = Math.min(end, at + PIECE);
    const piece = at < stop ? await source.read(at, stop, signal) : new Uint8Array(0);
    at = stop;
    return new Uint8Array(piece); // a copy, since it may be the source's own memory; slice() of a Buffer would be a view
  };
  return { most: 0, next, cancel: () => Promise.resolve() };
}

/** Reads a stream; into the caller's memory if it is a stream of bytes. Pieces that somebody else may have are copied. */
function streamed(stream: ReadableStream<Uint8Array>, most: number, isOwn?: boolean): Pieces {
  try {
    const reader = stream.getReader({ mode: 'byob' });
    return {
      most,
      next: async (into) => (await reader.read(into)).value ?? new Uint8Array(0),
      cancel: () => reader.cancel(),
    };
  } catch {
    const reader = stream.getReader();
    return {
      most: 0,
      async next(): Promise<Bytes> {
        const { value = new Uint8Array(0) } = await reader.read();
        return isOwn && value.length === value.buffer.byteLength ? (value as Bytes) : new Uint8Array(value);
      },
      cancel: () => reader.cancel(),
    };
  }
}

/** Returns the same pieces. Calls `onEnd` with their size and CRC-32 at the end, or once the size exceeds the limit. */
export function counted(pieces: Pieces, limit: number, onEnd: (bytes: number, crc: number) => void): Pieces {
  let [bytes, crc] = [0, 0];
  return {
    most: pieces.most,
    async next(into): Promise<Bytes> {
      const piece = await pieces.next(into);
      crc = crc32(piece, crc);
      bytes += piece.length;
      if (piece.length === 0 || bytes > limit) onEnd(bytes, crc);
      return piece;
    },
    cancel: () => pieces.cancel(),
  };
}

/** Reads all, with the memory of one piece. `onPiece` gets each, and its place. */
export async function drain(pieces: Pieces, onPiece?: (piece: Bytes, at: number) => void): Promise<void> {
  let into: Bytes = new Uint8Array(pieces.most);
  for (let at = 0; ;) {
    const piece = await pieces.next(into);
    if (piece.length === 0) return;
    onPiece?.(piece, at);
    at += piece.length;
    if (pieces.most) into = new Uint8Array(piece.buffer);
    else free(piece.buffer);
  }
}

/** Returns a stream of bytes that reads pieces when it is read. */
export function streamOf(open: () => Promise<Pieces>): ReadableStream<Bytes> {
  let opened: Promise<Pieces> | undefined;
  return new ReadableStream({
    type: 'bytes',
    async pull(controller): Promise<void> {
      const asked = controller.byobRequest;
      const pieces = await (opened ??= open());
      const into = (asked?.view as Bytes | null | undefined) ?? new Uint8Array(pieces.most);
      const { buffer } = into;
      const piece = await pieces.next(into);
      const isDetached = asked !== null && buffer.byteLength === 0;
      if (piece.length === 0) controller.close();
      if (isDetached) asked.respondWithNewView(piece);
      else if (piece.length > 0) controller.enqueue(piece);
      else asked?.respond(0);
    },
    async cancel(): Promise<void> {
      await (await opened)?.cancel();
    },
  });
}
