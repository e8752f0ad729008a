import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'examples/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.long.test.ts', 'test/fixtures/**'],
    // Tests start worker processes of their own: two cores carry no more than this.
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
