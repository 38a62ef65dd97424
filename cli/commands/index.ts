/** Every command, in the order of the help. */
import type { Command } from 'commander';
import { agentCommands } from './agent.ts';
import { auditCommand, eventsCommand } from './audit.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { downCommand } from './down.ts';
import { evidenceCommand, findingCommand } from './evidence.ts';
import { gateCommand } from './gate.ts';
import { keysCommand } from './keys.ts';
import { killSwitchCommand } from './kill-switch.ts';
import { policyCommand } from './policy.ts';
import { replayCommand } from './replay.ts';
import { serveCommand } from './serve.ts';
import { statusCommand } from './status.ts';
import { taskCommand } from './task.ts';
import { ticketCommand } from './ticket.ts';
import { upCommand } from './up.ts';
import { verdictCommand } from './verdict-parse.ts';
import { verifyCommand } from './verify.ts';
import { incidentCommand, workspaceCommand } from './workspace.ts';

export function addCommands(program: Command): void {
  program.addCommand(upCommand());
  program.addCommand(downCommand());
  program.addCommand(statusCommand());
  program.addCommand(doctorCommand());
  program.addCommand(verifyCommand());
  program.addCommand(taskCommand());
  program.addCommand(ticketCommand());
  program.addCommand(workspaceCommand());
  program.addCommand(incidentCommand());
  for (const command of agentCommands()) program.addCommand(command);
  program.addCommand(killSwitchCommand());
  program.addCommand(policyCommand());
  program.addCommand(gateCommand());
  program.addCommand(evidenceCommand());
  program.addCommand(findingCommand());
  program.addCommand(auditCommand());
  program.addCommand(eventsCommand());
  program.addCommand(verdictCommand());
  program.addCommand(replayCommand());
  program.addCommand(configCommand());
  program.addCommand(completionCommand());
  program.addCommand(keysCommand());
  program.addCommand(serveCommand());
  // A noun without its verb is a wrong call, like every other; by itself commander would end the process with 1.
  for (const noun of program.commands) noun.exitOverride();
}
