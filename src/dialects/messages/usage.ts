import { USAGE_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import { membersOf, type Members } from '../../schemas/values/members.ts'
import type { ReportedTiers, TokenUsage } from '../parts.ts'
import { NOTHING_REPORTED, reportedWith, countOf, searchesOf, withSearches } from '../usage.ts'
import { REPORTED_TOKENS_MAX } from '../../schemas/inference/token-limits.ts'

/**
 * Usage reported by a provider of messages, in buckets that do not overlap. The input excludes cached tokens.
 * The first event has the input, and a placeholder for the output; later events have totals of all figures
 * that apply. In these, some gateways report the input for the first time, others report zeros. So the
 * largest value of each figure counts. Steps that the totals leave out, such as a compaction, are added.
 */
export class MessagesUsage {
  #isReported = false
  #input = 0
  #cacheRead = 0
  #cacheWrite = 0
  #cacheWriteHour = 0
  #output = 0
  #isOutputReported = false
  #thinking = 0
  #searches = 0
  #isSearchReported = false
  /** Whose results came. */
  #seenSearches = 0
  readonly #steps = new Steps()
  /** Tiers as the last figures report them. */
  reported: ReportedTiers = NOTHING_REPORTED

  /** Figures of the first event. @param json one JSON object */
  begun(json: Uint8Array): void {
    this.beganWith(usageIn(json))
  }

  /** As `begun`, for parsed figures. */
  beganWith(usage: Members | null): void {
    if (usage !== null) this.#add(usage)
  }

  /**
   * Figures of a later event, or of a whole answer.
   * @param json one JSON object
   * @returns whether they have a count of output tokens, which clients require
   */
  update(json: Uint8Array): boolean {
    return this.updateWith(usageIn(json))
  }

  /** As `update`, for parsed figures. */
  updateWith(usage: Members | null): boolean {
    if (usage === null) return false
    this.#add(usage)
    const output = countOf(usage['output_tokens'])
    if (output === null) return false
    this.#output = Math.max(this.#output, output)
    this.#isOutputReported = true
    this.#thinking = Math.max(this.#thinking, thinkingOf(usage))
    this.#isSearchReported ||= typeof searchesIn(usage) === 'number'
    return true
  }

  /** Adds searches whose results came; this count is used until the provider reports its own at the end. */
  saw(searches: number): void {
    this.#seenSearches += searches
  }

  /** Null: not reported. A figure that is missing, or not a count, is 0. */
  get tokens(): TokenUsage | null {
    if (!this.#isReported && this.#seenSearches === 0) return null
    const steps = this.#steps
    const cacheWrite = steps.total('cacheWrite', this.#cacheWrite)
    // Until a total is reported, the total of the steps is a placeholder, too.
    const output = this.#isOutputReported ? steps.total('output', this.#output) : 0
    const reasoning = Math.min(this.#thinking, output)
    const tokens = {
      input: steps.total('input', this.#input),
      cacheRead: steps.total('cacheRead', this.#cacheRead),
      cacheWrite,
      cacheWriteHour: Math.min(steps.total('cacheWriteHour', this.#cacheWriteHour), cacheWrite),
      output: output - reasoning,
      reasoning,
    }
    const seen = this.#isSearchReported ? 0 : searchesOf(this.#seenSearches)
    return withSearches(tokens, Math.max(this.#searches, seen))
  }

  /**
   * Whether the figures can be passed on unchanged in the answer.
   * @param hasOutput output was delivered, so figures without output are a mistake
   */
  isCredible(hasOutput: boolean): boolean {
    const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = this.tokens ?? {}
    return input + cacheRead + cacheWrite > 0 && (output + reasoning > 0 || !hasOutput)
  }

  #add(usage: Members): void {
    this.#isReported = true
    this.reported = reportedWith(this.reported, usage)
    const { input, cacheRead, cacheWrite, cacheWriteHour } = figuresOf(usage)
    this.#input = Math.max(this.#input, input)
    this.#cacheRead = Math.max(this.#cacheRead, cacheRead)
    this.#cacheWrite = Math.max(this.#cacheWrite, cacheWrite)
    this.#cacheWriteHour = Math.max(this.#cacheWriteHour, cacheWriteHour)
    this.#steps.merge(usage['iterations'])
    this.#searches = Math.max(this.#searches, searchesOf(searchesIn(usage)))
  }
}

/** Null: longer than any usage object. */
function usageIn(json: Uint8Array): Members | null {
  if (json.length > USAGE_BYTES_MAX) return null
  return membersOf(JSON.parse(Buffer.from(json).toString('utf8')))
}

function searchesIn(usage: Members): unknown {
  return membersOf(usage['server_tool_use'])['web_search_requests']
}

function thinkingOf(usage: Members): number {
  return countOf(membersOf(usage['output_tokens_details'])['thinking_tokens']) ?? 0
}

/** Tokens of an answer, or of one step of it. A figure that is missing, or not a count, is 0. */
export interface Figures {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of `cacheWrite` that is cached for an hour. */
  readonly cacheWriteHour: number
  readonly output: number
}

export function figuresOf(usage: Members): Figures {
  const created = membersOf(usage['cache_creation'])
  const cacheWriteHour = counted(created['ephemeral_1h_input_tokens'])
  // Some servers report only the parts of the sum.
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

/** Types of the steps whose tokens the totals include, if the provider bills them at all. */
const IN_TOTALS: ReadonlySet<unknown> = new Set(['message', 'fallback_message'])

/**
 * The steps of an answer (`iterations` of its usage), some of which the totals leave out, for example a
 * compaction. The usage's length bounds their number.
 */
export class Steps {
  #all = NONE
  /** Sums of the steps that the totals leave out. */
  #beside = NONE

  /** If there are several lists, the largest figures count. @param list not a list: there are no steps */
  merge(list: unknown): void {
    if (!Array.isArray(list)) return
    const steps = list.map(membersOf)
    this.#all = largest(this.#all, sumOf(steps))
    this.#beside = largest(this.#beside, sumOf(steps.filter(({ type }) => !IN_TOTALS.has(type))))
  }

  /**
   * The used tokens, at most REPORTED_TOKENS_MAX. A total that includes all steps stays as it is.
   * @param reportedTotal the provider's total
   */
  total(figure: keyof Figures, reportedTotal: number): number {
    return Math.max(
      reportedTotal,
      Math.min(reportedTotal + this.#beside[figure], this.#all[figure], REPORTED_TOKENS_MAX),
    )
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
