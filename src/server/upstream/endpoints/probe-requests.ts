import { PROBE_TOKENS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { Provider } from '../../ports/models/models.ts'
import { chatTokensMember, MAKER } from '../../../schemas/models/openai-maker.ts'
import { PROBE_TEXT } from './probe-form.ts'
import { VERSION_HEADER } from '../../../dialects/messages/native-request.ts'

const MESSAGES = [{ role: 'user', content: PROBE_TEXT }]

/** The smallest call whose answer is streamed with its usage. */
export function probeBody(form: Dialect, provider: Provider, model: string): string {
  return JSON.stringify({ model, stream: true, ...membersOf(form, provider) })
}

function membersOf(form: Dialect, provider: Provider): object {
  switch (form) {
    case 'chat':
      return {
        messages: MESSAGES,
        stream_options: { include_usage: true },
        [chatTokensMember(provider.slug === MAKER)]: PROBE_TOKENS_MAX,
      }
    case 'responses':
      return { input: PROBE_TEXT, max_output_tokens: PROBE_TOKENS_MAX, store: false }
    case 'messages':
      return { messages: MESSAGES, max_tokens: PROBE_TOKENS_MAX }
    default:
      return form satisfies never
  }
}

/** Flat list of names and values. */
export function headersOf(form: Dialect): readonly string[] {
  return form === 'messages' ? VERSION_HEADER : []
}
