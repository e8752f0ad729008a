import type { SchemaKeywords, SchemaNode } from './normalize-schema.ts';

const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const IN_PLACE_SCHEMAS = ['not', 'if', 'then', 'else'];

/**
 * Removes the references that lead back to where they stand without going into the value
 * (`A → B → A`): a validator that followed one would never end. Changes the definitions in place.
 *
 * @param onCut - told the name of a definition that lost a reference
 */
export function cutReferenceLoops(
  definitions: ReadonlyMap<string, SchemaNode>,
  onCut: (name: string) => void,
): void {
  const state = new Map<string, 'open' | 'done'>();
  const visit = (name: string): void => {
    state.set(name, 'open');
    for (const node of referencesInPlace(definitions.get(name))) {
      const target = (node['$ref'] as string).slice('#/$defs/'.length);
      if (state.get(target) === 'open') {
        delete node['$ref'];
        onCut(name);
      } else if (!state.has(target)) {
        visit(target);
      }
    }
    state.set(name, 'done');
  };
  for (const name of definitions.keys()) if (!state.has(name)) visit(name);
}

/** The nodes with a reference that apply to the same value as `schema` does. */
function* referencesInPlace(schema: unknown): Generator<SchemaKeywords> {
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as SchemaKeywords;
  if (node['$ref'] !== undefined) yield node;
  for (const keyword of IN_PLACE_SCHEMAS) yield* referencesInPlace(node[keyword]);
  for (const keyword of IN_PLACE_LISTS) {
    for (const item of (node[keyword] as unknown[] | undefined) ?? [])
      yield* referencesInPlace(item);
  }
  const dependent = (node['dependentSchemas'] as object | undefined) ?? {};
  for (const item of Object.values(dependent)) yield* referencesInPlace(item);
}
