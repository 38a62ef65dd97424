/** A ticket of moderate risk on the whole stack: two reviewers of two classes, each in a workspace of its own. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repositoryPath } from '../../activities/git/repository.ts';
import { readTicketFile } from '../../cli/ticket/file.ts';
import { submitTicket } from '../../cli/ticket/start.ts';
import { exampleRepository } from '../../local/example.ts';
import { exampleRemote } from '../../local/example-ticket.ts';
import { startStack, type Stack } from './stage.ts';
import { gitIn, untilGone, untilPhase } from './tickets.ts';

const FILE = join(import.meta.dirname, '..', '..', 'examples', 'tickets', 'T-049.yaml');

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

test(
  '[inv-02] a ticket of moderate risk lands after a security reviewer saw it too, as another principal in another workspace',
  { timeout: 400_000 },
  async () => {
    const definition = await readTicketFile(FILE);
    const { id } = definition;
    const remote = await exampleRemote(
      join(stack.paths.root, 'remotes'),
      id,
      await exampleRepository(stack.paths.examples),
    );
    await submitTicket(stack.operator, { ...definition, repository: { remote: pathToFileURL(remote).href } });
    await untilPhase(stack, id, ['done']);
    const { items } = await stack.operator.gateHistory(id);
    const merge = items.find(({ gate, decision }) => gate === 'merge' && decision !== null);
    expect(merge).toMatchObject({ decision: 'pass' });
    const { evidence } = await stack.operator.showGate(merge?.evaluationKey ?? '');
    const reviews = evidence.filter(({ kind }) => kind === 'review').map(({ about }) => about);
    expect(reviews.toSorted()).toEqual([`reviewer sentinel:${id}`, `security sentinel-security:${id}`]);

    const own = repositoryPath(stack.paths.repositories, 'local', id);
    const files = gitIn(own, 'ls-tree', '-r', '--name-only', `refs/portcullis/reviews/${id}`).split('\n');
    const final = files.filter((file) => /final-(?:review|security)\.md$/.test(file)).map((file) => file.split('/'));
    // One evaluation, two generations of SENTINEL, two files.
    expect(final.map((parts) => parts.at(-1))).toEqual(['final-review.md', 'final-security.md']);
    expect(new Set(final.map(([, generation]) => generation)).size).toBe(2);
    for (const { role, trigger } of await untilGone(stack, id)) {
      if (role === 'sentinel') expect(trigger).toBe('evaluated');
    }
  },
);
