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

export interface ReportedForm {
  shown(end: Ended, nano: number): ShownUsage
  /** Sums and shares that a caller reads; caches are shares of the prompt, and reasoning one of the answer. */
  read(reported: Members): ReadUsage
  /** What its clients refuse. Throws. */
  check(reported: Members): void
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

const within = (reported: Members, name: string): Members => (reported[name] ?? {}) as Members
const sum = (...figures: readonly unknown[]): number =>
  figures.reduce<number>((all, one) => all + Number(one), 0)

interface Schema {
  parse(value: unknown): unknown
}

/** With the schemas of `@openrouter/sdk`, and the members that the types of other clients promise. */
export async function reportedForms(): Promise<Readonly<Record<Dialect, ReportedForm>>> {
  const chat = (await load('@openrouter/sdk/models/chatusage.js')) as Readonly<Record<string, Schema>>
  const responses = (await load('@openrouter/sdk/models/openresponsesresult.js')) as Readonly<
    Record<string, Schema>
  >
  return {
    chat: {
      shown: chatUsage,
      read: (reply) => ({
        ...{
          prompt: reply['prompt_tokens'],
          answer: reply['completion_tokens'],
          total: reply['total_tokens'],
        },
        cacheRead: within(reply, 'prompt_tokens_details')['cached_tokens'],
        cacheWrite: within(reply, 'prompt_tokens_details')['cache_write_tokens'],
        reasoning: within(reply, 'completion_tokens_details')['reasoning_tokens'],
      }),
      check(reported) {
        chat['ChatUsage$inboundSchema']?.parse(reported)
        counts(reported, ['prompt_tokens', 'completion_tokens', 'total_tokens'])
        counts(within(reported, 'prompt_tokens_details'), ['cached_tokens'])
        counts(within(reported, 'completion_tokens_details'), ['reasoning_tokens'])
      },
    },
    responses: {
      shown: responsesUsage,
      read: (logged) => ({
        ...{ prompt: logged['input_tokens'], answer: logged['output_tokens'], total: logged['total_tokens'] },
        cacheRead: within(logged, 'input_tokens_details')['cached_tokens'],
        cacheWrite: within(logged, 'input_tokens_details')['cache_write_tokens'],
        reasoning: within(logged, 'output_tokens_details')['reasoning_tokens'],
      }),
      check(reported) {
        responses['Usage$inboundSchema']?.parse(reported)
        counts(reported, ['input_tokens', 'output_tokens', 'total_tokens'])
        counts(within(reported, 'input_tokens_details'), ['cached_tokens', 'cache_write_tokens'])
        counts(within(reported, 'output_tokens_details'), ['reasoning_tokens'])
      },
    },
    messages: {
      shown: messagesUsage,
      read(reported) {
        const { input_tokens: input, cache_read_input_tokens: cacheRead } = reported
        const { cache_creation_input_tokens: cacheWrite, output_tokens: answer } = reported
        const reasoning = within(reported, 'output_tokens_details')['thinking_tokens'] ?? 0
        return { prompt: sum(input, cacheRead, cacheWrite), cacheRead, cacheWrite, answer, reasoning }
      },
      check(reported) {
        const caches = ['cache_read_input_tokens', 'cache_creation_input_tokens']
        counts(reported, ['input_tokens', 'output_tokens', ...caches])
        const { cache_creation: created } = reported
        if (created === undefined) return
        const kept = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']
        counts(created as Members, kept)
        if (
          sum(...kept.map((name) => (created as Members)[name])) !== reported['cache_creation_input_tokens']
        )
          throw new Error('the parts of cache_creation are not its sum')
      },
    },
  }
}

function counts(reported: Members, names: readonly string[]): void {
  const odd = names.find((name) => !Number.isSafeInteger(reported[name]) || Number(reported[name]) < 0)
  if (odd !== undefined) throw new Error(`${odd} is ${JSON.stringify(reported[odd])}`)
}
