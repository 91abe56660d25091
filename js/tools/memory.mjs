// Measures the memory of sessions: from an archive, and from the same model with external data, in one run.
//
// Usage: memory.mjs FILES, a folder with memory.onnxar, memory.onnx and memory.bin. Prints one line of JSON for each.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const FORMS = ['archive', 'external data'];
const [files, inNode] = process.argv.slice(2);

/** Bytes: what is in memory now, and the most since `reset`. */
async function memoryOf(pid) {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  const [now, most] = ['VmRSS', 'VmHWM'].map((name) => 1024 * new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]);
  return { now, most };
}
const reset = (pid) => writeFile(`/proc/${pid}/clear_refs`, '5');

/** Runs `load` and gives by how much the processes grew; of several, the one that grew most. */
async function growth(pids, load) {
  const begin = async (pid) => {
    await reset(pid);
    return (await memoryOf(pid)).now;
  };
  // A spare process of the browser may end at any time: it has no numbers.
  const before = await Promise.all(pids.map((pid) => begin(pid).catch(() => NaN)));
  const said = await load();
  const after = await Promise.all(pids.map((pid) => memoryOf(pid).catch(() => ({ most: NaN }))));
  const grown = after.map(({ most }, i) => most - before[i]).filter((bytes) => !Number.isNaN(bytes));
  return { ...said, peak: Math.max(...grown) };
}

/**
 * A browser without Playwright, which would have DevTools keep up to 200 MB of the answers of servers in the page's
 * process. Gives a function that calls methods of the DevTools protocol.
 */
async function browser(use) {
  const profile = await mkdtemp(join(tmpdir(), 'onnxar-chromium-'));
  const words = [
    '--headless',
    '--no-sandbox',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    'about:blank',
  ];
  const made = spawn('/usr/bin/chromium', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    let url;
    for await (const line of createInterface({ input: made.stderr })) {
      [url] = /ws:\S+/.exec(line) ?? [];
      if (url) break;
    }
    return await use(await connected(url));
  } finally {
    made.kill();
    await new Promise((done) => (made.exitCode === null ? made.once('exit', done) : done()));
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function connected(url) {
  const socket = new WebSocket(url);
  await new Promise((done, failed) => Object.assign(socket, { onopen: done, onerror: failed }));
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
  };
  let last = 0;
  return (method, params = {}, sessionId = undefined) => {
    const answer = new Promise((done) => waiting.set(++last, done));
    socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    return answer;
  };
}

function inChromium(server, build, where, form) {
  return browser(async (call) => {
    const url = `${server.here}/wasm/test/support/page.html`;
    const { targetId } = await call('Target.createTarget', { url });
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    const evaluate = async (expression) => {
      const given = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await call('Runtime.evaluate', given, sessionId);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    // There is no context to evaluate in while the page is opened.
    const isOpen = () => evaluate("'calls' in globalThis").catch(() => false);
    for (let tries = 0; !(await isOpen()); tries++) {
      if (tries === 1000) throw new Error(`${url} was not opened`);
      await new Promise((done) => setTimeout(done, 50));
    }
    const { processInfo } = await call('SystemInfo.getProcessInfo');
    const pids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
    const given = JSON.stringify({ build, form, base: `${server.here}/files/` });
    const hold = where === 'window' ? `calls.hold(${given})` : `inWorker('hold', ${given})`;
    return growth(pids, () => evaluate(hold));
  });
}

/** In this process: `inNode` is what the other one wrote. */
async function measureHere({ build, form }) {
  const base = pathToFileURL(resolve(files)) + '/';
  const read = (url) => readFile(url);
  const { held } = await import('../test/support/held.mjs');
  const ort = await import(build);
  await ort.InferenceSession.create(new Uint8Array(1)).catch(() => {}); // no model, but the runtime is loaded then
  const load = () => held(ort, { form, base, read });
  process.stdout.write(`${JSON.stringify(await growth([process.pid], load))}\n`);
  process.exit(0);
}

async function inProcess(build, form) {
  const words = [fileURLToPath(import.meta.url), files, JSON.stringify({ build, form })];
  const made = spawn(process.execPath, words, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: made.stdout })) return JSON.parse(line);
  throw new Error(`no answer from ${words.join(' ')}`);
}

function print(where, runtime, form, measured) {
  process.stdout.write(`${JSON.stringify({ where, runtime, form, ...measured })}\n`);
}

async function measureAll() {
  const { serve } = await import('../test/support/server.mjs');
  const server = await serve({ package: here, vectors: files, files: resolve(files) });
  try {
    for (const [build, where] of [
      ['ort.wasm.min.mjs', 'window'],
      ['ort.wasm.min.mjs', 'worker'],
      ['ort.jspi.min.mjs', 'window'],
      ['ort.jspi.min.mjs', 'worker'],
    ]) {
      const isForBlobs = build === 'ort.jspi.min.mjs';
      for (const form of ['store', ...(isForBlobs ? ['store, as Blobs'] : []), ...FORMS]) {
        print(`Chromium, ${where}`, build, form, await inChromium(server, build, where, form));
      }
    }
  } finally {
    await server.stop();
  }
  for (const build of ['onnxruntime-web/wasm', 'onnxruntime-node']) {
    for (const form of FORMS) print('Node', build, form, await inProcess(build, form));
  }
}

await (inNode ? measureHere(JSON.parse(inNode)) : measureAll());
