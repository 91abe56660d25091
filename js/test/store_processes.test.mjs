// What several processes do in the folder of one store, and what does not belong to it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { FolderLock } from '../dist/lock.js';
import { Store } from '../dist/store.js';
import { weights } from './support/archive.mjs';
import { claimed, claiming } from './support/claims.mjs';
import { folder, same as sameBytes, server, url, useStore } from './support/store.mjs';

const piece = 1 << 16;
const one = weights(30, 100_000);
const program = fileURLToPath(new URL('support/kept.mjs', import.meta.url));

useStore({ bytes: one, etag: '"1"' });
beforeEach(() => {
  server.files.b = server.files.a;
});

const made = (options) => new Store({ folder, piece, ...options });
const same = (where) => sameBytes(where, one);
const ranges = () => server.requests.filter(({ range }) => /^bytes=\d/.test(range)).length;
/** Names in the store's folder, and the files in its folders. */
const names = () => fs.readdirSync(folder, { recursive: true }).sort();

/** Another process. `printed` is what it printed so far; `ended` gives all of it, and its signal. */
function other(verbs, options = {}, environment = {}) {
  const words = [program, folder, url, JSON.stringify({ piece, ...options }), ...verbs];
  const child = spawn(process.execPath, words, { env: { ...process.env, ...environment } });
  let printed = '';
  child.stdout.on('data', (text) => (printed += text));
  child.stderr.on('data', () => undefined);
  const ended = once(child, 'close').then(([, signal]) => ({ lines: printed.trim().split('\n'), signal }));
  return { child, ended };
}

async function until(isTrue) {
  while (!isTrue()) await new Promise((done) => setTimeout(done, 5));
}

/** The only folder of the store, and the files in it. */
function kept() {
  const [name] = fs.readdirSync(folder).filter((each) => /^onnxar-[0-9a-f]{32}$/.test(each));
  return (file) => join(folder, name, file);
}

/** Ends a download of this process in the middle. */
async function half() {
  const stop = new AbortController();
  const onProgress = (bytes) => bytes > one.length / 2 && stop.abort();
  await assert.rejects(made().get(url, { onProgress, signal: stop.signal }), { name: 'AbortError' });
}

test('keeps foreign folders and files', async () => {
  const note = (complete) => ({ url, size: one.length, piece, version: 'x', complete, used: 1 });
  const plain = ['{"title":"my notes"}', '5', 'null', '', ...[false, true].map((is) => JSON.stringify(note(is)))];
  const marked = [false, true].map((is) => JSON.stringify({ onnxar: 'store 1', ...note(is) }));
  const others = [
    ...plain.map((text, i) => [`onnxar-${`${i}`.repeat(32)}`, text]),
    ...[...plain, ...marked].flatMap((text, i) => [`diary ${i}`, `${i}`.repeat(32)].map((name) => [name, text])),
  ];
  for (const [name, text] of others) {
    fs.mkdirSync(join(folder, name));
    fs.writeFileSync(join(folder, name, 'note.json'), text);
    fs.writeFileSync(join(folder, name, 'thesis.txt'), 'years of work');
  }
  fs.writeFileSync(join(folder, 'letter.lock'), '');
  const before = names();
  const store = made({ most: one.length * 1.5 });
  await store.get(url);
  await store.get(`${server.here}/files/b`);
  await store.delete(`${server.here}/files/b`);
  await store.delete(url);
  assert.deepEqual(names(), before);
});

test('keeps a foreign file in a store folder', async () => {
  await made().get(url);
  fs.writeFileSync(kept()('mine.txt'), 'mine');
  await made().delete(url);
  assert.equal(fs.readFileSync(kept()('mine.txt'), 'utf8'), 'mine');
  assert.deepEqual(await made().list(), []);
});

test('a process goes on where a killed one was', async () => {
  server.fault = () => ({ delay: 10 });
  const first = other(['get']);
  await until(() => ranges() > 20);
  first.child.kill('SIGKILL');
  await first.ended;
  const before = ranges();
  same(await made().get(url));
  assert.ok(ranges() - before <= Math.ceil(one.length / piece) - 10, 'pieces of the killed process are used');
  assert.equal(fs.readdirSync(folder).length, 1, 'its lock is gone');
});

test('two processes do one download', async () => {
  const both = [other(['get']), other(['get'])];
  const [
    {
      lines: [first],
    },
    {
      lines: [second],
    },
  ] = await Promise.all(both.map(({ ended }) => ended));
  assert.equal(first, second);
  same(first);
  assert.equal(ranges(), Math.ceil((one.length - (1 << 17)) / piece));
});

