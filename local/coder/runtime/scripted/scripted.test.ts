/** The scripted agents over a real repository, with a stand-in for the gateway: other code, another outcome. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseVerdict } from '../../../../policies/verdicts/parse.ts';
import { readReviewText } from '../../../../policies/verdicts/report.ts';
import { contentDigest } from '../../../../schemas/digest.ts';
import type { Assignment, HarnessContext, OpenBlocker } from '../../../../schemas/harness-api.ts';
import { workAsForge, type Desk } from './forge.ts';
import { workAsLore } from './lore.ts';
import { gitIn } from './repository.ts';
import { workAsSentinel } from './sentinel.ts';

let root: string;
let base: string;
let at: Built;

/** The ticket once through, as far as commits go; each test looks at it from a checkout of its own. */
interface Built {
  readonly plan: string;
  readonly one: string;
  readonly two: string;
  readonly mended: string;
  /** The review that found the defect. */
  readonly review: string;
  readonly said: readonly Said[];
}

beforeAll(async () => {
  for (const [name, value] of Object.entries(IDENTITY)) vi.stubEnv(name, value);
  root = mkdtempSync(join(tmpdir(), 'portcullis-scripted-'));
  sh('git', 'init', '-q', '--bare', join(root, 'origin.git'));
  sh('git', 'init', '-q', '-b', 'main', checkout());
  for (const file of ['package.json', 'src/token-bucket.js', 'test/token-bucket.test.js']) {
    write(file, readFileSync(new URL(`../../../../examples/node-project/${file}`, import.meta.url), 'utf8'));
  }
  git('remote', 'add', 'origin', join(root, 'origin.git'));
  base = commit('first');
  at = await build();
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});
afterEach(() => git('checkout', '-q', '--force', '--detach', base));

const IDENTITY = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'FORGE',
  GIT_AUTHOR_EMAIL: 'forge@example.com',
  GIT_COMMITTER_NAME: 'FORGE',
  GIT_COMMITTER_EMAIL: 'forge@example.com',
};
const BRANCH = 'portcullis/T-1';
const checkout = () => join(root, 'checkout');
const sh = (program: string, ...args: readonly string[]) => execFileSync(program, args, { encoding: 'utf8' }).trim();
const git = (...args: readonly string[]) => sh('git', '-C', checkout(), ...args);
const write = (file: string, text: string) => {
  mkdirSync(dirname(join(checkout(), file)), { recursive: true });
  writeFileSync(join(checkout(), file), text);
};
const read = (file: string) => readFileSync(join(checkout(), file), 'utf8');
const commit = (message: string) => {
  git('add', '--all');
  git('commit', '-q', '-m', message);
  return git('rev-parse', 'HEAD');
};

/** What was said to the gateway, in order. */
type Said = readonly [string, unknown];
/** One agent at work. */
function desk(): Desk & { readonly said: Said[] } {
  const said: Said[] = [];
  const submitted = (what: string) => (request: unknown) => {
    said.push([what, request]);
    return Promise.resolve({ schema: 'portcullis/submitted/v1' as const, revision: 2, phase: 'x' });
  };
  const answered = (verdict: 'APPROVED' | 'REJECTED') => (ask: { readonly approvalId: string }) => {
    said.push([verdict, ask]);
    return Promise.resolve({
      schema: 'portcullis/approval-answered/v1' as const,
      approvalId: ask.approvalId,
      verdict,
      outcome: 'consumed' as const,
    });
  };
  return {
    said,
    directory: checkout(),
    git: gitIn(checkout()),
    say: () => {},
    calls: {
      context: () => Promise.reject(new Error('not asked for')),
      submitPlan: submitted('plan'),
      submitSegment: submitted('segment'),
      submitReady: submitted('ready'),
      appendReview: (name, bytes) => {
        said.push([name, Buffer.from(bytes).toString()]);
        const digest = contentDigest(bytes);
        return Promise.resolve({ schema: 'portcullis/review-appended/v1', name, bytes: bytes.length, digest });
      },
      approve: answered('APPROVED'),
      reject: answered('REJECTED'),
    },
  };
}

function assignment(change: Partial<Assignment> = {}): Assignment {
  return {
    schema: 'portcullis/assignment/v1',
    pair: 'T-1',
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    phase: 'building',
    revision: 1,
    round: 1,
    title: 'Tell the level and take tokens back',
    goal: 'A caller can ask for `level(time)` and return tokens with `give(count, time)`.',
    branch: BRANCH,
    baseBranch: 'main',
    base,
    head: base,
    plan: null,
    segment: null,
    segmentBase: null,
    feedback: null,
    review: null,
    approvalId: null,
    evaluation: null,
    verifierClass: null,
    blockers: [],
    ...change,
  };
}

const segment = (n: number, change: Partial<Assignment> = {}) => assignment({ segment: { n, of: 2 }, ...change });

