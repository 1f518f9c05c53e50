import type { Operation } from './define.ts'

// `run` takes its own inputs, so a list of operations must forget them; the pipeline gives each only what it validated.
type AnyOperation = Operation<never, never, never>

/** Every operation of the API, in the order of the reference page. */
export const OPERATIONS: readonly AnyOperation[] = []
