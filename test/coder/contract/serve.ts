/** A local Coder in a process of its own, so that it can be killed. Arguments: state file, token of an owner, milliseconds until a job is hung. */
import { startLocalCoder } from '../../../local/coder/main.ts';
import { roleTemplates } from '../../../local/coder/role-templates.ts';
import { SimulatedRuntime } from '../../../local/coder/simulated-runtime.ts';

const [stateFile = '', key = '', hungMs = ''] = process.argv.slice(2);
const tokens = [{ key, name: 'operator', scopes: ['coder:all'] }];
const { url } = await startLocalCoder({
  stateFile,
  runtime: new SimulatedRuntime({ timeScale: 0.05 }),
  seed: {
    users: [{ username: 'operator', siteRoles: ['owner'], organizationRoles: [], tokens }],
    templates: roleTemplates(),
    provider: null,
  },
  terraformMs: 20,
  hungMs: Number(hungMs),
  tickMs: 100,
});
console.log(url);
