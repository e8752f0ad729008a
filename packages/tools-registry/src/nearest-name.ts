/**
 * The name that `wanted` was most likely meant to be, for a "did you mean" in an error text.
 *
 * @returns the nearest of `names` (the first of equals), or `undefined` when none is near
 */
export function nearestName(wanted: string, names: Iterable<string>): string | undefined {
  // Beyond this length nothing is a slip of the pen, and the distance costs length squared.
  if (wanted.length > 128) return undefined;
  let nearest: string | undefined;
  // About one slip in three characters is still the same word.
  let limit = Math.max(1, Math.ceil(wanted.length / 3));
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > limit) continue;
    const distance = editDistance(fold(wanted), fold(name));
    if (distance <= limit) {
      if (distance === 0) return name;
      nearest = name;
      limit = distance - 1;
    }
  }
  return nearest;
}

/** Case and the common separators are no difference: `getUser`, `get_user` and `get-user` are one name. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.\s]/g, '');
}

/** Insertions, deletions and substitutions that turn `from` into `to` (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
