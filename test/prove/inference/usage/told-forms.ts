/** The usage that callers get, in the form of each dialect, as their makers describe it. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { messagesUsage } from '../../../../src/dialects/messages/answer.ts'
import { responsesUsage } from '../../../../src/dialects/responses/answer.ts'
import { load } from '../../../support/wire/foreign-clients.ts'
import type { Members } from './tellings.ts'
import type { ShownUsage } from '../../../../src/dialects/parts.ts'
import { chatUsage } from '../../../../src/dialects/chat/usage.ts'
import type { InferenceEnd } from '../../../../src/server/inference/record.ts'

export type Ended = Pick<InferenceEnd, 'usage' | 'isByok' | 'isEstimated'>

export interface ToldForm {
  shown(end: Ended, nano: number): ShownUsage
  /** Sums and shares that a caller reads; caches are shares of the prompt, and reasoning one of the answer. */
  read(told: Members): ReadUsage
  /** What its clients refuse. Throws. */
  check(told: Members): void
}

export interface ReadUsage {
  /** With what caches had and have written. */
  readonly prompt: unknown
  readonly cacheRead: unknown
  readonly cacheWrite: unknown
  readonly answer: unknown
  readonly reasoning: unknown
  /** Absent: the dialect has none. */
  readonly total?: unknown
}

const within = (told: Members, name: string): Members => (told[name] ?? {}) as Members
const sum = (...figures: readonly unknown[]): number =>
  figures.reduce<number>((all, one) => all + Number(one), 0)

interface Schema {
  parse(value: unknown): unknown
}

/** With the schemas of `@openrouter/sdk`, and the members that the types of other clients promise. */
export async function toldForms(): Promise<Readonly<Record<Dialect, ToldForm>>> {
  const chat = (await load('@openrouter/sdk/models/chatusage.js')) as Readonly<Record<string, Schema>>
  const responses = (await load('@openrouter/sdk/models/openresponsesresult.js')) as Readonly<
    Record<string, Schema>
  >
  return {
    chat: {
      shown: chatUsage,
      read: (told) => ({
        ...{ prompt: told['prompt_tokens'], answer: told['completion_tokens'], total: told['total_tokens'] },
        cacheRead: within(told, 'prompt_tokens_details')['cached_tokens'],
        cacheWrite: within(told, 'prompt_tokens_details')['cache_write_tokens'],
        reasoning: within(told, 'completion_tokens_details')['reasoning_tokens'],
      }),
      check(told) {
        chat['ChatUsage$inboundSchema']?.parse(told)
        counts(told, ['prompt_tokens', 'completion_tokens', 'total_tokens'])
        counts(within(told, 'prompt_tokens_details'), ['cached_tokens'])
        counts(within(told, 'completion_tokens_details'), ['reasoning_tokens'])
      },
    },
    responses: {
      shown: responsesUsage,
      read: (told) => ({
        ...{ prompt: told['input_tokens'], answer: told['output_tokens'], total: told['total_tokens'] },
        cacheRead: within(told, 'input_tokens_details')['cached_tokens'],
        cacheWrite: within(told, 'input_tokens_details')['cache_write_tokens'],
        reasoning: within(told, 'output_tokens_details')['reasoning_tokens'],
      }),
      check(told) {
        responses['Usage$inboundSchema']?.parse(told)
        counts(told, ['input_tokens', 'output_tokens', 'total_tokens'])
        counts(within(told, 'input_tokens_details'), ['cached_tokens', 'cache_write_tokens'])
        counts(within(told, 'output_tokens_details'), ['reasoning_tokens'])
      },
    },
    messages: {
      shown: messagesUsage,
      read(told) {
        const { input_tokens: input, cache_read_input_tokens: cacheRead } = told
        const { cache_creation_input_tokens: cacheWrite, output_tokens: answer } = told
        const reasoning = within(told, 'output_tokens_details')['thinking_tokens'] ?? 0
        return { prompt: sum(input, cacheRead, cacheWrite), cacheRead, cacheWrite, answer, reasoning }
      },
      check(told) {
        const caches = ['cache_read_input_tokens', 'cache_creation_input_tokens']
        counts(told, ['input_tokens', 'output_tokens', ...caches])
        const { cache_creation: created } = told
        if (created === undefined) return
        const kept = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']
        counts(created as Members, kept)
        if (sum(...kept.map((name) => (created as Members)[name])) !== told['cache_creation_input_tokens'])
          throw new Error('the parts of cache_creation are not its sum')
      },
    },
  }
}

function counts(told: Members, names: readonly string[]): void {
  const odd = names.find((name) => !Number.isSafeInteger(told[name]) || Number(told[name]) < 0)
  if (odd !== undefined) throw new Error(`${odd} is ${JSON.stringify(told[odd])}`)
}
