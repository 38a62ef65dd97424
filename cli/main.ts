/** Entry point of the `portcullis` command. */
import { addCommands } from './commands/index.ts';
import { createProgram, runProgram } from './program.ts';

// A reader that has left is no failure of ours. While a command works it is told (program.ts); here the rest is kept quiet.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const program = createProgram();
addCommands(program);
process.exitCode = await runProgram(program, process.argv.slice(2));
