// The part of zip that a loader needs, after ../../loading.md: what other programs take from a library, in part.
const NAME = /^(__MODEL_PROTO|(?!__[A-Z])[ !#-)+-9=@-[\]-{}~]+)$/, FULL = 0xFFFFFFFF;
const need = (condition, what) => { if (!condition) throw new Error(what); };
const u16 = (bytes, at) => bytes.readUInt16LE(at), u32 = (bytes, at) => bytes.readUInt32LE(at);
const u64 = (bytes, at) => Number(bytes.readBigUInt64LE(at));  // what gets rounded is beyond every file

function directory(read, length) {  // [number of entries, size, offset]
  const end = read(length - 22, 22), short = [u16(end, 10), u32(end, 12), u32(end, 16)];
  need(u32(end, 0) === 0x06054B50 && u16(end, 20) === 0, 'there is not an end record at the end');
  const zip64 = length >= 98 && u32(read(length - 42, 20), 0) === 0x07064B50, at = length - (zip64 ? 98 : 22);
  const record = read(at, length - at), found = zip64 ? [32, 40, 48].map(field => u64(record, field)) : short;
  need(!zip64 || u32(record, 0) === 0x06064B50 && u64(record, 4) === 44 && u64(record, 64) === at
    && u16(record, 14) >= 10 && u16(record, 14) <= 45, 'bad zip64 end records');
  need(short.every((n, i) => n === (i ? FULL : 0xFFFF) ? zip64 : n === found[i]), 'the end records disagree');
  need(found[1] + found[2] === at && found[0] && found[0] <= found[1] / 46, 'the directory is somewhere else');
  return found;
}
function zip64Field(extra, ...known) {
  const found = new Map();
  for (let at = 0, end; at < extra.length; at = end) {
    end = at + 4 + u16(extra, at + 2);
    need(end <= extra.length && !found.has(u16(extra, at)), 'bad extra fields');
    found.set(u16(extra, at), extra.subarray(at + 4, end));
  }
  need(!known.length || [...found.keys()].every(id => known.includes(id)), 'an extra field that is not known');
  return found.get(1);
}
function values(short, long = Buffer.alloc(0)) {  // size, compressed size and offset; long is the zip64 field
  const asked = short.filter(n => n === FULL).length, last = short.lastIndexOf(FULL) + 1;
  const found = short.map((n, i) => n === FULL ? u64(long, 8 * short.slice(0, i).filter(n => n === FULL).length) : n);
  need(long.length === 8 * asked || (long.length === 24 || long.length === 28 && u32(long, 24) === 0) && last === asked
    && found.every((n, i) => n === u64(long, 8 * i)), 'bad zip64 field');
  return found;
}
function entries(read, length) {  // a Map from names to [place, size]
  const [count, size, offset] = directory(read, length), headers = read(offset, size), list = [], found = new Map();
  for (let at = 0, end; at < size; at = end) {
    const begin = at + 46 + u16(headers, at + 28), after = begin + u16(headers, at + 30);
    end = after + u16(headers, at + 32);
    need(u32(headers, at) === 0x02014B50 && end <= size, 'bad header in the directory');
    need((u16(headers, at + 8) & 0x2049) === 0 && u16(headers, at + 10) === 0, 'an entry is not plainly stored');
    const long = zip64Field(headers.subarray(begin, after), 1, 0xA11E);
    const short = [24, 20, 42].map(field => u32(headers, at + field));
    list.push([headers.latin1Slice(at + 46, begin), ...values(short, long)]);
  }
  need(list.length === count && list[0][3] === 0, 'bad number of entries, or place of the first one');
  for (const [i, [name, size, packed, at]] of list.entries()) {
    const header = read(at, 30), rest = read(at + 30, u16(header, 26) + u16(header, 28)), begin = at + 30 + rest.length;
    const long = zip64Field(rest.subarray(u16(header, 26))), sizes = [u32(header, 18), u32(header, 22)];
    need(u32(header, 0) === 0x04034B50 && rest.latin1Slice(0, u16(header, 26)) === name, 'bad local header');
    const same = long ? long.length === 16 && [0, 8].every(n => u64(long, n) === size) : !sizes.includes(FULL);
    need(same && size === packed && sizes.every(n => n === size || n === FULL), 'the sizes of an entry differ');
    need(NAME.test(name) && !found.has(name) && begin + size <= (list[i + 1]?.[3] ?? offset), 'bad name, or overlap');
    found.set(name, [begin, size]);
  }
  return found;
}
module.exports = { entries, need };
