// A server of ranges for one test run, with faults that a test sets. It also has the files of the package.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css' };
TYPES['.wasm'] = 'application/wasm';

/**
 * `files` are what it serves below /files/: { bytes, etag }, and with `several` it answers several ranges in one answer, of
 * which the function `several` gets each. `requests` are the ranges that were asked for of them.
 * `fault` gets the number of a request for a range, from 1 on, and the request; it gives what goes wrong: { cut: bytes }
 * breaks the connection after so many bytes, { stop: bytes } sends no more, { drip: ms } sends a byte each time, { shift }
 * sends the bytes so far behind, { range } says another Content-Range, { delay: ms } waits, { length } sends so many bytes,
 * { status } refuses.
 */
export async function serveRanges() {
  const state = { files: {}, requests: [], fault: () => ({}) };
  const server = createServer((request, answer) => {
    handle(state, request, answer).catch((error) => (answer.writeHead(500), answer.end(String(error))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const stop = () => (server.closeAllConnections(), server.close());
  return Object.assign(state, { here: `http://127.0.0.1:${port}`, port, stop });
}

async function handle(state, request, answer) {
  const path = decodeURI(new URL(request.url, 'http://x').pathname);
  if (path.startsWith('/files/')) return sendFile(state, path.slice('/files/'.length), request, answer);
  if (path === '/' || path === '/favicon.ico') {
    answer.writeHead(200, { 'Content-Type': 'text/html' });
    return answer.end('<!doctype html><title>empty</title>');
  }
  const bytes = await readFile(join(here, normalize(path.replace(/^\/package\//, '')))).catch(() => undefined);
  answer.writeHead(bytes ? 200 : 404, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' });
  return answer.end(bytes);
}

function sendSeveral(bytes, etag, several, request, answer) {
  const parts = request.headers.range.matchAll(/(\d+)-(\d+)/g).map(([, from, to]) => {
    const part = several(bytes.subarray(Number(from), Number(to) + 1));
    return Buffer.concat([Buffer.from(`\r\n--x\r\nContent-Range: bytes ${from}-${to}/${bytes.length}\r\n\r\n`), part]);
  });
  answer.writeHead(206, { 'Content-Type': 'multipart/byteranges; boundary=x', ...(etag && { ETag: etag }) });
  answer.end(Buffer.concat([...parts, Buffer.from('\r\n--x--\r\n')]));
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function sendFile(state, name, request, answer) {
  const { files, requests } = state;
  const entry = { name, method: request.method, range: request.headers.range };
  requests.push(entry);
  if (!files[name]) return answer.writeHead(404).end();
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const count = requests.filter(({ range }) => range && !range.startsWith('bytes=-')).length;
  const isPart = from !== undefined && from !== '';
  const how = isPart ? state.fault(count, entry) : {};
  if (how.delay) await pause(how.delay);
  if (how.status) return answer.writeHead(how.status).end();
  const { bytes, etag, several } = files[name];
  if (several && request.headers.range?.includes(',')) return sendSeveral(bytes, etag, several, request, answer);
  const begin = isPart ? Number(from) : Math.max(0, bytes.length - Number(to ?? bytes.length));
  const end = isPart && to !== '' ? Math.min(Number(to) + 1, bytes.length) : bytes.length;
  const head = { 'Content-Length': how.length ?? end - begin, 'Access-Control-Allow-Origin': '*' };
  if (etag) head.ETag = etag;
  if (request.headers.range) head['Content-Range'] = how.range ?? `bytes ${begin}-${end - 1}/${bytes.length}`;
  answer.writeHead(request.headers.range ? 206 : 200, head);
  if (request.method === 'HEAD') return answer.end();
  const shift = how.shift ?? 0;
  const body = bytes.subarray(begin + shift, begin + shift + (how.length ?? end - begin));
  if (how.cut !== undefined) return answer.write(body.subarray(0, how.cut), () => answer.destroy());
  if (how.stop !== undefined) return answer.write(body.subarray(0, how.stop));
  for (let at = 0; how.drip && at < body.length && !answer.destroyed; at++) {
    answer.write(body.subarray(at, at + 1));
    await pause(how.drip);
  }
  return answer.end(how.drip ? undefined : body);
}