test('a delete waits for the download of another process', async () => {
  server.fault = () => ({ delay: 10 });
  const first = other(['get']);
  await until(() => ranges() > 5);
  const second = other(['delete', 'get']);
  const [a, b] = await Promise.all([first.ended, second.ended]);
  assert.match(a.lines[0], /^file:/);
  assert.equal(b.lines[0], 'deleted');
  same(b.lines[1]);
});

test('most does not delete what another process gets', async () => {
  server.fault = (_, { name }) => ({ delay: name === 'a' ? 20 : 0 });
  const first = other(['get']);
  await until(() => ranges() > 5);
  const b = `${server.here}/files/b`;
  await assert.rejects(made({ most: one.length * 1.5 }).get(b), { code: 'io.disk_full' });
  same((await first.ended).lines[0]);
  await made({ most: one.length * 1.5 }).get(b);
  assert.deepEqual(
    (await made().list()).map((each) => each.url),
    [b],
  );
});

test('never marks a piece in a later folder', async () => {
  server.fault = (count) => ({ delay: count > 20 ? 300 : 0 });
  const first = made().get(url);
  first.catch(() => undefined);
  await until(() => ranges() > 21);
  for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name), { recursive: true }); // as a person does
  server.fault = () => ({});
  same((await other(['get']).ended).lines[0]);
  const result = await first.catch((error) => error.code);
  if (result !== 'io.changed' && fs.existsSync(result)) same(result); // its folder was removed
  same(await made().get(url));
});

test('survives a kill before each file operation', { timeout: 300_000 }, async () => {
  const options = { piece: 1 << 20 };
  for (let at = 1, isAlive = false; !isAlive; at += process.env.ONNXAR_WEB_FAST ? 9 : 1) {
    isAlive = (await other(['get', 'delete'], options, { KILL_AT: String(at) }).ended).signal === null;
    if (at % 3 === 0) await made(options).delete(url);
    same(await made(options).get(url));
    assert.deepEqual(
      (await made().list()).map(({ complete }) => complete),
      [true],
    );
    assert.equal(names().length, 4, 'one folder with its three files is there, and nothing of the killed process');
    if (at % 2 === 0) await made(options).delete(url);
  }
});

test("a stopped process spares another's file", { timeout: 60_000 }, async () => {
  server.fault = () => ({ delay: 20 });
  const first = other(['get']);
  await until(() => ranges() > 20);
  first.child.kill('SIGSTOP');
  const [[file, lock], before] = [[kept()('model.onnxar'), names().find((name) => name.endsWith('.lock'))], ranges()];
  const inode = fs.statSync(file).ino;
  const opened = fs.openSync(file, 'r+'); // as the other has it open
  fs.utimesSync(join(folder, lock), 1, 1);
  const done = await made().get(url);
  assert.ok(ranges() - before <= Math.ceil(one.length / piece) - 10, 'pieces of the other process are used');
  assert.notEqual(fs.statSync(fileURLToPath(done)).ino, inode);
  fs.writeSync(opened, Buffer.alloc(1000), 0, 1000, 0);
  fs.closeSync(opened);
  first.child.kill('SIGCONT');
  await first.ended;
  same(done);
  same(await made().get(url));
});

test('continues in the folder of a running process', async () => {
  await half();
  const inode = fs.statSync(kept()('model.onnxar')).ino;
  const [where] = (await other(['get']).ended).lines;
  assert.equal(fs.statSync(fileURLToPath(where)).ino, inode);
  same(where);
});

