import { defineConfig } from 'vitest/config';

const common = {
  pool: 'forks',
  maxWorkers: 2,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  teardownTimeout: 10_000,
} as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          // Units hold no state between files; a module graph for each file would cost as much as the tests.
          isolate: false,
          include: ['{schemas,policies,workflows,activities,workers,gateway,client,cli,local,scripts}/**/*.test.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'system',
          include: ['test/**/*.test.ts'],
          testTimeout: 60_000,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/quiet.ts'],
        },
      },
    ],
  },
});
