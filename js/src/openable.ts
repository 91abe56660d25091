// Opens what a caller may pass as an archive.
import { failure } from './error.js';
import { HandleSource, openFileUrl, type FileHandleLike } from './node_file.js';
import { BlobSource, BytesSource, type Source, type SourceOptions } from './source.js';
import { openUrl } from './url.js';

/** The arguments of `open`: a URL (a string, resolved against the page), a Blob or File, bytes, a file of Node, a Source. */
export type Openable = string | URL | Blob | ArrayBuffer | Uint8Array | FileHandleLike | Source;

export async function openSource(from: Openable, options: SourceOptions = {}): Promise<Source> {
  if (typeof from === 'string' || from instanceof URL) {
    const url = from.toString();
    return /^file:/i.test(url) ? openFileUrl(url) : openUrl(url, options);
  }
  if (from instanceof Blob) return new BlobSource(from);
  if (from instanceof ArrayBuffer) return new BytesSource(new Uint8Array(from));
  if (from instanceof Uint8Array) return new BytesSource(from);
  const object = Object(from) as FileHandleLike | Source; // undefined is not a source either
  if ('stat' in object) return new HandleSource(object, await object.stat({ bigint: true }));
  if ('read' in object && 'size' in object) return object;
  throw failure('usage.argument', 'open takes a URL, Blob, ArrayBuffer, Uint8Array, Node file or Source');
}
