// Metadata of models against what onnx finds in them. ONNXAR is the command, which packs them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { open } from '../dist/index.js';
import { parseOnnxMetadata } from '../dist/metadata.js';
import { archive, block, model, number, valueInfo } from './support/archive.mjs';
import { serveRanges } from './support/ranges.mjs';
import { root } from './support/repository.mjs';

const skip = !process.env.ONNXAR && 'ONNXAR is not set';
const folder = mkdtempSync(join(tmpdir(), 'onnxar-metadata-'));
let server;

before(async () => (server = await serveRanges()));
after(() => {
  server.stop();
  rmSync(folder, { recursive: true });
});

async function served(bytes, options) {
  server.files.m = { bytes, etag: '"1"' };
  server.requests.length = 0;
  return parseOnnxMetadata(`${server.here}/files/m?key=hidden`, options);
}

/** In the words of support/metadata.py. */
function plainly({ header, inputs, outputs, producer, opsets }) {
  const tensors = { ...header };
  delete tensors.__metadata__;
  const values = (all) => all.map(({ name, dtype, shape }) => [name, dtype, shape ?? null]);
  const shapes = Object.entries(tensors).map(([name, { dtype, shape }]) => [name, [dtype, shape]]);
  const sides = { inputs: values(inputs), outputs: values(outputs) };
  return { tensors: Object.fromEntries(shapes), ...sides, producer, opsets: { ...opsets } };
}

test('finds the same tensors and values as onnx', { skip }, async () => {
  const script = new URL('support/metadata.py', import.meta.url).pathname;
  const expected = JSON.parse(execFileSync('/usr/bin/python3', ['-B', script, folder], { encoding: 'utf8' }));
  const read = (name) => readFileSync(join(folder, name));
  for (const [name, requests, graphs] of [
    ['plain.onnx', 1, { '': 'plain' }],
    ['inside.onnx', 1, { '': 'inside' }],
    ['plain.onnxar', 2, { __MODEL_PROTO: 'plain' }],
    ['family.onnxar', 2, { __MODEL_PROTO: 'encoder', 'decoder.onnx': 'decoder' }],
  ]) {
    const bytes = read(name);
    const metadata = await served(bytes);
    assert.equal(server.requests.length, requests, name);
    assert.deepEqual(await parseOnnxMetadata(new Blob([bytes])), metadata);
    assert.equal(metadata.format, name.endsWith('onnxar') ? 'onnxar' : 'onnx');
    assert.equal(metadata.size.file, bytes.length);
    const found = Object.fromEntries(metadata.graphs.map((graph) => [graph.name, plainly(graph)]));
    for (const [graph, wanted] of Object.entries(graphs))
      assert.deepEqual(found[graph], expected[wanted], `${name} ${graph}`);
    assert.equal(metadata.graphs.length, Object.keys(graphs).length);
  }
});

test('counts parameters, and shared data once', { skip }, async () => {
  const sizeOf = (name) => statSync(join(folder, name)).size;
  const plain = await served(readFileSync(join(folder, 'plain.onnx')));
  assert.deepEqual(plain.parameterCount, { F32: 5259, F16: 1024, I64: 3, U8: 2000, BOOL: 5, STRING: 2 });
  assert.equal(plain.parameterTotal, 5259 + 1024 + 3 + 2000 + 5 + 2);
  assert.deepEqual(plain.size, { file: sizeOf('plain.onnx'), model: sizeOf('plain.onnx'), data: sizeOf('plain.bin') });
  const family = await served(readFileSync(join(folder, 'family.onnxar')));
  assert.equal(family.graphs[0].parameterCount.F32, 5259);
  assert.equal(family.parameterCount.F32, 5259 + 11, 'only what is inline is there twice: the scalar and the Constant');
  assert.ok(family.size.data + family.size.model < family.size.file);
});

test('metadata and reader agree on places of tensors', { skip }, async () => {
  for (const name of ['plain.onnxar', 'family.onnxar']) {
    const bytes = readFileSync(join(folder, name));
    const [archive, { graphs }] = [await open(bytes), await served(bytes)];
    for (const { name: graph, header } of graphs) {
      for (const { name, entry, offset, length, shape } of await archive.tensors(graph)) {
        if (entry === undefined) continue;
        const info = header[name];
        assert.deepEqual([info.location, info.data_offsets], [entry, [offset, offset + length]]);
        assert.deepEqual(info.shape, shape);
      }
    }
  }
});

