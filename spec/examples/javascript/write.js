// Writes an ONNX archive with nothing but node, byte for byte as this library does: node write.js [--large] ARCHIVE
const fs = require('fs');
const { crc32 } = require('./crc32.js'), { modelOf } = require('./wire.js');

const bytesOf = (size, value) => Buffer.from(BigInt(value).toString(16).padStart(2 * size, '0'), 'hex').reverse();
const record = (...fields) => Buffer.concat(fields.map(([size, ...values]) =>  // [size, value, value, ...], ...
  Buffer.concat(values.map(value => bytesOf(size, value)))));
const short = value => Math.min(value, 0xFFFFFFFF);

const words = process.argv.slice(2), large = words[0] === '--large';
if (words.length !== (large ? 2 : 1)) {
  console.error('usage: node write.js [--large] ARCHIVE');
  process.exit(2);
}
const [rows, columns] = large ? [2 ** 20 + 1024, 1024] : [64, 32];
const model = modelOf(rows, columns);
const floats = Buffer.from(Float32Array.from({ length: 2 ** 18 }, (_, i) => i).buffer);  // a weight repeats them

const file = fs.openSync(words.at(-1), 'w'), headers = [];
const write = (bytes, at) => {
  for (let n = 0; n < bytes.length;) n += fs.writeSync(file, bytes, n, bytes.length - n, at + n);
};
let at = 0;
for (const [name, size, bytes] of [['weight', 4 * rows * columns, floats], ['bias', 64 * columns, floats],
  ['__MODEL_PROTO', model.length, model]]) {
  const [big, far, alignment] = [size >= 0xFFFFFFFF, at >= 0xFFFFFFFF, size < 2 ** 20 ? 64 : 4096];
  const unpadded = at + 36 + name.length + (big ? 20 : 0), zeros = (alignment - unpadded % alignment) % alignment;
  let crc = 0;
  for (let done = 0, piece; done < size; done += piece.length) {
    piece = bytes.subarray(0, size - done);
    crc = crc32(piece, crc);
    write(piece, unpadded + zeros + done);
  }
  const common = record([2, big || far ? 45 : 10, 0, 0, 0, 0x21], [4, crc, short(size), short(size)], [2, name.length]);
  const long = big ? [8, size, size] : [8], place = far ? [8, at] : [8];
  const local = record(...(big ? [[2, 1, 16], long] : []), [2, 0xD935, 2 + zeros, alignment]);
  const central = big || far ? record([2, 1, 8 * (long.length + place.length - 2)], long, place) : Buffer.alloc(0);
  write(Buffer.concat([record([4, 0x04034B50]), common, record([2, local.length + zeros]), Buffer.from(name), local,
    Buffer.alloc(zeros)]), at);
  headers.push(record([4, 0x02014B50], [2, big || far ? 45 : 10]), common,
    record([2, central.length, 0, 0, 0], [4, 0, short(at)]), Buffer.from(name), central);
  at = unpadded + zeros + size;
}
const directory = Buffer.concat(headers), end = at + directory.length, zip64 = at >= 0xFFFFFFFF;
if (zip64) headers.push(record([4, 0x06064B50], [8, 44], [2, 45, 45], [4, 0, 0], [8, 3, 3, directory.length, at],
  [4, 0x07064B50, 0], [8, end], [4, 1]));
headers.push(record([4, 0x06054B50], [2, 0, 0, ...(zip64 ? [0xFFFF, 0xFFFF] : [3, 3])],
  [4, ...(zip64 ? [0xFFFFFFFF, 0xFFFFFFFF] : [directory.length, at])], [2, 0]));
write(Buffer.concat(headers), at);
