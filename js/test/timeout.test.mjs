// Servers that answer slowly, or not at all: requests end after the timeout, and are repeated.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import * as onnxar from '../dist/index.js';
import { UrlSource } from '../dist/url.js';
import { root } from './support/repository.mjs';

const file = readFileSync(join(root(), 'spec/vectors/valid/alignment_32768.onnxar'));
const timeout = 300; // ms
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** A server of the file, which answers with a status if `refusal` returns one, and whose bodies `send` sends; the head comes after `delay` ms. */
async function serving(
  { delay = 0, refusal = () => undefined, send = (body, answer) => answer.end(body), head = {} },
  use,
) {
  let requests = 0;
  const server = createServer(async (request, answer) => {
    const [, from, to] = /bytes=(\d*)-(\d*)/.exec(request.headers.range ?? 'bytes=-1');
    const begin = from === '' ? Math.max(0, file.length - Number(to)) : Number(from);
    const end = from === '' ? file.length : Number(to) + 1;
    const number = ++requests;
    if (delay === Infinity) return;
    await pause(delay);
    const [status, headers] = refusal(number) ?? [];
    if (status) return answer.writeHead(status, headers).end();
    answer.writeHead(206, { ETag: '"a"', 'Content-Range': `bytes ${begin}-${end - 1}/${file.length}`, ...head });
    await send(file.subarray(begin, end), answer, number);
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

/** The server brings nothing, however often it is asked: a call that ends asked no more than twice. */
async function timesOut(how, call = (url) => onnxar.open(url, { timeout })) {
  await serving(how, async (url, requests) => {
    await assert.rejects(call(url), { name: 'OnnxarError', code: 'remote.timeout', rule: '' });
    assert.ok(requests() <= 2);
  });
}

test('a server that never answers is given up', () => timesOut({ delay: Infinity }));

test('a server that stops in the middle is given up', () => timesOut({ send: stopping(500) }));

test('a server that sends a byte at a time is given up', () => timesOut({ send: dripping(1, 50) }));

/** A source by itself, since the end of a small file is kept. */
const sourceOf = (url, limit = timeout) =>
  new UrlSource(url, { etag: '"a"', modified: null, size: file.length, from: url }, new Uint8Array(0), {
    timeout: limit,
  });

const reads = {
  read: (source) => source.read(0, 1000),
  stream: async (source) => new Response(await source.stream(0, 1000)).arrayBuffer(),
};

for (const [name, call] of Object.entries(reads)) {
  test(`a ${name} from such servers is given up`, async () => {
    for (const how of [{ delay: Infinity }, { send: stopping(10) }, { send: dripping(1, 50) }]) {
      await timesOut(how, (url) => call(sourceOf(url)));
    }
  });

  test(`a ${name} that breaks off once goes on from there`, async () => {
    const send = (body, answer, number) => (number === 1 ? stopping(300)(body, answer) : answer.end(body));
    await serving({ send }, async (url, requests) => {
      const bytes = await call(sourceOf(url, 1000));
      assert.deepEqual(Buffer.from(bytes), file.subarray(0, 1000));
      assert.equal(requests(), 2);
    });
  });
}

/** The first two of three requests fail. */
const failing = {
  'with status 503': { refusal: (number) => (number < 3 ? [503] : undefined) },
  'within the body': { send: (body, answer, number) => void (number < 3 ? answer.destroy() : answer.end(body)) },
};

for (const [what, how] of Object.entries(failing)) {
  test(`requests that fail ${what} are repeated`, async () => {
    for (const call of [
      (url) => onnxar.open(url),
      (url) => reads.read(sourceOf(url)),
      (url) => reads.stream(sourceOf(url)),
    ]) {
      await serving(how, async (url, requests) => {
        await call(url);
        assert.equal(requests(), 3);
      });
    }
  });
}

test('Retry-After sets the least pause', async () => {
  const refusal = (number) => (number === 1 ? [429, { 'Retry-After': '1' }] : undefined);
  await serving({ refusal }, async (url, requests) => {
    const begin = performance.now();
    await onnxar.open(url);
    assert.ok(performance.now() - begin >= 990);
    assert.equal(requests(), 2);
  });
});

test('other refusals are not repeated', async () => {
  await serving({ refusal: () => [403] }, async (url, requests) => {
    await assert.rejects(onnxar.open(url), { code: 'io.permission' });
    assert.equal(requests(), 1);
  });
});

/** As src/remote/http_file.cc. The statuses of requests that are sent again are in `STATUSES` of retry.ts. */
const codes = {
  401: 'io.permission',
  403: 'io.permission',
  404: 'io.not_found',
  410: 'io.not_found',
  418: 'remote.refused',
  505: 'remote.refused',
  204: 'remote.refused',
};

for (const [status, code] of Object.entries(codes)) {
  test(`status ${status} has the code ${code}`, async () => {
    await serving({ refusal: () => [Number(status)] }, async (url, requests) => {
      await assert.rejects(onnxar.open(url), { code, rule: '' });
      await assert.rejects(sourceOf(url).read(0, 1000), { code, rule: '' });
      assert.equal(requests(), 2);
    });
  });
}

test('a short end of a file is asked for again', async () => {
  let requests = 0;
  const fetch = async (_, { method, headers }) => {
    if (method === 'HEAD') return new Response(null, { headers: { 'Content-Length': String(file.length) } });
    const [, begin] = /^bytes=(\d+)-/.exec(headers.get('Range')) ?? [];
    if (begin === undefined) return new Response('', { status: 501 });
    const body = ++requests === 1 ? file.subarray(Number(begin), -1) : file.subarray(Number(begin));
    const range = `bytes ${begin}-${file.length - 1}/${file.length}`;
    return new Response(body, { status: 206, headers: { 'Content-Range': range } });
  };
  await onnxar.open('http://127.0.0.1:9/', { fetch });
  assert.equal(requests, 2);
});

test('a server without ranges is named as one', async () => {
  const whole = () => new Response('', { headers: { 'Content-Length': String(2 ** 33) } });
  await assert.rejects(onnxar.open('http://127.0.0.1:9/', { fetch: async () => whole() }), {
    code: 'remote.no_ranges',
  });
});

test('a steady server may exceed the limit', async () => {
  await serving({ send: dripping(2048, 100) }, async (url, requests) => {
    await onnxar.open(url, { timeout: 1000 }); // of 1.7 s
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
  await serving({}, async (url, requests) => {
    const reader = (await sourceOf(url, 1000).stream(0, 1000)).getReader();
    await pause(1200);
    assert.equal((await reader.read()).done, false);
    await pause(1200);
    assert.equal((await reader.read()).done, true);
    assert.equal(requests(), 1);
  });
});

test('refuses a timeout that is not a number from 0 on', async () => {
  for (const limit of [-1, NaN]) {
    await assert.rejects(onnxar.open('http://127.0.0.1:9/', { timeout: limit }), { code: 'usage.argument' });
  }
});

test("the caller's signal ends a waiting read", async () => {
  await serving({ delay: Infinity }, async (url) => {
    const signal = AbortSignal.timeout(100);
    await assert.rejects(onnxar.open(url, { signal }), { name: 'TimeoutError' });
    const deaf = () => new Promise(() => {}); // a fetch that does not heed its signal
    await assert.rejects(onnxar.open(url, { signal: AbortSignal.timeout(100), fetch: deaf }), { name: 'TimeoutError' });
    const request = { signal: AbortSignal.timeout(100) };
    await assert.rejects(onnxar.open(url, { request }), { name: 'TimeoutError' });
  });
});

const refused = {
  'an answer of more bytes than were asked for': [
    'remote.answer',
    { send: (_, answer) => answer.end(Buffer.alloc(1 << 18)) },
  ],
  'a body that breaks off': [
    'remote.unreachable',
    { send: (_, answer) => void answer.write('PK', () => answer.destroy()) },
  ],
  'a range of another form': ['remote.answer', { head: { 'Content-Range': `bytes 0-${2n ** 64n - 1n}/${2n ** 64n}` } }],
};

for (const [name, [code, how]] of Object.entries(refused)) {
  test(`${name} is refused, with no secret in the message`, () =>
    serving(how, async (url) => {
      const is = (error) => error.code === code && !error.message.includes('hidden');
      await assert.rejects(onnxar.open(`${url}?key=hidden`), is);
      await assert.rejects(sourceOf(`${url}?key=hidden`).read(0, 1000), is);
    }));
}

test('a password in an address is not in the message', () =>
  assert.rejects(onnxar.open('http://name:hidden@127.0.0.1:9/'), (error) => !error.message.includes('hidden')));