test('valid vectors take two requests', async () => {
  const valid = join(root(), 'spec/vectors/valid');
  let count = 0;
  for (const name of readdirSync(valid).filter((each) => each.endsWith('.onnxar'))) {
    const bytes = readFileSync(join(valid, name));
    const { graphs, size } = await served(bytes);
    assert.equal(size.file, bytes.length);
    assert.deepEqual(graphs.map((graph) => graph.name).sort(), (await open(bytes)).graphs().sort(), name);
    assert.ok(server.requests.length <= 2);
    count++;
  }
  assert.ok(count > 50);
});

test('a directory over 1 MiB takes three requests', async () => {
  const empty = Buffer.alloc(4);
  const names = Array.from(
    { length: 12_000 },
    (_, i) => `weight.of.a.model.with.long.names.${String(i).padStart(40, '0')}`,
  );
  const proto = model(names.map((name) => [name, 4, name, 0]));
  const bytes = archive([...names.map((name) => [name, empty]), ['__MODEL_PROTO', proto]]);
  const metadata = await served(bytes);
  assert.equal(server.requests.length, 3);
  assert.equal(metadata.parameterTotal, 4 * names.length);
  assert.deepEqual(metadata.graphs[0].header[names[11_999]].shape, [4]);
});

test('names may be those that every object has', async () => {
  const names = ['constructor', '__proto__', 'toString'];
  const proto = model(names.map((name) => [name, 8, name, 0]));
  const bytes = archive([...names.map((name) => [name, Buffer.alloc(8)]), ['__MODEL_PROTO', proto]]);
  const { size, dataFiles, graphs } = await served(bytes);
  assert.equal(size.data, 8 * names.length);
  assert.deepEqual(
    Object.entries(dataFiles),
    names.map((name) => [name, 8]),
  );
  assert.deepEqual(Object.keys(graphs[0].header), ['__metadata__', ...names]);
});

test('refuses a model that needs a fourth request', async () => {
  const names = Array.from({ length: 12_000 }, (_, i) => `w${String(i).padStart(60, '0')}`);
  const proto = Buffer.concat([model([]), Buffer.from([0x0a + 0x28, 0x80, 0x80, 0x80, 0x10]), Buffer.alloc(1 << 25)]);
  const bytes = archive([...names.map((name) => [name, Buffer.alloc(4)]), ['__MODEL_PROTO', proto]]);
  await assert.rejects(served(bytes), /too far from its end for three requests; use onnxar/);
  assert.equal(server.requests.length, 3);
});

const good = archive([['__MODEL_PROTO', model([])]]);
for (const [what, bytes, message] of [
  ['a text', Buffer.from('no model at all, but a text'), /it is damaged, or neither an ONNX model nor an archive/],
  ['an archive that was cut', good.subarray(0, -1), /does not end in an end record; it is damaged/],
  ['an empty file', Buffer.alloc(0), /it has no graph/],
  ['a zip without a model', archive([['a', Buffer.alloc(4)]]), /its last entry is not __MODEL_PROTO/],
  ['a model with a field that is cut', model([]).subarray(0, -3), /is cut/],
  ['a directory of more headers than there are', withCount(good, 9), /its directory is damaged/],
]) {
  test(`${what} is refused, and the message has the address without its secrets`, async () => {
    for (const how of [() => served(bytes), () => parseOnnxMetadata(new Blob([bytes]))]) {
      const error = await how().catch((thrown) => thrown);
      assert.match(error.message, message);
      assert.ok(!error.message.includes('hidden'));
    }
  });
}

function withCount(bytes, count) {
  const made = Buffer.from(bytes);
  made.writeUInt16LE(count, made.length - 12);
  return made;
}

test('any changed byte gives metadata or one error', async () => {
  const bytes = Buffer.from(
    archive([
      ['w', Buffer.alloc(8)],
      ['__MODEL_PROTO', model([['w', 8, 'w', 0]])],
    ]),
  );
  let refused = 0;
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [1, 0x80, 0xff]) {
      bytes[at] ^= flip;
      await parseOnnxMetadata(new Blob([bytes])).catch((error) => {
        assert.match(error.message, /it is damaged, or neither|raise maxModelSize/);
        refused++;
      });
      bytes[at] ^= flip;
    }
  }
  assert.ok(refused > 100);
});

