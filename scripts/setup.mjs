// Brings a checkout to the point where its commands run: dependencies as the lockfile says, and
// everything built. Runs on whatever Node the machine has, so it uses nothing newer than Node 20.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** npm writes it at the end of every install. */
const installed = new URL('../node_modules/.package-lock.json', import.meta.url);
const lockfile = new URL('../package-lock.json', import.meta.url);

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Runs npm; what it says is shown only when it fails. */
function npm(...args) {
  const result = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error) fail(`npm could not be started: ${result.error.message}`);
  if (result.status !== 0)
    fail(`${result.stdout}${result.stderr}\n\`npm ${args.join(' ')}\` failed.`);
}

const [major] = process.versions.node.split('.').map(Number);
if (major < 20)
  fail(`Node 20 or later is needed to begin with; this is Node ${process.versions.node}.`);

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lockfile).mtimeMs) {
  process.stderr.write('Installing dependencies from the lockfile…\n');
  npm('ci', '--no-audit', '--no-fund');
}
// In a process of its own: npm puts `node_modules/.bin` first on its PATH, so that this and all
// that follows runs on the Node that the project pins.
npm('run', 'build');
