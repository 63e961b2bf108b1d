// The program's system: files in memory, standard streams, a clock, random numbers. WASI preview 1, as far as the program asks.
"use strict";

const OK = 0, BAD_FD = 8, EXISTS = 20, INVALID = 28, IS_FOLDER = 31, NO_ENTRY = 44, NO_SYSTEM = 52, NOT_FOLDER = 54,
  NOT_EMPTY = 55, TIMED_OUT = 73;
const FOLDER = 3, FILE = 4, CHARACTERS = 2;

/// Thrown when the program ends.
class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/// A file in memory.
class MemoryFile {
  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes;
    this.length = bytes.length;
  }
  resize(length) {
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    if (length < this.length) this.bytes.fill(0, length, this.length);
    this.length = length;
  }
  content() {
    return this.bytes.subarray(0, this.length);
  }
}

/// Folders and files: a folder is a Map.
class Files {
  constructor() {
    this.root = new Map();
  }
  static parts(path) {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts;
  }
  find(path) {
    let at = this.root;
    for (const part of Files.parts(path)) {
      at = at instanceof Map ? at.get(part) : undefined;
      if (at === undefined) return undefined;
    }
    return at;
  }
  /// The folder of a path, and the last name in it.
  place(path) {
    const parts = Files.parts(path), name = parts.pop();
    const folder = this.find(parts.join("/"));
    return folder instanceof Map && name !== undefined ? [folder, name] : undefined;
  }
  write(path, bytes) {
    let at = this.root;
    const parts = Files.parts(path), name = parts.pop();
    for (const part of parts) {
      if (!(at.get(part) instanceof Map)) at.set(part, new Map());
      at = at.get(part);
    }
    at.set(name, new MemoryFile(bytes));
  }
  read(path) {
    const file = this.find(path);
    return file instanceof MemoryFile ? file.content() : undefined;
  }
  remove(path) {
    const place = this.place(path);
    if (place) place[0].delete(place[1]);
  }
  /// Paths of all files below a folder, relative to it.
  list(path) {
    const found = [];
    const walk = (folder, prefix) => {
      for (const [name, one] of folder) {
        if (one instanceof Map) walk(one, `${prefix}${name}/`);
        else found.push(prefix + name);
      }
    };
    const folder = this.find(path);
    if (folder instanceof Map) walk(folder, "");
    return found.sort();
  }
}

/// A board at a port of this computer, as a file: a read waits for what comes.
class Board {
  /// Path of the file.
  static PATH = "dev/board";
  /// Milliseconds that a read waits.
  static WAIT = 40;
  constructor(send) {
    this.send = send;
    this.bytes = [];
    this.isGone = false;
  }
  /// Takes in bytes of the board; `null` when it is gone.
  hear(bytes) {
    if (bytes === null) this.isGone = true;
    else this.bytes.push(...bytes);
    this.wake?.();
  }
  /// At most so many bytes; none when the board is gone, `undefined` if nothing comes.
  async take(length) {
    if (this.bytes.length === 0 && !this.isGone) {
      await new Promise((done) => {
        this.wake = done;
        setTimeout(done, Board.WAIT);
      });
    }
    return this.bytes.length > 0 || this.isGone ? this.bytes.splice(0, length) : undefined;
  }
}

/// One run of a program; with a board, if there is one.
class System {
  constructor(words, files, said, board) {
    this.words = words;
    this.files = files;
    this.said = said;
    this.board = board;
    const stream = (name) => ({ stream: name });
    this.open = [stream("in"), stream("out"), stream("err"), { folder: files.root, path: "/", name: "/" }];
  }

  /// Runs a compiled program to its end; the exit code.
  async run(module) {
    const unknown = (name) => () => NO_SYSTEM;
    const known = this;
    const imports = new Proxy({}, {
      get: (_, name) => (typeof known[name] === "function" ? known[name].bind(known) : unknown(name)),
    });
    const wanted = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      wanted[from] ??= {};
      wanted[from][name] = imports[name];
    }
    const { fd_read: read } = wanted.wasi_snapshot_preview1 ?? {};
    // Who waits for a board is suspended until it answers.
    if (this.board && read) wanted.wasi_snapshot_preview1.fd_read = new WebAssembly.Suspending(read);
    const { exports } = await WebAssembly.instantiate(module, wanted);
    this.memory = exports.memory;
    try {
      if (this.board) await WebAssembly.promising(exports._start)();
      else exports._start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  view() {
    return new DataView(this.memory.buffer);
  }
  bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }
  text(at, length) {
    return new TextDecoder().decode(this.bytes(at, length).slice());
  }
  u32(at, value) {
    this.view().setUint32(at, value, true);
  }
  u64(at, value) {
    this.view().setBigUint64(at, BigInt(value), true);
  }
  path(fd, at, length) {
    const base = this.open[fd];
    return base?.folder ? `${base.path}/${this.text(at, length)}` : undefined;
  }
  strings(all, pointers, buffer) {
    for (const text of all) {
      const bytes = new TextEncoder().encode(`${text}\0`);
      this.u32(pointers, buffer);
      this.bytes(buffer, bytes.length).set(bytes);
      pointers += 4;
      buffer += bytes.length;
    }
    return OK;
  }
  sizes(all, count, size) {
    this.u32(count, all.length);
    this.u32(size, all.reduce((sum, text) => sum + new TextEncoder().encode(text).length + 1, 0));
    return OK;
  }

