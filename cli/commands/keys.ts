/** `portcullis keys`: the secrets of an installation that `up` does not run: containers, a cluster. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ensureKeys, splitKeys, storePasswords } from '../../local/keys.ts';
import { writeAclFile } from '../../local/store.ts';
import { neededSetting } from '../context.ts';
import { action, exampleHelp, settingOption } from '../program.ts';

export function keysCommand(): Command {
  const init = new Command('init')
    .description('make every key that is missing, and the ACL file of the store')
    .option('--split <dir>', "copy each part's keys into a directory of its own there")
    .addOption(settingOption('keys.dir'));
  exampleHelp(
    init,
    'portcullis keys init --keys-dir ./keys',
    'portcullis keys init --keys-dir /keys/all --split /keys',
  );
  action(init, async (context) => {
    const directory = neededSetting(context, 'keys.dir');
    const { split } = init.opts<{ split?: string }>();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await ensureKeys(directory);
    if (split !== undefined) splitKeys(directory, split);
    const acl = join(split ?? directory, split === undefined ? 'store.acl' : 'store/store.acl');
    mkdirSync(join(acl, '..'), { recursive: true });
    // The store's own user reads it; it holds digests of long random passwords.
    writeAclFile(acl, [context.settings.text('tenant')], storePasswords(directory), 0o644);
    context.output.result('Keys', { directory, split: split ?? null }, `Keys are in ${split ?? directory}.`);
    return 0;
  });

  const operator = new Command('operator')
    .description("get an operator's bearer into the credential file")
    .addOption(settingOption('keys.dir'));
  exampleHelp(operator, 'REDIS_URL=redis://store:6379 portcullis keys operator --gateway http://gateway:7300');
  action(operator, async (context) => {
    const { ensureOperator } = await import('../up/operator.ts');
    const [gateway, store] = [neededSetting(context, 'gateway.url'), neededSetting(context, 'store.url')];
    await ensureOperator(context, { gateway, store });
    const file = neededSetting(context, 'credential.file');
    context.output.result('Operator', { file }, `The operator's credential is in ${file}.`);
    return 0;
  });
  return new Command('keys').description('make the secrets of an installation').addCommand(init).addCommand(operator);
}
