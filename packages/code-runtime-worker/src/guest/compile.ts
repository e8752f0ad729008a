import { defineProperty, hidden } from './intrinsics.ts';

type Body = () => Promise<unknown>;

const AsyncFunction = (async () => {}).constructor as new (body: string) => Body;

/** Lines that a compiled body stands below the program's own: the constructor's two and one of ours. */
export const BODY_LINE_OFFSET = 3;

/**
 * Compiles the body of an async function. The text is compiled as a body and nothing but a body,
 * so that no brace in it can end the function.
 *
 * @throws SyntaxError when the engine does not take it
 */
export function compile(javascript: string): Body {
  return new AsyncFunction(`"use strict";\n${javascript}\n//# sourceURL=program.ts`);
}

/** Makes functions out of text no more: neither `eval`, nor any function constructor. */
export function removeStringEvaluation(): void {
  const samples = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const sample of samples) {
    const prototype = Object.getPrototypeOf(sample) as { constructor: { readonly name: string } };
    const { name } = prototype.constructor;
    function refuse(): never {
      throw new EvalError(`A program cannot make code out of text: there is no \`${name}()\``);
    }
    defineProperty(refuse, 'name', hidden(name));
    // `instanceof Function` goes on working.
    defineProperty(refuse, 'prototype', { value: prototype, writable: false });
    defineProperty(prototype, 'constructor', hidden(refuse));
    if (name === 'Function') defineProperty(globalThis, name, hidden(refuse));
  }
  delete (globalThis as { eval?: unknown }).eval;
}
