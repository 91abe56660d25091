import { require, type Rule } from './error.js';
import { decoder } from './wire.js';

const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\.|$)/i;

/** N1 to N17, as far as they are about one name. */
export function readName(raw: Uint8Array, at: number): string {
  require('N1', raw.length > 0, at);
  const name = decoder.decode(raw);
  const keeps = (rule: Rule, kept: boolean): void => require(rule, kept, at, name);
  keeps('N2', raw.length <= 1024);
  keeps('N14', /^[ -~]+$/.test(name) && !/[\\:*?"<>|;]/.test(name));
  keeps('N6', !name.startsWith('/'));
  keeps('N8', !name.endsWith('/'));
  const parts = name.split('/');
  keeps('N9', !parts.some((part) => part === '' || part === '.' || part === '..'));
  keeps(
    'N15',
    parts.every((part) => part.length <= 255),
  );
  keeps('N16', !parts.some((part) => /[. ]$/.test(part)));
  keeps('N17', !parts.some((part) => DEVICE.test(part)));
  return name;
}

/** N10 to N12. */
export function checkNames(headers: readonly { name: string; at: number }[]): void {
  const names = new Set<string>();
  const folded = new Set<string>();
  for (const { name, at } of headers) {
    require('N10', !names.has(name), at, name);
    require('N11', !folded.has(name.toLowerCase()), at, name);
    names.add(name);
    folded.add(name.toLowerCase());
  }
  const found = inFolderOfName(headers.map(({ name }) => name.toLowerCase()));
  if (found !== undefined) require('N12', false, headers[found]!.at, headers[found]!.name);
}

/**
 * The index of the first name that has another name as a folder of it. A name and what would be in the folder of this name
 * follow each other when names are sorted with the slash before all other characters.
 */
function inFolderOfName(names: string[]): number | undefined {
  const keys = names.map((name) => name.replaceAll('/', '\x01'));
  const order = [...keys.keys()].sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  let found: number | undefined;
  let folder = '/'; // of the last name that is in no folder of another
  for (const index of order) {
    if (!keys[index]!.startsWith(folder)) folder = `${keys[index]}\x01`;
    else if (found === undefined || index < found) found = index;
  }
  return found;
}
