// Streams of Blobs that fill memory of their reader sometimes stop for ever in Chromium 156. The reader never returns such streams.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../dist/index.js';
import { createSession } from '../dist/onnxruntime.js';
import { archive, model } from './support/archive.mjs';

const weight = Buffer.from(Array.from({ length: 2000 }, (_, i) => i % 251));
const bytes = archive([
  ['w', weight],
  ['__MODEL_PROTO', model([['weight', weight.length, 'w', 0]])],
]);

/** What a runtime that reads Blobs is given. */
async function given(source) {
  let taken;
  const create = async (_, { externalData }) => (taken = externalData);
  await createSession({ env: {}, InferenceSession: { create } }, source, { blobs: true });
  return taken;
}

for (const [what, source] of [
  ['a Blob', new Blob([bytes])],
  ['memory', bytes],
]) {
  test(`weights of ${what} are Blobs whose streams do not fill memory of their reader`, async () => {
    const [{ path, data }] = await given(source);
    assert.equal(path, 'w');
    assert.ok(data instanceof Blob);
    const stream = data.slice(100, 300).stream();
    assert.throws(() => stream.getReader({ mode: 'byob' }), TypeError);
    assert.deepEqual(await new Response(stream).bytes(), new Uint8Array(weight.subarray(100, 300)));
  });
}

test('the Blob that was opened stays as it was', async () => {
  const blob = new Blob([bytes]);
  await (await open(blob)).read('w');
  blob.stream().getReader({ mode: 'byob' });
});
