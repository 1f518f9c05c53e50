import { USAGE_BYTES_MAX } from '../../../../schemas/models/provider-limits.ts'
import { membersOf, type Members } from '../../../../schemas/values/members.ts'
import type { TokenUsage } from '../../../ports/inference/inference.ts'
import { countOf, searchesOf, withSearches } from '../text-usage.ts'

/**
 * Usage as a provider of messages tells it, in buckets that do not overlap. The input leaves cached tokens
 * out. The first event has the input, and a placeholder for the output; later events have totals of all
 * figures that apply, and some gateways have the input only there, or zeros there. So the largest figure of
 * each counts. D24.
 */
export class MessagesUsage {
  #isTold = false
  #input = 0
  #cacheRead = 0
  #cacheWrite = 0
  #cacheWriteHour = 0
  #output = 0
  #thinking = 0
  #searches = 0
  #isSearchTold = false
  /** Whose results came. */
  #seenSearches = 0

  /** Figures of the first event. @param json one JSON object */
  begun(json: Uint8Array): void {
    this.#add(json)
  }

  /**
   * Figures of a later event, or of a whole answer.
   * @param json one JSON object
   * @returns whether they have a count of output tokens, which clients require
   */
  told(json: Uint8Array): boolean {
    const usage = this.#add(json)
    const output = usage === null ? null : countOf(usage['output_tokens'])
    if (usage === null || output === null) return false
    this.#output = Math.max(this.#output, output)
    this.#thinking = Math.max(this.#thinking, thinkingOf(usage))
    this.#isSearchTold ||= typeof searchesIn(usage) === 'number'
    return true
  }

  /** Searches whose results came: they count until the provider tells its number, at the end. */
  saw(searches: number): void {
    this.#seenSearches += searches
  }

  /** Null: none were told. A bucket that was not told, or not as a count, is 0. */
  get tokens(): TokenUsage | null {
    if (!this.#isTold && this.#seenSearches === 0) return null
    const reasoning = Math.min(this.#thinking, this.#output)
    const tokens = {
      input: this.#input,
      cacheRead: this.#cacheRead,
      cacheWrite: this.#cacheWrite,
      cacheWriteHour: Math.min(this.#cacheWriteHour, this.#cacheWrite),
      output: this.#output - reasoning,
      reasoning,
    }
    const seen = this.#isSearchTold ? 0 : searchesOf(this.#seenSearches)
    return withSearches(tokens, Math.max(this.#searches, seen))
  }

  /**
   * Whether the figures can stand in the answer as they are.
   * @param hasOutput output was delivered, and none in the figures is a mistake
   */
  isCredible(hasOutput: boolean): boolean {
    const hasInput = this.#input + this.#cacheRead + this.#cacheWrite > 0
    return hasInput && (this.#output > 0 || !hasOutput)
  }

  #add(json: Uint8Array): Members | null {
    if (json.length > USAGE_BYTES_MAX) return null
    const usage = membersOf(JSON.parse(Buffer.from(json).toString('utf8')))
    this.#isTold = true
    this.#input = largest(this.#input, usage['input_tokens'])
    this.#cacheRead = largest(this.#cacheRead, usage['cache_read_input_tokens'])
    this.#cacheWrite = largest(this.#cacheWrite, usage['cache_creation_input_tokens'])
    const created = membersOf(usage['cache_creation'])
    const hour = countOf(created['ephemeral_1h_input_tokens']) ?? 0
    // Some tell the parts alone.
    const parts = hour + (countOf(created['ephemeral_5m_input_tokens']) ?? 0)
    this.#cacheWriteHour = Math.max(this.#cacheWriteHour, hour)
    this.#cacheWrite = Math.max(this.#cacheWrite, parts)
    this.#searches = Math.max(this.#searches, searchesOf(searchesIn(usage)))
    return usage
  }
}

function searchesIn(usage: Members): unknown {
  return membersOf(usage['server_tool_use'])['web_search_requests']
}

function thinkingOf(usage: Members): number {
  return countOf(membersOf(usage['output_tokens_details'])['thinking_tokens']) ?? 0
}

function largest(before: number, figure: unknown): number {
  return Math.max(before, countOf(figure) ?? 0)
}
