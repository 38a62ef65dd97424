/** How a server of the store has to be started (DESIGN section 2, Redis). The local stack and the tests start it so. */
export interface ServerSettings {
  readonly port: number;
  /** Holds the append-only file and nothing of anybody else. */
  readonly directory: string;
  /** Path of the file that `aclFile` made. */
  readonly aclFile: string;
  /** Bytes. */
  readonly maxMemoryBytes: number;
}

/** Command-line arguments for `redis-server` or `valkey-server`. */
export function serverArguments({ port, directory, aclFile, maxMemoryBytes }: ServerSettings): readonly string[] {
  return [
    ['--bind', '127.0.0.1'],
    ['--port', String(port)],
    ['--dir', directory],
    ['--aclfile', aclFile],
    ['--protected-mode', 'yes'],
    ['--daemonize', 'no'],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'always'],
    ['--no-appendfsync-on-rewrite', 'no'],
    ['--save', ''],
    ['--maxmemory', String(maxMemoryBytes)],
    ['--maxmemory-policy', 'noeviction'],
    // A client that reads too slowly is cut off instead of filling the memory.
    ['--client-output-buffer-limit', 'normal 64mb 32mb 30'],
  ].flat();
}
