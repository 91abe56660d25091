// What the package exports by its own name.
export { Archive, open, type LinkOptions, type OpenOptions } from './archive.js';
export type { Entry } from './container.js';
export { crc32 } from './crc32.js';
export { OnnxarError } from './error.js';
export type { FileHandleLike } from './node_file.js';
export type { Openable } from './openable.js';
export type { Source, SourceOptions } from './source.js';
export type { Tensor } from './tensors.js';
