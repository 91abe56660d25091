// The store in Node, where it is a folder. test/store_browser.test.mjs has the faults.
import assert from 'node:assert/strict';
import { promises, readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from '../dist/index.js';
import { Store } from '../dist/store.js';
import { weights } from './support/archive.mjs';
import { folder, same, server, url, useStore } from './support/store.mjs';

const piece = 1 << 16;
const [one, other] = [weights(30, 100_000), weights(30, 100_000, 2)];
/** The last 128 KiB come when the archive is opened. */
const pieces = Math.ceil((one.length - (1 << 17)) / piece);

useStore({ bytes: one, etag: '"1"' });

const made = (options) => new Store({ folder, piece, ...options });
const asked = () => server.requests.splice(0).filter(({ range }) => /^bytes=\d/.test(range)).length;

/** Expects that the store's only archive is incomplete, and that a get completes it. */
async function expectIncomplete() {
  assert.deepEqual(
    (await made().list()).map(({ complete }) => complete),
    [false],
  );
  same(await made().get(url), one);
}

test('a second get returns the same file, no request', async () => {
  const steps = [];
  const first = await made().get(url, { onProgress: (...step) => steps.push(step) });
  same(first, one);
  assert.equal(asked(), pieces);
  assert.deepEqual(steps.at(-1), [one.length, one.length]);
  assert.equal(steps.length, Math.ceil(one.length / piece));
  const second = await made().get(`${url}#part`);
  assert.equal(second.href, first.href);
  assert.deepEqual(server.requests, []);
  const archive = await open(second);
  for (const { name } of archive.entries) await archive.verify(name);
  await archive.close();
});

test('an aborted get keeps its pieces', async () => {
  const stop = new AbortController();
  const onProgress = (bytes) => bytes > one.length / 2 && stop.abort();
  await assert.rejects(made().get(url, { onProgress, signal: stop.signal }), { name: 'AbortError' });
  const before = asked();
  assert.deepEqual(
    (await made().list()).map((kept) => [kept.url, kept.size, kept.complete]),
    [[url, one.length, false]],
  );
  same(await made().get(url), one);
  assert.ok(before + asked() <= pieces + 4, 'at most the pieces that were on their way came twice');
});

test('concurrent gets share one download', async () => {
  const [first, second] = await Promise.all([made().get(url), made().get(url)]);
  assert.equal(first.href, second.href);
  assert.equal(asked(), pieces);
});

test('replaces a damaged stored piece', async () => {
  const stop = new AbortController();
  const onProgress = (bytes) => bytes > one.length / 2 && stop.abort();
  await assert.rejects(made().get(url, { onProgress, signal: stop.signal }));
  const [name] = readdirSync(folder);
  const path = join(folder, name, 'model.onnxar');
  truncateSync(path, 1000);
  truncateSync(path, one.length); // zeros
  same(await made().get(url), one);
});

test('checks the other entries of a replaced piece', async () => {
  const archive = await open(one);
  const second = await archive.offset('w1');
  const begin = Math.floor(second / piece) * piece; // of a piece with the end of w0 and the begin of w1
  assert.ok((await archive.offset('w0')) < begin && begin < second - 1000);
  const flipped = (at) => Object.assign(Buffer.from(one), { [at]: one[at] ^ 1 });
  const all = [flipped(second + 10), flipped(second - 1000)];
  server.fault = (_, { range }) => {
    server.files.a.bytes = (range === `bytes=${begin}-${begin + piece - 1}` && all.shift()) || one;
    return {};
  };
  await assert.rejects(made().get(url), { code: 'zip.data.crc', entry: 'w0' });
  await expectIncomplete();
});

test('a failed refresh keeps the old archive', async () => {
  const old = await made().get(url);
  server.files.a = { bytes: other, etag: '"2"' };
  server.fault = (count) => (count > 5 + pieces ? { status: 403 } : {});
  await assert.rejects(made().get(url, { refresh: true }), { code: 'io.permission' });
  same(await made().get(url), one);
  server.fault = () => ({});
  same(await made().get(url, { refresh: true }), other);
  assert.throws(() => readFileSync(fileURLToPath(old)), { code: 'ENOENT' });
  asked();
  same(await made().get(url, { refresh: true }), other);
  assert.equal(server.requests.length, 1, 'one request tells that it is the same');
});

test('deletes the least recently used archives', async () => {
  const store = made({ most: one.length * 2 });
  for (const name of ['a', 'b', 'c']) server.files[name] = server.files.a;
  const at = (name) => `${server.here}/files/${name}`;
  const names = async () =>
    (await store.list())
      .map((kept) => kept.url.at(-1))
      .sort()
      .join('');
  for (const name of ['a', 'b', 'a', 'c']) await store.get(at(name));
  assert.equal(await names(), 'ac');
  await store.delete(at('a'));
  assert.equal(await names(), 'c');
  await assert.rejects(made({ most: 1000 }).get(at('a')), { code: 'io.disk_full' });
  assert.match((await made({ most: 1000 }).get(at('a')).catch(String)).toString(), /needs \d+ bytes.*delete others/);
});

const at = (name) => `${server.here}/files/${name}`;

test('concurrent gets stay within the limit', async () => {
  server.files.b = server.files.a;
  const store = made({ most: one.length * 1.5 });
  const result = await Promise.allSettled([store.get(url), store.get(at('b'))]);
  assert.deepEqual(result.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.equal(result.find(({ reason }) => reason).reason.code, 'io.disk_full');
  assert.equal((await store.list()).length, 1);
});

test('a refresh without room deletes nothing', async () => {
  const store = made({ most: one.length * 1.5 });
  server.files.small = { bytes: weights(3, 100_000), etag: '"1"' };
  await store.get(at('small'));
  await store.get(url);
  server.files.a = { bytes: other, etag: '"2"' };
  await assert.rejects(store.get(url, { refresh: true }), { code: 'io.disk_full' });
  assert.equal((await store.list()).length, 2);
});

/** Calls as if no file could be written. */
async function unwritable(code, call) {
  const { open: opens, writeFile } = promises;
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }));
  const isOurs = (path) => String(path).startsWith(folder);
  promises.open = (path, flags) => (flags !== 'r' && isOurs(path) ? fail() : opens(path, flags));
  promises.writeFile = (path, ...rest) => (isOurs(path) ? fail() : writeFile(path, ...rest));
  try {
    return await call();
  } finally {
    Object.assign(promises, { open: opens, writeFile });
  }
}

