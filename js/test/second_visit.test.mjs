// Sessions from the store: the second visit makes no request. ONNXAR_WEB_FILES has the archives, which `./dev web` makes.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSession } from '../dist/onnxruntime.js';
import { Store } from '../dist/store.js';
import { withArchive } from '../dist/transformers.js';
import { serveRanges } from './support/ranges.mjs';
import { CLASSIFIED, classified, subgraphs } from './support/sessions.mjs';

const files = process.env.ONNXAR_WEB_FILES;
const limit = { timeout: 300_000 };

describe('sessions from the store', { skip: !files && 'ONNXAR_WEB_FILES is not set' }, () => {
  let server, browser, context;
  const folder = mkdtempSync(join(tmpdir(), 'onnxar-store-'));

  before(async () => {
    const { chromium } = await import('playwright-core');
    server = await serveRanges();
    for (const name of ['model', 'classifier', 'subgraphs']) {
      server.files[`${name}.onnxar`] = { bytes: readFileSync(join(files, `${name}.onnxar`)), etag: '"1"' };
    }
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    context = await browser.newContext();
  });
  after(async () => {
    await browser?.close();
    server?.stop();
    rmSync(folder, { recursive: true });
  });

  /** What a call of support/page.js gives in a new tab, and how many requests for archives it made. */
  async function visit(where, call, argument) {
    server.requests.length = 0;
    const tab = await context.newPage();
    await tab.goto(`${server.here}/package/test/support/page.html`);
    await tab.waitForFunction(() => 'calls' in globalThis);
    const ask = ([where, name, given]) =>
      where === 'a worker' ? globalThis.inWorker(name, given) : globalThis.calls[name](given);
    const result = await tab.evaluate(ask, [where, call, argument]);
    await tab.close();
    return { result, requests: server.requests.length };
  }

  for (const where of ['a window', 'a worker']) {
    for (const [build, blobs] of [
      ['ort.wasm.min.mjs', false],
      ['ort.jspi.min.mjs', false],
      ['ort.jspi.min.mjs', true],
    ]) {
      test(
        `${build} in ${where}${blobs ? ' takes Blobs, and' : ''} makes no request the second time`,
        limit,
        async () => {
          const url = `${server.here}/files/model.onnxar`;
          const plain = await visit(where, 'run', { build, url });
          assert.ok(plain.requests > 0);
          await visit(where, 'run', { build, url, blobs, isKept: true });
          const second = await visit(where, 'run', { build, url, blobs, isKept: true });
          assert.equal(second.requests, 0);
          assert.ok(Math.abs(second.result.sum - plain.result.sum) < 1e-3 * Math.abs(plain.result.sum));
          assert.equal(second.result.steps === 0, blobs, 'the runtime reads Blobs itself');
        },
      );
    }
    test(`transformers.js in ${where} makes no request the second time`, limit, async () => {
      const from = { url: `${server.here}/files/classifier.onnxar`, isKept: true };
      assert.deepEqual((await visit(where, 'classified', from)).result, CLASSIFIED);
      assert.deepEqual(await visit(where, 'classified', from), { result: CLASSIFIED, requests: 0 });
    });
  }

  test('Node maps the stored file without a second request', limit, async () => {
    const transformers = await import('@huggingface/transformers');
    const ort = await import('onnxruntime-node');
    const kept = (name) => new Store({ folder }).get(`${server.here}/files/${name}`);
    for (const visits of [1, 2]) {
      server.requests.length = 0;
      assert.deepEqual(await subgraphs(ort, createSession, await kept('subgraphs.onnxar'), {}), []);
      assert.deepEqual(await classified(transformers, withArchive, await kept('classifier.onnxar')), CLASSIFIED);
      assert.equal(server.requests.length === 0, visits === 2);
    }
  });
});
