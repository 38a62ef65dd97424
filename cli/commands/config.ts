/** `portcullis config show`: every setting, its value and where it came from. */
import { Command } from 'commander';
import { SETTINGS, SETTING_KEYS } from '../../schemas/settings.ts';
import { table } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

const HIDDEN = '(hidden)';

export function configCommand(): Command {
  const show = new Command('show').description('print every setting, its value and where it came from');
  exampleHelp(show, 'portcullis config show', 'PORTCULLIS_TENANT=acme portcullis config show --json');
  action(show, ({ settings, paths, output }) => {
    const items = SETTING_KEYS.map((key) => {
      const value = settings.get(key);
      const { secret, env } = SETTINGS[key];
      return { key, value: secret && value !== null ? HIDDEN : value, origin: settings.origin(key), env };
    });
    const rows = items.map(({ key, value, origin, env }) => [key, value ?? '-', origin, env]);
    const text = table([['SETTING', 'VALUE', 'FROM', 'ENVIRONMENT'], ...rows]);
    output.result('Config', { stateDir: paths.root, items }, text);
    return 0;
  });
  return new Command('config').description('settings').addCommand(show);
}
