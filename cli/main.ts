/** Entry point of the `portcullis` command. */
import { addCommands } from './commands/index.ts';
import { createProgram, runProgram } from './program.ts';

const program = createProgram();
addCommands(program);
process.exitCode = await runProgram(program, process.argv.slice(2));
