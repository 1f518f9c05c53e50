/**
 * The contract, typed a second time on purpose: what each operation must be, read from §4, §7, B1, B2 and C2.
 */
export interface ContractRow {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'any'
  readonly path: string
  readonly area?: 'scim'
  readonly success: number
  /** Without 401, which every operation has (C2). */
  readonly statuses: readonly number[]
  readonly keys: readonly ('inference' | 'management' | 'intern' | 'scim')[]
  /**
   * Refusals of access besides the key's kind: outside of the programme, on regional hostnames, while vault
   * writes are disabled.
   */
  readonly gates?: readonly ('programme' | 'regional' | 'writes')[]
  readonly source: string
  /** Statuses that nothing can cause yet, with the reason; they need no test, and may have none. */
  readonly uncaused: Readonly<Record<number, string>>
}
