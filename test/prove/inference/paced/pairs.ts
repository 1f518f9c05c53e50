/** Callers, and the models that answer them: a row for each pair of their form and the provider's. */
import type { ProgramForm } from '../../proof.ts'
import { PACED_DIALECTS, PACED_PROTOCOLS, type PacedDialect } from './dialects.ts'
import { DRAINED_MODEL, modelsAt, PACED_MODEL } from './stand.ts'

export interface PacedPair {
  readonly name: string
  readonly dialect: PacedDialect
  readonly paced: string
  /** The same, by a provider that is read to its end when its caller leaves. */
  readonly drained: string
  readonly isTranslated: boolean
}

const NATIVE: readonly PacedPair[] = PACED_DIALECTS.map((dialect) => ({
  ...{ name: dialect.name, dialect, isTranslated: false },
  ...{ paced: PACED_MODEL, drained: DRAINED_MODEL },
}))
const TRANSLATED: readonly PacedPair[] = PACED_DIALECTS.flatMap((dialect) =>
  PACED_PROTOCOLS.filter(({ name }) => name !== dialect.name).map(({ name }) => ({
    ...{ name: `${dialect.name} at ${name}`, dialect, isTranslated: true },
    ...modelsAt(name),
  })),
)

export const PACED_PAIRS: Readonly<Record<ProgramForm, readonly PacedPair[]>> = {
  usual: NATIVE,
  translated: TRANSLATED,
}

/** The pair with this number; after the last one they start again. */
export function pairAt(form: ProgramForm, nth: number): PacedPair {
  const pairs = PACED_PAIRS[form]
  const pair = pairs[nth % pairs.length]
  if (pair === undefined) throw new Error('there are no pairs')
  return pair
}
