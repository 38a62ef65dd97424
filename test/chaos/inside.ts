/** Processes inside the workspaces of a ticket, found as descendants of the workspace's outermost one. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { WorkPhase } from '../../schemas/ticket/phase.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { pollUntil } from '../support/poll.ts';

export type InsideKind = 'agent' | 'executor' | 'harness';

export interface Inside {
  readonly pid: number;
  readonly role: WorkspaceRole;
  readonly kind: InsideKind;
}

/** Who is at work in a phase. While it lands nobody is, and FORGE's harness idles. */
const AT_WORK = {
  planning: { role: 'forge', kind: 'agent' },
  plan_review: { role: 'sentinel', kind: 'agent' },
  building: { role: 'forge', kind: 'executor' },
  segment_review: { role: 'verifier', kind: 'executor' },
  testing: { role: 'verifier', kind: 'harness' },
  review_ready: { role: 'sentinel', kind: 'harness' },
  merging: { role: 'forge', kind: 'harness' },
  documenting: { role: 'lore', kind: 'agent' },
} as const satisfies Readonly<Record<WorkPhase, Pick<Inside, 'role' | 'kind'>>>;

/** What the command line of each says. */
const PROGRAMS: Readonly<Record<InsideKind, string>> = {
  agent: 'runtime/scripted/main',
  executor: 'workers/executor/main',
  harness: 'workers/agent/main',
};

/** The process that works in this phase of the ticket, as soon as it runs. */
export async function untilAtWork(tenant: string, ticket: string, phase: WorkPhase): Promise<Inside> {
  const { role, kind } = AT_WORK[phase];
  return await pollUntil(
    async () => {
      const found = await insideOf(tenant, ticket);
      return found.find((inside) => inside.role === role && inside.kind === kind);
    },
    { what: `the ${kind} of ${role} of ${ticket}`, deadlineMs: 30_000, everyMs: 30 },
  );
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

async function insideOf(tenant: string, ticket: string): Promise<readonly Inside[]> {
  const all = await processes();
  const label = `--run=workspace/${tenant}/${ticket}/`;
  const outermost = all.filter(({ args }) => args.includes(label) && args.includes('enter.py'));
  return outermost.flatMap(({ pid, args }) => {
    const role = (['forge', 'sentinel', 'verifier', 'lore'] as const).find((one) => args.includes(`${label}${one}/`));
    if (role === undefined) return [];
    return descendantsOf(all, pid).flatMap((inside) => {
      const kind = kindOf(inside.args);
      return kind === null ? [] : [{ pid: inside.pid, role, kind }];
    });
  });
}

/** Command lines of the ticket's workspaces that still run on this machine. */
export async function leftOf(tenant: string, ticket: string): Promise<readonly string[]> {
  const label = `--run=workspace/${tenant}/${ticket}/`;
  return (await processes()).filter(({ args }) => args.includes(label)).map(({ args }) => args);
}

/** The program itself, not the sandbox around it, whose command line names it too. */
function kindOf(args: string): InsideKind | null {
  const [program = '', module = ''] = args.split(' ');
  if (!program.endsWith('/node')) return null;
  return (['agent', 'executor', 'harness'] as const).find((kind) => module.includes(PROGRAMS[kind])) ?? null;
}

function descendantsOf(all: readonly Process[], root: number): readonly Process[] {
  const found: Process[] = [];
  for (let parents = new Set([root]); parents.size > 0;) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

async function processes(): Promise<readonly Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
}
