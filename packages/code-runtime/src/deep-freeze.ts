/** Freezes plain data and all that is in it, in place. */
export function deepFreeze<Value>(value: Value): Value {
  // A stack of its own: data may nest deeper than calls can.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const current = open.pop();
    if (typeof current !== 'object' || current === null || Object.isFrozen(current)) continue;
    Object.freeze(current);
    for (const member of Object.values(current) as unknown[]) open.push(member);
  }
  return value;
}
