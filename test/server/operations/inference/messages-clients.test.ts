/** Errors and counts as the client of Anthropic shows them; the proof `chat-clients` has its other calls. */
import t from 'tap'
import { KEY } from '../../../support/front.ts'
import { PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import { refusesMessages } from '../../../support/inference/fake-messages.ts'
import { openMessagesProvider } from '../../../support/inference/messages-front.ts'
import { load } from '../../../support/wire/foreign-clients.ts'

interface Client {
  readonly messages: {
    create(body: object): Promise<object>
    countTokens(body: object): Promise<{ readonly input_tokens: number }>
  }
}
type ErrorClass = new (...given: never) => object
interface Package {
  readonly default: new (options: object) => Client
  readonly [name: string]: ErrorClass | (new (options: object) => Client)
}

const messages = [{ role: 'user', content: 'Hello there' }]
const asked = { model: 'acme/one', max_tokens: 9, messages }

t.test("Anthropic's client raises each error as its own class, with type and id", async (t) => {
  const anthropic = (await load('@anthropic-ai/sdk')) as Package
  const { url, first } = await openMessagesProvider(t)
  const clientOf = (apiKey: string): Client =>
    new anthropic.default({ baseURL: `${url}/api`, apiKey, maxRetries: 0 })
  const client = clientOf(KEY)
  const raised = (call: Promise<object>): Promise<unknown> => call.catch((error: unknown) => error)
  const refused = (status: number): Promise<unknown> => {
    first.script(refusesMessages(status))
    return raised(client.messages.create(asked))
  }
  const cases: readonly (readonly [Promise<unknown>, string, object])[] = [
    [
      raised(client.messages.create({ ...asked, max_tokens: 0 })),
      'BadRequestError',
      { status: 400, type: 'invalid_request_error', message: /max_tokens/ },
    ],
    [
      raised(clientOf('sk-slc-none').messages.create(asked)),
      'AuthenticationError',
      { status: 401, type: 'authentication_error' },
    ],
    [
      raised(client.messages.create({ ...asked, model: 'acme/none' })),
      'NotFoundError',
      { status: 404, type: 'not_found_error', message: /acme\/none/ },
    ],
  ]
  for (const [call, name, members] of cases) {
    const error = await call
    t.ok(error instanceof (anthropic[name] as ErrorClass), name)
    t.match(error, { ...members, requestID: /^\S+$/ })
  }
  t.match(await refused(529), { status: 529, type: 'overloaded_error' })
  t.match(await refused(500), { status: 502, type: 'api_error' })
})

t.test("Anthropic's client counts tokens, and gets a 404 if no provider can count", async (t) => {
  const { default: Anthropic } = (await load('@anthropic-ai/sdk')) as Package
  const { url, first } = await openMessagesProvider(t)
  const client = new Anthropic({ baseURL: `${url}/api`, apiKey: KEY, maxRetries: 0 })
  t.same(await client.messages.countTokens({ model: 'acme/one', messages }), { input_tokens: PROMPT_TOKENS })
  first.script(refusesMessages(404))
  const none = client.messages.countTokens({ model: 'acme/one', messages })
  t.match(await none.catch((error: unknown) => error), { status: 404, type: 'not_found_error' })
})
