// Spellings of fields that protobuf allows: both readers of models take them as protobuf does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../dist/index.js';
import { parseOnnxMetadata } from '../dist/metadata.js';
import { archive, block, number } from './support/archive.mjs';

/** A number of 64 bits, in two halves. */
const wide = (field, high, low) => {
  let value = (BigInt(high) << 32n) | BigInt(low);
  const bytes = [field * 8];
  for (; value >= 128n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return Buffer.from([...bytes, Number(value)]);
};
const pairs = ['location', 'offset', 'length'].map((key, i) => block(13, block(1, key), block(2, ['w', '0', '12'][i])));
const inline = block(9, Buffer.alloc(12));

/** What the readers say of a tensor with these fields: [type, shape, entry], [dtype, shape, location]. */
async function read(...fields) {
  const model = Buffer.concat([number(1, 8), block(7, block(5, block(8, 't'), ...fields))]);
  const bytes = archive([
    ['w', Buffer.alloc(12)],
    ['__MODEL_PROTO', model],
  ]);
  const [tensor] = await (await open(bytes)).tensors();
  const info = (await parseOnnxMetadata(new Blob([bytes]))).graphs[0].header.t;
  return [
    [tensor.type, tensor.shape, tensor.entry],
    [info.dtype, info.shape, info.location],
  ];
}
const expected = (type, dtype, shape, entry) => [
  [type, shape, entry],
  [dtype, shape, entry],
];

test('an empty packed run of dims is a scalar', async () => {
  const scalar = block(9, Buffer.alloc(4));
  assert.deepEqual(await read(block(1), number(2, 1), scalar), expected('float32', 'F32', [], undefined));
  const mixed = [block(1), number(1, 1), block(1), block(1, [3]), block(1)];
  assert.deepEqual(await read(...mixed, number(2, 1), inline), expected('float32', 'F32', [1, 3], undefined));
});

test('the last data_location that is 0 or 1 counts', async () => {
  const linked = expected('float32', 'F32', [3], 'w');
  const head = [number(1, 3), number(2, 1), ...pairs];
  for (const fields of [
    [0, 1],
    [1, 1],
    [1, 2],
    [0, 1, 7],
  ]) {
    assert.deepEqual(await read(...head, ...fields.map((value) => number(14, value))), linked, fields.join());
  }
  assert.deepEqual(await read(...head, wide(14, 0xffffffff, 1)), linked, 'only the low bits count');
  for (const fields of [[1, 0], [1, 0, 2], [2]]) {
    const kept = await read(...head, inline, ...fields.map((value) => number(14, value)));
    assert.deepEqual(kept, expected('float32', 'F32', [3], undefined), fields.join());
  }
});

test('the low 32 bits of the last data_type count', async () => {
  assert.deepEqual(await read(number(1, 3), wide(2, 0xffff, 1), inline), expected('float32', 'F32', [3], undefined));
  assert.deepEqual(
    await read(number(1, 3), number(2, 7), number(2, 1), inline),
    expected('float32', 'F32', [3], undefined),
  );
  const unknown = await read(number(1, 3), wide(2, 0xffffffff, 0xffffffff), inline);
  assert.deepEqual(unknown, expected('type -1', 'TYPE_-1', [3], undefined));
});

test('both readers refuse tags and numbers too long', async () => {
  const long = [Buffer.from([0x88, 0x80, 0x80, 0x80, 0x80, 0, 1]), Buffer.from([0x08, ...Array(9).fill(0xff), 2])];
  for (const [field, code] of [
    [long[0], 'wire.tag'],
    [long[1], 'wire.varint'],
  ]) {
    await assert.rejects(read(field), { code });
    const model = Buffer.concat([block(7), field]);
    await assert.rejects(parseOnnxMetadata(new Blob([model])), /it is damaged/);
  }
});

test('the last name and the last raw_data count', async () => {
  assert.deepEqual(
    await read(block(8, 'other'), block(8, 't'), number(1, 3), number(2, 1), block(9, [1]), inline),
    expected('float32', 'F32', [3], undefined),
  );
});

test('FLOAT6E2M3 and FLOAT6E3M2 have names and sizes', async () => {
  for (const [type, name, dtype] of [
    [27, 'float6e2m3', 'F6_E2M3'],
    [28, 'float6e3m2', 'F6_E3M2'],
  ]) {
    const head = [number(1, 15), number(2, type)]; // 90 bits
    assert.deepEqual(await read(...head, ...pairs, number(14, 1)), expected(name, dtype, [15], 'w'));
    await read(...head, block(5, Buffer.alloc(15))); // a value each
    await assert.rejects(read(...head, block(5, Buffer.alloc(12))), { code: 'onnx.tensor.length' });
    await assert.rejects(read(...head, block(9, Buffer.alloc(11))), { code: 'onnx.tensor.length' });
  }
});

test('metadata merges repeated graphs and types', async () => {
  const tensor = (name) => block(5, block(8, name), number(1, 3), number(2, 1), inline);
  const type = block(2, block(1, number(1, 1)));
  const shape = block(2, block(1, block(2, block(1, number(1, 4)))));
  const model = Buffer.concat([block(7, tensor('a')), block(7, tensor('b'), block(11, block(1, 'x'), type, shape))]);
  const { header, inputs } = (await parseOnnxMetadata(new Blob([model]))).graphs[0];
  assert.deepEqual(Object.keys(header), ['__metadata__', 'a', 'b']);
  assert.deepEqual(inputs, [{ name: 'x', dtype: 'F32', shape: [4] }]);
});

test('names the location that has no entry', async () => {
  const location = block(13, block(1, 'location'), block(2, 'weights/gone'));
  await assert.rejects(read(number(1, 3), number(2, 1), location, number(14, 1)), {
    rule: 'M9',
    message: /names the missing entry "weights\/gone"/,
  });
});
