// Sessions in Node: onnxruntime-node, the WebAssembly of onnxruntime-web, and transformers.js. ONNXAR_WEB_FILES has the
// archives of support/models.py, which `./dev web` makes.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open } from '../dist/index.js';
import { createSession } from '../dist/onnxruntime.js';
import { withArchive } from '../dist/transformers.js';
import { archive, model, weights } from './support/archive.mjs';
import { CLASSIFIED, LOGITS, classified, logits, subgraphs } from './support/sessions.mjs';

const files = process.env.ONNXAR_WEB_FILES;
const skip = !files && 'ONNXAR_WEB_FILES is not set';

/** Runs with an archive as a file URL, an open file, bytes, and a Blob. */
async function eachSource(name, run) {
  const path = join(files, name);
  const handle = await openFile(path);
  await run(pathToFileURL(path));
  await run(handle);
  await run(new Uint8Array(readFileSync(path)));
  await run(new Blob([readFileSync(path)]));
  await handle.close();
}

const RUNTIMES = [
  ['onnxruntime-node', () => import('onnxruntime-node')],
  ['onnxruntime-web', () => import('onnxruntime-web/wasm')],
];

describe('an archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onnxar-sessions-'));
  const path = join(folder, 'model.onnxar');
  const noRuntime = async () => 'a session';
  const node = { versions: { node: '1' } };
  after(() => rmSync(folder, { recursive: true }));

  /** What maps the file at the path, after `before`: onnxruntime-node by itself, and through transformers.js. */
  const mapping = (before) => [
    () => createSession({ env: node, InferenceSession: { create: before } }, pathToFileURL(path)),
    () => withArchive({ backends: { onnx: node }, remotePathTemplate: '', fetch }, pathToFileURL(path), before),
  ];

  test('is refused if replaced during creation', async () => {
    const replace = async () => {
      writeFileSync(join(folder, 'new'), weights(3, 256, 2));
      renameSync(join(folder, 'new'), path);
      return 'a session';
    };
    for (const make of mapping(replace)) {
      writeFileSync(path, weights(3, 256));
      await assert.rejects(make(), { code: 'onnx.link.stale' });
    }
  });

  test('that is longer, shorter or cut by then is refused', async () => {
    for (const bytes of [weights(4, 256), weights(2, 256), weights(3, 256).subarray(0, -1), Buffer.alloc(0)]) {
      for (const make of mapping(async () => writeFileSync(path, bytes))) {
        writeFileSync(path, weights(3, 256));
        await assert.rejects(make(), { code: 'onnx.link.stale' });
      }
    }
  });

  test('that is put there again with the same bytes is not', async () => {
    const again = async () => {
      writeFileSync(join(folder, 'new'), weights(3, 256));
      renameSync(join(folder, 'new'), path);
      return 'a session';
    };
    writeFileSync(path, weights(3, 256));
    for (const make of [...mapping(again), ...mapping(noRuntime)]) assert.equal(await make(), 'a session');
  });

  test('is refused if written to during creation', async () => {
    writeFileSync(path, weights(3, 256));
    const handle = await openFile(path);
    const create = async (_, { externalData }) => {
      const first = [...externalData[0].data.subarray(0, 8)];
      assert.deepEqual(first, [...externalData[0].data.subarray(0, 8)]);
      writeFileSync(path, weights(3, 256, 2));
      utimesSync(path, 1, 1); // its clock may be too coarse to tell
      externalData[1].data.subarray(0, 8);
    };
    await assert.rejects(createSession({ env: {}, InferenceSession: { create } }, handle), { code: 'io.changed' });
    await handle.close();
  });

  test('of 20 000 weights has its links and sessions made', async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `w${i}`);
    const proto = model(names.map((name) => [name, 256, 'w', 0]));
    const bytes = archive([
      ['w', Buffer.alloc(256)],
      ['__MODEL_PROTO', proto],
    ]);
    const link = await (await open(bytes)).link('x');
    assert.ok(link.length > 20_000 * 50);
    const create = async (made) => made.length;
    assert.ok((await createSession({ env: {}, InferenceSession: { create } }, bytes)) > 20_000 * 40);
  });
});

