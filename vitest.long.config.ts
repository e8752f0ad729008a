import { mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The suites that take minutes: properties over many runs, killed processes, soak. */
export default mergeConfig(
  { ...config, test: { ...config.test, include: [], exclude: [] } },
  {
    test: {
      include: ['packages/*/src/**/*.long.test.ts', 'test/**/*.long.test.ts'],
      exclude: ['**/node_modules/**', '**/dist/**'],
      testTimeout: 600_000,
    },
  },
);
