import { TOKENS_TOLD_MAX } from '../../../../schemas/inference/token-limits.ts'
import { membersOf, type Members } from '../../../../schemas/values/members.ts'
import { countOf } from '../../../../dialects/usage.ts'

/** Tokens of an answer, or of one step of it. What is missing, or no count, is 0. */
export interface Figures {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Of `cacheWrite`, what is kept for an hour. */
  readonly cacheWriteHour: number
  readonly output: number
}

export function figuresOf(usage: Members): Figures {
  const created = membersOf(usage['cache_creation'])
  const cacheWriteHour = counted(created['ephemeral_1h_input_tokens'])
  // Some tell the parts alone.
  const parts = cacheWriteHour + counted(created['ephemeral_5m_input_tokens'])
  return {
    input: counted(usage['input_tokens']),
    cacheRead: counted(usage['cache_read_input_tokens']),
    cacheWrite: Math.max(counted(usage['cache_creation_input_tokens']), parts),
    cacheWriteHour,
    output: counted(usage['output_tokens']),
  }
}

const NONE: Figures = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 }

/** Types of the steps whose tokens are in the totals, where the provider bills them at all. */
const IN_TOTALS: ReadonlySet<unknown> = new Set(['message', 'fallback_message'])

/**
 * The steps of an answer (`iterations` of its usage). The totals leave some of them out: the tokens of a
 * compaction stand here alone. The length of the usage bounds their number. D24.
 */
export class Steps {
  #all = NONE
  /** Of the steps that are no part of the totals. */
  #beside = NONE

  /** Of several lists the largest figures count. @param list no list: there are no steps */
  told(list: unknown): void {
    if (!Array.isArray(list)) return
    const steps = list.map(membersOf)
    this.#all = largest(this.#all, sumOf(steps))
    this.#beside = largest(this.#beside, sumOf(steps.filter(({ type }) => !IN_TOTALS.has(type))))
  }

  /**
   * What was used, at most TOKENS_TOLD_MAX. A total that has the tokens of all steps stays as it is.
   * @param told the provider's total
   */
  total(figure: keyof Figures, told: number): number {
    return Math.max(told, Math.min(told + this.#beside[figure], this.#all[figure], TOKENS_TOLD_MAX))
  }
}

function sumOf(steps: readonly Members[]): Figures {
  return steps.map(figuresOf).reduce(
    (sum, step) => ({
      input: sum.input + step.input,
      cacheRead: sum.cacheRead + step.cacheRead,
      cacheWrite: sum.cacheWrite + step.cacheWrite,
      cacheWriteHour: sum.cacheWriteHour + step.cacheWriteHour,
      output: sum.output + step.output,
    }),
    NONE,
  )
}

function largest(one: Figures, other: Figures): Figures {
  return {
    input: Math.max(one.input, other.input),
    cacheRead: Math.max(one.cacheRead, other.cacheRead),
    cacheWrite: Math.max(one.cacheWrite, other.cacheWrite),
    cacheWriteHour: Math.max(one.cacheWriteHour, other.cacheWriteHour),
    output: Math.max(one.output, other.output),
  }
}

function counted(figure: unknown): number {
  return countOf(figure) ?? 0
}