describe('files of a repository', () => {
  const names = ['onnx/model', 'onnx/model_q4', 'onnx/model_fp16', 'onnx/decoder_q4', 'unet/model', 'text'];
  const entries = names.flatMap((name, i) => [[`w${i}`, Buffer.alloc(256 + 64 * i, i + 1)]]);
  const graphs = names.map((name, i) => [`${name}.onnx`, model([[`t${i}`, 256 + 64 * i, `w${i}`, 0]])]);
  const own = model([['t', 128, 'own', 0]]);
  const bytes = archive([
    ...entries,
    ['own', Buffer.alloc(128)],
    ['config.json', Buffer.from('{}')],
    ...graphs,
    ['__MODEL_PROTO', own],
  ]);

  /** An environment of transformers.js whose runtime takes whole weights, and what its sessions were given. */
  const environment = (wasm = {}) => ({
    backends: { onnx: { wasm } },
    remotePathTemplate: '{model}/',
    fetch: () => assert.fail(),
  });

  /** Which weight each file of these names comes with, by the only ones that are there then. */
  async function weightsOf(env, source, files) {
    const found = {};
    for (const file of files) {
      await withArchive(env, source, async (name, { session_options }) => {
        const response = await env.fetch(`${name}/${file}`);
        if (response.status === 404) return void (found[file] = undefined);
        await response.arrayBuffer();
        const there = session_options.externalData.filter(({ data }) => data.length > 1).map(({ path }) => path);
        found[file] = there.join();
      });
    }
    return found;
  }

  test('are found by path, or by name in the root', async () => {
    const wanted = {
      'onnx/model.onnx': 'w0', 'onnx/model_q4.onnx': 'w1', 'onnx/model_fp16.onnx': 'w2', 'unet/model.onnx': 'w4',
      'onnx/decoder.onnx': 'w3', 'onnx/decoder_fp16.onnx': 'w3', 'unet/model_q4.onnx': 'w4', 'text.onnx': 'w5',
      'onnx/text_q4.onnx': 'w5', 'any/text.onnx': 'w5', 'onnx/model_q8.onnx': 'own', 'onnx/model_bnb4.onnx': undefined,
      'config.json': '', 'onnx/config.json': undefined,
    }; // prettier-ignore
    assert.deepEqual(await weightsOf(environment({ proxy: true }), bytes, Object.keys(wanted)), wanted);
  });

  test('that are only asked for have no weights read', async () => {
    const env = environment({ proxy: true });
    await withArchive(env, bytes, async (name, { session_options }) => {
      for (const file of names) assert.equal((await env.fetch(`${name}/${file}.onnx`)).status, 200);
      const there = () => session_options.externalData.filter(({ data }) => data.length > 1).length;
      assert.equal(there(), 0);
      const [first, second] = await Promise.all([0, 1].map((i) => env.fetch(`${name}/${names[i]}.onnx`)));
      await Promise.all([first.arrayBuffer(), second.arrayBuffer()]);
      assert.equal(there(), 2);
      assert.equal(globalThis.structuredClone(session_options.externalData)[1].data.length, 256 + 64);
    });
  });

  test('are read once, and again after they were freed', async () => {
    const shared = [
      ['a.onnx', model([['t', 256, 'w', 0]])],
      [
        'b.onnx',
        model([
          ['t', 256, 'w', 0],
          ['u', 128, 'v', 0],
        ]),
      ],
    ];
    const both = archive(
      [['v', Buffer.alloc(128, 2)], ['w', Buffer.alloc(256, 1)], ...shared, ['__MODEL_PROTO', own]].toSpliced(1, 0, [
        'own',
        Buffer.alloc(128),
      ]),
    );
    const read = [];
    const at = both.indexOf(Buffer.alloc(256, 1));
    const counting = {
      size: both.length,
      read: async (begin, end) => both.subarray(begin, end),
      stream: async (begin, end) => (begin === at && read.push(end), new Blob([both.subarray(begin, end)]).stream()),
      readSync: (into, begin) => (into.set(both.subarray(begin, begin + into.length)), true),
    };
    const env = environment();
    await withArchive(env, counting, async (name, { session_options }) => {
      const load = async (file) => (await env.fetch(`${name}/${file}`)).arrayBuffer();
      const take = (path) => session_options.externalData.find((each) => each.path === path).data.subarray(0, 4)[3];
      await Promise.all([load('a.onnx'), load('b.onnx')]);
      assert.deepEqual([take('w'), take('w'), take('v'), read.length], [1, 1, 2, 1]);
      await load('a.onnx');
      assert.deepEqual([take('w'), read.length], [1, 2]);
    });
  });

  test('that are damaged fail when they are read', async () => {
    const damaged = Buffer.from(bytes);
    damaged[damaged.indexOf(Buffer.alloc(256, 1))] ^= 1;
    const env = environment({ proxy: true });
    await withArchive(env, damaged, async (name) => {
      await assert.rejects((await env.fetch(`${name}/onnx/model.onnx`)).arrayBuffer(), { code: 'zip.data.crc' });
      assert.ok((await (await env.fetch(`${name}/onnx/model_q4.onnx`)).arrayBuffer()).byteLength > 0);
    });
  });
});

