/** One validator in a process of its own: the code of one in the caches must not affect another. */
import { checkersOf, type Check } from './checkers.ts'
import { SAMPLES } from './samples.ts'
import type { Found, ValidatedBody, ValidatorSettings, Input } from './settings.ts'

/**
 * Equal values that are used in turn: for a single one the engine would make assumptions that no server can
 * rely on.
 */
const COPIES = 4
/** Microseconds of a batch between two readings of the clock. */
const BATCH_US = 2_000

class Validator {
  readonly #checkers: ReadonlyMap<ValidatedBody, Check>
  readonly #copies = new Map<string, readonly unknown[]>()

  constructor(settings: ValidatorSettings) {
    this.#checkers = checkersOf(settings)
  }

  run({ body, sample, durationMs }: Input): Found {
    const check = this.#checkers.get(body)
    const values = this.#valuesOf(body, sample)
    const isAccepted = check?.(values[0]) === true
    const startedAt = performance.now()
    const cpu = process.cpuUsage()
    let validations = 0
    let batch = 1
    let same = true
    for (let now = startedAt; now - startedAt < durationMs;) {
      for (let at = 0; at < batch; at++) same = check?.(values[at % COPIES]) === isAccepted && same
      validations += batch
      const until = performance.now()
      if ((until - now) * 1_000 < BATCH_US) batch *= 2
      now = until
    }
    const { user, system } = process.cpuUsage(cpu)
    if (!same) throw new Error('the same value was judged in two ways')
    return {
      validations,
      cpuUs: user + system,
      wallMs: performance.now() - startedAt,
      rssBytes: process.memoryUsage.rss(),
      isAccepted,
    }
  }

  /** Values as parsed from a request. */
  #valuesOf(body: ValidatedBody, sample: string): readonly unknown[] {
    const key = `${body} ${sample}`
    const known = this.#copies.get(key)
    if (known !== undefined) return known
    const text = JSON.stringify(SAMPLES[body].find(({ name }) => name === sample)?.value)
    const made = Array.from({ length: COPIES }, () => JSON.parse(text) as unknown)
    this.#copies.set(key, made)
    return made
  }
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: ValidatorSettings) => {
  const validator = new Validator(settings)
  process.on('message', (input: Input) => process.send?.(validator.run(input)))
  process.send?.('ready')
})
