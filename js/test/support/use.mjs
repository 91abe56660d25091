// A program of a user, in a project that has only the packed package: reads the archive that it is given.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { OnnxarError, open } from 'onnxar';
import { parseOnnxMetadata } from 'onnxar/metadata';
import { createSession } from 'onnxar/onnxruntime';
import { Store } from 'onnxar/store';
import { withArchive } from 'onnxar/transformers';

const archive = await open(pathToFileURL(process.argv[2]));
assert.deepEqual(
  (await archive.tensors()).map(({ entry, length }) => [entry, length]),
  [
    ['a', 1024],
    ['b', 1024],
  ],
);
for (const { name } of archive.entries) await archive.verify(name);
await assert.rejects(
  archive.bytes('none'),
  (error) => error instanceof OnnxarError && error.code === 'usage.no_such_entry',
);
await archive.close();
const { graphs } = await parseOnnxMetadata(new Blob([readFileSync(process.argv[2])]));
assert.deepEqual(Object.keys(graphs[0].header).length, 3);
assert.deepEqual(await new Store({ folder: 'kept' }).list(), []);
assert.deepEqual([typeof createSession, typeof withArchive], ['function', 'function']);
