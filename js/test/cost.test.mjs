// What hostile archives and servers cost, by counted work and by limits of memory, not by time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OnnxarError, open } from '../dist/index.js';
import { parseOnnxMetadata } from '../dist/metadata.js';
import { checkNames } from '../dist/names.js';
import { archive, block, model } from './support/archive.mjs';

const program = fileURLToPath(new URL('support/tiny.mjs', import.meta.url));

/** The work of a call for n, 2n and 4n grows at most as they do. */
async function isLinear(n, work) {
  const [first, , last] = [await work(n), await work(2 * n), await work(4 * n)];
  assert.ok(last <= 4.5 * first + 1000, `${first} steps became ${last}`);
}

/** How many characters of strings a call hashes or cuts out. */
function characters(call) {
  let sum = 0;
  const before = [Set.prototype.has, Map.prototype.has, String.prototype.slice];
  const counting = (method) =>
    function (...given) {
      const result = method.apply(this, given);
      sum += String(typeof result === 'string' ? result : given[0]).length;
      return result;
    };
  [Set.prototype.has, Map.prototype.has, String.prototype.slice] = before.map(counting);
  try {
    call();
  } finally {
    [Set.prototype.has, Map.prototype.has, String.prototype.slice] = before;
  }
  return sum;
}

test('folders of names are compared in linear time', async () => {
  const headers = (slashes) => ['b', 'c', 'd'].map((last) => ({ name: `${'a/'.repeat(slashes)}${last}`, at: 0 }));
  await isLinear(500, (n) => characters(() => checkNames(headers(n))));
});

test('refuses the first name below another entry', () => {
  for (const [names, wrong] of [
    [['a/b', 'a'], 0],
    [['a', 'a b', 'a/c', 'a/b'], 2],
    [['x/y/z', 'a', 'X/y'], 0],
    [['m/a/b', 'm!', 'm/a', 'z/q', 'z'], 0],
    [['a', 'a-b/c', 'a b/d', 'ab/e'], undefined],
  ]) {
    const check = () => checkNames(names.map((name, at) => ({ name, at })));
    if (wrong === undefined) check();
    else assert.throws(check, { rule: 'N12', entry: names[wrong] });
  }
});

// A heap of 32 MiB holds a model of these bytes many times, and not an object for each of its fields.
for (const [form, ...sizes] of [
  ...['fields', 'pairs', 'nodes', 'attributes', 'values', 'runs', 'links', 'opsets', 'damaged pairs'].map((each) => [
    each,
  ]),
  ['keys of links', 8192],
]) {
  test(`a model of many ${form} is read with little memory`, () => {
    for (const kilobytes of [512, 1024, 2048, ...sizes]) {
      const words = ['--max-old-space-size=32', program, form, String(kilobytes)];
      assert.equal(execFileSync(process.execPath, words, { encoding: 'utf8' }).trim(), 'link, tensors, metadata');
    }
  });
}

/** `./dev web --fast` leaves this out. */
const slow = { skip: process.env.ONNXAR_WEB_FAST ? 'slow' : false };

test('refuses more tensors than fit into memory', slow, async () => {
  const tensor = Buffer.from([0x2a, 2, 0x10, 1]);
  const many = Buffer.concat([Buffer.from([0x3a, 0x84, 0x80, 0x80, 0x08]), Buffer.alloc((1 << 24) + 4, tensor)]);
  const bytes = archive([['__MODEL_PROTO', many]]);
  await assert.rejects(async () => (await open(bytes)).tensors(), { code: 'onnx.model.expansion' });
  await assert.rejects(parseOnnxMetadata(new Blob([bytes])), /more than 1048576 tensors/);
});

/** So many blocks of a field, each with another key. */
const keyed = (field, count) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => block(field, block(1, i.toString(36)))));

for (const [what, make] of [
  ['packed dimensions', (count) => block(7, block(5, block(1, Buffer.alloc(count))))],
  ['dimensions', (count) => block(7, block(5, Buffer.alloc(2 * count, Buffer.from([0x08, 0]))))],
  [
    'dimensions of an input',
    (count) => block(7, block(11, block(2, block(1, block(2, Buffer.alloc(2 * count, Buffer.from([0x0a, 0]))))))),
  ],
  ['pairs', (count) => Buffer.concat([block(7), keyed(14, count)])],
  ['opsets', (count) => Buffer.concat([block(7), keyed(8, count)])],
]) {
  test(`metadata of too many ${what} is refused`, async () => {
    await parseOnnxMetadata(new Blob([make(1000)]));
    await assert.rejects(parseOnnxMetadata(new Blob([make(2 ** 20 + 1)])), /it has more than 1048576 tensors, dim/);
  });
}

test('tensors of too many dimensions in all are refused', async () => {
  const shape = Buffer.concat([Buffer.from([0x10, 1]), block(1, Buffer.alloc(1024))]);
  const many = Buffer.concat(Array(4096).fill(block(5, shape)));
  const opened = await open(archive([['__MODEL_PROTO', block(7, many)]]));
  await assert.rejects(opened.tensors(), { code: 'onnx.model.expansion' });
});

test('entries that share one model are refused', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `g${i}.onnx`);
  const bytes = archive([...names, '__MODEL_PROTO'].map((name) => [name, model([])]));
  const directory = bytes.readUInt32LE(bytes.length - 6);
  const last = bytes.readUInt32LE(bytes.length - 22 - 13 - 4);
  const shared = Buffer.from(bytes.subarray(last)); // the models before the last are gone
  for (let i = 0; i < 10; i++) shared.writeUInt32LE(0, directory - last + i * (46 + 7) + 42);
  shared.writeUInt32LE(directory - last, shared.length - 6);
  await assert.rejects(parseOnnxMetadata(new Blob([shared])), /is not there; it is damaged/);
});

