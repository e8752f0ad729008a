import { encodeArgument } from '@carrel/code-runtime/json';
import { byteLength } from './byte-length.ts';
import { notice } from './host.ts';
import {
  defineGlobal,
  defineProperty,
  ErrorClass,
  freeze,
  hidden,
  PromiseClass,
  uncurry,
} from './intrinsics.ts';
import type { GuestNamespace, GuestRunOptions } from './run-options.ts';

/** How the host answers a call. */
export interface CallAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code?: string };
}

interface OpenCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Made when the call was made, so that its stack leads to the program's own line. */
  readonly failure: Error;
}

type Calls = Map<number, OpenCall>;
const mapGet = uncurry<Calls, [number], OpenCall | undefined>(Map.prototype.get);
const mapSet = uncurry<Calls, [number, OpenCall], unknown>(Map.prototype.set);
const mapDelete = uncurry<Calls, [number], boolean>(Map.prototype.delete);
type Failures = WeakMap<object, number>;
const weakGet = uncurry<Failures, [object], number | undefined>(WeakMap.prototype.get);
const weakSet = uncurry<Failures, [object, number], unknown>(WeakMap.prototype.set);

/** The program's calls to the host. */
export class GuestCalls {
  readonly #limits: GuestRunOptions;
  readonly #open: Calls = new Map();
  readonly #failed: Failures = new WeakMap();
  #taken = '';
  #made = 0;
  #pending = 0;

  constructor(options: GuestRunOptions) {
    this.#limits = options;
    options.namespaces.forEach((namespace, index) => this.#define(namespace, index));
  }

  /** The calls made since this was last asked, as the text of a JSON array. */
  take(): string {
    const taken = this.#taken;
    this.#taken = '';
    return `[${taken}]`;
  }

  /** Settles the promise that a call returned. */
  settle({ id, value, error }: CallAnswer): void {
    const call = mapGet(this.#open, id);
    if (call === undefined) return;
    mapDelete(this.#open, id);
    this.#pending -= 1;
    if (error === undefined) {
      call.resolve(value);
      return;
    }
    const { failure } = call;
    defineProperty(failure, 'message', hidden(error.message));
    if (error.code !== undefined) defineProperty(failure, 'code', hidden(error.code));
    weakSet(this.#failed, failure, id);
    call.reject(failure);
  }

  /** The id of the call that `reason` is the rejection of. */
  callOf(reason: unknown): number | undefined {
    return typeof reason === 'object' && reason !== null
      ? weakGet(this.#failed, reason)
      : undefined;
  }

  #define(namespace: GuestNamespace, index: number): void {
    const { global, members, errorClass } = namespace;
    const Failure = errorClass === undefined ? ErrorClass : makeErrorClass(errorClass.name);
    if (errorClass !== undefined) defineGlobal(errorClass.name, Failure);
    const target = { __proto__: null } as object;
    members.forEach((name, member) => {
      const call = (...args: unknown[]): Promise<unknown> => {
        const failure = new Failure();
        if (errorClass !== undefined) {
          defineProperty(failure, errorClass.memberProperty, hidden(name));
        }
        return this.#call(index, member, args, failure);
      };
      defineProperty(call, 'name', hidden(name));
      defineProperty(target, name, { value: freeze(call), enumerable: true });
    });
    defineGlobal(global, freeze(target));
  }

  #call(namespace: number, member: number, args: unknown[], failure: Error): Promise<unknown> {
    return new PromiseClass((resolve, reject) => {
      const refuse = (code: string, message: string): void => {
        defineProperty(failure, 'message', hidden(message));
        defineProperty(failure, 'code', hidden(code));
        reject(failure);
      };
      let argumentsText: string;
      try {
        argumentsText = encodeArguments(args);
      } catch (reason) {
        const problem =
          reason instanceof ErrorClass ? reason.message : 'a value that cannot be read';
        refuse('INVALID_ARGUMENTS', `The arguments cannot be sent: ${problem}`);
        return;
      }
      const { maxArgumentBytes, maxCalls, maxPendingCalls } = this.#limits;
      if (argumentsText.length * 3 > maxArgumentBytes) {
        const bytes = byteLength(argumentsText);
        if (bytes > maxArgumentBytes) {
          refuse(
            'ARGUMENTS_TOO_LARGE',
            `The arguments are ${bytes} bytes of JSON; at most ${maxArgumentBytes} can be sent`,
          );
          return;
        }
      }
      this.#made += 1;
      this.#pending += 1;
      if (this.#made > maxCalls) notice('limit', `more than ${maxCalls} calls`);
      if (this.#pending > maxPendingCalls) {
        notice('limit', `more than ${maxPendingCalls} calls unanswered at the same time`);
      }
      const id = this.#made;
      mapSet(this.#open, id, { resolve, reject, failure });
      const separator = this.#taken === '' ? '' : ',';
      this.#taken += `${separator}{"id":${id},"namespace":${namespace},"member":${member},"arguments":${argumentsText}}`;
    });
  }
}

/** Positional arguments as a JSON array; `undefined` at the end is as good as absent. */
function encodeArguments(args: readonly unknown[]): string {
  let { length } = args;
  while (length > 0 && args[length - 1] === undefined) length -= 1;
  let encoded = '';
  for (let index = 0; index < length; index += 1) {
    encoded += `${index === 0 ? '' : ','}${encodeArgument(args[index]) ?? 'null'}`;
  }
  return `[${encoded}]`;
}

function makeErrorClass(name: string): new () => Error {
  const NamedError = class extends ErrorClass {};
  defineProperty(NamedError, 'name', hidden(name));
  defineProperty(NamedError.prototype, 'name', hidden(name));
  return NamedError;
}
