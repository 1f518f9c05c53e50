/** C39: calls that come to the wrong place, or with a key in the wrong form, are answered with the cure. */
import t from 'tap'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { openFront } from '../../../support/front.ts'

interface Answer {
  readonly error: { readonly message: string; readonly metadata: { readonly error_type: string } }
}

t.test('404 route_unknown: a wrong base URL or port gets an explanation with the right one', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  const cases: readonly (readonly [path: string, cure: RegExp])[] = [
    [
      '/api/v1/v1/chat/completions',
      /has `\/v1` twice.*OpenAI's clients, the base URL ends in `\/api\/v1`; for Anthropic's clients, it ends in `\/api`/,
    ],
    ['/api/v1/api/v1/models', /Nearest: `\/api\/v1\/models`\. It has `\/v1` twice/],
    ['/v1/v1/messages', /`\/v1` twice/],
    ['/v1/chat/completions', /Nearest: `\/api\/v1\/chat\/completions`\. For OpenAI's clients, the base URL/],
    ['/chat/completions', /For OpenAI's clients, the base URL/],
    ['/health', /`GET \/healthz` \(the process is running\) or `GET \/readyz`/],
    ['/api/v1/health', /`GET \/healthz`/],
    ['/api/v1/readyz', /`GET \/readyz`/],
    ['/metrics', /Metrics are at `GET \/metrics` on the admin port \(`SLUICE_ADMIN_PORT`\)/],
    ['/dashboard', /The dashboard is at `\/dashboard\/` on the admin port/],
    ['/dashboard/keys', /on the admin port/],
    ['/v1/admin/requests', /Nearest: `\/api\/v1\/admin\/requests`\. For OpenAI's clients, the base URL/],
  ]
  for (const [path, cure] of cases) {
    const response = await fetch(url + path)
    const { error } = (await response.json()) as Answer
    t.equal(response.status, 404, path)
    t.equal(error.metadata.error_type, 'route_unknown', path)
    t.match(error.message, cure, path)
  }
  const nothing = (await (await fetch(`${url}/wp-login.php`)).json()) as Answer
  t.notMatch(nothing.error.message, /base URL|admin port|Nearest/)
  const misspelled = (await (await fetch(`${url}/api/v1/admin/requsts`)).json()) as Answer
  t.notMatch(misspelled.error.message, /admin port/)
})

t.test('404 not_served: the answer names moderations as unavailable under each base URL', async (t) => {
  const { url } = await openFront(t, OPERATIONS)
  for (const path of ['/api/v1/moderations', '/v1/moderations', '/api/v1/v1/moderations']) {
    const { error } = (await (await fetch(url + path, { method: 'POST' })).json()) as Answer
    t.equal(error.metadata.error_type, 'not_served', path)
    t.match(error.message, /does not serve `.*moderations`; it serves chats.*directly to the provider/)
  }
})

t.test(
  '401: a key from another vendor, in another form or in the wrong place gets a fix in the answer, and is not repeated',
  async (t) => {
    const { url } = await openFront(t, OPERATIONS)
    const random = 'Zq'.repeat(24)
    const cases: readonly (readonly [headers: Record<string, string>, name: string, cure: RegExp])[] = [
      [{ authorization: `Bearer sk-proj-${random}` }, 'key_unknown', /a key of OpenAI/],
      [{ authorization: `Bearer sk-ant-api03-${random}` }, 'key_unknown', /a key of Anthropic/],
      [{ authorization: `Bearer sk-sluice-v1-${'Z'.repeat(44)}` }, 'key_unknown', /one character too long/],
      [{ authorization: `sk-sluice-v1-${'Z'.repeat(43)}` }, 'credentials_missing', /lacks the word `Bearer`/],
      [{ 'x-api-key': `sk-sluice-v1-${'Z'.repeat(43)}` }, 'credentials_missing', /came in `x-api-key`/],
      [{ 'api-key': `sk-sluice-v1-${'Z'.repeat(43)}` }, 'credentials_missing', /came in `api-key`/],
    ]
    for (const [headers, name, cure] of cases) {
      const response = await fetch(`${url}/api/v1/models`, { headers })
      const { error } = (await response.json()) as Answer
      t.equal(response.status, 401)
      t.equal(error.metadata.error_type, name)
      t.match(error.message, cure)
      t.notMatch(error.message, /ZZZ|Zq/)
    }
  },
)
