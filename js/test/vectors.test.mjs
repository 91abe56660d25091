import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import * as onnxar from '../dist/index.js';
import { root } from './support/repository.mjs';
import { difference, reading } from './support/vectors.mjs';

const folder = join(root(), 'spec/vectors');
const vectors = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
const large = mkdtempSync(join(tmpdir(), 'onnxar-'));
after(() => rmSync(large, { recursive: true }));
execFileSync('/usr/bin/python3', ['-B', join(folder, 'generate.py'), '--large', large]);

const pathOf = (vector) => join(vector.large ? large : folder, vector.file);

async function differences(which, open) {
  const found = [];
  for (const vector of which) {
    const said = await open(pathOf(vector), (source) => reading(onnxar, source, vector.options));
    const differs = difference(vector, said);
    if (differs) found.push(`${vector.file}: ${differs}`);
  }
  return found;
}

test('every vector gets its code, entry and offset, or its entries, from bytes', async () => {
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