async function build(): Promise<Built> {
  const forge = desk();
  const head = () => git('rev-parse', 'HEAD');
  git('checkout', '-q', '-B', BRANCH);
  await workAsForge(forge, assignment({ phase: 'planning' }));
  const plan = head();
  await workAsForge(forge, segment(1));
  const one = head();
  await workAsForge(forge, segment(2));
  const two = head();
  const { text } = await reviewed({ ...under({ plan, one }), head: two });
  await workAsForge(forge, segment(2, { feedback: text }));
  return { plan, one, two, mended: head(), review: text, said: forge.said };
}

/** What a review of the second segment is told. */
function under({ plan, one }: Pick<Built, 'plan' | 'one'>): Partial<Assignment> {
  return { plan: { revision: 1, commit: plan }, segmentBase: one, segment: { n: 2, of: 2 } };
}

const look = (commit: string) => git('checkout', '-q', '--force', '--detach', commit);

async function reviewed(change: Partial<Assignment>) {
  const sentinel = desk();
  const context: HarnessContext = {
    schema: 'portcullis/harness-context/v1',
    tenant: 'local',
    pair: 'T-1',
    role: 'sentinel',
    workspace: 'sentinel-1',
    workspaceGeneration: 1,
    assignment: assignment({ role: 'sentinel', phase: 'segment_review', review: 'segment-2-eval.md', ...change }),
    approval: { id: 'an-approval', token: 'its-token', expiresAt: 1 },
  };
  const text = await workAsSentinel(sentinel, context);
  const [appended, answer] = sentinel.said;
  return { text, reading: parseVerdict(text), appended, answer };
}

