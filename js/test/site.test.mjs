// The documentation, opened from its folder in Chromium without a server: ONNXAR_SITE is the folder, ONNXAR_SHOTS gets pictures, and
// ONNXAR_SAMPLE is an archive. `./dev docs --browser` runs this.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { ONNXAR_SITE: site, ONNXAR_SHOTS: shots, ONNXAR_SAMPLE: sample } = process.env;
const limit = { timeout: 300_000 };
const PAGES = [
  'docs/install',
  'docs/command-line',
  'docs/api/cpp',
  'bench/RESULTS',
  'spec/onnx-archive',
  'README',
  'js/README',
];

describe('the documentation', { skip: !site && 'ONNXAR_SITE is not set' }, () => {
  let browser, context;
  const wrong = [];

  before(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    mkdirSync(shots, { recursive: true });
  });
  after(() => browser?.close());
  afterEach(async () => {
    await context.close();
    assert.deepEqual(wrong.splice(0), []);
  });

  /** Opens the first page of the newest version in a window of this width. */
  async function opened(width, colorScheme = 'light') {
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    context.setDefaultTimeout(60_000);
    const tab = await context.newPage();
    tab.on('pageerror', (error) => wrong.push(error.message));
    tab.on('request', (request) => /^(file|data|blob):/.test(request.url()) || wrong.push(request.url()));
    await tab.goto(pathToFileURL(join(site, 'index.html')).href);
    await tab.waitForURL(/\/docs\/index\.html$/);
    return tab;
  }
  const isWithin = (frame) => frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  const picture = (tab, name) => tab.screenshot({ path: join(shots, `${name}.png`) });
  const viewerOf = async (tab) => (await tab.waitForSelector('iframe.viewer')).contentFrame();

  for (const width of [360, 1400]) {
    test(`shows an archive on its first page at ${width} pixels`, limit, async () => {
      const tab = await opened(width);
      const viewer = await viewerOf(tab);
      await viewer.setInputFiles('#file', sample);
      await viewer.waitForFunction(() => document.getElementById('status').textContent.includes('opened in'));
      assert.match(await viewer.textContent('#status'), new RegExp(`^${basename(sample)}: opened in`));
      assert.match(await viewer.textContent('#facts'), /ONNX archive/);
      assert.ok((await viewer.$$('#tensors tbody tr')).length > 0);
      assert.ok((await viewer.isVisible('#check')) && (await viewer.isHidden('#run')), 'no runtime is beside the page');
      assert.ok((await isWithin(tab)) && (await isWithin(viewer)));
      await picture(tab, `first-${width}`);
    });
  }

  test('says what is wrong with a file, and shows no other', limit, async () => {
    const viewer = await viewerOf(await opened(360));
    await viewer.setInputFiles('#file', sample);
    await viewer.waitForSelector('#model', { state: 'visible' });
    await viewer.setInputFiles('#file', { name: 'text.onnx', mimeType: '', buffer: Buffer.from('no model') });
    await viewer.waitForFunction(() => /^text.onnx: .* neither/.test(document.getElementById('status').textContent));
    assert.ok(await viewer.isHidden('#model'));
  });

  test('no page is wider than a screen of 360 pixels', limit, async () => {
    const tab = await opened(360);
    const first = tab.url();
    const wide = [];
    for (const page of PAGES) {
      await tab.goto(new URL(`../${page}.html`, first).href);
      if (!(await isWithin(tab))) wide.push(page);
    }
    assert.deepEqual(wide, []);
  });

  test('search finds a page', limit, async () => {
    const tab = await opened(1400);
    await tab.fill('.sidebar-search', 'zipalign');
    await tab.press('.sidebar-search', 'Enter');
    await tab.waitForSelector('#search-results ul.search li a');
    const links = await tab.$$eval('#search-results ul.search li a', (all) => all.map((each) => each.href));
    assert.ok(
      links.some((link) => link.includes('/docs/mobile.html')),
      links.join(),
    );
    await picture(tab, 'search-1400');
    await tab.click('#search-results a[href*="docs/mobile.html"]');
    await tab.waitForURL(/docs\/mobile\.html/);
    assert.match(await tab.textContent('h1'), /mobile/i);
  });

  test('colours follow the system', limit, async () => {
    const red = (frame, what) =>
      frame.evaluate((name) => Number(/\d+/.exec(getComputedStyle(document.body)[name])[0]), what);
    const found = {};
    for (const colours of ['light', 'dark']) {
      const tab = await opened(1400, colours);
      const viewer = await viewerOf(tab);
      await viewer.waitForSelector('#status');
      found[colours] = { page: await red(tab, 'backgroundColor'), text: await red(viewer, 'color') };
      await picture(tab, `${colours}-1400`);
      if (colours === 'light') await context.close();
    }
    assert.ok(found.light.page > 200 && found.dark.page < 60, JSON.stringify(found));
    assert.ok(found.light.text < 60 && found.dark.text > 200, JSON.stringify(found));
  });

  test('every page leads to the list of versions', limit, async () => {
    const tab = await opened(1400);
    const version = /\/(\d+\.\d+\.\d+)\/docs\/index\.html$/.exec(tab.url())[1];
    await tab.goto(new URL('../spec/onnx-archive.html', tab.url()).href);
    await tab.click('.versions a');
    await tab.waitForURL(/\/versions\.html$/);
    const names = await tab.$$eval('li a', (all) => all.map((each) => each.textContent));
    assert.equal(names[0], `onnxar ${version}`);
    await tab.click('li a');
    await tab.waitForURL(/\/docs\/index\.html$/);
  });
});
