// The package gives the verdict of the specification on each vector, in Node, and checks its arguments.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as onnxar from '../dist/index.js';
import { weights } from './support/archive.mjs';
import { root } from './support/repository.mjs';
import { difference, reading } from './support/vectors.mjs';

const folder = join(root(), 'spec/vectors');
const vectors = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
const large = mkdtempSync(join(tmpdir(), 'onnxar-'));
after(() => rmSync(large, { recursive: true }));
execFileSync('/usr/bin/python3', ['-B', join(folder, 'generate.py'), '--large', large]);

const pathOf = (vector) => join(vector.large ? large : folder, vector.file);

async function differences(chosen, open) {
  const found = [];
  for (const vector of chosen) {
    const result = await open(pathOf(vector), (source) => reading(onnxar, source, vector.options));
    const differs = difference(vector, result);
    if (differs) found.push(`${vector.file}: ${differs}`);
  }
  return found;
}

test('every vector in memory gets its code or entries', async () => {
  assert.ok(vectors.length > 1000);
  assert.deepEqual(await differences(vectors, (path, read) => read(new Uint8Array(readFileSync(path)))), []);
});

test('every small vector gets them from a file of Node', async () => {
  const through = async (path, read) => {
    const handle = await openFile(path);
    try {
      return await read(handle);
    } finally {
      await handle.close();
    }
  };
  assert.deepEqual(
    await differences(
      vectors.filter(({ large }) => !large),
      through,
    ),
    [],
  );
});

test('a Buffer is streamed, and stays as it is', async () => {
  const path = join(folder, 'valid/typical.onnxar');
  const file = readFileSync(path);
  const archive = await onnxar.open(file);
  for (const { name, size } of archive.entries) {
    assert.equal((await new Response(archive.stream(name)).arrayBuffer()).byteLength, size);
  }
  assert.deepEqual(file, readFileSync(path));
});

test('a file that is refused is closed', async () => {
  const before = readdirSync('/proc/self/fd').length;
  for (let i = 0; i < 10; i++) await assert.rejects(onnxar.open(pathToFileURL(import.meta.filename)), { rule: 'E1' });
  assert.equal(readdirSync('/proc/self/fd').length, before);
});

test('refuses sources of other types and lengths', async () => {
  for (const source of [undefined, null, 5, {}]) await assert.rejects(onnxar.open(source), { code: 'usage.argument' });
  const short = { size: 100, read: async () => new Uint8Array(99) };
  await assert.rejects(onnxar.open(short), { code: 'io.source_size' });
});

test('places that are no exact numbers are refused', async () => {
  const archive = await onnxar.open(weights(1, 64));
  assert.ok((await archive.link('m', { offset: 64 })).length > 0);
  for (const offset of ['64', 2 ** 60, 2 ** 53 - 64, -64, 32, NaN, Infinity, null, 64n]) {
    await assert.rejects(archive.link('m', { offset }), { code: 'usage.argument' }, String(offset));
  }
  for (const name of ['', undefined, 5]) await assert.rejects(archive.link(name), { code: 'usage.argument' });
  for (const [begin, end] of [
    ['0', 5],
    [0, '5'],
    [0.5, 5],
    [5, 4],
    [0, 65],
    [-1, 5],
  ]) {
    await assert.rejects(archive.bytes('w0', begin, end), { code: 'usage.argument' });
    await assert.rejects(archive.stream('w0', begin, end).getReader().read(), { code: 'usage.argument' });
  }
});