test('reports missing and changing files', async () => {
  await assert.rejects(parseOnnxMetadata(`${server.here}/files/none`), /answered 404; check the address/);
  await assert.rejects(served(Buffer.alloc(1 << 20), { maxModelSize: 1000 }), /1048576 bytes must be read/);
  server.fault = (number) => (number === 2 && (server.files.m.etag = '"2"'), {});
  await assert.rejects(served(good), /changed while it was read; read it again/);
  server.fault = () => ({});
  const fetchWhole = (url) => fetch(url);
  await assert.rejects(served(good, { fetch: fetchWhole }), /sends no ranges; download it, and pass a Blob/);
});

test('refuses an answer cut between two fields', async () => {
  const bytes = Buffer.concat([model([]), Buffer.from([0x12, 1, 0x61])]);
  const cut = bytes.subarray(0, -3);
  const head = { 'Content-Range': `bytes 0-${cut.length - 1}/${bytes.length}`, 'Content-Length': String(cut.length) };
  const fetch = async () => new Response(cut, { status: 206, headers: head });
  await assert.rejects(parseOnnxMetadata('http://127.0.0.1:9/', { fetch }), /sent \d+ bytes of \d+; read it again/);
  const other = async () => new Response(bytes, { status: 206, headers: { 'Content-Range': 'bytes 5-9/10' } });
  await assert.rejects(parseOnnxMetadata('http://127.0.0.1:9/', { fetch: other }), /sent another range/);
});

test('a dimension of 0 means no elements', async () => {
  const dims = Array.from({ length: 200 }, () => [0x08, 0x80, 0x80, 0x80, 0x80, 0x04]).flat(); // 2^30 each
  const tensor = Buffer.from([...dims, 0x08, 0, 0x10, 1]);
  const graph = Buffer.concat([Buffer.from([0x2a, 0x80 | (tensor.length & 127), tensor.length >> 7]), tensor]);
  const bytes = Buffer.concat([Buffer.from([0x3a, 0x80 | (graph.length & 127), graph.length >> 7]), graph]);
  assert.equal((await parseOnnxMetadata(new Blob([bytes]))).parameterTotal, 0);
});

test('inputs may have any name and dimensions', async () => {
  const inputs = ['__metadata__', '\ufeffx', 'inner', 'weight'].map((name) => valueInfo(11, name, []));
  const minus = (count) => Buffer.from([0x08, 256 - count, ...Array(8).fill(0xff), 1]);
  const dims = [1, 100].map((count) => block(1, minus(count)));
  const negative = block(11, block(1, 'n'), block(2, block(1, number(1, 1), block(2, ...dims))));
  const weight = (name) => block(5, number(2, 1), block(8, name));
  const node = block(1, block(5, block(6, weight('inner'))));
  const bytes = block(7, ...inputs, negative, weight('weight'), node);
  const { graphs } = await parseOnnxMetadata(new Blob([bytes]));
  assert.deepEqual(
    graphs[0].inputs.map(({ name, shape }) => [name, shape]),
    [
      ['__metadata__', []],
      ['\ufeffx', []],
      ['inner', []],
      ['n', [-1, -100]],
    ],
  );
});

test('refuses negative lengths and dimensions', async () => {
  const minus = [...Array(9).fill(0xff), 1];
  const shape = block(7, block(5, Buffer.from([0x08, ...minus])));
  await assert.rejects(parseOnnxMetadata(new Blob([shape])), /a dimension of a tensor is negative/);
  const length = Buffer.concat([block(7), Buffer.from([0x12, ...minus])]);
  await assert.rejects(parseOnnxMetadata(new Blob([length])), /a field is cut/);
});

test('a limit of NaN is refused', () =>
  assert.rejects(parseOnnxMetadata(new Blob([good]), { maxModelSize: NaN }), /maxModelSize is NaN/));

test('an archive of 140 000 graphs has all of them found', async () => {
  const proto = model([]);
  const names = [...Array.from({ length: 139_999 }, (_, i) => `g${i}.onnx`), '__MODEL_PROTO'];
  const { graphs } = await parseOnnxMetadata(new Blob([archive(names.map((name) => [name, proto]))]));
  assert.equal(graphs.length, 140_000);
});