describe('weights in branches, loops and constants', { skip }, () => {
  for (const [runtime, load] of RUNTIMES) {
    test(`are those of the archive in ${runtime}`, async () => {
      const ort = await load();
      if (ort.env.wasm) ort.env.wasm.numThreads = 1;
      await eachSource('subgraphs.onnxar', async (source) =>
        assert.deepEqual(await subgraphs(ort, createSession, source, {}), []),
      );
    });
  }
});

describe('an archive beyond 4 GiB', { skip }, () => {
  const url = () => pathToFileURL(join(files, 'large.onnxar'));
  const far = 5 * 2 ** 30;

  test('gives the entries and tensors that are beyond them', async () => {
    const archive = await open(url());
    assert.ok(archive.source.size > far && (await archive.offset('looks')) > far);
    const [first, , , , last] = await archive.tensors();
    assert.deepEqual([first.length, last.entry, last.length], [2 ** 30, 'w4', 2 ** 30]);
    assert.deepEqual([...(await archive.bytes('w4', 2 ** 30 - 8))], new Array(8).fill(0));
    await archive.verify('looks');
    const looks = (await archive.tensors('classifier.onnx')).find(({ name }) => name === 'looks');
    const values = new Float32Array((await archive.tensorBytes(looks)).slice().buffer);
    assert.deepEqual([values[6 * 2 + 1], values[7 * 2], values[0]], [8, 8, 0]);
    await archive.close();
  });

  for (const [runtime, load] of RUNTIMES) {
    test(`has its graph run by ${runtime}`, async () => {
      const handle = await openFile(url());
      for (const source of [url(), handle]) {
        assert.deepEqual(await logits(await load(), createSession, source), LOGITS);
      }
      await handle.close();
    });
  }
});

