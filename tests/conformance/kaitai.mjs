// Compiles spec/onnxar.ksy with the compiler of Kaitai Struct, and compares what the parser finds in the valid vectors with
// their manifest. Usage: node kaitai.mjs FOLDER, in which the packages of npm are.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2];
const packages = createRequire(join(folder, "package.json"));
const spec = join(dirname(fileURLToPath(import.meta.url)), "../../spec");

async function parser() {
  const compiler = packages("kaitai-struct-compiler");
  const description = packages("js-yaml").load(readFileSync(join(spec, "onnxar.ksy"), "utf8"));
  const files = await compiler.compile("javascript", description, null, false);
  const compiled = join(folder, "kaitai");
  mkdirSync(compiled, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(compiled, name), text);
  const module = createRequire(join(compiled, "none.js"))("./Onnxar.js");
  return module.Onnxar ?? module;
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function found(Archive, Stream, file) {
  const archive = new Archive(new Stream(readFileSync(file)));
  if (archive.model.name !== "__MODEL_PROTO" || archive.entries.some((entry) => entry.name !== entry.local.name)) return [];
  return archive.entries.map(({ name, ofsData, lenData, data }) => ({ name, offset: ofsData, size: lenData, crc32: crc32(data) }));
}

const Archive = await parser();
const Stream = packages("kaitai-struct/KaitaiStream");
const rows = JSON.parse(readFileSync(join(spec, "vectors/manifest.json"), "utf8"));
const failures = [];
let passed = 0;
for (const row of rows) {
  const file = join(spec, "vectors", row.file);
  if (row.stage !== null || !existsSync(file)) continue;
  let entries;
  try {
    entries = found(Archive, Stream, file);
  } catch (error) {
    entries = String(error);
  }
  const isRight = row.entries ? JSON.stringify(entries) === JSON.stringify(row.entries) : entries.length === row.count;
  if (isRight) ++passed;
  else failures.push(`${row.file}: ${JSON.stringify(entries).slice(0, 500)}`);
}
console.log([...failures, `${passed} passed, ${failures.length} failed`].join("\n"));
process.exit(failures.length > 0 || passed < 250 ? 1 : 0);
