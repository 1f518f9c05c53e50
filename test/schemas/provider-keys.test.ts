import t from 'tap'
import { SECRET_NAME_CHARS_MAX } from '../../src/schemas/vault/vault-limits.ts'
import {
  isProviderKey,
  providerKeyHost,
  providerKeyName,
} from '../../src/schemas/workspaces/provider-keys.ts'
import { isSecretName } from '../../src/schemas/vault/vault.ts'

t.test('the name of a provider key is the slug, with unsuitable characters replaced', async (t) => {
  t.same(
    ['openai', 'anthropic', 'google-ai-studio', 'Voyage.AI', 'a__b--c', '-x-', '01-ai', '9'].map(
      providerKeyName,
    ),
    [
      'openai_api_key',
      'anthropic_api_key',
      'google_ai_studio_api_key',
      'voyage_ai_api_key',
      'a_b_c_api_key',
      'x_api_key',
      'provider_01_ai_api_key',
      'provider_9_api_key',
    ],
  )
})

t.test('every slug gives a valid name of a secret', async (t) => {
  const slugs = ['', '-', '語', 'x'.repeat(400), `${'x'.repeat(246)}-y`, '9'.repeat(400), 'a b/c:d']
  for (const slug of slugs) t.ok(isSecretName(providerKeyName(slug)), slug)
  t.equal(providerKeyName('x'.repeat(400)).length, SECRET_NAME_CHARS_MAX)
})

t.test('the host of a provider is the host of its address, in the form that secrets use', async (t) => {
  t.equal(providerKeyHost('https://API.openai.com:8443/v1'), 'api.openai.com')
  t.equal(providerKeyHost('http://localhost:9/v1'), 'localhost')
  for (const none of ['', 'http://127.0.0.1/v1', 'http://[::1]:80', 'nothing'])
    t.equal(providerKeyHost(none), null, none)
})

t.test('a key has only visible ASCII characters', async (t) => {
  t.ok(isProviderKey('sk-!~09'))
  for (const text of ['', 'a b', 'a\n', 'a\r\nx: y', 'é', 'a\0'])
    t.notOk(isProviderKey(text), JSON.stringify(text))
})
