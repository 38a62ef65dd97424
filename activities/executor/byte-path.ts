/**
 * Names of files as the bytes they are. Linux and git take any bytes but NUL and the slash, and not all of them are UTF-8:
 * decoded and encoded again they would name another file.
 */
import { join } from 'node:path';

/** A path with one character for each of its bytes, so that everything done to strings is done to bytes. */
export type BytePath = string;

/** The path that this text, as UTF-8, names. */
export function bytePathOf(text: string): BytePath {
  return Buffer.from(text).toString('latin1');
}

/** What the file system is given. */
export function bytesOf(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** The path below `root`, which is text as every path of ours. */
export function bytePathBelow(root: string, path: BytePath): BytePath {
  return join(bytePathOf(root), path);
}