describe('FORGE', () => {
  test('plans what the code lacks of what the ticket names, and submits each pushed commit', () => {
    expect(git('show', `${at.plan}:PLAN.md`)).toMatch(/^## Segment 1: `level`$[^]*^## Segment 2: `give`$/m);
    expect(at.said).toEqual([
      ['plan', { commit: at.plan, revision: 1 }],
      ['segment', { n: 1, commit: at.one, revision: 1 }],
      ['segment', { n: 2, commit: at.two, revision: 1 }],
      ['segment', { n: 2, commit: at.mended, revision: 1 }],
    ]);
    expect(git('rev-parse', `origin/${BRANCH}`)).toBe(at.mended);
  });

  test('plans less where the code has more, and nothing of what it does not know', async () => {
    look(base);
    write(
      'src/token-bucket.js',
      read('src/token-bucket.js').replace('\n  };\n', '\n    level(time) {\n    },\n  };\n'),
    );
    commit('there already');
    await workAsForge(desk(), assignment({ phase: 'planning', branch: 'portcullis/less' }));
    expect(read('PLAN.md')).not.toContain('## Segment 2');
    const unable = desk();
    await workAsForge(unable, assignment({ phase: 'planning', goal: 'Add `fly(high)`.', branch: 'portcullis/none' }));
    expect(unable.said).toEqual([]);
  });

  test('builds code that runs with tests that pass, and mends what the review quotes', () => {
    const code = (commit: string) => git('show', `${commit}:src/token-bucket.js`);
    expect(code(at.two)).toContain('tokens += count;');
    expect(code(at.mended)).toContain('tokens = Math.min(capacity, tokens + count);');
    look(at.mended);
    const tap = sh(process.execPath, '--test', '--test-reporter=tap', join(checkout(), 'test/token-bucket.test.js'));
    expect(tap).toContain('# pass 9');
  });

  test('submits nothing when it is sent back without a word that it understands', async () => {
    look(at.mended);
    const unable = desk();
    const asked = segment(2, { feedback: 'It is not beautiful.', branch: 'portcullis/again' });
    expect(await workAsForge(unable, asked)).toContain('do not know how');
    expect(unable.said).toEqual([]);
  });
});

describe('SENTINEL', () => {
  test('finds the seeded defect by reading, and the mended code passes', async () => {
    look(at.two);
    const first = await reviewed({ ...under(at), head: at.two });
    expect(first.reading).toEqual({ verdict: 'REJECTED', token: 'RETRY_FORJA', failureClass: 'unbounded-value' });
    expect(first.text).toContain('`tokens += count` lets `tokens` grow past `capacity`');
    expect(first.appended).toEqual(['segment-2-eval.md', first.text]);
    expect(first.answer?.[0]).toBe('REJECTED');
    look(at.mended);
    const second = await reviewed({ ...under(at), head: at.mended });
    expect(second.reading).toEqual({ verdict: 'APPROVED' });
    expect(second.answer?.[0]).toBe('APPROVED');
  });

  test('approves the segment without the defect, and the plan that names what was asked', async () => {
    const plan = { revision: 1, commit: at.plan };
    look(at.one);
    const one = await reviewed({ plan, segmentBase: at.plan, segment: { n: 1, of: 2 }, head: at.one });
    expect(one.reading.verdict).toBe('APPROVED');
    look(at.plan);
    const review = { phase: 'plan_review', review: 'CONTRACT.md', head: at.plan, plan };
    expect((await reviewed(review)).reading.verdict).toBe('APPROVED');
    const other = await reviewed({ ...review, goal: 'Add `fly(high)`.' });
    expect(other.reading).toMatchObject({ verdict: 'REJECTED', failureClass: 'plan-incomplete' });
  });

  test.each<[string, () => Partial<Assignment>, () => void]>([
    ['missing-plan', () => ({ plan: null }), () => {}],
    ['missing-plan', () => ({ plan: { revision: 1, commit: base } }), () => {}],
    ['unreadable-diff', () => ({ segmentBase: 'f'.repeat(40) }), () => {}],
    ['wrong-commit', () => ({}), () => look(at.one)],
    ['empty-workspace', () => ({}), () => git('symbolic-ref', 'HEAD', 'refs/heads/nothing')],
  ])('[inv-02] blind by %s approves nothing and says so', async (failureClass, change, blind) => {
    look(at.mended);
    blind();
    const { reading, answer } = await reviewed({ ...under(at), head: at.mended, ...change() });
    expect(reading).toEqual({ verdict: 'REJECTED', token: 'BLOCKED_UPSTREAM', failureClass });
    expect(answer?.[0]).toBe('REJECTED');
  });

  test('reports what it found by its place, and says of an open finding what became of it', async () => {
    look(at.two);
    const first = readReviewText(Buffer.from((await reviewed({ ...under(at), head: at.two })).text)).report;
    expect(first.findings).toMatchObject([{ standing: 'blocking', location: { path: 'src/token-bucket.js' } }]);
    const [found] = first.findings;
    const blocker: OpenBlocker = {
      ...{ findingId: `f-${'1'.repeat(32)}`, digest: `sha256:${'1'.repeat(64)}`, type: 'correctness' },
      ...{ severity: 'blocker', failureScenario: '', requiredFix: '' },
      location: { path: found?.location?.path ?? '', fromLine: 1, toLine: 1 },
    };
    const saidOf = async (head: string, change: Partial<OpenBlocker> = {}) => {
      look(head);
      const { text } = await reviewed({ ...under(at), head, blockers: [{ ...blocker, ...change }] });
      return readReviewText(Buffer.from(text)).report.dispositions.map(({ disposition }) => disposition);
    };
    expect(await saidOf(at.two)).toEqual(['still_present']);
    expect(await saidOf(at.mended)).toEqual(['resolved']);
    const elsewhere = { path: 'src/gone.js', fromLine: 1, toLine: 1 };
    expect(await saidOf(at.mended, { location: elsewhere })).toEqual(['superseded_by_subject_change']);
  });

  test('as a security reviewer decides by what the change adds, and by nothing that somebody else judges', async () => {
    const asked = { ...under(at), verifierClass: 'security', review: 'segment-2-security.md' };
    look(at.two);
    expect((await reviewed({ ...asked, head: at.two })).reading).toEqual({ verdict: 'APPROVED' });
    look(at.mended);
    write('src/settings.js', "export const password = 'correct horse';\nexport const run = (text) => eval(text);\n");
    const head = commit('Add settings');
    const holed = await reviewed({ ...asked, head });
    expect(holed.reading).toEqual({ verdict: 'REJECTED', token: 'RETRY_FORJA', failureClass: 'hard-coded-secret' });
    expect(holed.appended?.[0]).toBe('segment-2-security.md');
    const { findings } = readReviewText(Buffer.from(holed.text)).report;
    expect(findings.map(({ type, location }) => [type, location?.path, location?.from_line])).toEqual([
      ['security', 'src/settings.js', 1],
      ['security', 'src/settings.js', 2],
    ]);
    expect(holed.text, 'a credential is not quoted').not.toContain('correct horse');
  });

  test('a change that changes nothing is for a person', async () => {
    look(at.two);
    const same = await reviewed({ ...under(at), head: at.two, segmentBase: at.two });
    expect(same.reading).toMatchObject({ token: 'NEEDS_HUMAN', failureClass: 'empty-diff' });
  });
});

test('LORE adds one line of the changelog, once', async () => {
  look(at.mended);
  const lore = desk();
  const plan = { revision: 1, commit: at.plan };
  const asked = assignment({ role: 'lore', phase: 'documenting', plan, branch: `${BRANCH}-docs` });
  await workAsLore(lore, asked);
  expect(read('CHANGELOG.md')).toContain('- Tell the level and take tokens back: `level`, `give`');
  await workAsLore(lore, asked);
  expect(lore.said.map(([what]) => what)).toEqual(['ready']);
});