describe('transformers.js', { skip }, async () => {
  const transformers = await import('@huggingface/transformers');
  const { env, AutoModelForSeq2SeqLM, Tensor } = transformers;
  const asked = [];
  const refusing = (url) => (asked.push(String(url)), Promise.resolve(new Response(null, { status: 404 })));
  env.fetch = refusing;
  env.useFSCache = false;
  const before = ({ fetch, useCustomCache, customCache }) => ({ fetch, useCustomCache, customCache });
  const initial = before(env);
  const url = (name) => pathToFileURL(join(files, name));

  test('loads its folder from any source', async () => {
    await eachSource('classifier.onnxar', async (source) =>
      assert.deepEqual(await classified(transformers, withArchive, source), CLASSIFIED),
    );
  });

  test('requests nothing else, and restores its hooks', async () => {
    await classified(transformers, withArchive, url('classifier.onnxar'));
    assert.deepEqual(asked, []);
    assert.deepEqual(before(env), initial);
  });

  test('gets the model that is there for any dtype', async () => {
    for (const dtype of ['fp32', 'q8', 'q4f16']) {
      const result = await classified(transformers, withArchive, url('classifier.onnxar'), { dtype });
      assert.deepEqual(result, CLASSIFIED);
    }
  });

  test('gets the graph and weights of a dtype only', async () => {
    const opposite = ['BAD true', 'GOOD true'];
    for (const [dtype, wanted] of Object.entries({ fp32: CLASSIFIED, q4: opposite, q8: CLASSIFIED })) {
      await eachSource('typed.onnxar', async (source) => {
        const totals = new Set();
        const options = { dtype, onProgress: (read, total) => totals.add(total) };
        assert.deepEqual(await classified(transformers, withArchive, source, options), wanted);
        assert.deepEqual([...totals], source instanceof URL ? [] : [9 * 64 * 4 + 64 * 2 * 4]);
      });
    }
    await assert.rejects(classified(transformers, withArchive, url('typed.onnxar'), { dtype: 'uint8' }));
    assert.deepEqual(asked, []);
  });

  test('tells progress, and passes options to the runtime', async () => {
    const steps = [];
    const options = {
      onProgress: (...step) => steps.push(step),
      session: { enableProfiling: false, executionMode: 'parallel' },
      progress_callback: () => {},
    };
    const bytes = new Uint8Array(readFileSync(join(files, 'classifier.onnxar')));
    assert.deepEqual(await classified(transformers, withArchive, bytes, options), CLASSIFIED);
    assert.equal(steps.at(-1)[0], steps.at(-1)[1]);
    assert.equal(steps.at(-1)[1], 9 * 64 * 4 + 64 * 2 * 4);
  });

  test('loads several archives at once', async () => {
    const all = [1, 2, 3].map(() => classified(transformers, withArchive, url('classifier.onnxar')));
    assert.deepEqual(await Promise.all(all), [CLASSIFIED, CLASSIFIED, CLASSIFIED]);
    assert.deepEqual(before(env), initial);
  });

  const expectPair = async (model) => {
    const input_ids = new Tensor('int64', new BigInt64Array(300).fill(6n), [300, 1]);
    const scale = { model: 'encoder'.length, decoder_model_merged: 'decoder_gain'.length };
    for (const [name, wanted] of Object.entries(scale)) {
      const [{ data }] = Object.values(await model.sessions[name].run({ input_ids: input_ids.ort_tensor }));
      assert.deepEqual([data[5], data[6], data[7]], [0, wanted, 0]);
    }
    await model.dispose();
  };

  test('loads encoder and decoder over one embedding', async () => {
    const load = (name, options) => AutoModelForSeq2SeqLM.from_pretrained(name, options);
    await expectPair(await withArchive(env, url('pair.onnxar'), load));
  });

  test('loads the folder of an unpacked archive', async () => {
    const { localModelPath } = env;
    env.localModelPath = join(files, 'unpacked');
    const options = { subfolder: '', dtype: 'fp32', local_files_only: true };
    await expectPair(await AutoModelForSeq2SeqLM.from_pretrained('pair', options));
    env.localModelPath = localModelPath;
    assert.deepEqual(asked, []);
  });

  for (const folder of ['linked', 'copied']) {
    test(`loads a repository of links, ${folder}`, async () => {
      const { localModelPath } = env;
      env.localModelPath = join(files, folder);
      const from = (env, source, load) => load(source, { local_files_only: true });
      for (const [dtype, wanted] of Object.entries({ fp32: CLASSIFIED, q4: ['BAD true', 'GOOD true'] })) {
        assert.deepEqual(await classified(transformers, from, 'typed', { dtype }), wanted);
      }
      env.localModelPath = localModelPath;
      assert.deepEqual(asked, []);
    });
  }

  test('names a missing file, and requests it nowhere', async () => {
    const failing = withArchive(env, url('subgraphs.onnxar'), (name, options) =>
      transformers.AutoTokenizer.from_pretrained(name, options),
    );
    await assert.rejects(failing, /tokenizer/);
    assert.deepEqual(asked, []);
    assert.deepEqual(before(env), initial);
  });

  test('passes other models to its own fetch and cache', async () => {
    const kept = new Map([['own', 'a path']]);
    const own = { match: async (key) => kept.get(key), put: async (key, value) => void kept.set(key, value) };
    Object.assign(env, { useCustomCache: true, customCache: own });
    const elsewhere = 'https://example.org/other/config.json';
    await withArchive(env, url('classifier.onnxar'), async () => {
      assert.equal(await env.customCache.match('own'), 'a path');
      await env.customCache.put(elsewhere, 'new');
      assert.equal((await env.fetch(elsewhere)).status, 404);
    });
    assert.equal(kept.get(elsewhere), 'new');
    assert.deepEqual(asked, [elsewhere]);
    assert.equal(env.customCache, own);
    Object.assign(env, initial);
    await withArchive(env, url('classifier.onnxar'), async () => {
      await env.customCache.put(elsewhere, new Response('kept in memory'));
      assert.equal(await (await env.customCache.match(elsewhere)).text(), 'kept in memory');
    });
  });
});
