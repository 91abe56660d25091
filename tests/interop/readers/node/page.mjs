// onnxruntime-web in a page: runs the jobs that the server has, and posts what comes of them. Archives are read by the package onnxar.
import { createSession } from "onnxar/onnxruntime";
import * as ort from "onnxruntime-web";

import { run, wordsOf } from "/jobs.mjs";

ort.env.wasm.numThreads = 1;
const bytes = async (path) => {
  const answer = await fetch(`/file${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
};

async function sessionOf(model, data) {
  const session = { executionProviders: ["wasm"] };
  if (model.endsWith(".onnxar")) return createSession(ort, `/file${model}`, { session });
  const externalData = [];
  for (const path of data) externalData.push({ path: path.split("/").pop(), data: await bytes(path) });
  return ort.InferenceSession.create(await bytes(model), { externalData, ...session });
}

for (const { model, data, input, output } of await (await fetch("/jobs")).json()) {
  let [end, body] = ["", ""];
  try {
    const session = await sessionOf(model, data);
    body = await run(ort, session, new TextDecoder().decode(await bytes(input)));
    await session.release();
  } catch (error) {
    [end, body] = [".refused", wordsOf(error)];
  }
  await fetch(`/result${output}${end}`, { method: "POST", body });
}
await fetch("/done", { method: "POST" });