test('frees the lock of a terminated worker at once', { skip: process.platform !== 'linux' }, async () => {
  const code = `import { FolderLock } from ${JSON.stringify(new URL('../dist/lock.js', import.meta.url).href)};
    import { parentPort } from 'node:worker_threads';
    const held = new FolderLock(${JSON.stringify(folder)});
    await held.locked('x', async () => { parentPort.postMessage(1); await new Promise((done) => setTimeout(done, 1e6)); }, {});`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  await once(worker, 'message');
  const lock = new FolderLock(folder);
  const get = () => lock.locked('x', async () => 'mine', { isTry: true });
  assert.equal(await get(), undefined);
  await worker.terminate();
  assert.equal(await get(), 'mine');
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('downloads a file with extra bytes again', async () => {
  await half();
  fs.appendFileSync(kept()('model.onnxar'), Buffer.alloc(one.length));
  same(await made().get(url));
});

test('a folder without its file of pieces is got again', async () => {
  await half();
  fs.rmSync(kept()('pieces'));
  same(await made().get(url));
});

test('replaces damaged directories and headers', async () => {
  for (const [begin, end] of [
    [one.length - 100, one.length],
    [1_000_000, 1_000_100],
    [0, 30],
  ]) {
    await half();
    const [model, pieces] = [kept()('model.onnxar'), kept()('pieces')];
    const bytes = Buffer.from(one);
    bytes.fill(0, begin, end);
    fs.writeFileSync(model, bytes);
    fs.writeFileSync(pieces, Buffer.alloc(Math.ceil(one.length / piece), 1));
    same(await made().get(url));
    await made().delete(url);
  }
});

test('a claim of 900 TB deletes nothing', async () => {
  const requests = [];
  const fetch = claiming(claimed(9n * 10n ** 14n), requests);
  const store = made({ most: 10 ** 17 });
  const old = await store.get(url);
  let operations = 0;
  const { open, statfs } = fs.promises;
  fs.promises.open = (...given) => (operations++, open(...given));
  fs.promises.statfs = async (path) => (path.startsWith(folder) ? { bavail: 2 ** 50, bsize: 4096 } : statfs(path));
  const stop = new AbortController();
  try {
    const counted = (...given) => (requests.length > 20 && stop.abort(), fetch(...given));
    await assert.rejects(store.get('http://127.0.0.1:9/x', { fetch: counted, signal: stop.signal }), {
      name: 'AbortError',
    });
    assert.ok(operations < 200, `${operations} files were opened`);
  } finally {
    Object.assign(fs.promises, { open, statfs });
  }
  await assert.rejects(made().get('http://127.0.0.1:9/y', { fetch }), { code: 'io.disk_full' });
  same(old);
});

test('an abort ends the wait for another get', async () => {
  server.fault = () => ({ delay: 20 });
  const first = made().get(url);
  await until(() => ranges() > 5);
  const stop = new AbortController();
  const second = made().get(url, { signal: stop.signal });
  const third = made().get(url, { request: { signal: stop.signal } });
  stop.abort();
  for (const each of [second, third]) await assert.rejects(each, { name: 'AbortError' });
  await made().get(url); // which waits for the first
  same(await first);
  const child = other(['get', 'delete', 'get']);
  await child.ended;
});

test('an abort ends the wait for another process', async () => {
  server.fault = () => ({ delay: 20 });
  const first = other(['get']);
  await until(() => ranges() > 5);
  const stop = new AbortController();
  const second = made().get(url, { signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(second, { name: 'AbortError' });
  same((await first.ended).lines[0]);
});

test('options that cannot be used are refused', async () => {
  for (const options of [
    ...[0, -1, 1.5, NaN, Infinity, '5', null].map((value) => ({ piece: value })),
    ...[-1, NaN, '4e9', null].map((value) => ({ most: value })),
    ...['', 5, null].map((value) => ({ folder: value })),
  ]) {
    assert.throws(() => new Store(options), { code: 'usage.argument' }, JSON.stringify(options));
  }
  for (const options of [{ timeout: -1 }, { timeout: '5' }, { maxEntries: NaN }, { maxModelSize: '5' }]) {
    await assert.rejects(made().get(url, options), { code: 'usage.argument' }, JSON.stringify(options));
  }
});

test('one of many has the lock', async () => {
  let [inside, most, count] = [0, 0, 0];
  const work = async () => {
    most = Math.max(most, ++inside);
    await new Promise((done) => setTimeout(done, 5));
    inside--;
    count++;
  };
  await Promise.all(Array.from({ length: 8 }, () => new FolderLock(folder).locked('x', work, {})));
  assert.deepEqual([most, count, fs.readdirSync(folder)], [1, 8, []]);
});

test('a lock that is held is not waited for by a try', async () => {
  const lock = new FolderLock(folder);
  const result = await lock.locked('x', () => lock.locked('x', async () => 'both', { isTry: true }), {});
  assert.equal(result, undefined);
  assert.equal(await lock.locked('x', () => lock.locked('y', async () => 'both', { isTry: true }), {}), 'both');
});

test('losing the lock aborts the work', async () => {
  const lock = new FolderLock(folder);
  const lost = lock.locked(
    'x',
    async (signal) => {
      for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name));
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    {},
  );
  const alive = setInterval(() => undefined, 1000);
  await assert.rejects(lost, { code: 'io.changed' });
  clearInterval(alive);
});

test('deletes half-made folders of killed processes', async () => {
  const at = (digit, ...rest) => join(folder, `onnxar-${digit.repeat(32)}`, ...rest);
  const draft = JSON.stringify({ onnxar: 'store 1', url, size: 1, piece: 1, version: 'x', complete: false, used: 1 });
  for (const digit of ['a', 'b', 'c', 'd', 'e']) fs.mkdirSync(at(digit));
  fs.writeFileSync(at('b', 'note.draft'), '');
  fs.writeFileSync(at('c', 'note.draft'), draft);
  fs.writeFileSync(at('d', 'note.draft'), 'of another program');
  fs.writeFileSync(at('e', 'thesis.txt'), '');
  await made().get(url);
  await made().delete(url);
  assert.deepEqual(
    fs.readdirSync(folder).sort(),
    [at('d'), at('e')].map((path) => path.slice(folder.length + 1)),
  );
});
