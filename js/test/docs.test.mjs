// The programs of docs/web.md, each as its marker says: in Node, or in a page with an import map.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from './support/repository.mjs';

const files = process.env.ONNXAR_WEB_FILES;
const here = dirname(dirname(fileURLToPath(import.meta.url)));
const BLOCK = /<!-- run by \.\/dev web: in (Node|a page), prints (\S+) -->\n```js\n(.*?)^```$/gms;
const text = readFileSync(join(root(), 'docs/web.md'), 'utf8');
const blocks = [...text.matchAll(BLOCK)];

const IMPORTS = {
  'onnxruntime-web': '/package/node_modules/onnxruntime-web/dist/ort.bundle.min.mjs',
  'onnxar/onnxruntime': '/package/dist/onnxruntime.js',
  'onnxar/store': '/package/dist/store.js',
  'onnxar/metadata': '/package/dist/metadata.js',
};

async function inPage(script) {
  const { serve } = await import('./support/server.mjs');
  const { chromium } = await import('playwright-core');
  const map = JSON.stringify({ imports: IMPORTS });
  const page = `<!doctype html><script type="importmap">${map}</script><script type="module" src="${script}"></script>`;
  writeFileSync(join(files, 'docs', 'page.html'), page);
  const server = await serve({ package: here, vectors: files, files });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const tab = await browser.newPage();
    const printed = new Promise((done, failed) => {
      tab.on('console', (message) => message.type() === 'log' && done(message.text()));
      tab.on('pageerror', failed);
    });
    await tab.goto(`${server.here}/files/docs/page.html`);
    return await printed;
  } finally {
    await browser.close();
    await server.stop();
  }
}

const inNode = (script) => execFileSync(process.execPath, [join(files, 'docs', script)], { encoding: 'utf8' }).trim();

test('the page has a program for each runtime', () => {
  assert.equal(blocks.length, 5);
  assert.equal(text.split('```js').length - 1, blocks.length);
});

for (const [index, [, where, wanted, code]] of blocks.entries()) {
  test(`program ${index + 1} of docs/web.md prints what it says`, { skip: !files, timeout: 120_000 }, async () => {
    const script = `program_${index}.mjs`;
    writeFileSync(join(files, 'docs', script), code);
    assert.equal(where === 'Node' ? inNode(script) : await inPage(script), wanted);
  });
}
