/** What of a schema could not be used as it stands. The schema's tool works, with less checking. */
export interface SchemaDiagnostic {
  /** The place in the schema, as a JSON pointer fragment: `#/properties/since`. */
  readonly path: string;
  /** What is wrong there and what became of it. */
  readonly message: string;
}
