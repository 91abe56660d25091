// What sessions of the archives of models.py have to give. Runs in Node and in browsers.

/** (10 or 20) + 3 * 4 + 100: see models.py. */
const SUBGRAPHS = [
  [true, 122],
  [false, 132],
];

/** Runs both branches; gives what differs from what has to be. */
export async function subgraphs(ort, createSession, source, options) {
  const session = await createSession(ort, source, options);
  const wrong = [];
  for (const [flag, wanted] of SUBGRAPHS) {
    const { y } = await session.run({ flag: new ort.Tensor('bool', [flag], []) });
    const values = [...new Set(y.data)];
    if (y.data.length !== 64 * 64 || values.length !== 1 || values[0] !== wanted) wrong.push([flag, values]);
  }
  await session.release();
  return wrong;
}

/** The logits of one good and two bad words, of a graph after 4 GiB. */
export async function logits(ort, createSession, source) {
  const session = await createSession(ort, source, { graph: 'classifier.onnx' });
  const words = BigInt64Array.from([6n, 7n, 7n]);
  const mask = BigInt64Array.from([1n, 1n, 1n]);
  const feeds = {
    input_ids: new ort.Tensor('int64', words, [1, 3]),
    attention_mask: new ort.Tensor('int64', mask, [1, 3]),
  };
  const wanted = Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]]));
  const outputs = await session.run(wanted);
  await session.release();
  return [...outputs.logits.data];
}
export const LOGITS = [16, 8];

/** Loads the classifier with transformers.js, and what it says of two sentences. */
export async function classified({ env, pipeline }, withArchive, source, options) {
  const classify = await withArchive(
    env,
    source,
    (name, given) => pipeline('text-classification', name, { ...given, ...options }),
    options,
  );
  const result = [];
  for (const text of ['a good model', 'a bad bad model']) {
    const [{ label, score }] = await classify(text);
    result.push(`${label} ${score > 0.9}`);
  }
  await classify.dispose();
  return result;
}
export const CLASSIFIED = ['GOOD true', 'BAD true'];
