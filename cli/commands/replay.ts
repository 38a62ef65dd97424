/** `portcullis replay DIR`: committed histories against today's code. */
import { Command } from 'commander';
import { action, exampleHelp } from '../program.ts';

export function replayCommand(): Command {
  const command = new Command('replay')
    .description('replay workflow histories (JSON files of a directory) on the workflows of this program')
    .argument('<dir>', 'directory, searched with all below it');
  exampleHelp(command, 'portcullis replay test/histories', 'portcullis replay ./exported --json');
  return action(command, async ({ output, paths }, { args }) => {
    const { replayDirectory } = await import('../replay/replay.ts');
    return replayDirectory(args[0] ?? '.', paths.cache, output);
  });
}
