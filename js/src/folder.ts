import { OnnxarError } from './error.js';
import { NOTE, parsed, type Bytes, type Note, type Place } from './place.js';
import { builtin } from './source.js';

interface NodeFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  stat(): Promise<{ size: number }>;
  close(): Promise<void>;
}
interface NodeFiles {
  mkdir(path: string, options: object): Promise<unknown>;
  open(path: string, flags: string): Promise<NodeFile>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: object): Promise<void>;
  statfs(path: string): Promise<{ bavail: number; bsize: number }>;
  writeFile(path: string, text: string): Promise<void>;
}

/** The archive itself, which runtimes map, and beside it a file with a byte for each piece: 1 if it is there. */
export class NodePlace implements Place {
  readonly #files = (builtin('fs') as { promises: NodeFiles }).promises;
  readonly #path = builtin('path') as { join(...parts: string[]): string };
  readonly #root: string;

  constructor(folder?: string) {
    const { homedir } = builtin('os') as { homedir(): string };
    this.#root = folder ?? this.#path.join(homedir(), '.cache', 'onnxar');
  }

  async notes(): Promise<Map<string, Note>> {
    const found = new Map<string, Note>();
    for (const folder of await this.#files.readdir(this.#root).catch(() => [])) {
      const text = await this.#files.readFile(this.#at(folder, NOTE), 'utf8').catch(() => undefined);
      const note = parsed(text);
      if (note) found.set(folder, note);
    }
    return found;
  }

  async note(folder: string, note: Note): Promise<void> {
    await this.#files.mkdir(this.#at(folder), { recursive: true });
    const draft = this.#at(folder, `note.${Math.random()}`);
    await this.#files.writeFile(draft, JSON.stringify(note));
    await this.#files.rename(draft, this.#at(folder, NOTE));
  }

  async has(folder: string, index: number): Promise<boolean> {
    const byte = new Uint8Array(1);
    const read = this.#with(this.#at(folder, 'pieces'), 'r', (file) => file.read(byte, 0, 1, index));
    await read.catch(() => undefined); // before the first piece there is no file
    return byte[0] === 1;
  }

  async put(folder: string, index: number, note: Note, bytes: AsyncIterable<Bytes>): Promise<void> {
    await this.#with(this.#archive(folder), 'r+', async (file) => {
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
    const read = (file: NodeFile): Promise<unknown> => file.read(bytes, 0, bytes.length, begin);
    await this.#with(this.#archive(folder), 'r', read); // at most 4 MiB, which come at once
    return bytes;
  }

  async whole(folder: string, { size }: Note): Promise<URL> {
    const { size: kept } = await this.#with(this.#archive(folder), 'r', (file) => file.stat());
    if (kept !== size) throw new OnnxarError('changed');
    return (builtin('url') as { pathToFileURL(path: string): URL }).pathToFileURL(this.#archive(folder));
  }

  delete(folder: string): Promise<void> {
    return this.#files.rm(this.#at(folder), { recursive: true, force: true });
  }

  async room(): Promise<number> {
    await this.#files.mkdir(this.#root, { recursive: true });
    const { bavail, bsize } = await this.#files.statfs(this.#root);
    return bavail * bsize;
  }

  #at(...parts: string[]): string {
    return this.#path.join(this.#root, ...parts);
  }

  #archive(folder: string): string {
    return this.#at(folder, 'model.onnxar');
  }

  #mark(folder: string, index: number, is: number): Promise<void> {
    const path = this.#at(folder, 'pieces');
    return this.#with(path, 'r+', (file) => file.write(Uint8Array.of(is), 0, 1, index).then(() => undefined));
  }

  /** 'r+' makes the file, if it is not there. */
  async #with<T>(path: string, flags: 'r' | 'r+', use: (file: NodeFile) => Promise<T>): Promise<T> {
    if (flags === 'r+') await (await this.#files.open(path, 'a')).close();
    const file = await this.#files.open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }
}