  args_get(pointers, buffer) {
    return this.strings(this.words, pointers, buffer);
  }
  args_sizes_get(count, size) {
    return this.sizes(this.words, count, size);
  }
  environ_get(pointers, buffer) {
    return this.strings(["NO_COLOR=1"], pointers, buffer);
  }
  environ_sizes_get(count, size) {
    return this.sizes(["NO_COLOR=1"], count, size);
  }
  clock_time_get(clock, _, at) {
    const milliseconds = clock === 0 ? Date.now() : performance.now();
    this.u64(at, BigInt(Math.round(milliseconds * 1e6)));
    return OK;
  }
  random_get(at, length) {
    for (let done = 0; done < length; done += 65536) {
      crypto.getRandomValues(this.bytes(at + done, Math.min(65536, length - done)));
    }
    return OK;
  }
  proc_exit(code) {
    throw new Exit(code);
  }
  sched_yield() {
    return OK;
  }

  fd_write(fd, vectors, count, written) {
    const open = this.open[fd];
    if (!open || open.folder) return BAD_FD;
    let total = 0;
    for (let i = 0; i < count; i++) {
      const at = this.view().getUint32(vectors + 8 * i, true);
      const length = this.view().getUint32(vectors + 8 * i + 4, true);
      const bytes = this.bytes(at, length);
      if (open.stream) this.said(open.stream, bytes.slice());
      else if (open.board) open.board.send(bytes.slice());
      else {
        if (open.append) open.position = open.file.length;
        if (open.position + length > open.file.length) open.file.resize(open.position + length);
        open.file.bytes.set(bytes, open.position);
        open.position += length;
      }
      total += length;
    }
    this.u32(written, total);
    return OK;
  }
  fd_read(fd, vectors, count, read) {
    const open = this.open[fd];
    if (!open || open.folder) return BAD_FD;
    if (open.board) return this.readBoard(open.board, vectors, read);
    let total = 0;
    for (let i = 0; open.file && i < count; i++) {
      const at = this.view().getUint32(vectors + 8 * i, true);
      const length = this.view().getUint32(vectors + 8 * i + 4, true);
      const part = open.file.content().subarray(open.position, open.position + length);
      this.bytes(at, part.length).set(part);
      open.position += part.length;
      total += part.length;
      if (part.length < length) break;
    }
    this.u32(read, total);
    return OK;
  }
  async readBoard(board, vectors, read) {
    const [at, length] = [this.view().getUint32(vectors, true), this.view().getUint32(vectors + 4, true)];
    const found = await board.take(length);
    if (!found) return TIMED_OUT;
    this.bytes(at, found.length).set(found);
    this.u32(read, found.length);
    return OK;
  }
  fd_seek(fd, offset, whence, at) {
    const open = this.open[fd];
    if (!open?.file) return BAD_FD;
    const from = [0, open.position, open.file.length][whence] + Number(offset);
    if (from < 0) return INVALID;
    open.position = from;
    this.u64(at, from);
    return OK;
  }
  fd_tell(fd, at) {
    return this.fd_seek(fd, 0, 1, at);
  }
  fd_close(fd) {
    if (!this.open[fd]) return BAD_FD;
    this.open[fd] = undefined;
    return OK;
  }
  fd_sync() {
    return OK;
  }
  fd_datasync() {
    return OK;
  }
  fd_fdstat_get(fd, at) {
    const open = this.open[fd];
    if (!open) return BAD_FD;
    this.bytes(at, 24).fill(0);
    this.view().setUint8(at, open.stream || open.board ? CHARACTERS : open.folder ? FOLDER : FILE);
    this.u64(at + 8, 0xffffffffffffn);
    this.u64(at + 16, 0xffffffffffffn);
    return OK;
  }
  fd_fdstat_set_flags() {
    return OK;
  }
  stat(one, at) {
    this.bytes(at, 64).fill(0);
    this.view().setUint8(at + 16, one instanceof Map ? FOLDER : one ? FILE : CHARACTERS);
    this.u64(at + 24, 1);
    this.u64(at + 32, one instanceof MemoryFile ? one.length : 0);
    return OK;
  }
  fd_filestat_get(fd, at) {
    const open = this.open[fd];
    return open ? this.stat(open.folder ?? open.file, at) : BAD_FD;
  }
  fd_filestat_set_size(fd, size) {
    const open = this.open[fd];
    if (!open?.file) return BAD_FD;
    open.file.resize(Number(size));
    return OK;
  }
  fd_filestat_set_times() {
    return OK;
  }
  fd_prestat_get(fd, at) {
    if (fd !== 3) return BAD_FD;
    this.u32(at, 0);
    this.u32(at + 4, 1);
    return OK;
  }
  fd_prestat_dir_name(fd, at) {
    if (fd !== 3) return BAD_FD;
    this.bytes(at, 1)[0] = 47;
    return OK;
  }
  fd_readdir(fd, at, length, cookie, used) {
    const open = this.open[fd];
    if (!open?.folder) return NOT_FOLDER;
    const all = [...open.folder].slice(Number(cookie));
    let written = 0, next = Number(cookie);
    for (const [name, one] of all) {
      const text = new TextEncoder().encode(name), entry = new Uint8Array(24 + text.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(++next), true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, one instanceof Map ? FOLDER : FILE);
      entry.set(text, 24);
      const part = entry.subarray(0, length - written);
      this.bytes(at + written, part.length).set(part);
      written += part.length;
      if (written === length) break;
    }
    this.u32(used, written);
    return OK;
  }

