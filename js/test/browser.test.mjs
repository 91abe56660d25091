// The package in Chromium, from nginx. ONNXAR_WEB_FILES has model.onnxar, which `./dev web` makes.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from './support/repository.mjs';
import { CLASSIFIED, LOGITS } from './support/sessions.mjs';

const files = process.env.ONNXAR_WEB_FILES;
const here = dirname(dirname(fileURLToPath(import.meta.url)));

describe('in Chromium', { skip: !files && 'ONNXAR_WEB_FILES is not set' }, () => {
  let server, browser, page, wasm;
  const violations = [];

  async function opened(folder, path = 'test/support/page.html') {
    const tab = await browser.newPage();
    tab.on('console', (message) => /Content Security Policy/.test(message.text()) && violations.push(message.text()));
    await tab.goto(`${server.here}/${folder}/${path}`);
    if (path.startsWith('test')) await tab.waitForFunction(() => 'calls' in globalThis);
    return tab;
  }
  const call = (tab, name, argument) => tab.evaluate(([n, a]) => globalThis.calls[n](a), [name, argument]);
  const inWorker = (tab, name, argument) => tab.evaluate(([n, a]) => globalThis.inWorker(n, a), [name, argument]);

  before(async () => {
    const { serve } = await import('./support/server.mjs');
    const { chromium } = await import('playwright-core');
    assert.ok(existsSync(join(files, 'model.onnxar')), `${files}/model.onnxar is missing`);
    server = await serve({ package: here, vectors: join(root(), 'spec/vectors'), files });
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    page = await opened('package');
    wasm = await opened('wasm');
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('every small vector gets its code or entries', async () => {
    const { count, differences } = await call(page, 'vectors');
    assert.ok(count > 1000);
    assert.deepEqual(differences, []);
  });

  for (const [what, place, opening] of [
    ['a server with ranges is asked once', 'here/files', 1],
    ['a server without ranges sends the file', 'here/whole', 2],
    ['a redirect is followed', 'here/moved', 1],
    ['a redirect to another server is followed', 'here/away', 3],
    ['another server that exposes Content-Range is asked for the size', 'other/exposed', 2],
    ['another server that hides Content-Range is asked for the size', 'other/open', 2],
  ]) {
    test(what, async () => {
      const [at, folder] = place.split('/');
      const url = `${server[at]}/${folder}/model.onnxar`;
      for (const ask of [call, inWorker]) {
        const result = await ask(page, 'summary', url);
        assert.deepEqual(result, { entries: result.entries, tensors: result.tensors, opening }, JSON.stringify(result));
        assert.ok(result.entries > 10 && result.tensors > 10);
      }
    });
  }

  test('a server without CORS is an error with its URL', async () => {
    const url = `${server.other}/closed/model.onnxar`;
    const { code, message } = await call(page, 'summary', url);
    assert.equal(code, 'remote.unreachable');
    assert.ok(message.includes(url), message);
  });

  test('a missing file is an error with its status', async () => {
    const { code, message } = await call(page, 'summary', `${server.here}/files/none.onnxar`);
    assert.equal(code, 'io.not_found');
    assert.match(message, /404/);
  });

  const limit = { timeout: 120_000 };
  const sums = new Set();
  for (const build of ['ort.wasm.min.mjs', 'ort.jspi.min.mjs']) {
    for (const [where, ask] of [
      ['a window', call],
      ['a worker', inWorker],
    ]) {
      for (const asFile of [false, true]) {
        test(
          `${build} runs the model in ${where} from a ${asFile ? 'Blob' : 'URL'}, a weight at a time`,
          limit,
          async () => {
            const url = `${server.here}/files/model.onnxar`;
            const { sum, steps, last } = await ask(wasm, 'run', { build, url, asFile });
            sums.add(sum.toFixed(2));
            assert.equal(sums.size, 1);
            assert.ok(steps > 10, `${steps} steps`);
            assert.deepEqual(last[0], last[1]);
          },
        );
      }
    }
  }

  for (const [where, ask] of [
    ['a window', call],
    ['a worker', inWorker],
  ]) {
    const at = (name) => `${server.here}/files/${name}`;
    test(`weights of branches and loops are those of the archive in ${where}`, limit, async () =>
      assert.deepEqual(await ask(wasm, 'inSubgraphs', at('subgraphs.onnxar')), []),
    );
    test(`weights that a runtime takes again are read again in ${where}`, limit, async () => {
      const { count, differing } = await ask(wasm, 'twice', at('model.onnxar'));
      assert.ok(count > 100);
      assert.equal(differing, 0);
    });
    test(`a graph after 4 GiB runs in ${where}`, limit, async () =>
      assert.deepEqual(await ask(wasm, 'large', at('large.onnxar')), LOGITS),
    );
    test(`transformers.js loads its folder from an archive in ${where}`, limit, async () =>
      assert.deepEqual(await ask(wasm, 'classified', { url: at('classifier.onnxar') }), CLASSIFIED),
    );
  }

  test('the demo runs a model under this policy', limit, async () => {
    const tab = await opened('wasm', 'demo/index.html');
    await tab.fill('#url', `${server.here}/files/model.onnxar`);
    await tab.click('#choose button');
    await tab.waitForSelector('#tensors tbody tr');
    await tab.click('#run');
    await tab.waitForSelector('#result:not([hidden])');
    assert.match(await tab.textContent('#result'), /out {2}logits: float32 \[/);
    await tab.close();
  });

  test('nothing was refused by the Content-Security-Policy', () => assert.deepEqual(violations, []));
});
