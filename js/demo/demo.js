// The demo: opens an archive, lists it, and runs its model on generated input. Entries are shown as they are read.
import { open } from '../dist/index.js';
import { createSession } from '../dist/onnxruntime.js';

const MOST_ROWS = 1000;
const RUNTIME = '../node_modules/onnxruntime-web/dist/ort.jspi.min.mjs';
const RUNTIME_WITHOUT_JSPI = '../node_modules/onnxruntime-web/dist/ort.wasm.min.mjs';

const at = (id) => document.getElementById(id);
let archive;

function say(text) {
  at('status').textContent = text;
}

async function show(source, name) {
  const begin = performance.now();
  say(`Opening ${name} ...`);
  archive = await open(source);
  const tensors = await archive.tensors();
  const took = Math.round(performance.now() - begin);
  say(
    `${name}: ${archive.source.size} bytes, ${archive.entries.length} entries, ${tensors.length} tensors; ${took} ms`,
  );
  at('entries').replaceChildren(...archive.entries.slice(0, MOST_ROWS).map(row));
  at('graph').replaceChildren(...archive.graphs().map((graph) => new Option(graph)));
  at('graph').disabled = at('run').disabled = false;
}

function row({ name, size, crc32 }) {
  const cells = [name, size.toLocaleString('en'), crc32.toString(16).padStart(8, '0')].map((text) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    return cell;
  });
  const made = document.createElement('tr');
  made.append(...cells);
  return made;
}

/** Ones of the type and shape that the model wants; open dimensions are 1. */
function generated(ort, { type, shape }) {
  const dims = shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
  const size = dims.reduce((product, dim) => product * dim, 1);
  const ones = /int64/.test(type) ? new BigInt64Array(size).fill(1n) : new Array(size).fill(type === 'bool' ? true : 1);
  return new ort.Tensor(type, ones, dims);
}

async function run() {
  const ort = await import('Suspending' in WebAssembly ? RUNTIME : RUNTIME_WITHOUT_JSPI);
  ort.env.wasm.numThreads = 1;
  at('progress').hidden = false;
  const onProgress = (read, total) => (at('progress').value = total ? read / total : 1);
  const begin = performance.now();
  const session = await createSession(ort, archive, { graph: at('graph').value, onProgress });
  const loaded = performance.now();
  const inputs = session.inputMetadata.map((input) => [input.name, generated(ort, input)]);
  const outputs = await session.run(Object.fromEntries(inputs));
  const ran = performance.now();
  const lines = Object.entries(outputs).map(([name, { type, dims, data }]) => {
    return `${name}: ${type} [${dims}] ${Array.from(data.slice(0, 8), (value) => Number(value).toPrecision(4)).join(' ')}`;
  });
  const times = `loaded in ${Math.round(loaded - begin)} ms, ran in ${Math.round(ran - loaded)} ms`;
  at('result').textContent = [times, ...lines].join('\n');
  await session.release();
}

const told = (work) => work.catch((error) => say(error.message));

at('choose').addEventListener('submit', (event) => {
  event.preventDefault();
  void told(show(at('url').value, at('url').value));
});
at('file').addEventListener('change', () => {
  const [file] = at('file').files;
  if (file) void told(show(file, file.name));
});
at('run').addEventListener('click', () => {
  at('run').disabled = true;
  void told(run()).finally(() => (at('run').disabled = false));
});
