// As much of protobuf as a ModelProto with linked weights needs: what other programs take from a library.

const varint = value => value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))];
const number = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
const text = (field, ...parts) => {
  const value = Buffer.concat(parts.map(part => Buffer.from(part)));
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(value.length)]), value]);
};
const pair = (key, value) => text(13, text(1, key), text(2, String(value)));
const linked = (name, rows, columns) => text(5, number(1, rows), number(1, columns), number(2, 1), text(8, name),
  pair('location', name), pair('offset', 0), pair('length', 4 * rows * columns), number(14, 1));
const value = (field, name, columns) => text(field, text(1, name),
  text(2, text(1, number(1, 1), text(2, text(1, number(1, 16)), text(1, number(1, columns))))));
const node = (left, right, out, type) => text(1, text(1, left), text(1, right), text(2, out), text(4, type));

// y = x * weight + bias, both weights linked to entries of their names
const modelOf = (rows, columns) => Buffer.concat([number(1, 8), text(7, node('x', 'weight', 'xw', 'MatMul'),
  node('xw', 'bias', 'y', 'Add'), text(2, 'example'), linked('weight', rows, columns), linked('bias', 16, columns),
  value(11, 'x', rows), value(12, 'y', columns)), text(8, text(1, ''), number(2, 13))]);

function varints(bytes, most = Infinity) {  // [BigInts, as many as there are or are wanted, and the bytes after them]
  const found = [];
  while (bytes.length && found.length < most) {
    const end = bytes.findIndex(byte => byte < 128) + 1;
    if (end < 1 || end > 10) throw new Error('a number is cut off or too long');
    const number = bytes.subarray(0, end).reduceRight((sum, byte) => sum << 7n | BigInt(byte & 127), 0n);
    found.push(BigInt.asUintN(64, number));
    bytes = bytes.subarray(end);
  }
  return [found, bytes];
}
function fields(bytes) {  // [[field, BigInt or bytes], ...], except those of 4 and 8 bytes
  const found = [];
  while (bytes.length) {
    const [[tag], rest] = varints(bytes, 1), type = Number(tag & 7n);
    const [[first], after] = type % 2 ? [[], rest] : varints(rest, 1);
    const size = [0, 8, Number(first), NaN, NaN, 4][type], data = after.subarray(0, size);
    if (data.length !== size || type === 0 && first === undefined) throw new Error('a field is cut off, or a group');
    if (type % 2 === 0) found.push([Number(tag >> 3n), type ? data : first]);
    bytes = after.subarray(size);
  }
  return found;
}
module.exports = { fields, modelOf, varints };
