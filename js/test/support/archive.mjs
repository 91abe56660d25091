// Writes archives as the specification says, with nothing of the package: a weight in each entry, and the model.
import { crc32 } from 'node:zlib';

const varint = (value) => (value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]);
export const number = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
export const block = (field, ...parts) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body]);
};
const pair = (field, key, value) => block(field, block(1, key), block(2, value));

/** An initializer of bytes (uint8) in the file `location`. */
const tensor = (name, length, location, offset) =>
  block(
    5,
    number(1, length),
    number(2, 2),
    block(8, name),
    pair(13, 'location', location),
    pair(13, 'offset', String(offset)),
    pair(13, 'length', String(length)),
    number(14, 1),
  );

/** A value of floats whose dimensions are names or numbers. */
export const valueInfo = (field, name, dims) => {
  const shape = dims.map((dim) => block(1, typeof dim === 'number' ? number(1, dim) : block(2, dim)));
  return block(field, block(1, name), block(2, block(1, number(1, 1), block(2, ...shape))));
};

/** A ModelProto with these weights: [name, length, file, offset]. */
export function model(weights, name = 'main') {
  const values = [valueInfo(11, 'x', ['batch', 4]), valueInfo(12, 'y', ['batch', 2])];
  const tensors = Buffer.concat(weights.map((weight) => tensor(...weight)));
  const graph = block(7, block(2, name), tensors, ...values);
  return Buffer.concat([number(1, 8), block(2, 'test'), graph, block(8, number(2, 17))]);
}

/** A zip file of stored entries, each at a multiple of 64: [name, bytes]. */
export function archive(entries) {
  const [parts, headers] = [[], []];
  let at = 0;
  for (const [name, bytes] of entries) {
    const [crc, start] = [crc32(bytes), 30 + name.length + 6];
    const padding = (64 - ((at + start) % 64)) % 64;
    const local = Buffer.alloc(start + padding);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(10, 4);
    local.writeUInt32LE(0x210000, 10);
    local.writeUInt32LE(crc, 14);
    local.writeUInt32LE(bytes.length, 18);
    local.writeUInt32LE(bytes.length, 22);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(6 + padding, 28);
    local.write(name, 30);
    local.writeUInt16LE(0xd935, 30 + name.length);
    local.writeUInt16LE(2 + padding, 32 + name.length);
    local.writeUInt16LE(64, 34 + name.length);
    const header = Buffer.alloc(46 + name.length);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(10, 4);
    local.copy(header, 6, 4, 28); // from version needed to the length of the name
    header.writeUInt32LE(at, 42);
    header.write(name, 46);
    parts.push(local, bytes);
    headers.push(header);
    at += local.length + bytes.length;
  }
  const directory = Buffer.concat(headers);
  const end = Buffer.alloc(22);
  const counted = Math.min(entries.length, 0xffff);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(counted, 8);
  end.writeUInt16LE(counted, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  const wide = counted < entries.length ? [zip64End(entries.length, directory.length, at)] : [];
  return Buffer.concat([...parts, directory, ...wide, end]);
}

/** The zip64 end record of a directory that it follows, and its locator. */
function zip64End(count, length, offset) {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeUInt32LE(44, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  for (const [at, value] of [count, count, length, offset].entries()) end.writeUInt32LE(value, 24 + 8 * at);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeUInt32LE(offset + length, 64);
  end.writeUInt32LE(1, 72);
  return end;
}

/** An archive of `count` weights of `size` bytes, which differ from those of another `seed`. That of `changed` does always. */
export function weights(count, size, seed = 1, changed = -1) {
  const made = Array.from({ length: count }, (_, i) => {
    const bytes = Buffer.alloc(size);
    for (let at = 0, value = seed * 1000 + i + (i === changed ? 500 : 0); at < size; at += 4) {
      value = (Math.imul(value, 1664525) + 1013904223) | 0;
      bytes.writeInt32LE(value, at);
    }
    return [`w${i}`, bytes];
  });
  const linked = made.map(([name, bytes]) => [name, bytes.length, name, 0]);
  return archive([...made, ['__MODEL_PROTO', model(linked)]]);
}
