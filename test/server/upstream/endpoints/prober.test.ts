import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import { PROBE_ANSWER_BYTES_MAX, PROBE_MS_MAX } from '../../../../src/schemas/endpoints/endpoint-limits.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { EgressRequest, VettedOrigin } from '../../../../src/server/ports/egress/egress.ts'
import type { SecretReleases } from '../../../../src/server/ports/vault/vault.ts'
import type { PrivateEndpoint } from '../../../../src/server/ports/endpoints/private-endpoints.ts'
import { createProber } from '../../../../src/server/upstream/endpoints/prober.ts'
import { threads } from '../../../support/front.ts'
import { must } from '../../../support/must.ts'

const ENDPOINT: PrivateEndpoint = {
  id: 'e',
  organizationId: 'o',
  workspaceId: null,
  status: 'draft',
  modelPermaslug: 'acme/own',
  providerSlug: 'custom',
  upstreamModelId: 'm',
  baseUrl: 'https://a.example/v1',
  declaredRegion: null,
  declaredZdr: null,
  pricing: null,
  secretName: 's',
  forms: null,
  speaks: ['embeddings'],
  createdAt: new Date(0),
}
const WISH = {
  endpoint: ENDPOINT,
  workspaceId: 'w',
  forms: ['embeddings'] as const,
  call: new AbortController(),
  by: { actor: { kind: 'key', id: 'k' }, requestId: 'r', operation: 'private_endpoints.validate' } as const,
}

function proberOver(call: VettedOrigin['call'], release?: SecretReleases['release']) {
  return proberAt({ call } as VettedOrigin, release)
}

function proberAt(
  origin: VettedOrigin,
  release: SecretReleases['release'] = () => Promise.resolve(ok(new Secret('word-of-the-vault'))),
) {
  return createProber({
    egress: { vetted: () => ok(origin) },
    jobs: threads(),
    releases: { release },
    providers: [],
    now: () => 1_000,
  })
}

t.test('a probe has its own deadline and size limit, and is aborted with its caller', async (t) => {
  let sent: EgressRequest | null = null
  const prober = proberOver((request) => {
    sent = request
    return Promise.resolve(fail('upstream_slow'))
  })
  t.match(must(await prober.probe(WISH)), {
    isSlow: true,
    checks: [
      { name: 'credential_ok', passed: true },
      { name: 'response_ok', passed: false },
    ],
  })
  t.match(sent, {
    attemptEndsAt: 1_000 + PROBE_MS_MAX,
    answerBytesMax: PROBE_ANSWER_BYTES_MAX,
    mayCutSent: true,
    path: '/v1/embeddings',
    headers: [
      'content-type',
      'application/json',
      'accept',
      'application/json',
      'accept-encoding',
      'identity',
      'user-agent',
      'sluice',
      'authorization',
      'Bearer word-of-the-vault',
    ],
  })
})

t.test('a credential that calls would refuse fails the validation, unsent', async (t) => {
  const sent = () => t.fail('nothing is to be sent')
  const prober = proberOver(sent as never, () => Promise.resolve(ok(new Secret('two words'))))
  t.same(must(await prober.probe(WISH)).checks, [
    { name: 'credential_ok', passed: false, reason: 'key_decryption_failed' },
  ])
})

t.test("a failure that is not the upstream's is returned as a failure, not as a check result", async (t) => {
  for (const name of ['busy', 'client_gone', 'draining'] as const) {
    t.match(await proberOver(() => Promise.resolve(fail(name))).probe(WISH), { ok: false, failure: { name } })
  }
  const away = proberOver(
    () => Promise.resolve(fail('busy')),
    () => Promise.resolve(fail('store_unavailable')),
  )
  t.match(await away.probe(WISH), { ok: false, failure: { name: 'store_unavailable' } })
})

t.test('an API format without room for its probe is marked unprobed, and others have checks', async (t) => {
  const calls = (call: 'busy' | 'upstream_failed', exchange: 'busy' | 'upstream_failed'): VettedOrigin =>
    ({
      call: () => Promise.resolve(fail(call)),
      exchange: () => Promise.resolve(fail(exchange)),
    }) as unknown as VettedOrigin
  const any = { ...WISH, forms: null }
  const found = must(await proberAt(calls('busy', 'upstream_failed')).probe(any))
  t.match(found.checks.at(-1), { name: 'response_ok', reason: 'upstream_error', form: 'chat' })
  t.match(found.forms, [
    { form: 'embeddings', passed: false, checks: [], is_unprobed: true },
    { form: 'chat', passed: false, checks: [{}, { reason: 'upstream_error' }] },
    { form: 'responses', passed: false },
    { form: 'messages', passed: false },
  ])
  t.equal(found.forms.filter(({ is_unprobed: is }) => is === true).length, 1)
  const none = await proberAt(calls('busy', 'busy')).probe(any)
  t.match(none, { ok: false, failure: { name: 'busy' } }, 'none was probed')
  const wanted = { ...WISH, forms: ['embeddings', 'chat'] as const }
  const one = await proberAt(calls('busy', 'upstream_failed')).probe(wanted)
  t.match(one, { ok: false, failure: { name: 'busy' } }, 'each of them is wanted')
})

t.test('an upstream that repeats the credential is quoted without it', async (t) => {
  const reported = (status: number, body: string) =>
    proberOver(() =>
      Promise.resolve(
        ok({
          status,
          isSuccess: status < 300,
          retryAfter: null,
          body: Buffer.from(body),
          release: () => undefined,
        }),
      ),
    ).probe(WISH)
  const answers = [
    await reported(401, '{"error":{"message":"no such key: word-of-the-vault","code":"word-of-the-vault"}}'),
    await reported(
      200,
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"word-of-the-vault","usage":{"prompt_tokens":1}}',
    ),
    await reported(
      200,
      `{"data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"${'x'.repeat(250)}word-of-the-vault","usage":{"prompt_tokens":1}}`,
    ),
    await reported(500, '{"detail":"Bearer word-of-the-vault at https://a.example/v1"}'),
  ]
  for (const answer of answers) {
    t.equal(
      must(answer).checks.every(({ passed }) => passed),
      false,
    )
    t.notMatch(JSON.stringify(answer), /word-o|a\.example/)
  }
})

t.test('a provider without a protocol has no name', async (t) => {
  const providers = [
    {
      slug: 'anthropic',
      name: 'A',
      protocol: 'anthropic',
      baseUrl: '',
      apiKeyEnv: null,
      timeoutMs: 1,
      rename: {},
      video: null,
    },
  ] as const
  const prober = createProber({
    egress: { vetted: () => fail('destination_refused') },
    jobs: threads(),
    releases: { release: () => Promise.resolve(fail('busy')) },
    providers,
    now: () => 0,
  })
  t.same(
    ['anthropic', 'azure', 'custom', 'OpenAI-Compatible'].map((slug) => prober.nameOf(slug)),
    ['A', null, 'OpenAI-compatible', 'OpenAI-compatible'],
  )
  t.equal(prober.mayReach('https://a.example'), false)
})
