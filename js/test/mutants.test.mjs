// Mutants of archives get the verdict of the C++ reader. ONNXAR_ACCEPTS is the program that tells it
// (tests/interop/zip/accepts.cc), ONNXAR_MUTANTS how many there are.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { open } from '../dist/index.js';
import { root } from './support/repository.mjs';

const count = Number(process.env.ONNXAR_MUTANTS ?? 1000);

/** What accepts.cc says: all entries with CRC-32 and offset, each compared, or the code of the first error. */
async function reading(file) {
  try {
    const archive = await open(file);
    const entries = [];
    for (const { name, size, crc32 } of archive.entries) {
      await archive.verify(name);
      const crc = crc32.toString(16).padStart(8, '0');
      entries.push([Buffer.from(name).toString('hex'), size, crc, await archive.offset(name)]);
    }
    return { entries };
  } catch (error) {
    if (error.name !== 'OnnxarError') return { code: `${error}` };
    return { code: error.code };
  }
}

const withCrcAlone = ({ code, entries }) =>
  code
    ? { code }
    : { entries: entries.map(([name, size, digest, offset]) => [name, size, digest.slice(0, 8), offset]) };

async function hold() {
  const script = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, 'support/mutants.py');
  const made = spawn('/usr/bin/python3', ['-B', script, root(), 'web', String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found = { files: 0, accepted: 0, differences: [] };
  for await (const line of createInterface({ input: made.stdout })) {
    const { what, file, said } = JSON.parse(line);
    const own = JSON.stringify(await reading(new Uint8Array(Buffer.from(file, 'base64'))));
    const wanted = JSON.stringify(withCrcAlone(said));
    found.files++;
    if (said.entries) found.accepted++;
    if (own !== wanted) found.differences.push(`${found.files} ${what}: ${own}, not ${wanted}`.slice(0, 500));
  }
  return found;
}

test(`${count} mutants get the verdict of the C++ reader`, { skip: !process.env.ONNXAR_ACCEPTS }, async () => {
  const { files, accepted, differences } = await hold();
  assert.equal(files, count);
  assert.ok(accepted > count / 50, `${accepted} accepted`);
  assert.deepEqual(differences, []);
});
