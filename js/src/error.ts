// Errors, the rules that they name, and checks that throw them.
/** The rules that a reader enforces: id, code, and the breach in words; '' where each use has words of its own. */
const RULES = {
  E1: ['zip.end.missing', 'the file does not end in an end record; it is truncated, or not an ONNX archive'],
  E2: ['zip.end.not_last', 'bytes follow the end record'],
  E3: ['zip.end.comment', 'the archive has a comment'],
  E4: ['zip.end.multi_disk', 'the end records name more than one disk'],
  E5: ['zip.zip64.locator', 'no zip64 locator points to the 56 bytes before it'],
  E6: ['zip.zip64.record', 'the locator does not point to a zip64 end record of version 10 to 45'],
  E7: ['zip.zip64.disagree', 'the end record and the zip64 end record differ'],
  E8: ['zip.end.directory_bounds', 'the directory does not end where the end records begin'],
  E9: ['zip.directory.empty', 'there are no entries'],
  E10: ['zip.directory.count', 'the entry count does not match the directory headers'],
  E11: ['zip.limit.entries', 'there are more entries than the limit'],
  E12: ['zip.limit.directory', 'the directory is larger than the limit'],
  D1: ['zip.directory.header', 'a directory header is missing, or leaves the directory'],
  D2: ['zip.entry.encrypted', 'the entry is encrypted'],
  D3: ['zip.entry.descriptor', 'the entry has a data descriptor'],
  D4: ['zip.entry.flags', 'the entry has a flag other than UTF-8'],
  D5: ['zip.entry.method', 'the entry is compressed; archives store their entries'],
  D6: ['zip.entry.version', 'the version needed is not from 10 to 45'],
  D7: ['zip.entry.disk', 'the entry is on another disk'],
  D8: ['zip.entry.comment', 'the entry has a comment'],
  D9: ['zip.entry.attributes', 'the attributes are not those of a file'],
  D10: ['zip.extra.malformed', 'the extra fields are malformed'],
  D11: ['zip.extra.unknown', 'an extra field is neither zip64 nor alignment'],
  D12: ['zip.extra.duplicate', 'an extra field occurs twice'],
  D13: ['zip.zip64.extra', 'the zip64 field does not match the header'],
  D14: ['zip.entry.sizes', 'size and compressed size differ'],
  D15: ['zip.entry.empty_crc', 'the CRC-32 of an empty entry is not 0'],
  D16: ['zip.extra.alignment', 'the alignment is not a power of two from 64 to 16384'],
  N1: ['zip.name.empty', 'the name is empty'],
  N2: ['zip.name.too_long', 'the name has more than 1024 bytes'],
  N6: ['zip.name.absolute', 'the name begins with a slash'],
  N8: ['zip.name.directory', 'the name ends with a slash'],
  N9: ['zip.name.part', 'a part of the name is empty, `.` or `..`'],
  N10: ['zip.name.duplicate', 'an earlier entry has the same name'],
  N11: ['zip.name.folded', 'the name differs from an earlier one in case only'],
  N12: ['zip.name.prefix', 'another entry has the name of a folder of this one'],
  N13: ['archive.name.reserved', 'the name is reserved: the file needs a newer reader'],
  N14: ['zip.name.character', 'the name has a character that is not portable'],
  N15: ['zip.name.part_too_long', 'a part of the name has more than 255 bytes'],
  N16: ['zip.name.part_end', 'a part of the name ends in a dot or a space'],
  N17: ['zip.name.device', 'a part of the name is a Windows device'],
  P1: ['zip.entry.first_offset', 'the first entry is not at offset 0'],
  P2: ['zip.entry.order', 'the entry is not after the one listed before it'],
  P3: ['zip.entry.overlap', 'the entry does not end before the next one'],
  P4: ['zip.entry.bounds', 'the entry does not end before the directory'],
  P5: ['zip.entry.gap', 'unexpected bytes follow the entry'],
  P6: ['archive.model.missing', 'there is no entry __MODEL_PROTO'],
  P7: ['archive.model.not_last', '__MODEL_PROTO is not the last entry'],
  P8: ['archive.model.too_large', 'the model is larger than the limit'],
  L1: ['zip.local.header', 'the local header is missing, or overlaps the next one'],
  L2: ['zip.local.name', 'the local header has another name'],
  L3: ['zip.local.field', 'a field of the local header differs from the directory'],
  L4: ['zip.extra.malformed', 'the extra fields of the local header are malformed'],
  L5: ['zip.extra.unknown', 'an extra field of the local header is neither zip64 nor padding'],
  L6: ['zip.extra.duplicate', 'an extra field of the local header occurs twice'],
  L7: ['zip.zip64.extra', 'the zip64 field of the local header lacks a size'],
  L8: ['zip.local.size', 'a size of the local header differs from the directory'],
  L10: ['zip.padding.record', 'the padding is not an alignment and zeros'],
  L11: ['zip.padding.alignment', 'the alignment is not a power of two in the range of its record'],
  L12: ['zip.padding.alignment', 'the data is not at a multiple of its alignment'],
  L13: ['zip.entry.version', 'the version needed of the local header is not from 10 to 45'],
  L14: ['zip.extra.alignment', 'local header and directory have different alignments'],
  L15: ['zip.local.header', 'the local header has more than 65535 bytes'],
  T1: ['zip.data.crc', 'the data does not match its CRC-32'],
  M1: ['onnx.model.invalid', 'the model has no graph'],
  M2: ['wire.truncated', 'a field does not end in its message'],
  M3: ['wire.varint', 'a number has more than 10 bytes or 64 bits'],
  M4: ['wire.tag', 'a field number is not from 1 to 2^29 - 1'],
  M5: ['wire.type', 'the wire type is not 0, 1, 2 or 5'],
  M6: ['wire.depth', 'messages nest more than 100 deep'],
  M7: ['wire.repeated_message', 'a singular message occurs twice'],
  M8: ['onnx.external_data.no_location', 'a linked tensor has no location'],
  M9: ['onnx.external_data.missing', ''],
  M10: ['onnx.external_data.duplicate_key', 'a key of external_data occurs twice'],
  M11: ['onnx.external_data.bad_offset', 'the offset of a linked tensor is not a plain decimal number'],
  M12: ['onnx.external_data.bad_length', 'the length of a linked tensor is not a plain decimal number'],
  M13: ['onnx.external_data.out_of_range', 'a link extends beyond its entry'],
  M14: ['onnx.external_data.marker', 'a location names memory of a process'],
  M15: ['onnx.external.string', 'a tensor of strings is linked'],
  M16: ['onnx.external.data_beside', 'a linked tensor also has values in the model'],
  M17: ['onnx.tensor.dims', 'a dimension is negative, or the tensor is too large'],
  M18: ['onnx.tensor.length', 'the data of a tensor does not match its type and shape'],
  M19: ['onnx.tensor.no_type', 'a tensor has no data type'],
  M20: ['onnx.tensor.data_beside', 'a tensor has values in two fields'],
  M21: ['onnx.tensor.wrong_field', 'the values of a tensor are in a field of another type'],
  G2: ['archive.model.too_large', 'a graph has more than 2^31 - 1 bytes'],
  G6: ['archive.graph.shadow', "an entry in the graph's folder hides the one that a tensor names"],
} as const;

