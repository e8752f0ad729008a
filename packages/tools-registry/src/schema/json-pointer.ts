/** The pointer fragment of a member of what stands at `pointer`. */
export function memberPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * What a pointer fragment (`#`, `#/$defs/User`) leads to in `root`; own members only.
 *
 * @returns `undefined` when it leads nowhere or is no such fragment
 */
export function resolvePointer(root: unknown, pointer: string): unknown {
  if (pointer !== '#' && !pointer.startsWith('#/')) return undefined;
  let current = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapePart(part);
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return undefined;
    }
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function unescapePart(part: string): string {
  return percentDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
}

function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // A bare percent sign: the author did not encode.
  }
}
