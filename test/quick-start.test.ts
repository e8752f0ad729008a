import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('the quick start runs and prints what its program returned', async () => {
  const file = join(import.meta.dirname, '../examples/dist/quick-start.js');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toBe("true [ { type: 'text', text: '[12,18]' } ]\n");
  expect(stderr).toBe('');
});
