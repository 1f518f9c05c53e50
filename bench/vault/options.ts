/** Options of the command line of `vault`. */
import { SECRETS_PER_VAULT_MAX } from '../../src/schemas/vault/vault-limits.ts'
import { numbersText, optionReader } from '../options.ts'
import { HEAD_MS } from '../transfers/options.ts'

export interface VaultOptions {
  readonly seconds: number
  readonly repeats: number
  /** Writes a second. */
  readonly ratePerS: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 60, 10], repeats: [1, 20, 3], rate: [1, 5_000, 300] } as const

/**
 * Milliseconds of reads, then of writes, before the first repeat: the compiler's work is no cost of a write.
 */
export const WARM_UP_MS = 8_000
/** Most writes: half of them are new secrets of the one vault. */
const WRITES_MAX = 2 * SECRETS_PER_VAULT_MAX

export const VAULT_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --record FILE\n` +
  `the default takes some two minutes; all writes together are at most ${WRITES_MAX}, half of which fill the vault`

/** Number of writes, including the warm-up. */
export function writesOf({ seconds, repeats, ratePerS }: Omit<VaultOptions, 'json'>): number {
  return Math.ceil((((seconds * 1_000 + 2 * HEAD_MS) * repeats + WARM_UP_MS) / 1_000) * ratePerS)
}

export const readVaultOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: [] },
  (given): VaultOptions => {
    const options = {
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      ratePerS: given.number('rate'),
      json: given.json,
    }
    const count = writesOf(options)
    if (count > WRITES_MAX)
      throw new Error(`--duration, --repeats and --rate make ${count} writes, more than ${WRITES_MAX}`)
    return options
  },
)
