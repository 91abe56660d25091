// The demo: looks into a model, checks it, keeps it, and runs it once. Everything is read by this page itself.
import { open } from '../dist/index.js';
import { parseOnnxMetadata } from '../dist/metadata.js';
import { createSession } from '../dist/onnxruntime.js';
import { Store } from '../dist/store.js';

const MOST_ROWS = 1000;
const RUNTIME = '../node_modules/onnxruntime-web/dist/ort.jspi.min.mjs';
const RUNTIME_WITHOUT_JSPI = '../node_modules/onnxruntime-web/dist/ort.wasm.min.mjs';

const at = (id) => document.getElementById(id);
const store = new Store();
/** What is shown: its name, where it is read from, its metadata and, if it is one, the archive. */
let shown;
let sorted = { by: 'bytes', isUp: false };
let ended = new AbortController();

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
function bytesText(bytes) {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toPrecision(3)} ${UNITS[step]}`;
}
const countText = (count) => count.toLocaleString('en');
const shapeText = (shape) => (shape ? `[${shape.join(', ')}]` : 'any shape');

function say(text) {
  at('status').textContent = text;
}

function progress(done, total) {
  at('progress').value = total ? done / total : 1;
}

/** Browsers throw a TypeError with no reason for an address that they cannot or may not read. */
function unreadable(error) {
  if (!(error instanceof TypeError)) throw error;
  throw new Error(
    `The browser cannot read this address; its server must answer, and allow this page to read it (${error.message}).`,
  );
}

/** One work at a time, with a progress and a way to end it. */
async function doing(what, work) {
  ended.abort();
  const own = (ended = new AbortController());
  say(`${what} …`);
  progress(0, 1);
  at('work').hidden = false;
  try {
    say(await work(own.signal));
  } catch (error) {
    if (ended === own) say(own.signal.aborted ? `${what}: cancelled.` : error.message);
  } finally {
    if (ended === own) at('work').hidden = true;
  }
}

// --- what is in it ---------------------------------------------------------------------------------------------------

const show = (source, name) =>
  doing(`Opening ${name}`, async (signal) => {
    at('model').hidden = true; // of an earlier model, if this one cannot be opened
    const begin = performance.now();
    const metadata = await parseOnnxMetadata(source, { request: { signal } }).catch(unreadable);
    const archive = metadata.format === 'onnxar' ? await open(source) : undefined;
    signal.throwIfAborted();
    shown = { name, source, metadata, archive };
    at('model').hidden = false;
    at('result').hidden = true;
    at('mapped').hidden = at('listed').hidden = at('check').hidden = at('run').hidden = !archive;
    at('keep').hidden = !archive || typeof source !== 'string';
    at('graph').replaceChildren(...metadata.graphs.map((graph) => new Option(graph.name || 'the model', graph.name)));
    at('graphs').hidden = metadata.graphs.length === 1;
    at('filter').value = '';
    showFacts();
    showGraph();
    if (archive) showMap();
    if (archive) showTree();
    return `${name}: opened in ${Math.round(performance.now() - begin)} ms.`;
  });

function showFacts() {
  const { metadata, archive } = shown;
  const { size, parameterTotal, parameterCount, graphs } = metadata;
  const types = Object.entries(parameterCount).sort(([, a], [, b]) => b - a);
  const [first] = graphs;
  const facts = {
    file: `${archive ? 'ONNX archive' : 'plain ONNX model'}, ${bytesText(size.file)}`,
    graphs: `${graphs.length}, ${bytesText(size.model)}${first.producer && `, made by ${first.producer}`}`,
    data: `${bytesText(size.data)} in ${Object.keys(metadata.dataFiles).length} ${archive ? 'entries' : 'files beside it'}`,
    parameters: `${countText(parameterTotal)} (${types.map(([type, count]) => `${countText(count)} ${type}`).join(', ')})`,
    opset: Object.entries(first.opsets)
      .map((opset) => opset.join(' '))
      .join(', '),
  };
  const made = Object.entries(facts).flatMap(([key, value]) => [element('dt', key), element('dd', value)]);
  at('facts').replaceChildren(...made);
}

function element(tag, text, name = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
}

function row(...cells) {
  const made = document.createElement('tr');
  made.append(...cells);
  return made;
}

const chosen = () => shown.metadata.graphs.find(({ name }) => name === at('graph').value);

function showGraph() {
  const { inputs, outputs, header } = chosen();
  const values = [...inputs.map((input) => ['input', input]), ...outputs.map((output) => ['output', output])];
  const rows = values.map(([use, { name, dtype, shape }]) =>
    row(...[name, use, dtype, shapeText(shape)].map((text) => element('td', text))),
  );
  at('values').tBodies[0].replaceChildren(...rows);
  const tensors = Object.entries(header).filter(([name]) => name !== '__metadata__');
  shown.tensors = tensors.map(([name, { dtype, shape, data_offsets: [begin, end] = [0, 0] }]) => {
    const elements = shape.reduce((product, dim) => product * dim, 1);
    return { name, dtype, shape: shapeText(shape), bytes: end - begin, elements };
  });
  showTensors();
}

function showTensors() {
  const { by, isUp } = sorted;
  for (const button of document.querySelectorAll('th button')) {
    const order = button.dataset.by === by ? (isUp ? 'ascending' : 'descending') : 'none';
    button.parentElement.setAttribute('aria-sort', order);
  }
  const key = by === 'shape' ? 'elements' : by;
  const compare = (a, b) => (typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true }));
  const words = at('filter').value.toLowerCase().split(/\s+/);
  const found = shown.tensors.filter(({ name, dtype, shape }) => {
    const text = `${name} ${dtype} ${shape}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  found.sort((a, b) => compare(a[key], b[key]) * (isUp ? 1 : -1));
  const rows = found.slice(0, MOST_ROWS).map(({ name, dtype, shape, bytes }) => {
    const cells = [name, dtype, shape].map((text) => element('td', text));
    return row(...cells, element('td', bytes ? countText(bytes) : 'in the graph', 'number'));
  });
  at('tensors').tBodies[0].replaceChildren(...rows);
  const some = found.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : '';
  at('count').textContent = `${countText(found.length)} of ${countText(shown.tensors.length)}${some}`;
}

