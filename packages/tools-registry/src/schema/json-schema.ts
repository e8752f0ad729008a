/**
 * A JSON Schema of any draft from 4 to 2020-12. Schemas come from strangers, so nothing is assumed
 * of one: whoever reads it tolerates any JSON value at any place.
 */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };
