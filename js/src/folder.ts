// Keeps archives in a folder, for Node.
import { changed, failure } from './error.js';
import { FolderLock } from './lock.js';
import { NOTE, isFolder, newFolder, parsed, pieceCount, written } from './place.js';
import type { Bytes, LockOptions, Note, Place } from './place.js';
import { builtin } from './node_file.js';

interface NodeFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  writeFile(text: string, encoding?: 'latin1'): Promise<void>;
  stat(): Promise<{ size: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
interface NodeFiles {
  copyFile(from: string, to: string, mode: number): Promise<void>;
  mkdir(path: string, options?: object): Promise<unknown>;
  open(path: string, flags: string): Promise<NodeFile>;
  readdir(path: string): Promise<string[]>;
  readdir(path: string, options: object): Promise<{ name: string; isDirectory(): boolean }[]>;
  readFile(path: string, encoding: 'utf8' | 'latin1'): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  statfs(path: string): Promise<{ bavail: number; bsize: number }>;
  unlink(path: string): Promise<void>;
}

const ARCHIVE = 'model.onnxar';
const PIECES = 'pieces';
const CLONE = 2; // COPYFILE_FICLONE: without new blocks, where the file system can
const DRAFT = 'note.draft';

/**
 * The archive itself, which runtimes map, and beside it a file of marks, a byte for each piece: 1 if the piece is there.
 * Both are made once, with their folder, so a piece and its mark are always in two files that belong together.
 */
export class NodePlace implements Place {
  readonly #files = (builtin('fs') as { promises: NodeFiles }).promises;
  readonly #path = builtin('path') as { join(...parts: string[]): string; resolve(path: string): string };
  readonly #root: string;
  readonly #lock: FolderLock;

  constructor(folder?: string) {
    const { homedir } = builtin('os') as { homedir(): string };
    this.#root = this.#path.resolve(folder ?? this.#path.join(homedir(), '.cache', 'onnxar'));
    this.#lock = new FolderLock(this.#root);
  }

  async locked<T>(
    name: string,
    work: (signal: AbortSignal | undefined) => Promise<T>,
    options: LockOptions,
  ): Promise<T | undefined> {
    await this.#files.mkdir(this.#root, { recursive: true }).catch(notAFolder(this.#root));
    return this.#lock.locked(name, work, options);
  }

  async notes(): Promise<Map<string, Note>> {
    const found = new Map<string, Note>();
    const all = await this.#files.readdir(this.#root, { withFileTypes: true }).catch(() => []);
    for (const { name } of all.filter((each) => each.isDirectory() && isFolder(each.name))) {
      const note = parsed(await this.#files.readFile(this.#at(name, NOTE), 'utf8').catch(() => undefined));
      if (note) found.set(name, note);
    }
    return found;
  }

  async create(note: Note): Promise<string> {
    for (const name of await this.#files.readdir(this.#root)) if (isFolder(name)) await this.#clean(name);
    return this.#make(note, async (at) => {
      for (const name of [ARCHIVE, PIECES]) await (await this.#files.open(at(name), 'wx')).close();
    });
  }

  /** Copies the file if the process that began it may still run, since it may still write to its own. */
  async adopt(folder: string, note: Note): Promise<string> {
    const { by } = (await this.notes()).get(folder) ?? {};
    if (by === '' || (await this.#lock.hasEnded(by))) {
      await this.note(folder, note);
      return folder;
    }
    const copy = await this.#make(note, async (at) => {
      const marks = await this.#files.readFile(this.#at(folder, PIECES), 'latin1'); // first: what they say is there
      await this.#files.copyFile(this.#at(folder, ARCHIVE), at(ARCHIVE), CLONE);
      await this.#with(at(PIECES), 'wx', (file) => file.writeFile(marks, 'latin1'));
    });
    await this.delete(folder);
    return copy;
  }

  leave(folder: string, note: Note): Promise<void> {
    return this.note(folder, { ...note, by: '' });
  }

  async #make(note: Note, fill: (at: (name: string) => string) => Promise<void>): Promise<string> {
    const folder = newFolder();
    await this.#files.mkdir(this.#at(folder));
    await this.note(folder, note); // first: a folder without it is not the store's
    await fill((name) => this.#at(folder, name));
    return folder;
  }

  /** Deletes a folder that has nothing, or the draft of a note: a process was killed while it made or deleted it. */
  async #clean(folder: string): Promise<void> {
    const all = await this.#files.readdir(this.#at(folder)).catch(() => [NOTE]);
    if (all.join() !== '' && all.join() !== DRAFT) return;
    const text = await this.#files.readFile(this.#at(folder, DRAFT), 'utf8').catch(() => undefined);
    if (text === '' || parsed(text)) await this.#files.unlink(this.#at(folder, DRAFT));
    await this.#files.rmdir(this.#at(folder)).catch(() => undefined); // not if it has a file
  }

  async note(folder: string, note: Note): Promise<void> {
    if (note.complete) await this.#with(this.#at(folder, ARCHIVE), 'r+', (file) => file.sync());
    const draft = this.#at(folder, DRAFT); // of a process that was killed, perhaps
    try {
      await this.#with(draft, 'w', async (file) => {
        await file.writeFile(written({ by: await this.#lock.self(), ...note }));
        await file.sync();
      });
      await this.#files.rename(draft, this.#at(folder, NOTE));
    } catch (error) {
      await this.#files.unlink(draft).catch(() => undefined);
      throw error;
    }
  }

  async pieces(folder: string, note: Note): Promise<number[] | undefined> {
    try {
      const { size } = await this.#with(this.#at(folder, ARCHIVE), 'r', (file) => file.stat());
      if (size > note.size) return undefined;
      const marks = await this.#with(this.#at(folder, PIECES), 'r', async (file) => {
        const bytes = new Uint8Array(Math.min((await file.stat()).size, pieceCount(note)));
        return bytes.subarray(0, await fill(bytes, file, 0));
      });
      const there: number[] = [];
      marks.forEach((mark, index) => mark === 1 && there.push(index));
      return there;
    } catch {
      return undefined; // of a folder whose making or deleting did not end
    }
  }

  async put(folder: string, index: number, note: Note, bytes: AsyncIterable<Bytes>): Promise<void> {
    await this.#with(this.#at(folder, ARCHIVE), 'r+', async (file) => {
      let at = index * note.piece;
      for await (const each of bytes) {
        for (let done = 0; done < each.length;) {
          const { bytesWritten } = await file.write(each, done, each.length - done, at);
          done += bytesWritten;
          at += bytesWritten;
        }
      }
    });
    await this.#mark(folder, index, 1);
  }

  drop(folder: string, index: number): Promise<void> {
    return this.#mark(folder, index, 0);
  }

  async read(folder: string, _: Note, begin: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(end - begin);
    const filled = await this.#with(this.#at(folder, ARCHIVE), 'r', (file) => fill(bytes, file, begin));
    if (filled < bytes.length) throw changed();
    return bytes;
  }

  async whole(folder: string, { size }: Note): Promise<URL> {
    const path = this.#at(folder, ARCHIVE);
    const { size: kept } = await this.#with(path, 'r', (file) => file.stat());
    if (kept !== size) throw changed();
    return (builtin('url') as { pathToFileURL(path: string): URL }).pathToFileURL(path);
  }

  /** Deletes the files that a store makes, the note last, and then the folder, unless somebody put a file into it. */
  async delete(folder: string): Promise<void> {
    const all = await this.#files.readdir(this.#at(folder));
    for (const name of [PIECES, ARCHIVE, DRAFT, NOTE]) {
      if (all.includes(name)) await this.#files.unlink(this.#at(folder, name));
    }
    await this.#files.rmdir(this.#at(folder)).catch(() => undefined);
  }

  async room(): Promise<number> {
    const { bavail, bsize } = await this.#files.statfs(this.#root);
    return bavail * bsize;
  }

  #at(...parts: string[]): string {
    return this.#path.join(this.#root, ...parts);
  }

  #mark(folder: string, index: number, is: number): Promise<void> {
    const write = (file: NodeFile): Promise<unknown> => file.write(Uint8Array.of(is), 0, 1, index);
    return this.#with(this.#at(folder, PIECES), 'r+', write).then(() => undefined);
  }

  async #with<T>(path: string, flags: 'r' | 'r+' | 'w' | 'wx', use: (file: NodeFile) => Promise<T>): Promise<T> {
    const file = await this.#files.open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }
}

/** Throws a usage error if a file, or a dangling link, is where the folder must be. */
const notAFolder = (path: string) => (error: { code?: string }) => {
  if (!['EEXIST', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) throw error;
  const what = `${path} is not a folder and cannot be created; give the store another folder`;
  throw failure('usage.argument', what);
};

/** Returns the number of bytes read. */
async function fill(bytes: Uint8Array, file: NodeFile, begin: number): Promise<number> {
  for (let filled = 0; ;) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, begin + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === bytes.length) return filled;
  }
}