test('uses archives on full and read-only disks', async () => {
  const kept = await made().get(url);
  for (const [failure, code] of [
    ['ENOSPC', 'io.disk_full'],
    ['EROFS', 'io.permission'],
  ]) {
    await unwritable(failure, async () => {
      assert.equal((await made().get(url)).href, kept.href);
      await assert.rejects(made().get(at('b')), { code });
    });
  }
});

test('a note that could not be written leaves no file', async () => {
  await made().get(url);
  const [name] = readdirSync(folder);
  const before = readdirSync(join(folder, name));
  const { rename } = promises;
  promises.rename = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  try {
    same(await made().get(url), one);
  } finally {
    promises.rename = rename;
  }
  assert.deepEqual(readdirSync(join(folder, name)), before);
});

test('an archive without its file is incomplete', async () => {
  rmSync(fileURLToPath(await made().get(url)));
  await expectIncomplete();
});

test('a server without ranges sends the file', async () => {
  const { createServer } = await import('node:http');
  const whole = createServer((_, answer) => answer.writeHead(200, { 'Content-Length': one.length }).end(one));
  await new Promise((done) => whole.listen(0, '127.0.0.1', done));
  same(await made().get(`http://127.0.0.1:${whole.address().port}/x`), one);
  whole.closeAllConnections();
  whole.close();
});

test('does not keep a file that is not an archive', async () => {
  server.files.a = { bytes: Buffer.alloc(100_000) };
  await assert.rejects(made().get(url), { code: 'zip.end.missing' });
  assert.deepEqual(await made().list(), []);
});

test('a wrong first answer is requested again', async () => {
  const archive = await open(one);
  const model = await archive.offset('__MODEL_PROTO');
  for (const place of [
    one.length - 30,
    one.length - 10,
    model + 100,
    model - 1000,
    (await archive.offset('w29')) - 20,
  ]) {
    let count = 0;
    const flipped = Object.assign(Buffer.from(one), { [place]: one[place] ^ 1 });
    server.files.a = { etag: '"1"', get: () => (count++ === 0 ? flipped : one) };
    Object.defineProperty(server.files.a, 'bytes', { get: server.files.a.get });
    same(await made().get(url), one);
    await made().delete(url);
  }
});

test('bytes that are wrong each time are refused', async () => {
  server.files.a.bytes = Object.assign(Buffer.from(one), { 1000: one[1000] ^ 1 });
  await assert.rejects(made().get(url), { code: 'zip.data.crc' });
});

test('names a file that is where the folder must be', async () => {
  for (const [name, make] of [
    ['file', (path) => writeFileSync(path, 'x')],
    ['dangling', (path) => symlinkSync('nowhere/x', path)],
    ['loop', (path) => symlinkSync('loop', path)],
    ['file/below', () => undefined],
  ]) {
    make(join(folder, name));
    const store = new Store({ folder: join(folder, name) });
    for (const call of [() => store.get(url), () => store.delete(url)]) {
      await assert.rejects(call, {
        code: 'usage.argument',
        message: new RegExp(`${name} is not a folder.*another folder`),
      });
    }
    assert.deepEqual(await store.list(), []);
  }
});

test('an oversized file deletes nothing', async () => {
  await made().get(url);
  server.files.b = server.files.a;
  const { open: opens } = promises;
  promises.open = async (path, flags) => {
    const file = await opens(path, flags);
    if (String(path).endsWith('model.onnxar') && flags === 'r+') {
      file.write = () => Promise.reject(Object.assign(new Error('EFBIG: file too large, write'), { code: 'EFBIG' }));
    }
    return file;
  };
  try {
    await assert.rejects(made().get(at('b')), { code: 'io.disk_full', message: /more than the system lets.*folder/ });
  } finally {
    promises.open = opens;
  }
  assert.deepEqual(
    (await made().list()).map((kept) => [kept.url, kept.complete]).filter(([, complete]) => complete),
    [[url, true]],
  );
});

test('a store that cannot be written refuses to delete', async () => {
  await made().get(url);
  await unwritable('EACCES', async () => {
    await assert.rejects(made().delete(url), { code: 'io.permission' });
  });
});
