// Reads a model that has as many fields of one form as fit into some kilobytes: tiny.mjs FORM KILOBYTES.
import { open } from '../../dist/index.js';
import { parseOnnxMetadata } from '../../dist/metadata.js';
import { archive } from './archive.mjs';

const [, , form, kilobytes] = process.argv;
const many = (...unit) =>
  Buffer.alloc(Math.floor((Number(kilobytes) << 10) / unit.length) * unit.length, Buffer.from(unit));
const varint = (value) => (value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]);
const block = (field, body) => Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body]);
/** Pairs of a field, each with another key. */
const keyed = (tag) => {
  const pairs = many(tag, 7, 0x0a, 5, 0, 0, 0, 0, 0);
  for (let at = 4; at < pairs.length; at += 9) pairs.write((at + 2 ** 30).toString(36).slice(-5), at);
  return pairs;
};
const graph = (...parts) => block(7, Buffer.concat(parts));
const link = Buffer.concat([
  Buffer.from([0x10, 2, 0x08, 100]),
  block(13, Buffer.concat([block(1, Buffer.from('location')), block(2, Buffer.from('w'))])),
]);

const forms = {
  fields: () => Buffer.concat([graph(), many(0x08, 1)]),
  pairs: () => Buffer.concat([graph(), many(0x72, 0)]),
  'damaged pairs': () => Buffer.concat([graph(), many(0x72, 1, 8)]),
  opsets: () => Buffer.concat([graph(), many(0x42, 0)]),
  nodes: () => graph(many(0x0a, 0)),
  attributes: () => graph(block(1, many(0x2a, 0))),
  values: () => graph(block(5, Buffer.concat([Buffer.from([0x10, 6]), many(0x28, 1)]))),
  runs: () => graph(block(5, Buffer.concat([Buffer.from([0x10, 1, 0x08, 0]), many(0x22, 0)]))),
  'keys of links': () => graph(block(5, Buffer.concat([link, keyed(0x6a)]))),
  links: () => graph(block(5, Buffer.concat([link, many(0x70, 1, 0x78, 1)]))),
};

async function models() {
  const bytes = archive([
    ['w', Buffer.alloc(200)],
    ['__MODEL_PROTO', forms[form]()],
  ]);
  const opened = await open(bytes);
  await opened.link('x');
  await opened.tensors();
  await parseOnnxMetadata(new Blob([bytes]));
  return 'link, tensors, metadata';
}

/** An answer whose bytes come one by one. */
async function drops() {
  let left = Number(kilobytes) << 10;
  const pull = (controller) => {
    for (let i = 0; i < 4096; i++) controller.enqueue(new Uint8Array(1));
    if ((left -= 4096) <= 0) controller.close();
  };
  const fetch = async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  return open('http://127.0.0.1:9/', { fetch }).catch((error) => error.code);
}

console.log(await (form === 'drops' ? drops() : models()));
