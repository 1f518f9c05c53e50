import t from 'tap'
import { chatInputOf } from '../../../src/dialects/chat/digest.ts'
import { messagesInputOf } from '../../../src/dialects/messages/digest.ts'
import { responsesInputOf } from '../../../src/dialects/responses/digest.ts'
import type { TextInput } from '../../../src/schemas/inference/text-request.ts'
import { must } from '../../support/must.ts'
import { isOneShape } from '../../support/shape.ts'

const BYTES = 1_000
const messages = [{ role: 'user', content: 'Hello there' }]
const BODIES: Readonly<Record<string, () => TextInput>> = {
  chat: () => must(chatInputOf({ model: 'm', messages }, BYTES)),
  messages: () => must(messagesInputOf({ model: 'm', max_tokens: 5, messages }, BYTES)),
  responses: () => must(responsesInputOf({ model: 'm', input: 'Hello there' }, BYTES)),
}

// An object literal that begins with a spread and then gets members is of a new hidden class each time.
for (const [name, inputOf] of Object.entries(BODIES))
  t.test(`the values read from every body of ${name} have the same hidden class`, (t) => {
    t.ok(isOneShape(inputOf), 'the whole')
    t.ok(
      isOneShape(() => inputOf().size),
      'its size',
    )
    t.end()
  })