// --- the tree of folders ----------------------------------------------------------------------------------------------

/** A graph of an archive as a path, and what it has. */
function graphLine({ name, header }) {
  const tensors = Object.entries(header).filter(([key]) => key !== '__metadata__');
  const count = tensors.reduce((sum, [, { shape }]) => sum + shape.reduce((product, dim) => product * dim, 1), 0);
  const used = new Set(tensors.map(([, { location }]) => location));
  const bytes = shown.archive.entries.reduce((sum, each) => sum + (used.has(each.name) ? each.size : 0), 0);
  const own = header.__metadata__['onnxar.model.name'];
  const path = name === '__MODEL_PROTO' && own ? `${own}.onnx` : name;
  return [path, `${countText(count)} parameters, ${bytesText(bytes)} of weights`];
}

/** Graphs and other files as nested lists of their folders. Weights are in none. */
function showTree() {
  const { archive, metadata } = shown;
  const graphs = new Set(archive.graphs());
  const others = archive.entries.filter(({ name }) => !graphs.has(name) && !Object.hasOwn(metadata.dataFiles, name));
  const lines = [...metadata.graphs.map(graphLine), ...others.map(({ name, size }) => [name, bytesText(size)])];
  const lists = new Map([['', element('ul', '')]]);
  const listOf = (folder) => {
    if (!lists.has(folder)) {
      const [item, list] = [element('li', `${folder.slice(folder.lastIndexOf('/') + 1)}/`), element('ul', '')];
      item.append(list);
      listOf(folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))).append(item);
      lists.set(folder, list);
    }
    return lists.get(folder);
  };
  for (const [path, text] of lines
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .slice(0, MOST_ROWS)) {
    const slash = path.lastIndexOf('/');
    listOf(path.slice(0, Math.max(slash, 0))).append(element('li', `${path.slice(slash + 1)}: ${text}`));
  }
  at('tree').replaceChildren(...lists.get('').children);
  if (lines.length > MOST_ROWS) at('tree').append(element('li', `and ${countText(lines.length - MOST_ROWS)} more`));
}

