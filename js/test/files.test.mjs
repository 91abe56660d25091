// Paths of Node that are no archives, and memory that callers get.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open } from '../dist/index.js';
import { weights } from './support/archive.mjs';

const folder = fs.mkdtempSync(join(tmpdir(), 'onnxar-files-'));
after(() => fs.rmSync(folder, { recursive: true }));
const at = (name) => join(folder, name);
const bytes = weights(3, 1001 * 4);

test('refuses pipes, sockets, folders and devices', { timeout: 20_000 }, async () => {
  execFileSync('mkfifo', [at('fifo')]);
  fs.mkdirSync(at('folder'));
  fs.symlinkSync('fifo', at('link'));
  const server = createServer().listen(at('socket'));
  await new Promise((done) => server.once('listening', done));
  for (const path of [at('fifo'), at('link'), at('socket'), at('folder'), '/dev/zero', '/dev/null']) {
    await assert.rejects(open(pathToFileURL(path)), { code: 'io.not_a_file' }, path);
  }
  server.close();
  const handle = await fs.promises.open(folder);
  await assert.rejects(open(handle), { code: 'io.not_a_file' });
  await handle.close();
});

test('a missing file and a forbidden one have codes', async () => {
  fs.writeFileSync(at('plain'), bytes);
  fs.symlinkSync('nowhere', at('dangling'));
  for (const name of ['none', 'dangling', 'plain/x', 'none/x']) {
    await assert.rejects(open(pathToFileURL(at(name))), { code: 'io.not_found' }, name);
  }
  fs.symlinkSync('circle', at('circle'));
  await assert.rejects(open(pathToFileURL(at('circle'))), { code: 'io.failed', message: /ELOOP/ });
  const { open: opens } = fs.promises;
  fs.promises.open = async () => {
    throw Object.assign(new Error("EACCES: permission denied, open 'plain'"), { code: 'EACCES' });
  };
  try {
    await assert.rejects(open(pathToFileURL(at('plain'))), { code: 'io.permission', message: /EACCES.*look at/ });
  } finally {
    fs.promises.open = opens;
  }
});

test('tensor data has memory of its own', async () => {
  const before = Buffer.from(bytes);
  fs.writeFileSync(at('model'), bytes);
  const odd = new Uint8Array(bytes.length + 3).subarray(3);
  odd.set(bytes);
  const custom = { size: bytes.length, read: async (begin, end) => bytes.subarray(begin, end) };
  for (const source of [
    bytes,
    odd,
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    new Blob([bytes]),
    pathToFileURL(at('model')),
    custom,
  ]) {
    const archive = await open(source);
    for (const tensor of await archive.tensors()) {
      for (let i = 0; i < 2; i++) {
        const data = await archive.tensorBytes(tensor);
        assert.equal(data.byteOffset, 0);
        assert.equal(new Float32Array(data.buffer).length, 1001);
        data.fill(255);
      }
    }
    await archive.close();
  }
  assert.ok(before.equals(bytes));
  assert.ok(before.equals(odd));
});
