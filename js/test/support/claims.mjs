// The end of an archive of any size: one weight, and a model. No server has the weight.
import { crc32 } from 'node:zlib';
import { archive, model } from './archive.mjs';

/** The last bytes of an archive of about `size` bytes, and its exact size, as bigints. */
export function claimed(size) {
  const whole = archive([['__MODEL_PROTO', model([])]]);
  const directory = whole.readUInt32LE(whole.length - 6);
  const proto = whole.subarray(0, directory); // local header and model
  const offset = (size / 64n) * 64n;
  const weight = Buffer.alloc(46 + 1 + 20);
  weight.writeUInt32LE(0x02014b50, 0);
  weight.writeUInt16LE(45, 6);
  weight.writeUInt32LE(0x210000, 12);
  weight.writeUInt32LE(crc32('w'), 16);
  for (const at of [20, 24]) weight.writeUInt32LE(0xffffffff, at);
  weight.writeUInt16LE(1, 28);
  weight.writeUInt16LE(20, 30);
  weight.write('w', 46);
  weight.writeUInt16LE(1, 47);
  weight.writeUInt16LE(16, 49);
  for (const at of [51, 59]) weight.writeBigUInt64LE(offset - 4096n, at);
  const header = Buffer.alloc(whole.length - 22 - directory + 12);
  whole.copy(header, 0, directory, whole.length - 22);
  header.writeUInt16LE(12, 30);
  header.writeUInt32LE(0xffffffff, 42);
  header.writeUInt16LE(1, header.length - 12);
  header.writeUInt16LE(8, header.length - 10);
  header.writeBigUInt64LE(offset, header.length - 8);
  const end = Buffer.alloc(98);
  const [length, at] = [weight.length + header.length, offset + BigInt(proto.length)];
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  for (const [i, value] of [2n, 2n, BigInt(length), at].entries()) end.writeBigUInt64LE(value, 24 + 8 * i);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(at + BigInt(length), 64);
  end.writeUInt32LE(1, 72);
  end.writeUInt32LE(0x06054b50, 76);
  for (const place of [84, 86]) end.writeUInt16LE(2, place);
  for (const place of [88, 92]) end.writeUInt32LE(0xffffffff, place);
  const tail = Buffer.concat([proto, weight, header, end]);
  return { tail, size: offset + BigInt(tail.length) };
}

/** A `fetch` of such an archive. Ranges before its end are zeros. */
export function claiming({ tail, size }, requests = []) {
  return async (_, { headers }) => {
    const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(headers.get('Range'));
    const begin = from === '' ? size - BigInt(to) : BigInt(from);
    const end = from === '' ? size : BigInt(to) + 1n;
    requests.push([begin, end]);
    const body = Buffer.alloc(Number(end - begin));
    const shift = size - BigInt(tail.length) - begin;
    if (shift < 0n) tail.copy(body, 0, Number(-shift));
    else if (shift < body.length) tail.copy(body, Number(shift));
    return new Response(body, {
      status: 206,
      headers: { 'Content-Range': `bytes ${begin}-${end - 1n}/${size}`, ETag: '"1"' },
    });
  };
}
