// What the tests call in a page: functions of the package under the page's Content-Security-Policy.
import * as onnxar from '../../dist/index.js';
import { difference, reading } from './vectors.mjs';

async function vectors() {
  const all = await (await fetch('/vectors/manifest.json')).json();
  const small = all.filter(({ large }) => !large);
  const differences = [];
  for (const vector of small) {
    const blob = await (await fetch(`/vectors/${vector.file}`)).blob();
    const differs = difference(vector, await reading(onnxar, blob, vector.options));
    if (differs) differences.push(`${vector.file}: ${differs}`);
  }
  return { count: small.length, differences };
}

/** The sums of all entries, and the requests that opening took. */
async function summary(url) {
  try {
    let requests = 0;
    const counted = (...given) => (requests++, fetch(...given));
    const archive = await onnxar.open(url, { fetch: counted });
    const opening = requests;
    for (const { name } of archive.entries) await archive.verify(name);
    return { entries: archive.entries.length, tensors: (await archive.tensors()).length, opening };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

function inWorker(call, argument) {
  const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
  return new Promise((done, failed) => {
    worker.onmessage = ({ data }) => (worker.terminate(), done(data));
    worker.onerror = (event) => failed(new Error(event.message));
    worker.postMessage([call, argument]);
  });
}

const sum = (data) => data.reduce((total, value) => total + value, 0);

/** The archive as a URL, a Blob, or from the store. */
async function sourceOf({ url, asFile, isKept }) {
  if (isKept) return new (await import('../../dist/store.js')).Store().get(url);
  return asFile ? (await fetch(url)).blob() : url;
}

/** Runs a model of tokens with a build of the runtime; counts what was read at once. */
async function run({ build, blobs = false, ...from }) {
  const ort = await runtime(build);
  const { createSession } = await import('../../dist/onnxruntime.js');
  const progress = [];
  const onProgress = (read, total) => progress.push([read, total]);
  const session = await createSession(ort, await sourceOf(from), { onProgress, blobs });
  const tokens = new ort.Tensor('int64', BigInt64Array.from([1n, 2n, 3n, 4n]), [1, 4]);
  const outputs = await session.run({ [session.inputNames[0]]: tokens });
  return { sum: sum(Object.values(outputs)[0].data), steps: progress.length, last: progress.at(-1) };
}

async function runtime(build) {
  const ort = await import(`../../node_modules/onnxruntime-web/dist/${build}`);
  ort.env.wasm.numThreads = 1;
  return ort;
}

async function large(url) {
  const { createSession } = await import('../../dist/onnxruntime.js');
  return (await import('./sessions.mjs')).logits(await runtime('ort.wasm.min.mjs'), createSession, url);
}

async function inSubgraphs(url) {
  const { createSession } = await import('../../dist/onnxruntime.js');
  return (await import('./sessions.mjs')).subgraphs(await runtime('ort.wasm.min.mjs'), createSession, url);
}

/** A runtime that takes each weight twice, the second time after it was freed. Gives how many there were, and differ. */
async function twice(url) {
  const { createSession } = await import('../../dist/onnxruntime.js');
  const create = async (_, { externalData }) => {
    const sums = () => externalData.map(({ data }) => onnxar.crc32(data.subarray(0, data.length)));
    const [first, second] = [sums(), sums()];
    return { count: first.length, differing: first.filter((crc, i) => crc !== second[i]).length };
  };
  return createSession({ InferenceSession: { create }, env: { versions: {} } }, url);
}

/** transformers.js as it is published for pages, with the runtime from this server in the place of a foreign one. */
async function classified(from) {
  const transformers = await import('../../node_modules/@huggingface/transformers/dist/transformers.min.js');
  const { withArchive } = await import('../../dist/transformers.js');
  const { wasm } = transformers.env.backends.onnx;
  const dist = new URL(
    '../../node_modules/@huggingface/transformers/node_modules/onnxruntime-web/dist/',
    import.meta.url,
  );
  wasm.wasmPaths = dist.href;
  wasm.numThreads = 1;
  return (await import('./sessions.mjs')).classified(transformers, withArchive, await sourceOf(from));
}

/** For tools/memory.mjs. */
async function hold({ build, ...given }) {
  const { held } = await import('./held.mjs');
  return held(await import(`../../node_modules/onnxruntime-web/dist/${build}`), given);
}

export const calls = { vectors, summary, run, large, inSubgraphs, twice, classified, hold };
if (typeof document !== 'undefined') Object.assign(globalThis, { calls, inWorker });