// --- the map ---------------------------------------------------------------------------------------------------------

function showMap() {
  const { archive, metadata } = shown;
  const graphs = new Set(archive.graphs());
  const kindOf = (name) => (graphs.has(name) ? 'model' : Object.hasOwn(metadata.dataFiles, name) ? 'weights' : 'side');
  const entries = archive.entries.map(({ name }) => ({ name, kind: kindOf(name), ...archive.extent(name) }));
  const { end } = entries.at(-1);
  shown.places = [...entries, { name: 'the directory', kind: 'directory', begin: end, end: archive.source.size }];
  shown.place = undefined;
  at('map').setAttribute('aria-valuemax', String(shown.places.length));
  at('entry').textContent = 'Point at the map, or use the arrow keys in it.';
  draw();
}

function draw() {
  const { places, place, archive } = shown;
  const canvas = at('map');
  const style = getComputedStyle(document.documentElement);
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  const context = canvas.getContext('2d');
  const scale = canvas.width / archive.source.size;
  const least = 3 * devicePixelRatio; // of graphs, other files and the directory, which are small
  const left = (index) => Math.min(places[index].begin * scale, canvas.width - least * (places.length - index));
  for (const isWeight of [true, false]) {
    for (const [index, { kind, begin, end }] of places.entries()) {
      if ((kind === 'weights') !== isWeight) continue;
      const width = (end - begin) * scale;
      context.fillStyle = index === place ? style.color : style.getPropertyValue(`--${kind}`);
      if (isWeight) context.fillRect(begin * scale, 0, width - (width > 4 ? devicePixelRatio : 0), canvas.height);
      else context.fillRect(left(index), 0, Math.max(width, least), canvas.height);
    }
  }
  if (place === undefined) return;
  context.fillStyle = style.color;
  context.fillRect(left(place), 0, least, canvas.height);
}

function choose(index) {
  const { places } = shown;
  shown.place = Math.min(Math.max(index, 0), places.length - 1);
  const { name, begin, end } = places[shown.place];
  const text = `${name}: ${bytesText(end - begin)} from byte ${countText(begin)} on (${shown.place + 1} of ${places.length})`;
  at('entry').textContent = text;
  at('map').setAttribute('aria-valuenow', String(shown.place + 1));
  at('map').setAttribute('aria-valuetext', text);
  draw();
}

at('map').addEventListener('pointermove', ({ offsetX }) => {
  const where = (offsetX / at('map').clientWidth) * shown.archive.source.size;
  const index = shown.places.findIndex(({ end }) => where < end);
  if (index >= 0 && index !== shown.place) choose(index);
});
at('map').addEventListener('keydown', (event) => {
  const now = shown.place ?? -1;
  const steps = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: shown.places.length - 1 };
  if (!(event.key in steps)) return;
  event.preventDefault();
  choose(steps[event.key]);
});
addEventListener('resize', () => shown?.archive && draw());

// --- what is done with it --------------------------------------------------------------------------------------------

const check = () =>
  doing('Checking CRC-32s', async (signal) => {
    const { archive } = shown;
    const total = archive.entries.reduce((sum, { size }) => sum + size, 0);
    const wrong = [];
    let done = 0;
    for (const { name } of archive.entries) {
      const reader = archive.stream(name).getReader();
      try {
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          signal.throwIfAborted();
          progress((done += part.value.length), total);
        }
      } catch (error) {
        signal.throwIfAborted();
        wrong.push(error.message);
      }
    }
    if (wrong.length > 0) print(wrong);
    const all = `${archive.entries.length} entries, ${bytesText(total)}`;
    return wrong.length === 0 ? `All CRC-32s are right: ${all}.` : `${wrong.length} of ${all} are damaged; see below.`;
  });

const keep = () =>
  doing(`Downloading ${shown.name}`, async (signal) => {
    const { name, source } = shown;
    const kept = await store.get(source, { signal, onProgress: progress });
    shown.archive = await open(kept);
    await showStore();
    return `${name} is in the store, and every CRC-32 is right. This page reads it from there now.`;
  });

