export type {
  CodeCallRecord,
  CodeLogEntry,
  CodeRunEvent,
  CodeRunFailure,
  CodeRunFailureKind,
  CodeRunRequest,
  CodeRunResult,
  CodeRunUsage,
  CodeRunWarning,
  CodeRuntime,
} from './code-runtime.ts';
export { assertBindings } from './bindings.ts';
export type { CodeBindingFunction, CodeBindingNamespace, CodeCallContext } from './bindings.ts';
export { LIMIT_NAMES, resolveLimits } from './limits.ts';
export type { CodeRunLimits } from './limits.ts';
export type { CodeRunJournal, CodeRunJournalBatch, CodeRunSettlement } from './journal.ts';
export { encodeLossless, JsonConversionError, MAX_JSON_DEPTH, parseJson } from './json.ts';
export type { JsonValue } from './json.ts';
export { codeFrame } from './program/code-frame.ts';
export { CarrelError, CodeRuntimeError, messageOf } from './errors.ts';
export type { CarrelErrorOptions, CodeRuntimeErrorCode } from './errors.ts';
export { deepFreeze } from './deep-freeze.ts';
