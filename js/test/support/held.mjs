// A session of the archive, also by way of the store, or of the same model with its weights in one file beside it. Runs in
// Node and in browsers; tools/memory.mjs looks at the process meanwhile.
import { createSession } from '../../dist/onnxruntime.js';
import { Store } from '../../dist/store.js';

const heaps = [];
const { Memory } = WebAssembly;
WebAssembly.Memory = class extends Memory {
  constructor(descriptor) {
    super(descriptor);
    heaps.push(this);
  }
};

const forms = {
  archive: (ort, base) => createSession(ort, new URL('memory.onnxar', base)),
  // Downloaded first, which is measured, too.
  store: async (ort, base) => createSession(ort, await new Store().get(new URL('memory.onnxar', base))),
  'store, as Blobs': async (ort, base) =>
    createSession(ort, await new Store().get(new URL('memory.onnxar', base)), { blobs: true }),
  // In pages the runtime fetches the files. In Node, its WebAssembly is given their bytes, and the other one a path.
  async 'external data'(ort, base, read) {
    const [model, data] = [new URL('memory.onnx', base), new URL('memory.bin', base)];
    if (base.protocol !== 'file:') {
      return ort.InferenceSession.create(model.href, { externalData: [{ path: 'memory.bin', data: data.href }] });
    }
    if (ort.env.versions.node) return ort.InferenceSession.create(model.pathname);
    return ort.InferenceSession.create(await read(model), {
      externalData: [{ path: 'memory.bin', data: await read(data) }],
    });
  },
};

/** Loads the model and runs it. Gives the sum of its outputs, the bytes of all heaps of WebAssembly, and the seconds. */
export async function held(ort, { form, base, read }) {
  ort.env.wasm.numThreads = 1;
  const begin = performance.now();
  const session = await forms[form](ort, new URL(base), read);
  const seconds = (performance.now() - begin) / 1000;
  const tokens = new ort.Tensor('int64', BigInt64Array.from([1n, 2n, 3n, 4n]), [1, 4]);
  const outputs = await session.run({ [session.inputNames[0]]: tokens });
  const sum = Object.values(outputs)[0].data.reduce((total, value) => total + value, 0);
  return { sum, seconds, heap: heaps.reduce((total, { buffer }) => total + buffer.byteLength, 0) };
}
