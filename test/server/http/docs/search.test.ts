import { pathToFileURL } from 'node:url'
import t from 'tap'
import { search, termsOf, type SearchIndex } from '../../../../src/server/http/docs/guides-search.ts'
import { searchIndexOf } from '../../../../src/server/http/reference/pages/search-index.ts'
import { ROOT } from '../../../support/source.ts'

const FILE = pathToFileURL(`${ROOT}dist/src/server/http/docs/guides-index.js`).href
const { default: index } = (await import(FILE)) as { default: SearchIndex }

/** What people ask, and the page that answers it. */
const QUESTIONS: readonly (readonly [question: string, page: string])[] = [
  ['how do I embed text', 'guides/embeddings'],
  ['find the nearest text with vectors', 'guides/embeddings'],
  ['base64 or float encoding of vectors', 'guides/embeddings'],
  ['which endpoint serves my call', 'guides/routing'],
  ['fallback when a provider fails', 'guides/routing'],
  ['allow_fallbacks', 'guides/routing'],
  ['how many requests a minute may a key send', 'guides/rate-limits'],
  ['what does Retry-After mean', 'guides/rate-limits'],
  ['tokens a minute limit headers', 'guides/rate-limits'],
  ['which errors should I retry', 'guides/errors'],
  ['what does error_type mean', 'guides/errors'],
  ['read a stream of server-sent events', 'guides/streaming'],
  ['how do I stop a stream', 'guides/streaming'],
  ['chat, responses or messages: which call to choose', 'guides/streaming'],
  ['keep costs of a team within limits', 'guides/costs'],
  ['why is a call refused with money left', 'guides/costs'],
  ['spend less', 'guides/costs'],
  ['set a monthly budget for a workspace', 'guides/money'],
  ['rotate an API key', 'guides/keys'],
  ['what may a key with scopes do', 'guides/keys'],
  ['use Claude Code with Sluice', 'guides/messages'],
  ['configure Codex', 'guides/responses'],
  ['make a video', 'guides/videos'],
  ['verify the signature of a webhook', 'guides/webhooks'],
  ['upload a file', 'guides/files'],
  ['save a request as a preset', 'guides/presets'],
  ['store a secret in the vault', 'guides/vault'],
  ["workspace's own key for a provider", 'guides/provider-keys'],
  ['private endpoint for my own model', 'guides/endpoints'],
  ['add vLLM or Ollama to the catalogue', 'guides/models'],
  ['connect Okta by SCIM', 'guides/scim'],
  ['environment variables of the node', 'guides/settings'],
  ['back up and restore', 'guides/backup'],
  ['upgrade without downtime', 'guides/upgrading'],
  ['move from LiteLLM', 'guides/coming-from'],
  ['verify the audit log', 'guides/audit'],
  ['budget_exceeded', 'errors/budget_exceeded'],
  ['upstream_overloaded', 'errors/upstream_overloaded'],
  ['model_unknown', 'errors/model_unknown'],
  ['keys.rotate', 'reference/keys'],
]

t.test('forty questions find the right page first', async (t) => {
  t.equal(QUESTIONS.length, 40)
  const wrong = QUESTIONS.flatMap(([question, page]) => {
    const found = search(index, question, 5).map(({ path }) => path.replace(/#.*/, '').replace('/docs/', ''))
    return found[0] === page ? [] : [`${question}: ${found.join(' ')}, not ${page}`]
  })
  t.same(wrong, [])
})

/** Names of products and of ways to sign in, and pages of which one has to come first. */
const NAMES: readonly (readonly [name: string, pages: readonly string[]])[] = [
  ['cors', ['guides/keys', 'guides/settings']],
  ['langchain', ['guides/chat']],
  ['langfuse', ['guides/metrics']],
  ['sso', ['guides/scim']],
  ['helm', ['guides/deployment']],
  ['azure', ['guides/models', 'guides/endpoints']],
]

t.test('product names find the page about using the product', async (t) => {
  for (const [name, pages] of NAMES) {
    const [first] = search(index, name, 1)
    t.ok(
      pages.includes(first?.path.replace(/#.*/, '').replace('/docs/', '') ?? ''),
      `${name}: ${first?.path}`,
    )
  }
})

t.test(
  'a question of punctuation, stop words or names of object properties finds nothing, and does not fail',
  async (t) => {
    for (const question of [
      '',
      '???',
      'the of a',
      '<script>',
      'constructor __proto__ hasOwnProperty',
      '.*+?^${}()|[]\\',
    ])
      t.same(
        search(index, question).filter(({ path }) => !path.startsWith('/docs')),
        [],
        question,
      )
    t.same(search(index, 'the of a'), [])
  },
)

t.test('an unfinished word finds words that begin with it', async (t) => {
  t.equal(search(index, 'webho')[0]?.page, 'Webhooks')
})

t.test('ignores English word endings, and leaves short words unchanged', async (t) => {
  t.same(
    termsOf('Keys keys, embedding embedded embeds; retries retry'),
    termsOf('key key embed embed embed retry retry'),
  )
  t.same(termsOf('sse api key_hash'), ['sse', 'api', 'key_hash', 'key', 'hash'])
  t.same(termsOf('429 on port 11434, 20 of 1.5 USD'), ['429', 'port', '11434', 'usd'])
})

t.test('a section is found by its own text, with its anchor, and its page only once', async (t) => {
  const html = (title: string, parts: string): string =>
    `<html><main id="content"><h1>${title}</h1>\n<p>Begin</p>${parts}<nav class="turns">noise</nav></main></html>`
  const two = searchIndexOf([
    {
      path: '/a',
      html: html(
        'Boats',
        '<h2 id="sail">Sails <a class="anchor">#</a></h2><p>wind &amp; mast</p><h2 id="oar">Oars</h2><p>wind</p>',
      ),
      weight: 1,
    },
    { path: '/b', html: html('Bread', '<p>flour</p>'), weight: 1 },
  ])
  t.same(search(two, 'sails'), [{ path: '/a#sail', page: 'Boats', title: 'Sails' }])
  t.same(
    search(two, 'wind').map(({ path }) => path.replace(/#.*/, '')),
    ['/a'],
  )
  t.same(search(two, 'noise'), [])
})