/** The codes of failures that no rule of the format names. Where they are thrown, there are words for each. */
type Code =
  | 'io.changed'
  | 'io.disk_full'
  | 'io.failed'
  | 'io.not_a_file'
  | 'io.not_found'
  | 'io.permission'
  | 'io.source_size'
  | 'onnx.link.stale'
  | 'onnx.model.expansion'
  | 'onnx.model.too_large'
  | 'remote.answer'
  | 'remote.no_ranges'
  | 'remote.refused'
  | 'remote.timeout'
  | 'remote.unreachable'
  | 'usage.argument'
  | 'usage.no_such_entry'
  | 'usage.own_name';

/** A rule of the format, or the code of another failure. */
export type Rule = keyof typeof RULES | Code;

const BREACHES: Partial<Record<Rule, readonly [code: string, breach: string]>> = RULES;

/**
 * Thrown by all calls. `code` is a stable id. If a rule of the specification was broken, `rule` names it, and the code is
 * that of all other readers of the format.
 */
export class OnnxarError extends Error {
  readonly code: string;
  readonly rule: string;
  /** The entry that the error is about; '' if there is none. */
  readonly entry: string;
  /** The offset in the file; undefined if the error has none. A bigint if a number is not exact. */
  readonly offset: number | bigint | undefined;

  constructor(rule: Rule, entry = '', offset?: number | bigint, detail?: string) {
    const [code, breach] = BREACHES[rule] ?? [rule];
    const place = offset === undefined ? '' : ` at byte ${offset}`;
    super(`${code}${entry && ` in ${JSON.stringify(entry)}`}${place}: ${detail ?? breach}`);
    this.name = 'OnnxarError';
    this.code = code;
    this.rule = code === rule ? '' : rule;
    this.entry = entry;
    this.offset = offset;
  }
}

/** Returns the error for a file that is no longer the one that was opened. */
export function changed(offset?: number, name = 'the file'): OnnxarError {
  return new OnnxarError('io.changed', '', offset, `${name} changed while it was read; open it again`);
}

/** Returns the error for a model that no runtime can parse. */
export function tooLarge(graph: string): OnnxarError {
  return failure('onnx.model.too_large', 'the model in memory would have over 2^31 - 1 bytes', graph);
}

/** Returns an error that is about no place in a file. */
export function failure(rule: Rule, what: string, entry = ''): OnnxarError {
  return new OnnxarError(rule, entry, undefined, what);
}

export function checkRule(
  rule: Rule,
  isKept: boolean,
  offset?: number | bigint,
  entry?: string,
  detail?: string,
): asserts isKept {
  if (!isKept) throw new OnnxarError(rule, entry, offset, detail);
}

/** Returns the value of an option. Throws if it is not a number from `least` on. */
export function numberFrom(least: number, name: string, value: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw failure('usage.argument', `${name} is ${String(value)}; it has to be a number from ${least} on`);
}

/** Throws if another number of bytes came than was asked for. */
export function checkLength(count: number, wanted: number, entry?: string): void {
  if (count !== wanted) throw failure('io.source_size', `${count} bytes came, not ${wanted}`, entry);
}