/** A server whose answers have no end. `sent` is how many bytes were taken of them. */
function endless(headers, status = 200) {
  const server = { sent: 0 };
  const chunk = new Uint8Array(1 << 20);
  server.fetch = async () => {
    const pull = (controller) => {
      server.sent += chunk.length;
      controller.enqueue(chunk);
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status, headers });
  };
  return server;
}

test('damaged pairs make no errors', async () => {
  const pairs = Buffer.alloc(3 * 1000, Buffer.from([0x72, 1, 8]));
  const bytes = archive([['__MODEL_PROTO', Buffer.concat([model([]), pairs])]]);
  let made = 0;
  class Counted extends Error {
    constructor(...given) {
      super(...given);
      made++;
    }
  }
  Object.setPrototypeOf(OnnxarError, Counted); // whose constructor each error calls
  try {
    await (await open(bytes)).link('x');
  } finally {
    Object.setPrototypeOf(OnnxarError, Error);
  }
  assert.equal(made, 0);
});

test('an answer without an end is broken off', async () => {
  for (const [most, call, headers, status] of [
    [2 ** 28, (fetch) => open('http://127.0.0.1:9/', { fetch }), {}, 200],
    [0, (fetch) => open('http://127.0.0.1:9/', { fetch }), { 'Content-Length': String(2 ** 40) }, 200],
    [2 ** 28, (fetch) => parseOnnxMetadata('http://127.0.0.1:9/', { fetch }), {}, 200],
    [100, (fetch) => parseOnnxMetadata('http://127.0.0.1:9/', { fetch }), { 'Content-Range': 'bytes 0-99/100' }, 206],
  ]) {
    const server = endless(headers, status);
    await assert.rejects(call(server.fetch), /download it|sent \d+ bytes of 100/);
    assert.ok(server.sent <= most + (3 << 20), `${server.sent} bytes were taken, of at most ${most}`);
  }
});

test('an answer in single bytes needs little memory', async () => {
  const words = ['--max-old-space-size=32', program, 'drops', '512'];
  assert.equal(execFileSync(process.execPath, words, { encoding: 'utf8' }).trim(), 'zip.end.missing');
});

/** A `fetch` that answers ranges of these bytes in pieces, which it adds to `pieces`. */
function inPieces(bytes, pieces) {
  return async (_, { headers }) => {
    const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.get('Range'));
    const [begin, end] = first ? [Number(first), Number(last) + 1] : [Math.max(0, bytes.length - last), bytes.length];
    let at = begin;
    const pull = (controller) => {
      if (at === end) return controller.close();
      const piece = Uint8Array.from(bytes.subarray(at, Math.min(end, at + 65536)));
      at += piece.length;
      pieces.push(piece);
      controller.enqueue(piece);
    };
    const said = { 'Content-Range': `bytes ${begin}-${end - 1}/${bytes.length}` };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status: 206, headers: said });
  };
}

test('frees pieces that fetch made once they are copied', { skip: !ArrayBuffer.prototype.transfer }, async () => {
  const weight = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => i % 251));
  const bytes = archive([
    ['w', weight],
    ['__MODEL_PROTO', model([['w', weight.length, 'w', 0]])],
  ]);
  const own = globalThis.fetch;
  for (const isGiven of [false, true]) {
    const pieces = [];
    const fetch = inPieces(bytes, pieces);
    if (!isGiven) globalThis.fetch = fetch;
    try {
      const opened = await open('http://127.0.0.1:9/', isGiven ? { fetch } : {});
      await opened.offset('w');
      pieces.length = 0;
      assert.deepEqual(Buffer.from(await opened.read('w')), weight);
    } finally {
      globalThis.fetch = own;
    }
    assert.ok(pieces.length >= 16);
    const left = pieces.filter(({ length }) => length > 0).length;
    assert.equal(left, isGiven ? pieces.length : 0, `${left} of ${pieces.length} pieces are there`);
  }
});

/** An archive of one weight that was edited so often: each state before the last is between the weight and the model. */
function edited(times) {
  let made;
  for (let filler = 0; !made || made.tail.length % 64 !== 0; filler++) {
    const whole = archive([
      ['w', Buffer.alloc(64)],
      ['__MODEL_PROTO', model([['w', 64, 'w', 0]], 'm'.repeat(filler))],
    ]);
    const directory = whole.readUInt32LE(whole.length - 6);
    const at = whole.readUInt32LE(directory + 47 + 42); // of the model
    made = { whole, at, directory, tail: whole.subarray(at) };
  }
  const states = Array.from({ length: times }, (_, i) => {
    const [state, shift] = [Buffer.from(made.tail), i * made.tail.length];
    state.writeUInt32LE(made.at + shift, made.directory + 47 + 42 - made.at);
    state.writeUInt32LE(made.directory + shift, state.length - 6);
    return state;
  });
  return Buffer.concat([made.whole.subarray(0, made.at), ...states]);
}

test('earlier states are not read again', async () => {
  const read = async (times) => {
    const bytes = edited(times);
    let sum = 0;
    const source = {
      size: bytes.length,
      read: async (begin, end) => ((sum += end - begin), bytes.subarray(begin, end)),
    };
    const opened = await open(source);
    for (const { name } of opened.entries) await opened.verify(name);
    assert.equal((await opened.tensors()).length, 1);
    return sum;
  };
  await isLinear(400, read);
});
