// Prints the weights of an ONNX archive with nothing but node: node load.js ARCHIVE
const fs = require('fs');
const { entries, need } = require('./container.js'), { crc32 } = require('./crc32.js');
const { fields, varints } = require('./wire.js');

const BITS = [0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2];  // by type
const NUMBER = /^(0|[1-9][0-9]{0,19})$/;

function opened(path) {
  const file = fs.openSync(path), length = fs.fstatSync(file).size;
  const read = (at, size) => {
    need(at >= 0 && at + size <= length, 'something lies beyond the file');
    const bytes = Buffer.alloc(size);
    for (let n = 0, got; n < size; n += got) need(got = fs.readSync(file, bytes, n, size - n, at + n), 'cut off');
    return bytes;
  };
  return [read, length];
}
const all = (message, field) => message.filter(([n]) => n === field).map(([, value]) => value);
const isNumber = value => typeof value === 'bigint';
const numbers = (message, field) => all(message, field).filter(isNumber);
const blocks = (message, field) => all(message, field).filter(value => !isNumber(value));
const string = (message, field) => String(blocks(message, field).at(-1) ?? '');
const dimsOf = tensor => all(tensor, 1).flatMap(value => isNumber(value) ? value : varints(value)[0])
  .map(value => BigInt.asIntN(64, value));
const typeOf = tensor => Number(BigInt.asIntN(32, numbers(tensor, 2).at(-1) ?? 0n));
function place(tensor, found) {  // [offset in the file, size] of its data
  const pairs = blocks(tensor, 13).map(fields).map(pair => [string(pair, 1), string(pair, 2)]);
  const values = key => pairs.filter(pair => pair[0] === key).map(pair => pair[1]);
  need(['location', 'offset', 'length', 'checksum'].every(key => values(key).length < 2), 'a key is given twice');
  const dims = dimsOf(tensor), bits = BITS[typeOf(tensor)];
  need(bits && dims.length <= 1024 && dims.every(n => n >= 0n), 'a type that is not known, or a bad shape');
  const size = (dims.reduce((product, n) => product * n, BigInt(bits)) + 7n) / 8n;
  const [offset = '0'] = values('offset'), [length = String(size)] = values('length');
  need(NUMBER.test(offset) && NUMBER.test(length) && BigInt(length) === size, 'bad offset or length');
  const [[begin, room] = need(false, 'there is not such an entry')] = values('location').map(name => found.get(name));
  need(BigInt(offset) + size <= BigInt(room), 'out of the range of the entry');
  return [begin + Number(offset), Number(size)];
}

try {
  need(process.argv.length === 3, 'usage: node load.js ARCHIVE');
  const [read, length] = opened(process.argv[2]), found = entries(read, length);
  need(found.has('__MODEL_PROTO'), 'there is not a model');
  const graph = blocks(fields(read(...found.get('__MODEL_PROTO'))), 7).at(-1);
  need(graph, 'there is not a graph');
  for (const tensor of blocks(fields(graph), 5).map(fields)) {
    if (numbers(tensor, 14).map(value => BigInt.asUintN(32, value)).findLast(value => value < 2n) !== 1n) continue;
    const [at, size] = place(tensor, found);
    let crc = 0;
    for (let done = 0; done < size; done += 2 ** 20) crc = crc32(read(at + done, Math.min(2 ** 20, size - done)), crc);
    const hex = crc.toString(16).padStart(8, '0');
    console.log(`${string(tensor, 8)} ${typeOf(tensor)} ${dimsOf(tensor)} ${hex}`);
  }
} catch (error) {
  console.error(`load.js: ${error.message}`);
  process.exitCode = 1;
}
