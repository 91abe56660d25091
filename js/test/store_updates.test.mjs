// Updates of archives in a store: entries of the old version are copied, and the others downloaded.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../dist/index.js';
import { Store } from '../dist/store.js';
import { archive, model, weights } from './support/archive.mjs';
import { folder, same, server, url, useStore } from './support/store.mjs';

const SIZE = 100_000;
const END = 1 << 17; // the first request
const HEADERS = 30 * 128;
const [one, next] = [weights(30, SIZE), weights(30, SIZE, 1, 7)];
const exact = (part) => part;

useStore({ bytes: one, etag: '"1"', several: exact });

const store = (options) => new Store({ folder, piece: 1 << 20, ...options });

/** Updates the archive. Returns the number of requests, and of the bytes of their ranges. */
async function updated(bytes, { several = exact, etag = '"2"', ...options } = {}) {
  await store(options).get(url);
  server.files.a = { bytes, etag, several };
  server.requests.length = 0;
  same(await store(options).get(url, { refresh: true }), bytes);
  let count = 0;
  for (const { range } of server.requests) {
    for (const [, from, to] of range.matchAll(/(\d*)-(\d+)/g)) count += from ? Number(to) + 1 - Number(from) : END;
  }
  return { requests: server.requests.length, count };
}

test('an update downloads what changed', async () => {
  const { requests, count } = await updated(next);
  assert.ok(count < END + SIZE + HEADERS, `${count} bytes`);
  assert.ok(requests <= 6, `${requests} requests`);
});

test('pieces smaller than an entry are updated', async () => {
  const { count } = await updated(next, { piece: 30_011 });
  assert.ok(count < END + SIZE + 2 * HEADERS, `${count} bytes`);
});

test('finds entries that have other names and places', async () => {
  const entries = [...Array(8).keys()].map((i) => [`n${i}`, Buffer.alloc(SIZE + 64 * i, i + 1)]);
  const made = (all) => {
    const linked = all.map(([name, bytes]) => [name, bytes.length, name, 0]);
    return archive([...all, ['__MODEL_PROTO', Buffer.concat([model(linked), Buffer.alloc(0)])]]);
  };
  server.files.a.bytes = made(entries);
  const moved = entries.toReversed().map(([name, bytes]) => [`other_${name}`, bytes]);
  const { count } = await updated(made([['new', Buffer.alloc(SIZE, 99)], ...moved]));
  assert.ok(count < END + SIZE + HEADERS, `${count} bytes`);
});

test('servers without several ranges get single ones', async () => {
  const { requests, count } = await updated(next, { several: null });
  const most = END + SIZE + HEADERS;
  assert.ok(count < 2 * most, `${count} bytes`);
  assert.ok(requests > 30 && requests < 50, `${requests} requests`);
});

test('wrong answers with several ranges are not used', async () => {
  const answers = {
    short: (part) => part.subarray(1),
    long: (part) => Buffer.concat([part, part]),
    flipped: (part) => Buffer.from(part, 0).map((byte, i) => (i === 1 ? byte ^ 1 : byte)),
    nothing: () => Buffer.alloc(0),
    text: () => Buffer.from('\r\n\r\nContent-Range: bytes 0-999999999999999/5\r\n\r\n'),
  };
  for (const several of Object.values(answers)) {
    await updated(next, { several });
    await store().delete(url);
    server.files.a = { bytes: one, etag: '"1"', several: exact };
  }
});

test('entries that are damaged in the store are downloaded', async () => {
  const kept = await store().get(url);
  const damaged = Buffer.from(one);
  for (const at of [3.5, 12.5]) damaged[at * SIZE] ^= 1;
  writeFileSync(kept, damaged);
  const { count } = await updated(next);
  assert.ok(count < one.length + 2 * END, `${count} bytes`);
});

test('a damaged directory in the store is left alone', async () => {
  const kept = await store().get(url);
  writeFileSync(kept, Object.assign(Buffer.from(one), { [one.length - 60]: 255 }));
  const { count } = await updated(next);
  assert.ok(count > one.length - END, `${count} bytes`);
});

test('damaged local headers in the store are left alone', async () => {
  const kept = await store().get(url);
  const opened = await open(one);
  const { begin } = opened.extent('w3');
  writeFileSync(kept, Object.assign(Buffer.from(one), { [begin]: 255 }));
  const { count } = await updated(next);
  assert.ok(count < END + 2 * SIZE + HEADERS, `${count} bytes`);
});

test('a stored version may change meanwhile', async () => {
  const kept = await store().get(url);
  server.fault = (number) => {
    if (number === 2) writeFileSync(kept, Buffer.from(one).fill(7, 0, one.length - END));
    return {};
  };
  await updated(next);
});

test('an update that was interrupted continues', async () => {
  await store().get(url);
  server.files.a = { bytes: next, etag: '"2"', several: exact };
  const stop = new AbortController();
  const onProgress = (bytes) => bytes > one.length / 2 && stop.abort();
  await assert.rejects(store().get(url, { refresh: true, onProgress, signal: stop.signal }), { name: 'AbortError' });
  same(await store().get(url), one);
  const { count } = await updated(next);
  assert.ok(count < END + SIZE + HEADERS, `${count} bytes`);
});

test('a server that changes again gives its last version', async () => {
  await store().get(url);
  const last = weights(30, SIZE, 1, 20);
  server.files.a = { bytes: next, etag: '"2"' };
  server.fault = (number) => {
    if (number === 10) server.files.a = { bytes: last, etag: '"3"' };
    return {};
  };
  server.requests.length = 0;
  same(await store().get(url, { refresh: true }), last);
});
