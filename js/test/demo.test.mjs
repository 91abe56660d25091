// The demo in Chromium: with the keyboard alone, on a narrow screen, with files and addresses. ONNXAR_WEB_FILES has the
// archives, which `./dev web` makes; a picture of the page goes to its folder shots.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { model } from './support/archive.mjs';
import { serveRanges } from './support/ranges.mjs';

const files = process.env.ONNXAR_WEB_FILES;
const limit = { timeout: 300_000 };

describe('the demo', { skip: !files && 'ONNXAR_WEB_FILES is not set' }, () => {
  let server, browser, context, tab;
  const errors = [];

  before(async () => {
    const { chromium } = await import('playwright-core');
    server = await serveRanges();
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });
  beforeEach(async () => {
    Object.assign(server, { requests: [], fault: () => ({}) });
    for (const name of ['model', 'pair', 'typed']) {
      server.files[`${name}.onnxar`] = { bytes: readFileSync(join(files, `${name}.onnxar`)), etag: '"1"' };
    }
    context = await browser.newContext({ viewport: { width: 1000, height: 1060 } });
    context.setDefaultTimeout(100_000);
    tab = await context.newPage();
    tab.on('pageerror', (error) => errors.push(error.message));
    await tab.goto(`${server.here}/package/demo/index.html`);
  });
  afterEach(async () => {
    await context.close();
    assert.deepEqual(errors.splice(0), []);
  });

  const says = (text) =>
    tab.waitForFunction((wanted) => document.getElementById('status').textContent.includes(wanted), text);
  const focused = () => tab.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  const names = () => tab.$$eval('#tensors tbody td:first-child', (cells) => cells.map((cell) => cell.textContent));
  const isWithin = () => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

  /** Opens the archive at an address. */
  async function opens(address) {
    await tab.fill('#url', address);
    await tab.press('#url', 'Enter');
    await says('opened in');
  }

  /** Presses Tab until a control has the focus. */
  async function tabTo(wanted) {
    for (let presses = 0; presses < 60; presses++) {
      if ((await focused()) === wanted) return;
      await tab.keyboard.press('Tab');
    }
    assert.fail(`no Tab leads to ${wanted}`);
  }

  test('does everything with the keyboard alone', limit, async () => {
    await tabTo('url');
    await tab.keyboard.type('/files/model.onnxar');
    await tab.keyboard.press('Enter');
    await says('opened in');
    assert.match(await tab.textContent('#facts'), /ONNX archive, 60.3 MB.*60.1 MB in 132 entries.*F32/);

    await tabTo('check');
    await tab.keyboard.press('Enter');
    await says('All CRC-32s are right: 133 entries');
    await tabTo('keep');
    await tab.keyboard.press('Enter');
    await says('every CRC-32 is right');
    server.requests.length = 0;
    await tab.focus('body');
    await tabTo('run');
    await tab.keyboard.press('Enter');
    await says('The model ran');
    assert.match(
      await tab.textContent('#result'),
      /in {3}tokens: int64 \[1,1\] random\nout {2}logits: float32 \[1,1,\d+\] -?\d/,
    );
    assert.deepEqual(server.requests, [], 'it ran from the store');
    mkdirSync(join(files, 'shots'), { recursive: true });
    await tab.screenshot({ path: join(files, 'shots/demo.png'), clip: { x: 0, y: 0, width: 1000, height: 970 } });

    await tabTo('map');
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('ArrowRight');
    assert.match(await tab.textContent('#entry'), /\(2 of 134\)/);
    await tab.keyboard.press('End');
    assert.match(await tab.textContent('#entry'), /^the directory: .*\(134 of 134\)/);
    assert.equal(await tab.getAttribute('#map', 'aria-valuetext'), await tab.textContent('#entry'));

    await tabTo('filter');
    await tab.keyboard.type('mlp bias');
    assert.ok((await names()).length > 3 && (await names()).every((name) => /mlp.*bias/.test(name)));
    await tabTo('name');
    await tab.keyboard.press('Enter');
    const up = await names();
    assert.deepEqual(up, [...up].sort());
    await tab.keyboard.press('Enter');
    assert.deepEqual(await names(), up.reverse());
    assert.equal(await tab.getAttribute('th:has(button[data-by=name])', 'aria-sort'), 'descending');

    await tab.focus('body');
    await tabTo('Delete');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('#kept', { state: 'hidden' });
  });

  test('shows graphs and other files in their folders', limit, async () => {
    await opens('/files/typed.onnxar');
    const paths = await tab.$$eval('#tree li', (all) =>
      all.map((each) => {
        const names = [];
        for (let at = each; at.id !== 'tree'; at = at.parentElement)
          if (at.tagName === 'LI') names.unshift(at.firstChild.textContent);
        return names.join('');
      }),
    );
    assert.deepEqual([paths[0], paths[1], paths.length], ['config.json: 178 B', 'onnx/', 3 + 1 + 7]);
    const q4 = paths.filter((path) => path.startsWith('onnx/model_q4.onnx'));
    assert.deepEqual(q4, ['onnx/model_q4.onnx: 707 parameters, 2.82 kB of weights']);
    assert.ok(paths.some((path) => path.startsWith('onnx/model.onnx: 707')));
  });

  test('fits a screen of 360 pixels', limit, async () => {
    await tab.setViewportSize({ width: 360, height: 740 });
    assert.ok(await isWithin());
    await opens('/files/model.onnxar');
    await tab.click('#keep');
    await says('every CRC-32 is right');
    await tab.click('#run');
    await says('The model ran');
    assert.ok(await isWithin());
    const cut = await tab.$$eval('main *, form *, li *', (all) =>
      all.filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML),
    );
    assert.deepEqual(cut, []);
    const small = await tab.$$eval('button', (all) =>
      all
        .filter((each) => each.offsetParent && each.getBoundingClientRect().height < 24)
        .map((each) => each.textContent),
    );
    assert.deepEqual(small, []);
  });

  test('opens dropped and chosen files and families', limit, async () => {
    await tab.setInputFiles('#file', join(files, 'pair.onnxar'));
    await says('pair.onnxar: opened');
    assert.ok(await tab.isHidden('#keep'), 'it is on this disk already');
    const first = await names();
    await tab.selectOption('#graph', { index: 1 });
    const second = await names();
    assert.deepEqual([first, second].flat().sort(), ['decoder_gain', 'embedding', 'embedding', 'encoder']);
    const bytes = [...model([['far', 4096, 'far.bin', 0]])];
    await tab.evaluate((all) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(all)], 'plain.onnx'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, bytes);
    await says('plain.onnx: opened');
    assert.match(await tab.textContent('#facts'), /plain ONNX model.*4.10 kB in 1 files beside it/);
    assert.deepEqual(await names(), ['far']);
    assert.deepEqual(await tab.$$eval('#values tbody tr', (rows) => rows.map((row) => row.textContent)), [
      'xinputF32[batch, 4]',
      'youtputF32[batch, 2]',
    ]);
    assert.ok((await tab.isHidden('#mapped')) && (await tab.isHidden('#run')));
  });

  test('names a damaged entry and a wrong address', limit, async () => {
    const { bytes } = server.files['model.onnxar'];
    bytes[30_000_000] ^= 1;
    await opens('/files/model.onnxar');
    await tab.click('#check');
    await says('1 of 133 entries');
    assert.match(await tab.textContent('#result'), /^zip\.data\.crc in "/);
    await tab.fill('#url', '/files/none.onnxar');
    await tab.press('#url', 'Enter');
    await says('the server answered 404');
    assert.ok(await tab.isHidden('#model'), 'nothing of the model before it is shown');
    await tab.fill('#url', 'javascript:0');
    await tab.press('#url', 'Enter');
    await says('cannot read this address');
  });

  test('the list resumes a cancelled download', limit, async () => {
    server.fault = (number) => ({ delay: number > 6 ? 60_000 : 0 });
    await opens('/files/model.onnxar');
    await tab.click('#keep');
    await tab.waitForFunction(() => document.getElementById('progress').value > 0.2);
    await tab.click('#cancel');
    await says('cancelled');
    server.fault = () => ({});
    await tab.reload();
    await tab.click('#store button:has-text("Resume")');
    await says('opened in');
    await tab.waitForSelector('#store button:has-text("Open")');
  });
});
