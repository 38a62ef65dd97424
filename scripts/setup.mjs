// Set-up of a clone: packages, the programs of the local stack, the sandbox. Runs on whatever Node 20+ the machine has,
// depends on nothing, says what it does and is silent when there is nothing to do.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSetupLock } from './setup/lock.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { ensureSandbox } from './setup/sandbox.mjs';
import { SetupError, say } from './setup/say.mjs';
import { ensureTools } from './setup/tools.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

try {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < 20) throw new SetupError(`Node ${process.versions.node} is too old`, 'Install Node 20 or newer.');
  await withSetupLock(join(root, '.portcullis-tools'), async () => {
    ensurePackages(root);
    ensureTools(root);
    ensureSandbox();
  });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`${error.message}. ${error.mend}`);
  process.exitCode = 1;
}
