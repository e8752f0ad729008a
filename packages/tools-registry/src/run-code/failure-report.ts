import type {
  CodeCallRecord,
  CodeRunFailure,
  CodeRunFailureKind,
  CodeRunResult,
} from '@carrel/code-runtime';
import { memberAccess } from '../presentation/escape-text.ts';
import { TOOLS_GLOBAL, toolSignature } from '../presentation/render-sdk.ts';
import type { Tool } from '../tool.ts';
import { logLine, warningLine } from './run-report.ts';

/** Characters of logs that are told: the first and the last half of them. */
const MAX_LOG_LENGTH = 4_000;
/** Calls that are told one by one; of more, the last ones. */
const MAX_CALLS = 30;
const MAX_ARGUMENT_LENGTH = 120;

/** What happened, in words. */
const KINDS: Readonly<Record<CodeRunFailureKind, string>> = {
  syntax: 'The program is not valid TypeScript; it did not run.',
  check: 'The program was refused before it ran.',
  exception: 'The program threw an error.',
  'cpu-limit': 'The program computed for too long and was stopped.',
  'wall-limit': 'The program took too long and was stopped.',
  'memory-limit': 'The program used too much memory and was stopped.',
  'output-limit': 'The program returned or logged too much and was stopped.',
  'source-limit': 'The program is too long; it did not run.',
  'call-limit': 'The program made too many calls and was stopped.',
  deadlock: 'The program waits for something that can never happen.',
  'invalid-output': 'The program returned something that is not data.',
  divergence: 'The program took another course than the recorded run.',
  aborted: 'The program was cancelled.',
  'worker-crash': 'The sandbox broke down while the program ran.',
};

/** A call with what its outcome does not tell of a failed one: whether its body ran. */
export interface LedgerCall extends CodeCallRecord {
  readonly bodyRan: boolean;
}

/** What became of a call: its outcome, or that it failed before its body. */
type Fate = CodeCallRecord['outcome'] | 'refused';

const FATES: Readonly<Record<Fate, string>> = {
  done: 'done',
  failed: 'failed',
  refused: 'refused',
  'not-started': 'not started',
  aborted: 'stopped',
  'outcome-unknown': 'outcome unknown',
};

/** The failure in one paragraph without a frame: what happened, and what was said. */
export function failureSentence(failure: CodeRunFailure): string {
  const { kind, message, name, code, line, column } = failure;
  const said = name === undefined ? message : `${name}: ${message}`;
  const coded = code === undefined ? said : `${said} [${code}]`;
  const place =
    line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  return `${KINDS[kind]}\n${coded}${place}`;
}

/**
 * What the model reads of a run that failed: what happened and where, how the tool involved is
 * called, what every call did, what was logged, and what is safe to do again.
 *
 * @param tools - the tools of the run, of which the one involved shows its signature
 */
export function failureReport(
  failure: CodeRunFailure,
  run: Pick<CodeRunResult, 'logs' | 'warnings'> & { readonly calls: readonly LedgerCall[] },
  tools: readonly Tool[],
): string {
  const { call, frame } = failure;
  const tool = call?.global === TOOLS_GLOBAL && tools.find(({ name }) => name === call.name);
  const calls = run.calls.filter(({ global }) => global === TOOLS_GLOBAL);
  return [
    failureSentence(failure),
    ...(frame === undefined ? [] : [frame]),
    ...(tool ? [`The tool is declared as:\n${toolSignature(tool)}`] : []),
    ...(calls.length > 0 ? [`Calls:\n${ledger(calls)}`] : []),
    ...(run.logs.length > 0 ? [`Logs:\n${ends(run.logs.map(logLine).join('\n'))}`] : []),
    ...(run.warnings.length > 0 ? [`Warnings:\n${run.warnings.map(warningLine).join('\n')}`] : []),
    redo(calls),
  ].join('\n\n');
}

function fateOf({ outcome, bodyRan }: LedgerCall): Fate {
  return outcome === 'failed' && !bodyRan ? 'refused' : outcome;
}

function ledger(calls: readonly LedgerCall[]): string {
  const earlier = calls.slice(0, -MAX_CALLS);
  const counts = Object.entries(Object.groupBy(earlier, (call) => FATES[fateOf(call)]));
  const summary = counts.map(([fate, group = []]) => `${group.length} ${fate}`).join(', ');
  return [
    ...(earlier.length > 0 ? [`- the first ${earlier.length}: ${summary}`] : []),
    ...calls.slice(-MAX_CALLS).map(ledgerLine),
  ].join('\n');
}

function ledgerLine(call: LedgerCall): string {
  const args = call.arguments.map((argument) => JSON.stringify(argument)).join(', ');
  const shown = args.length > MAX_ARGUMENT_LENGTH ? `${args.slice(0, MAX_ARGUMENT_LENGTH)}…` : args;
  return `- ${FATES[fateOf(call)]}: ${memberAccess(TOOLS_GLOBAL, call.name)}(${shown})`;
}

function ends(text: string): string {
  const omitted = text.length - MAX_LOG_LENGTH;
  if (omitted <= 0) return text;
  const half = MAX_LOG_LENGTH / 2;
  return `${text.slice(0, half)}\n… ${omitted} characters omitted …\n${text.slice(-half)}`;
}

function redo(calls: readonly LedgerCall[]): string {
  const fates = new Set(calls.map(fateOf));
  if ([...fates].every((fate) => fate === 'not-started' || fate === 'refused')) {
    return 'No call was carried out: a corrected program can be sent as a whole.';
  }
  return [
    ...(fates.has('done')
      ? ['Calls that are done took effect: repeat one only where that does no harm.']
      : []),
    ...(fates.has('refused')
      ? ['Calls that were refused did not run, and can be made again.']
      : []),
    ...(fates.has('failed')
      ? ['Calls that failed may have taken effect: look before you repeat one.']
      : []),
    ...(fates.has('aborted') || fates.has('outcome-unknown')
      ? [
          'A call that was stopped, or whose outcome is unknown, may have taken effect: look before you repeat it.',
        ]
      : []),
  ].join(' ');
}
