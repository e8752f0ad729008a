import { describe, expect, it } from 'vitest';
import { assertBindings } from './bindings.ts';

const none = async (): Promise<undefined> => undefined;

describe('assertBindings', () => {
  it('takes members of any name', () => {
    const functions = { 'get-user': none, ['__proto__']: none, toString: none };
    expect(() => assertBindings([{ global: 'tools', functions }])).not.toThrow();
  });

  it.each(['', 'get-user', '1st', 'class', 'await', 'Promise', 'console', 'globalThis'])(
    'refuses %j as a global',
    (global) => {
      expect(() => assertBindings([{ global, functions: {} }])).toThrow(TypeError);
    },
  );

  it('refuses a global that two bindings want, be it a namespace or an error class', () => {
    const errorClass = { name: 'tools', memberProperty: 'member' };
    expect(() =>
      assertBindings([
        { global: 'a', functions: {}, errorClass },
        { global: 'tools', functions: {} },
      ]),
    ).toThrow('Two bindings want the global `tools`');
  });

  it('refuses a member that cannot be called', () => {
    const functions = { x: 1 } as never;
    expect(() => assertBindings([{ global: 'tools', functions }])).toThrow(
      'Expected binding `tools.x` to be a function, got number',
    );
  });
});
