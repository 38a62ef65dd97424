/** Guards of git: what reads a hostile repository, takes a push, lands a candidate. */
import type { Guard } from './list.ts';

const LENDERS = { project: 'unit', test: 'activities/git/lenders.test.ts' } as const;
const PUSH = { project: 'unit', test: 'gateway/git/push.test.ts' } as const;
const LAND = { project: 'unit', test: 'activities/git/land.test.ts' } as const;

export const GIT_GUARDS: readonly Guard[] = [
  {
    name: "another user's objects are not borrowed",
    file: 'activities/git/lenders.ts',
    text: 'if (found.uid !== BigInt(owner))',
    without: 'if (found.uid < 0n)',
    ...LENDERS,
    named: "another user's objects are not borrowed",
  },
  {
    name: 'a directory of other files is not shown to git',
    file: 'activities/git/lenders.ts',
    text: '  await checkLayout(path);\n',
    without: '',
    ...LENDERS,
    named: 'with one file among its objects that git does not put there',
  },
  {
    name: 'what is mounted is what was looked at',
    file: 'activities/git/sandboxed-git.ts',
    text: '{ echo "$1 was replaced while it was read" >&2; exit 1; }',
    without: 'true',
    ...LENDERS,
    named: 'that another one replaced after it was looked at',
  },
  {
    name: 'a push of another ref is refused before git sees it',
    file: 'gateway/git/push-commands.ts',
    text: '  if (only.ref !== ref) return `this credential pushes ${ref} and no other ref`;\n',
    without: '',
    ...PUSH,
    named: 'a producer is told no, and nothing changes,',
  },
  {
    name: 'git refuses another ref by itself',
    file: 'gateway/git/access.ts',
    text: "    ['receive.hideRefs', 'refs'],\n",
    without: '',
    ...PUSH,
    named: 'by git itself, should our own reading',
  },
  {
    name: 'a branch is not moved aside',
    file: 'gateway/git/access.ts',
    text: "    ['receive.denyNonFastForwards', 'true'],\n",
    without: '',
    ...PUSH,
    named: 'when it moves its branch aside or deletes it',
  },
  {
    name: 'pushed objects are checked',
    file: 'gateway/git/access.ts',
    text: "['receive.fsckObjects', 'true']",
    without: "['receive.fsckObjects', 'false']",
    ...PUSH,
    named: 'a submodule whose URL is an option',
  },
  {
    name: 'no hook of the repository runs',
    file: 'gateway/git/cgi.ts',
    text: "    ['core.hooksPath', '/dev/null'],\n",
    without: '',
    ...PUSH,
    named: 'a push runs no hook',
  },
  {
    name: 'an execution that has ended pushes nothing',
    file: 'gateway/git/access.ts',
    text: 'if (head?.execution !== execution)',
    without: 'if (head === null)',
    ...PUSH,
    named: 'of an execution that has ended',
  },
  {
    name: 'the kill switch stops pushes',
    file: 'gateway/git/access.ts',
    text: 'if (killSwitch !== null)',
    without: "if (killSwitch?.reason === '')",
    ...PUSH,
    named: 'under a kill switch, nor while it cannot be read',
  },
  {
    name: 'only a candidate of our own lands',
    file: 'activities/git/land.ts',
    text: '  if ((await commitAt(gitDir, candidateRef(candidate))) !== candidate) return false;\n',
    without: '',
    ...LAND,
    named: 'takes no commit that is not a candidate',
  },
  {
    name: 'authority is read again when its epoch moved',
    file: 'activities/git/land.ts',
    text: 'if (standing.epoch === epoch) return epoch;',
    without: 'return epoch;',
    ...LAND,
    named: 'asks again when authority moved under its reading',
  },
  {
    name: 'a remote of this machine runs no hook',
    file: 'activities/git/remote.ts',
    text: "const NO_HOOKS = 'git -c core.hooksPath=/dev/null';",
    without: "const NO_HOOKS = 'git';",
    ...LAND,
    named: 'runs none of its hooks as the control plane',
  },
];
