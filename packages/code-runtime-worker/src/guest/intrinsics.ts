// Taken when the guest is made, before a program can have replaced anything.

const { apply } = Reflect;

/** `method` as a function of its receiver. */
export function uncurry<Receiver, Args extends unknown[], Result>(
  method: (this: Receiver, ...args: Args) => Result,
): (receiver: Receiver, ...args: Args) => Result {
  return (receiver, ...args) => apply(method, receiver, args);
}

/** `text.charCodeAt(index)`. */
export const charCodeAt = uncurry(String.prototype.charCodeAt);
/** `text.slice(start, end)`. */
export const slice = uncurry(String.prototype.slice);
/** `Promise`, as it was. */
export const PromiseClass = Promise;
/** `Error`, as it was. */
export const ErrorClass = Error;
/** `String`, as it was. */
export const text = String;
/** `JSON`, as it was. */
export const { stringify, parse } = JSON;
/** `Object`, as it was. */
export const { defineProperty, freeze, getOwnPropertyDescriptor } = Object;

/** Defines an ordinary global, as the built-in ones are defined: writable and not enumerable. */
export function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, hidden(value));
}

/** A property that is writable and not enumerable. */
export function hidden(value: unknown): PropertyDescriptor {
  // Without a prototype: a program may have put accessors on `Object.prototype`.
  return {
    __proto__: null,
    value,
    configurable: true,
    enumerable: false,
    writable: true,
  } as PropertyDescriptor;
}
