import { defineConfig } from 'vitest/config';
import { attackReporter } from './test/support/attack-reporter.ts';

const common = {
  pool: 'forks',
  maxWorkers: 2,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  teardownTimeout: 10_000,
} as const;

/** Whole stacks, whole tickets, parts that are killed, lives of days: `npm run test:long`, and CI. */
const LONG = [
  'test/door/{ending,survival}.test.ts',
  'test/harness/model-turn.test.ts',
  'test/store/seat.test.ts',
  'test/workflows/{long-waits,workspace-long,workspace-stuck}.test.ts',
  'test/e2e/{agents,reviewers,ticket,verify}.test.ts',
  'test/executor/{bounds,executor-process}.test.ts',
  'test/chaos/diagonal.test.ts',
  'test/local/supervisor.test.ts',
];

// No file keeps state for another (`isolate: false`): a module graph for each would cost as much as the tests.
export default defineConfig({
  test: {
    reporters: ['default', attackReporter()],
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          isolate: false,
          include: ['{schemas,policies,workflows,activities,workers,gateway,client,cli,local,scripts}/**/*.test.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'system',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: LONG,
          // An attempt that the engine forgot is made again after its own minute: a test outlasts that.
          testTimeout: 150_000,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/quiet.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'long',
          isolate: false,
          include: LONG,
          testTimeout: 240_000,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/quiet.ts'],
        },
      },
    ],
  },
});
