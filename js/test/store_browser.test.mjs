// The store in Chromium, and what goes wrong between a server and a tab.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { weights } from './support/archive.mjs';
import { serveRanges } from './support/ranges.mjs';

const piece = 1 << 16;
const [one, other] = [weights(30, 100_000), weights(30, 100_000, 2)];
const [count, whole] = [Math.ceil((one.length - (1 << 17)) / piece), Math.ceil(one.length / piece)];
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
/** `./dev web --fast` leaves these out. */
const slow = { skip: process.env.ONNXAR_WEB_FAST ? 'slow' : false };
const MAPPED = '--host-resolver-rules=MAP models.test 127.0.0.1';

/** A profile of Chromium in a folder of its own, as people have it. */
async function profile(preferences = {}) {
  const { chromium } = await import('playwright-core');
  const folder = mkdtempSync(join(tmpdir(), 'onnxar-profile-'));
  mkdirSync(join(folder, 'Default'));
  writeFileSync(join(folder, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', MAPPED],
  });
  const stop = async () => {
    await context.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  return { context, stop };
}

describe('the store in Chromium', () => {
  let server, browser, tab, url;

  before(async () => {
    server = await serveRanges();
    browser = await profile();
  });
  after(async () => {
    await browser?.stop();
    server?.stop();
  });
  beforeEach(async () => {
    Object.assign(server, { files: { a: { bytes: one, etag: '"1"' } }, requests: [], fault: () => ({}) });
    url = `${server.here}/files/a`;
    await tab?.close();
    tab = await opened();
    await tab.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      for await (const name of root.keys()) await root.removeEntry(name, { recursive: true });
    });
  });

  async function opened(context = browser.context, at = server.here) {
    const made = await context.newPage();
    await made.goto(at);
    return made;
  }

  /** What get gives: the digest of the bytes that the archive has after all its CRC-32s were compared, or the code. */
  const get = (where = tab, options = {}, at = url) =>
    where.evaluate(
      async ([at, options]) => {
        const { Store } = await import('/package/dist/store.js');
        const { open } = await import('/package/dist/index.js');
        try {
          const kept = await new Store(options).get(at, options);
          const archive = await open(kept);
          for (const { name } of archive.entries) await archive.verify(name);
          if (!crypto.subtle) return `${kept.size}`;
          const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await kept.arrayBuffer()));
          return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
        } catch (error) {
          return error.code ?? `${error.name}: ${error.message}`;
        }
      },
      [at, { piece, ...options }],
    );
  const asked = () => server.requests.splice(0).filter(({ range }) => /^bytes=\d/.test(range)).length;

  test('the second visit makes no request', async () => {
    assert.equal(await get(), digest(one));
    assert.equal(asked(), count);
    await tab.close();
    tab = await opened();
    assert.equal(await get(), digest(one));
    assert.deepEqual(server.requests, []);
  });

  test('reads the archive in a worker, also synchronously', async () => {
    const sizes = await tab.evaluate(
      async ([at, piece]) => {
        const code = `
          import { Store } from '${location.origin}/package/dist/store.js';
          import { open } from '${location.origin}/package/dist/index.js';
          const archive = await open(await new Store({ piece: ${piece} }).get('${at}'));
          const into = new Uint8Array(100_000);
          const is = archive.source.readSync(into, await archive.offset('w7'));
          const same = (await archive.bytes('w7')).every((byte, i) => byte === into[i]);
          postMessage([is, same, archive.source.blob().size]);`;
        const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), {
          type: 'module',
        });
        return new Promise((done) => (worker.onmessage = ({ data }) => done(data)));
      },
      [url, piece],
    );
    assert.deepEqual(sizes, [true, true, one.length]);
  });

  test('an update downloads what changed', async () => {
    const next = weights(30, 100_000, 1, 7);
    assert.equal(await get(), digest(one));
    for (const several of [(part) => part, undefined]) {
      const bytes = several ? next : one;
      server.files.a = { bytes, etag: `"${several}"`, several };
      server.requests.length = 0;
      assert.equal(await get(tab, { refresh: true }), digest(bytes));
      const ranges = server.requests.filter(({ range }) => /^bytes=\d/.test(range) && !range.includes(','));
      const sizes = ranges.map(({ range }) => range.slice(6).split('-')).map(([from, to]) => to - from + 1);
      assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 110_000, `${sizes}`);
      assert.ok(server.requests.length < (several ? 8 : 50), `${server.requests.length} requests`);
    }
  });

  test('two tabs do one download', async () => {
    const second = await opened();
    assert.deepEqual(await Promise.all([get(), get(second)]), [digest(one), digest(one)]);
    assert.equal(asked(), count);
    await second.close();
  });

  test('continues after cut connections', async () => {
    server.fault = (number) => (number % 10 === 0 ? { cut: 20_000 } : {});
    assert.equal(await get(), digest(one));
    const [ranges, cuts] = [asked(), Math.floor(count / 9)];
    assert.ok(cuts >= 4 && ranges - count >= cuts - 1 && ranges - count <= cuts + 1, `${ranges} ranges`);
  });

  test('gives up after repeated cuts, and keeps pieces', slow, async () => {
    server.fault = (number) => (number > 20 ? { cut: 0 } : {});
    assert.equal(await get(), 'remote.unreachable');
    asked();
    server.fault = () => ({});
    assert.equal(await get(), digest(one));
    assert.ok(asked() <= count - 15);
  });

  test('continues in another tab after one was closed', async () => {
    let most = 0;
    for (let round = 1; round <= 4; round++) {
      const closing = await opened();
      server.fault = () => ({ delay: 10 });
      const before = server.requests.length;
      const ended = get(closing).catch(() => 'closed');
      while (server.requests.length < before + round * 5) await new Promise((done) => setTimeout(done, 2));
      await closing.close();
      assert.equal(await ended, 'closed');
      most += 4; // pieces that were on their way
    }
    assert.equal(await get(), digest(one));
    const ranges = asked();
    assert.ok(ranges > count && ranges <= count + most, `${ranges} ranges`);
    const names = await tab.evaluate(async () => {
      const found = [];
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('onnxar');
      for await (const folder of root.values()) for await (const name of folder.keys()) found.push(name);
      return found;
    });
    assert.equal(names.length, whole + 1, `the pieces and the note: ${names}`);
  });

  test('a full quota is reported and loses nothing', async () => {
    const session = await browser.context.newCDPSession(tab);
    const quota = (quotaSize) => session.send('Storage.overrideQuotaForOrigin', { origin: server.here, quotaSize });
    await quota(1_000_000);
    assert.equal(await get(), 'io.disk_full');
    const message = await tab.evaluate(
      async ([at, piece]) => {
        const { Store } = await import('/package/dist/store.js');
        return new Store({ piece }).get(at).catch((error) => error.message);
      },
      [url, piece],
    );
    assert.match(message, /needs \d+ bytes; delete others, or read it by its URL/);
    await quota(100_000_000);
    assert.equal(await get(), digest(one));
    server.files.b = { bytes: other };
    await quota(5_000_000);
    assert.equal(await get(tab, {}, `${server.here}/files/b`), digest(other), 'the older archive went');
    assert.ok(asked() <= 2 * count + 12, 'at most the pieces that were on their way came twice');
    await quota(undefined);
  });

  test('keeps pieces when the quota fills up', slow, async () => {
    const session = await browser.context.newCDPSession(tab);
    const quota = (quotaSize) => session.send('Storage.overrideQuotaForOrigin', { origin: server.here, quotaSize });
    await quota(100_000_000);
    server.fault = (number) => ({ delay: number < 25 ? 0 : 300 });
    const result = get();
    while (server.requests.length < 26) await new Promise((done) => setTimeout(done, 2));
    await quota(1_000_000);
    assert.equal(await result, 'io.disk_full');
    await quota(undefined);
    asked();
    server.fault = () => ({});
    assert.equal(await get(), digest(one));
    assert.ok(asked() <= count - 10);
  });

  test('keeps foreign files with numbers as names', async () => {
    assert.equal(await get(), digest(one));
    const others = await tab.evaluate(async (at) => {
      const { Store } = await import('/package/dist/store.js');
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('onnxar');
      const [folder] = await Array.fromAsync(root.values());
      for (const name of ['0', '7', '007', '2024']) {
        const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
        await file.close();
      }
      await new Store().delete(at);
      return (await Array.fromAsync(folder.keys())).sort();
    }, url);
    assert.deepEqual(others, ['0', '007', '2024', '7']);
    assert.equal(await get(), digest(one));
  });

  test('restarts if the archive changes between pieces', async () => {
    for (const [etag, next] of [
      ['"1"', '"2"'],
      [undefined, undefined],
    ]) {
      server.files.a = { bytes: one, etag };
      const longer = etag ? other : weights(31, 100_000, 2);
      server.fault = (number) => {
        if (number === 20) server.files.a = { bytes: longer, etag: next };
        return {};
      };
      assert.equal(await get(tab, { refresh: true }), digest(longer));
      server.requests.length = 0;
    }
  });

  test('restarts if the archive changes between visits', slow, async () => {
    server.fault = (number) => (number > 20 ? { status: 403 } : {});
    assert.equal(await get(), 'io.permission');
    server.files.a = { bytes: other };
    server.fault = () => ({});
    assert.equal(await get(), digest(other));
  });

  test('refuses wrong bytes after a second try', async () => {
    const wrong = Buffer.from(one);
    wrong[1_500_000] ^= 1;
    server.files.a = { bytes: wrong };
    assert.equal(await get(), 'zip.data.crc');
    assert.ok(asked() <= count + 4, 'only the wrong entry was got again');
    server.files.a = { bytes: one };
    assert.equal(await get(), digest(one));
    assert.ok(asked() <= 4);
  });

  test('a wrong range is refused, or found by its CRC-32', slow, async () => {
    server.fault = (number) => (number === 10 ? { range: `bytes 0-${piece - 1}/${one.length}` } : {});
    assert.equal(await get(), 'remote.answer');
    server.requests.length = 0;
    server.fault = (number) => (number === 10 ? { shift: 1 } : {});
    assert.equal(await get(), digest(one));
    server.requests.length = 0;
    server.fault = (number) => (number === 10 ? { length: 100 } : {});
    assert.equal(await get(tab, { refresh: true }), digest(one));
  });

  test('gives up servers that drip or stop', slow, async () => {
    for (const how of [{ drip: 20 }, { stop: 100 }, { delay: 5000 }]) {
      server.requests.length = 0;
      server.fault = (number) => (number > 10 ? how : {});
      assert.equal(await get(tab, { timeout: 300 }), 'remote.timeout');
    }
    server.fault = () => ({});
    assert.equal(await get(), digest(one));
  });

  test('a private window keeps it as long as it is open', slow, async () => {
    const { chromium } = await import('playwright-core');
    const own = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    const window = await own.newContext();
    const here = await opened(window);
    assert.equal(await get(here), digest(one));
    server.requests.length = 0;
    assert.equal(await get(here), digest(one));
    assert.deepEqual(server.requests, []);
    await own.close();
  });

  test('uses IndexedDB without a private file system', async () => {
    const plain = await opened(browser.context, `http://models.test:${server.port}/`);
    assert.deepEqual(await plain.evaluate(() => [isSecureContext, navigator.storage === undefined]), [false, true]);
    const at = `http://models.test:${server.port}/files/a`;
    server.fault = (number) => (number > 20 ? { status: 403 } : {});
    assert.equal(await get(plain, {}, at), 'io.permission');
    const before = asked();
    server.fault = () => ({});
    assert.equal(await get(plain, {}, at), String(one.length));
    assert.ok(before + asked() <= count + 24);
    assert.equal(await get(plain, {}, at), String(one.length));
    assert.deepEqual(server.requests, []);
    await plain.close();
  });

  test('reports a page that may not store anything', slow, async () => {
    const blocked = await profile({ profile: { default_content_setting_values: { cookies: 2 } } });
    assert.equal(await get(await opened(blocked.context)), 'io.permission');
    await blocked.stop();
  });
});
