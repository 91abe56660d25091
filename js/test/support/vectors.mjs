// The vectors of the specification, and what a reader says of each. Runs in Node and in browsers.

/** Rules that bind checkers alone: readers take these files, unless a further fault is one of theirs. */
const OF_CHECKERS = ['T2', 'M22', 'G3', 'G4'];

/** What a reader has to say: {} or {code, entry, offset}; undefined if a further fault comes first for it. */
export function expected(vector) {
  if (vector.stage === null) return { entries: vector.entries, count: vector.count };
  if (!OF_CHECKERS.includes(vector.rule)) return { code: vector.code, entry: entryOf(vector), offset: vector.offset };
  const also = (vector.also ?? []).filter((rule) => !OF_CHECKERS.includes(rule));
  return also.length > 0 ? undefined : {};
}

function entryOf({ entry, entry_hex: hex }) {
  if (hex === undefined) return entry;
  return new TextDecoder().decode(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)));
}

/** Opens a file, uses every entry, reads every tensor of every graph, and compares every CRC-32. */
export async function reading({ open }, source, options = {}) {
  const limits = {
    maxEntries: options.max_entries,
    maxDirectorySize: options.max_directory_size,
    maxModelSize: options.max_model_size,
  };
  try {
    const archive = await open(source, Object.fromEntries(Object.entries(limits).filter(([, value]) => value)));
    const entries = [];
    for (const { name, size, crc32 } of archive.entries) {
      entries.push({ name, offset: await archive.offset(name), size, crc32 });
    }
    for (const graph of archive.graphs()) await archive.tensors(graph);
    for (const { name } of archive.entries) await archive.verify(name);
    return { entries };
  } catch (error) {
    if (error.name !== 'OnnxarError') throw error;
    return { code: error.code, entry: error.entry, offset: Number(error.offset) };
  }
}

/** The difference between a result and that of a vector; undefined if there is none. */
export function difference(vector, result) {
  const wanted = expected(vector);
  if (wanted === undefined)
    return result.code ? undefined : `accepted, and it breaks ${vector.rule} and ${vector.also}`;
  if (wanted.code || result.code) {
    const parts = ({ code, entry, offset }) => JSON.stringify([code, entry, offset]);
    return parts(wanted) === parts(result) ? undefined : `${parts(result)}, not ${parts(wanted)}`;
  }
  if (wanted.entries === undefined) {
    return (wanted.count ?? result.entries.length) === result.entries.length
      ? undefined
      : `${result.entries.length} entries`;
  }
  const [a, b] = [result.entries, wanted.entries].map((entries) => JSON.stringify(entries));
  return a === b ? undefined : `${a}, not ${b}`;
}
