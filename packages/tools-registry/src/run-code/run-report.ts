import type { CodeLogEntry, CodeRunResult, CodeRunWarning } from '@carrel/code-runtime';
import { valueText } from '../tool-result.ts';

/**
 * What the model reads of a run that went well: the value (a string as it is, other JSON compact,
 * `no value returned` for none), then the logs, then the warnings.
 */
export function runReport({ value, logs, warnings }: CodeRunResult): string {
  return [
    valueText(value),
    ...(logs.length > 0 ? [`Logs:\n${logs.map(logLine).join('\n')}`] : []),
    ...(warnings.length > 0 ? [`Warnings:\n${warnings.map(warningLine).join('\n')}`] : []),
  ].join('\n\n');
}

/** One console entry; the level stands before it unless it is the usual one. */
export function logLine({ level, text }: CodeLogEntry): string {
  return level === 'log' ? text : `[${level}] ${text}`;
}

/** One warning with its place in the value or the program. */
export function warningLine({ message, path, line }: CodeRunWarning): string {
  const places = [
    ...(path === undefined ? [] : [path]),
    ...(line === undefined ? [] : [`line ${line}`]),
  ];
  return `- ${places.length > 0 ? `${places.join(', ')}: ` : ''}${message}`;
}
