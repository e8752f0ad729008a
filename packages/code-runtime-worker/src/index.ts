export { createWorkerRuntime } from './worker-runtime.ts';
export type { WorkerRuntimeOptions } from './worker-runtime.ts';
