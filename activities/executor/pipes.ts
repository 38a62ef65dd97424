/**
 * Real pipes for a command's output. Node's own `stdio: 'pipe'` hands out a socket, and `echo > /dev/stderr`, which scripts do,
 * fails on a socket.
 */
import { execFile } from 'node:child_process';
import { close, constants, open } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
// Bare descriptors, not file handles: the socket owns the reader, and a handle would close it a second time when collected.
const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);

export interface OutputPipe {
  /** Our end. It ends when the last process that holds the other one is gone. */
  readonly reader: Socket;
  /** Descriptor for the child's stdio. */
  readonly writer: number;
  /** Closes our copy of the writer; call it once the child has its own. */
  closeWriter(): Promise<void>;
}

/** One named pipe in this directory for each name. */
export async function openPipes(mkfifo: string, directory: string, names: readonly string[]): Promise<OutputPipe[]> {
  const paths = names.map((name) => join(directory, name));
  await run(mkfifo, ['-m', '600', ...paths]);
  return Promise.all(paths.map(openPipe));
}

async function openPipe(path: string): Promise<OutputPipe> {
  // Non-blocking, or opening would wait for a writer; the writer's open then finds a reader and does not wait either.
  const reader = await openDescriptor(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = await openDescriptor(path, constants.O_WRONLY);
  return {
    reader: new Socket({ fd: reader, readable: true, writable: false }),
    writer,
    closeWriter: () => closeDescriptor(writer),
  };
}
