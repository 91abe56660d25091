import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import * as onnxar from '../dist/index.js';
import { root } from './support/repository.mjs';

const file = readFileSync(join(root(), 'spec/vectors/valid/typical.onnxar'));
const timeout = 300; // ms
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** A server of the file whose bodies `send` sends; the head comes after `delay` ms. */
async function serving({ delay = 0, send = (body, answer) => answer.end(body), data = file }, use) {
  let requests = 0;
  const server = createServer(async (request, answer) => {
    const [, from, to] = /bytes=(\d*)-(\d*)/.exec(request.headers.range);
    const begin = from === '' ? Math.max(0, data.length - Number(to)) : Number(from);
    const end = from === '' ? data.length : Number(to) + 1;
    requests++;
    const number = requests;
    await pause(typeof delay === 'function' ? delay(number) : delay);
    answer.writeHead(206, {
      ETag: '"a"',
      'Content-Length': end - begin,
      'Content-Range': `bytes ${begin}-${end - 1}/${data.length}`,
    });
    await send(data.subarray(begin, end), answer, number);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  try {
    await use(`http://127.0.0.1:${server.address().port}/m.onnxar`, () => requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Sends `size` bytes each `every` ms. */
const dripping = (size, every) => async (body, answer) => {
  for (let at = 0; at < body.length && !answer.destroyed; at += size) {
    answer.write(body.subarray(at, at + size));
    await pause(every);
  }
  answer.end();
};

const stopping = (after) => (body, answer) => void answer.write(body.subarray(0, after));

async function timesOut(how, call = (url) => onnxar.open(url, { timeout })) {
  await serving(how, async (url) => {
    const begin = performance.now();
    await assert.rejects(call(url), { name: 'OnnxarError', code: 'remote.timeout', rule: '' });
    assert.ok(performance.now() - begin < 8 * timeout);
    assert.ok(performance.now() - begin > 1.8 * timeout, 'it is asked once more');
  });
}

test('a server that never answers is given up', () => timesOut({ delay: 60_000 }));

test('a server that stops in the middle is given up', () => timesOut({ send: stopping(500) }));

test('a server that sends a byte at a time is given up', () => timesOut({ send: dripping(1, 50) }));

test('so are reads and streams of entries', async () => {
  const large = readFileSync(join(root(), 'spec/vectors/valid/typical.onnxar'));
  const read = (call) => async (url) => {
    const source = await sourceOf(url);
    return call(source);
  };
  // A source by itself, since the end of a small file is kept.
  const sourceOf = async (url) => {
    const { UrlSource } = await import('../dist/url.js');
    const version = { etag: '"a"', modified: null, size: large.length, from: url };
    return new UrlSource(url, version, new Uint8Array(0), { timeout });
  };
  for (const how of [{ delay: 60_000 }, { send: stopping(10) }, { send: dripping(1, 50) }]) {
    await timesOut(
      how,
      read((source) => source.read(0, 1000)),
    );
    await timesOut(
      how,
      read(async (source) => new Response(await source.stream(0, 1000)).arrayBuffer()),
    );
  }
});

test('an answer that breaks off once is asked for the rest', async () => {
  const { UrlSource } = await import('../dist/url.js');
  const send = (body, answer, number) => (number === 1 ? stopping(300)(body, answer) : answer.end(body));
  for (const call of [
    (source) => source.read(0, 1000),
    async (source) => new Response(await source.stream(0, 1000)).arrayBuffer(),
  ]) {
    await serving({ send }, async (url, requests) => {
      const version = { etag: '"a"', modified: null, size: file.length, from: url };
      const bytes = await call(new UrlSource(url, version, new Uint8Array(0), { timeout }));
      assert.deepEqual(Buffer.from(bytes), file.subarray(0, 1000));
      assert.equal(requests(), 2);
    });
  }
});

test('a slow but steady server may take long', async () => {
  const data = file.subarray(0, file.length);
  await serving({ send: dripping(Math.ceil(data.length / 20), 60), data }, async (url, requests) => {
    assert.ok(data.length / 1.2 > 1200, 'it is above the bar');
    const begin = performance.now();
    await onnxar.open(url, { timeout });
    assert.ok(performance.now() - begin > 3 * timeout);
    assert.equal(requests(), 1);
  });
});

test('a longer limit waits longer, and none without end', async () => {
  for (const limit of [10_000, 0, Infinity]) {
    await serving({ delay: 700 }, async (url, requests) => {
      await onnxar.open(url, { timeout: limit });
      assert.equal(requests(), 1);
    });
  }
});

test('a consumer may take its time', async () => {
  const { UrlSource } = await import('../dist/url.js');
  await serving({}, async (url) => {
    const version = { etag: '"a"', modified: null, size: file.length, from: url };
    const stream = await new UrlSource(url, version, new Uint8Array(0), { timeout: 50 }).stream(0, 1000);
    const reader = stream.getReader();
    await pause(200);
    assert.equal((await reader.read()).done, false);
    await pause(200);
    assert.equal((await reader.read()).done, true);
  });
});

test('what is no time is refused', async () => {
  for (const limit of [-1, NaN]) {
    await assert.rejects(onnxar.open('http://127.0.0.1:9/', { timeout: limit }), { code: 'usage.argument' });
  }
});

test('the signal of the caller ends a read that waits', async () => {
  await serving({ delay: 60_000 }, async (url) => {
    const signal = AbortSignal.timeout(100);
    await assert.rejects(onnxar.open(url, { signal }), { name: 'TimeoutError' });
    const request = { signal: AbortSignal.timeout(100) };
    await assert.rejects(onnxar.open(url, { request }), { name: 'TimeoutError' });
  });
});
