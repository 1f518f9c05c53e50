export type Texts = Readonly<Record<string, string>>

/** One fault of the configuration. `got` is masked where it may hold a secret. */
export interface Problem {
  readonly name: string
  /** Replaces `expected` and `got` in the message: used when the fault is in the file that the setting names. */
  readonly said?: string
  readonly expected: string
  readonly got: string
}
