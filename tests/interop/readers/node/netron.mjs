// Netron's parser of ONNX, without its window: netron.mjs NETRON JOBS, where NETRON is the folder of its package on PyPI. What it
// says of a model: the operators of all graphs, and the bytes of all tensors.
import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { jobsOf, wordsOf } from "./jobs.mjs";

const [netron, jobs] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(netron, name)));
const base = await load("base.js");
const view = await load("view.js");

const MOST_AT_ONCE = 1 << 30; // Node reads less than 2 GiB with one call

function bytesOf(path) {
  const file = openSync(path);
  const bytes = new Uint8Array(fstatSync(file).size);
  for (let at = 0; at < bytes.length; ) at += readSync(file, bytes, at, Math.min(bytes.length - at, MOST_AT_ONCE), at);
  closeSync(file);
  return bytes;
}

function stream(path) {
  if (!existsSync(path)) throw new Error(`The file '${basename(path)}' does not exist.`);
  return new base.BinaryStream(bytesOf(path));
}

class Context {
  constructor(path) {
    this.path = path;
    this.identifier = basename(path);
    this.stream = stream(path);
    this.entries = new Map();
  }
  async asset(name) {
    return readFileSync(join(netron, name), "utf8");
  }
  async fetch(name) {
    return stream(join(dirname(this.path), name));
  }
  async require(id) {
    return load(`${id}.js`);
  }
  error(error) {
    throw error;
  }
}

async function tell(tensor, lines) {
  if (!tensor.peek()) await tensor.read();
  const values = tensor.values;
  const bytes = ArrayBuffer.isView(values) ? values : values?.peek?.();
  if (!bytes) throw new Error(`Netron shows no data of '${tensor.name}'`);
  lines.push(`${tensor.name} ${tensor.type} ${createHash("sha256").update(bytes).digest("hex")}`);
}

async function walk(graph, lines) {
  for (const node of graph.nodes) {
    lines.push(`${node.type.name} ${node.name}`);
    for (const argument of node.inputs) {
      for (const value of argument.value ?? []) if (value?.initializer) await tell(value.initializer, lines);
    }
    for (const { type, value } of node.attributes ?? []) {
      if (type === "graph") await walk(value, lines);
      if (type === "tensor") await tell(value, lines);
    }
    for (const inner of [node.type.nodes ? node.type : null]) if (inner) await walk(inner, lines);
  }
}

for (const [model, , output] of jobsOf(readFileSync(jobs, "utf8"))) {
  try {
    const service = new view.ModelFactoryService({ require: (id) => load(`${id}.js`), environment: () => null });
    const opened = await service.open(new Context(model));
    const lines = [opened.format];
    for (const graph of opened.modules ?? opened.graphs) await walk(graph, lines);
    writeFileSync(output, `${lines.join("\n")}\n`);
  } catch (error) {
    writeFileSync(`${output}.refused`, wordsOf(error));
  }
}
process.exit(0);
