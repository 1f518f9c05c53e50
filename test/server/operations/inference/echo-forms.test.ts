/** Answers of `sluice/echo-1` by a schema, in all dialects. D35. */
import t from 'tap'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChat } from '../../../support/inference/chat-front.ts'

const messages = [{ role: 'user', content: 'Hello there' }]
const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
}

interface Form {
  readonly path: string
  readonly body: (schema: unknown) => object
  /** Where the text of an answer is. */
  readonly stated: RegExp
  /** The member with the schema. */
  readonly at: string
}

const stated = String.raw`"((?:\\.|[^"\\])*)"`
const FORMS: readonly Form[] = [
  {
    path: '/chat/completions',
    body: (schema) => ({
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } },
    }),
    stated: new RegExp(`"content":${stated}`),
    at: '/response_format/json_schema/schema',
  },
  {
    path: '/responses',
    body: (schema) => ({
      input: 'Hello there',
      text: { format: { type: 'json_schema', name: 'n', strict: true, schema } },
    }),
    stated: new RegExp(`"text":${stated}`),
    at: '/text/format/schema',
  },
  {
    path: '/messages',
    body: (schema) => ({
      messages,
      max_tokens: 9,
      output_config: { format: { type: 'json_schema', schema } },
    }),
    stated: new RegExp(`"text":${stated}`),
    at: '/output_config/format/schema',
  },
]

for (const { path, body, stated, at } of FORMS)
  t.test(`${path}: a schema that allows the text returns it as JSON, and others are refused`, async (t) => {
    const { url } = await openChat(t)
    const ask = async (schema: unknown): Promise<{ readonly status: number; readonly text: string }> => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sluice/echo-1', ...body(schema) }),
      })
      return { status: response.status, text: await response.text() }
    }
    const { status, text } = await ask(SCHEMA)
    t.equal(status, 200)
    const [, json = ''] = stated.exec(text) ?? []
    t.same(JSON.parse(JSON.parse(`"${json}"`) as string), { text: 'Hello there' }, text)
    for (const schema of [undefined, { ...SCHEMA, required: ['city'] }, { $ref: '#' }]) {
      const refused = await ask(schema)
      t.equal(refused.status, 400)
      t.match(JSON.parse(refused.text), { error: { metadata: { issues: [{ path: at }] } } })
    }
  })
