import { stringify, text } from './intrinsics.ts';

/** Deeper than this an array or object is shown as its class in brackets. */
const MAX_DEPTH = 5;
/** Items of one array or object that are shown. */
const MAX_ITEMS = 200;

const { isArray } = Array;
const { keys, getPrototypeOf, is } = Object;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const matches = RegExp.prototype.test;
const { apply } = Reflect;

/** Runs `read`; a value that throws when it is read is shown as a placeholder. */
function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '[unreadable]'; // A getter, a Proxy trap or a revoked Proxy threw.
  }
}

function className(value: object): string {
  const prototype = getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (prototype === null) return '[Object: null prototype]';
  const name = prototype.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'Object';
}

/** Members between brackets, at most {@link MAX_ITEMS}. */
function list(open: string, close: string, items: readonly string[], total: number): string {
  const more = total > items.length ? [`… ${total - items.length} more`] : [];
  const shown = [...items, ...more];
  return shown.length === 0 ? `${open}${close}` : `${open} ${shown.join(', ')} ${close}`;
}

function formatObject(value: object, depth: number, ancestors: readonly object[]): string {
  for (const ancestor of ancestors) if (ancestor === value) return '[Circular]';
  if (value instanceof Error) return formatError(value, depth, ancestors);
  if (value instanceof Date) return is(value.getTime(), NaN) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return text(value);
  if (value instanceof Promise) return 'Promise { … }';
  const name = className(value);
  if (depth >= MAX_DEPTH) return isArray(value) ? `[Array(${value.length})]` : `[${name}]`;
  const within = [...ancestors, value];
  const inner = (item: unknown): string => format(item, depth + 1, within);
  if (isArray(value)) {
    return list('[', ']', value.slice(0, MAX_ITEMS).map(inner), value.length);
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    // What is a view and no DataView is a typed array.
    const items = value as ArrayBufferView & ArrayLike<unknown>;
    const shown = Array.from({ length: Math.min(items.length, MAX_ITEMS) }, (_, index) =>
      text(items[index]),
    );
    return list(`${name}(${items.length}) [`, ']', shown, items.length);
  }
  if (value instanceof Map) {
    const items = [...value]
      .slice(0, MAX_ITEMS)
      .map(([key, item]) => `${inner(key)} => ${inner(item)}`);
    return list(`Map(${value.size}) {`, '}', items, value.size);
  }
  if (value instanceof Set) {
    return list(`Set(${value.size}) {`, '}', [...value].slice(0, MAX_ITEMS).map(inner), value.size);
  }
  const names = keys(value);
  const members = names.slice(0, MAX_ITEMS).map((key) => {
    const shownKey = apply(matches, IDENTIFIER, [key]) ? key : stringify(key);
    return `${shownKey}: ${attempt(() => inner((value as Record<string, unknown>)[key]))}`;
  });
  return list(name === 'Object' ? '{' : `${name} {`, '}', members, names.length);
}

function formatError(error: Error, depth: number, ancestors: readonly object[]): string {
  const head = `${text(error.name)}: ${text(error.message)}`;
  if (error.cause === undefined || depth >= MAX_DEPTH) return head;
  return `${head} [cause: ${format(error.cause, depth + 1, [...ancestors, error])}]`;
}

function format(value: unknown, depth: number, ancestors: readonly object[]): string {
  switch (typeof value) {
    case 'string':
      return stringify(value);
    case 'number':
      return is(value, -0) ? '-0' : text(value);
    case 'bigint':
      return `${text(value)}n`;
    case 'symbol':
      return text(value);
    case 'function':
      return attempt(() => (value.name === '' ? '[function]' : `[function ${text(value.name)}]`));
    case 'object':
      return value === null ? 'null' : attempt(() => formatObject(value, depth, ancestors));
    default:
      return text(value);
  }
}

/**
 * The text of one console entry: strings as they are, everything else as it would be written in
 * code, at most {@link MAX_DEPTH} deep and {@link MAX_ITEMS} items wide, joined by a space.
 */
export function formatArguments(args: readonly unknown[]): string {
  return args
    .map((argument) => (typeof argument === 'string' ? argument : format(argument, 0, [])))
    .join(' ');
}
