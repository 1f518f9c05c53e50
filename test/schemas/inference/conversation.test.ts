/** How a conversation is recognized. D4. */
import t from 'tap'
import {
  AFFINITY_TEXT_UNITS_MAX,
  AFFINITY_TEXTS_MAX,
  conversationOf,
  type Conversation,
} from '../../../src/schemas/inference/conversation.ts'
import { chatInputOf } from '../../../src/dialects/chat/digest.ts'
import { messagesInputOf } from '../../../src/dialects/messages/digest.ts'
import { responsesInputOf } from '../../../src/dialects/responses/digest.ts'
import type { TextInput } from '../../../src/schemas/inference/text-request.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { must } from '../../support/must.ts'

type Turns = readonly { readonly role: string; readonly content: string }[]
type Read = (body: Readonly<Record<string, unknown>>, bytes: number) => Outcome<TextInput>

const FORMS: Readonly<Record<string, (system: string, turns: Turns, name: string | null) => Conversation>> = {
  chat: (system, turns, name) =>
    read(chatInputOf, { messages: [{ role: 'system', content: system }, ...turns], prompt_cache_key: name }),
  responses: (system, turns, name) =>
    read(responsesInputOf, { instructions: system, input: turns, prompt_cache_key: name }),
  messages: (system, turns, name) =>
    read(messagesInputOf, {
      system,
      messages: turns,
      max_tokens: 1,
      ...(name === null ? null : { metadata: { user_id: name } }),
    }),
}

function read(input: Read, body: object): Conversation {
  return must(input({ model: 'maker/model-1', ...body }, 100)).conversation
}

const FIRST = { role: 'user', content: 'What is a sluice?' }
const NEXT = [FIRST, { role: 'assistant', content: 'A gate.' }, { role: 'user', content: 'For what?' }]

for (const [form, of] of Object.entries(FORMS))
  t.test(`${form}: all turns of a conversation share a prefix, and other conversations differ`, async (t) => {
    const one = of('Be brief.', [FIRST], null)
    t.same(of('Be brief.', NEXT, null), one)
    t.not(of('Be long.', [FIRST], null).prefix, one.prefix)
    t.not(of('Be brief.', [{ role: 'user', content: 'What is a weir?' }], null).prefix, one.prefix)
    t.same(of('Be brief.', NEXT, 'mine'), { ...one, name: 'mine' })
  })

t.test('of a long text, the length, the beginning and the end count', async (t) => {
  const of = (text: string): number => conversationOf(null, { system: [text], user: [] }).prefix
  const text = 'x'.repeat(100_000)
  t.equal(of(text), of('x'.repeat(100_000)))
  t.not(of(text), of(`${text}x`))
  t.not(of(text), of(`y${text.slice(1)}`))
  t.not(of(text), of(`${text.slice(1)}y`))
  const within = AFFINITY_TEXT_UNITS_MAX
  t.not(of(text), of(`${text.slice(0, within - 1)}y${text.slice(within)}`))
  t.equal(of(text), of(`${text.slice(0, within)}y${text.slice(within + 1)}`), 'its middle does not count')
})

t.test('of many texts only the first ones count', async (t) => {
  const of = (texts: readonly string[]): number => conversationOf(null, { system: texts, user: [] }).prefix
  const texts = Array.from({ length: AFFINITY_TEXTS_MAX }, (_, nth) => String(nth))
  t.equal(of([...texts, 'more']), of(texts))
  t.not(of(texts.slice(1)), of(texts))
})

t.test('a conversation name that is empty or not a text is not used', async (t) => {
  for (const name of [null, undefined, '', 7, {}])
    t.equal(conversationOf(name, { system: [], user: [] }).name, null)
})

t.test('the same text from the system and from the user gives different prefixes', async (t) => {
  const [system, user] = [
    conversationOf(null, { system: ['a'], user: [] }),
    conversationOf(null, { system: [], user: ['a'] }),
  ]
  t.not(system.prefix, user.prefix)
})
