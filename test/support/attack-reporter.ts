/** At the end of a run, holds the rows of attacks against the tests that ran; see `attack-proof.ts`. */
import { relative, sep } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { unshown, type RanFiles } from './attack-proof.ts';
import { attacksBy } from './command-attacks.ts';

/** Projects that `npm test` runs, whole. */
const WHOLE = ['unit', 'system'] as const;

export function attackReporter(): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit(instance) {
      vitest = instance;
    },
    async onTestRunEnd(modules) {
      // Whoever asks for tests by name knows that the others are skipped.
      if (vitest === undefined || vitest.config.testNamePattern !== undefined) return;
      const projects = new Set(modules.map(({ project }) => project.name));
      const whole =
        WHOLE.every((name) => projects.has(name)) && (await vitest.globTestSpecifications()).length <= modules.length;
      const tools = new Set((await searchToolchains()).tools.map(({ name }) => name));
      const problems = unshown(attacksBy('test'), ranFiles(modules, vitest.config.root), { tools, whole });
      if (problems.length === 0) return;
      vitest.logger.error(['', 'Attacks that no test has shown the answer to:', ...problems, ''].join('\n'));
      process.exitCode = 1;
    },
  };
}

function ranFiles(modules: readonly TestModule[], root: string): RanFiles {
  return new Map(
    modules.map((module) => [
      relative(root, module.moduleId).split(sep).join('/'),
      [...module.children.allTests()].map((test) => ({ name: test.name, state: test.result().state })),
    ]),
  );
}