async function showStore() {
  const all = await store.list().catch(() => []); // a page that may not keep anything
  at('kept').hidden = all.length === 0;
  const items = all.map(({ url, size, complete }) => {
    const item = document.createElement('li');
    const [opens, deletes] = [element('button', complete ? 'Open' : 'Resume'), element('button', 'Delete')];
    opens.ariaLabel = `${opens.textContent} ${url}`;
    deletes.ariaLabel = `Delete ${url}`;
    opens.addEventListener('click', () => openKept(url));
    deletes.addEventListener('click', async () => {
      await store.delete(url);
      await showStore();
    });
    item.append(element('span', `${url} (${bytesText(size)}${complete ? '' : ', not complete'})`), opens, deletes);
    return item;
  });
  at('store').replaceChildren(...items);
}

async function openKept(url) {
  let kept;
  await doing(`Reading ${url}`, async (signal) => {
    kept = await store.get(url, { signal, onProgress: progress });
    return '';
  });
  if (kept) await show(kept, url);
  await showStore();
}

/** Random values of the type and shape that the model wants; open dimensions are 1, and whole numbers 0 or 1. */
function random(ort, { type, shape }) {
  const dims = shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
  const size = dims.reduce((product, dim) => product * dim, 1);
  const bits = Array.from({ length: size }, () => Math.round(Math.random()));
  if (type === 'string') return new ort.Tensor(type, bits.map(String), dims);
  if (type === 'bool') return new ort.Tensor(type, bits.map(Boolean), dims);
  if (/int64/.test(type)) return new ort.Tensor(type, bits.map(BigInt), dims);
  const values = /int/.test(type) ? bits : bits.map(() => Math.random());
  return new ort.Tensor(type, values, dims);
}

const run = () =>
  doing('Loading the runtime and the weights', async () => {
    const { archive } = shown;
    const ort = await import('Suspending' in WebAssembly ? RUNTIME : RUNTIME_WITHOUT_JSPI);
    ort.env.wasm.numThreads = 1;
    const begin = performance.now();
    const session = await createSession(ort, archive, { graph: at('graph').value, onProgress: progress });
    const loaded = performance.now();
    const inputs = session.inputMetadata.map((input) => [input.name, random(ort, input)]);
    const outputs = await session.run(Object.fromEntries(inputs));
    const ran = performance.now();
    const text = (value) => (typeof value === 'string' ? value : Number(Number(value).toPrecision(4)));
    print([
      ...inputs.map(([name, { type, dims }]) => `in   ${name}: ${type} [${dims}] random`),
      ...Object.entries(outputs).map(([name, { type, dims, data }]) => {
        const values = Array.from(data.slice(0, 8), text).join(' ');
        return `out  ${name}: ${type} [${dims}] ${values}${data.length > 8 ? ' …' : ''}`;
      }),
    ]);
    await session.release();
    return `The model ran: loaded in ${Math.round(loaded - begin)} ms, ran in ${Math.round(ran - loaded)} ms.`;
  });

function print(lines) {
  at('result').textContent = lines.join('\n');
  at('result').hidden = false;
}

// --- events ----------------------------------------------------------------------------------------------------------

at('choose').addEventListener('submit', (event) => {
  event.preventDefault();
  const url = at('url').value.trim();
  if (url) void show(new URL(url, location.href).href, url);
});
at('file').addEventListener('change', () => {
  const [file] = at('file').files;
  if (file) void show(file, file.name);
});
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('over');
});
for (const type of ['dragleave', 'drop']) addEventListener(type, () => document.body.classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) void show(file, file.name);
});
for (const [id, work] of Object.entries({ run, check, keep })) at(id).addEventListener('click', work);
at('cancel').addEventListener('click', () => ended.abort());
at('graph').addEventListener('change', showGraph);
at('filter').addEventListener('input', showTensors);
for (const button of document.querySelectorAll('th button')) {
  button.addEventListener('click', () => {
    const by = button.dataset.by;
    sorted = { by, isUp: sorted.by === by ? !sorted.isUp : by !== 'bytes' };
    showTensors();
  });
}
void showStore();
