/** Callers that hold a conversation over many turns, and give back all that they were given. */
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { resultText, userText } from '../steps.ts'

export interface Reach {
  /** Address of the API, with its prefix. */
  readonly base: string
  readonly key: string
  readonly isStream: boolean
  readonly fetch: typeof fetch
}

export interface Converser {
  readonly name: string
  readonly dialect: Dialect
  /** What it cannot do otherwise; absent: both. */
  readonly only?: 'whole' | 'streamed'
  begin(reach: Reach): Promise<Conversation>
}

export interface Conversation {
  /**
   * Says the user's text, and runs tools until the model calls none. Rejects where the client raises.
   * @param modelOf the model of each step
   */
  turn(turn: number, modelOf: (step: number) => string): Promise<void>
}

/** Tools without arguments of note. */
export const TOOLS = ['f', 'g'].map((name) => ({
  name,
  description: `Runs ${name}.`,
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
}))
export const TOKENS_MAX = 4_096
export const THINKING_TOKENS = 2_048

/** How a caller of a client without a helper for tools speaks. */
export interface Speaker<Item> {
  user(text: string): Item
  /** What the model wrote, as it goes back. */
  ask(model: string, history: readonly Item[]): Promise<readonly Item[]>
  /** Ids of the calls of tools in it. */
  calls(written: readonly Item[]): readonly string[]
  results(ids: readonly string[], text: string): readonly Item[]
}

/** Steps of a model in one turn at most: one that never ends calls the same tool again and again. */
export const STEPS_MAX = 8

export function conversationOf<Item>(speaker: Speaker<Item>): Conversation {
  const history: Item[] = []
  return {
    async turn(turn, modelOf) {
      history.push(speaker.user(userText(turn)))
      for (let step = 0; step < STEPS_MAX; step++) {
        const written = await speaker.ask(modelOf(step), history)
        history.push(...written)
        const ids = speaker.calls(written)
        if (ids.length === 0) return
        history.push(...speaker.results(ids, resultText({ turn, step })))
      }
      throw new Error(`turn ${turn} has no end`)
    },
  }
}