  path_open(fd, _, at, length, flags, rights, _inherited, fdflags, opened) {
    const path = this.path(fd, at, length);
    if (path === undefined) return BAD_FD;
    if (this.board && Files.parts(path).join("/") === Board.PATH) {
      this.u32(opened, this.open.push({ board: this.board }) - 1);
      return OK;
    }
    const [create, folderWanted, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (flags & bit) !== 0);
    let found = this.files.find(path);
    if (found === undefined) {
      if (!create) return NO_ENTRY;
      const place = this.files.place(path);
      if (!place) return NO_ENTRY;
      found = new MemoryFile();
      place[0].set(place[1], found);
    } else if (exclusive && create) return EXISTS;
    if (folderWanted && !(found instanceof Map)) return NOT_FOLDER;
    // The right to write, which no folder gives.
    if (found instanceof Map && !folderWanted && (BigInt(rights) & 64n) !== 0n) return IS_FOLDER;
    if (truncate && found instanceof MemoryFile) found.resize(0);
    const open = found instanceof Map ? { folder: found, path } : { file: found, position: 0, append: (fdflags & 1) !== 0 };
    let number = this.open.indexOf(undefined, 4);
    if (number < 0) number = this.open.length;
    this.open[number] = open;
    this.u32(opened, number);
    return OK;
  }
  path_filestat_get(fd, _, at, length, stat) {
    const path = this.path(fd, at, length);
    if (path === undefined) return BAD_FD;
    const found = this.files.find(path);
    return found === undefined ? NO_ENTRY : this.stat(found, stat);
  }
  path_create_directory(fd, at, length) {
    const place = this.files.place(this.path(fd, at, length) ?? "");
    if (!place) return NO_ENTRY;
    if (place[0].has(place[1])) return EXISTS;
    place[0].set(place[1], new Map());
    return OK;
  }
  removed(fd, at, length, isFolder) {
    const place = this.files.place(this.path(fd, at, length) ?? "");
    const found = place?.[0].get(place[1]);
    if (found === undefined) return NO_ENTRY;
    if (found instanceof Map !== isFolder) return isFolder ? NOT_FOLDER : IS_FOLDER;
    if (isFolder && found.size > 0) return NOT_EMPTY;
    place[0].delete(place[1]);
    return OK;
  }
  path_remove_directory(fd, at, length) {
    return this.removed(fd, at, length, true);
  }
  path_unlink_file(fd, at, length) {
    return this.removed(fd, at, length, false);
  }
  path_rename(fd, at, length, toFd, toAt, toLength) {
    const from = this.files.place(this.path(fd, at, length) ?? "");
    const to = this.files.place(this.path(toFd, toAt, toLength) ?? "");
    const one = from?.[0].get(from[1]);
    if (one === undefined || !to) return NO_ENTRY;
    from[0].delete(from[1]);
    to[0].set(to[1], one);
    return OK;
  }
  path_filestat_set_times() {
    return OK;
  }
}
