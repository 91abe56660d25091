// ONNX Runtime from npm in Node: run.mjs node|web JOBS. Archives are read by the package onnxar.
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { createSession } from "onnxar/onnxruntime";

import { jobsOf, run, wordsOf } from "./jobs.mjs";

const [runtime, jobs] = process.argv.slice(2);
const ort = await import(runtime === "node" ? "onnxruntime-node" : "onnxruntime-web");
if (runtime === "web") ort.env.wasm.numThreads = 1;

// WebAssembly sees no files: it gets the model's bytes, and those of all data files beside it under their names.
function inMemory(model) {
  const folder = dirname(model);
  const beside = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile() && !/\.(onnx|txt|json)$/.test(name));
  const externalData = beside.map((path) => ({ path, data: new Uint8Array(readFileSync(join(folder, path))) }));
  const used = basename(model) === "linked.onnx" ? externalData.filter(({ path }) => path === "model.onnxar") : externalData;
  return [new Uint8Array(readFileSync(model)), { externalData: used }];
}

function sessionOf(model) {
  if (model.endsWith(".onnxar")) return createSession(ort, pathToFileURL(model));
  return runtime === "node" ? ort.InferenceSession.create(model) : ort.InferenceSession.create(...inMemory(model));
}

for (const [model, input, output] of jobsOf(readFileSync(jobs, "utf8"))) {
  try {
    const session = await sessionOf(model);
    writeFileSync(output, await run(ort, session, readFileSync(input, "utf8")));
    await session.release();
  } catch (error) {
    writeFileSync(`${output}.refused`, wordsOf(error));
  }
}
