/** `npm run contract`: how much of the recording the local Coder answers alike, and what not, with the difference. */
import { RECORDED } from '../test/coder/contract/fixture.ts';
import { replay } from '../test/coder/contract/replay.ts';
import { Stand } from '../test/coder/contract/stand.ts';

const stand = new Stand();
try {
  await stand.world.start();
  const { exchanges, trails } = await replay(stand);
  const alike = exchanges.filter(({ differs }) => differs === null).length;
  const followed = trails.filter(({ differs }) => differs === null).length;
  console.log(
    `${alike} of ${RECORDED} recorded exchanges are answered alike: status, keys of the body, refused fields, state.`,
  );
  console.log(`${followed} of ${trails.length} state trails and notes were gone through again.`);
  for (const { key, label, differs } of [...exchanges, ...trails]) {
    if (differs !== null) console.log(`  ${key} ${label}: ${differs}`);
  }
} finally {
  await stand.close();
}
