/** Every command, in the order of the help. */
import type { Command } from 'commander';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { downCommand } from './down.ts';
import { replayCommand } from './replay.ts';
import { serveCommand } from './serve.ts';
import { statusCommand } from './status.ts';
import { taskCommand } from './task.ts';
import { upCommand } from './up.ts';
import { verdictCommand } from './verdict-parse.ts';
import { verifyCommand } from './verify.ts';

export function addCommands(program: Command): void {
  program.addCommand(upCommand());
  program.addCommand(downCommand());
  program.addCommand(statusCommand());
  program.addCommand(doctorCommand());
  program.addCommand(verifyCommand());
  program.addCommand(taskCommand());
  program.addCommand(verdictCommand());
  program.addCommand(replayCommand());
  program.addCommand(configCommand());
  program.addCommand(serveCommand());
}
