import { API_PREFIX } from '../../../schemas/api-prefix.ts'

/** A path that clients know but Sluice does not serve. */
interface NotServed {
  /** The path as sent, with `{name}` for any one segment; paths below it are not served either. */
  readonly path: string
  /** The best replacement for a caller, as text for a message. */
  readonly instead: string
}

const below = (path: string, instead: string): NotServed => ({ path: API_PREFIX + path, instead })
const at = (method: string, path: string): string => `\`${method} ${API_PREFIX}${path}\``

const WRITING = ['/chat/completions', '/responses', '/messages'].map((path) => at('POST', path)).join(', ')
const SPENT = `spend by day, key, workspace and model (${at('GET', '/activity')})`
const AUDIO = `audio in chats, if the model supports it (${at('POST', '/chat/completions')})`
const MADE = `API keys created by a management key (${at('POST', '/keys')})`
const SHAPED = `answers in a JSON schema (${at('POST', '/chat/completions')} with \`response_format\`)`
const TEXTS = `${WRITING}, ${at('POST', '/embeddings')}, ${at('GET', '/models')}`

/** Every path that `@openrouter/sdk` 1.3.19 calls and that no operation has, and older paths of inference. */
export const NOT_SERVED: readonly NotServed[] = [
  below('/chat/completions', TEXTS),
  below('/completions', TEXTS),
  below('/responses', TEXTS),
  below('/messages', TEXTS),
  below('/interns/{id}/chat/completions', `chats with an intern key (${at('POST', '/chat/completions')})`),
  below('/analytics', SPENT),
  below('/classifications', SPENT),
  below('/datasets', SPENT),
  below('/audio', AUDIO),
  below('/auth', MADE),
  below('/oauth', MADE),
  below('/benchmarks', `models sorted by their scores in the catalogue (${at('GET', '/models')})`),
  below('/generation/feedback', `the record of a call (${at('GET', '/generation')})`),
  below(
    '/guardrails',
    `allowed models and limits of keys (${at('PATCH', '/keys/{hash}')}), and budgets of workspaces ` +
      `(${at('PUT', '/workspaces/{workspace_ref}/budgets/{interval}')})`,
  ),
  below(
    '/images',
    `images from models that create them (${at('POST', '/chat/completions')} with \`modalities\`), ` +
      `and videos (${at('POST', '/videos')})`,
  ),
  below(
    '/moderations',
    `chats, in which a model can judge a text (${at('POST', '/chat/completions')} with \`response_format\`): ` +
      'send moderation calls directly to the provider',
  ),
  below(
    '/observability',
    `the record of a call (${at('GET', '/generation')}), and sends the \`trace\` of each call to the URL in ` +
      '`SLUICE_BROADCAST`',
  ),
  below('/rerank', `embeddings, to rank documents yourself (${at('POST', '/embeddings')})`),
  below('/systemone', SHAPED),
  below('/api/alpha', SHAPED),
  // The client sends this call without the prefix.
  { path: '/api/alpha', instead: SHAPED },
]

const TEMPLATES = NOT_SERVED.map(({ path, instead }) => ({ segments: path.split('/'), instead }))

/** @param path as sent @returns the replacement; null for a path that no client knows */
export function servedInstead(path: string): string | null {
  const given = path.split('/')
  const known = TEMPLATES.find(
    ({ segments }) =>
      segments.length <= given.length &&
      segments.every((segment, nth) =>
        segment.startsWith('{') ? given[nth] !== '' : segment === given[nth],
      ),
  )
  return known?.instead ?? null
}
