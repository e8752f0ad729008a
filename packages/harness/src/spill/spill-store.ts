/** A large text kept outside the conversation. */
export interface SpilledText {
  /** What finds it again: a path, a key. */
  readonly locator: string;
  /** Size as UTF-8. */
  readonly bytes: number;
  /** One sentence that tells the model how to read it. */
  readonly retrievalHint: string;
}

/** Keeps texts that are too large for the conversation. */
export interface SpillStore {
  /**
   * Saves a text so that it is durable before its locator is used.
   *
   * @param request - `sessionId` owns the text; `source` says where it came from; `suggestedName` is a wish
   * @throws HarnessError `spill-failed`; the caller keeps the text inline
   */
  saveText(request: {
    readonly sessionId: string;
    readonly source: string;
    readonly suggestedName: string;
    readonly text: string;
  }): Promise<SpilledText>;
}
