// Runs in the sandbox of a preparation, before its tool: a TCP port on the sandbox's own loopback that leads to the one socket
// that was bound into it. Tools dial hosts, not sockets. Plain JavaScript, so that it needs nothing but a Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { connect, createServer } from 'node:net';

const [socketPath, port, program, ...args] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
  const outer = connect({ path: socketPath, allowHalfOpen: true });
  inner.pipe(outer);
  outer.pipe(inner);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
  inner.on('close', () => outer.destroy());
  outer.on('close', () => inner.destroy());
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  child.once('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});
