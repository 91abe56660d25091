export { Archive, open, type LinkOptions, type OpenOptions } from './archive.js';
export type { Entry } from './container.js';
export { crc32 } from './crc32.js';
export { OnnxarError } from './error.js';
export type { FileHandleLike, Openable, Source, SourceOptions } from './source.js';
export type { Tensor } from './tensors.js';
