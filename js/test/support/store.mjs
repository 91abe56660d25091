// What the tests of the store in Node share: a server, and a new folder for each test.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveRanges } from './ranges.mjs';

/** The server, the folder of the store, and the address of the file `a`. Importers see the values of the current test. */
export let server, folder, url;

/** Prepares the tests of the file that calls it: before each test the folder is empty, and the server has this file as `a`. */
export function useStore(file) {
  before(async () => (server = await serveRanges()));
  after(() => server.stop());
  beforeEach(() => {
    if (folder) rmSync(folder, { recursive: true, force: true });
    folder = mkdtempSync(join(tmpdir(), 'onnxar-store-'));
    Object.assign(server, { files: { a: { ...file } }, requests: [], fault: () => ({}) });
    url = `${server.here}/files/a`;
  });
  after(() => rmSync(folder, { recursive: true }));
}

/** Expects that the file at an address of the form `file:` has these bytes. */
export const same = (where, bytes) => assert.equal(Buffer.compare(readFileSync(fileURLToPath(where)), bytes), 0);
