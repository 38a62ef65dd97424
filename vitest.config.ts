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
