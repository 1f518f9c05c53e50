import t from 'tap'
import { openEmbeddings, type EmbeddingsFront } from '../../support/embeddings/embeddings-front.ts'

const messageOf = async ({ post }: EmbeddingsFront, body: Record<string, unknown>) =>
  (await post({ input: 'x', ...body })).body.error?.message ?? ''

t.test('the error for an unknown model suggests similar names that the key may use', async (t) => {
  const front = await openEmbeddings(t)
  t.match(await messageOf(front, { model: 'acme/embde' }), /no `acme\/embde`\. Nearest: `acme\/embed`\./)
  t.match(await messageOf(front, { model: 'lexical-1' }), /Nearest: `sluice\/lexical-1`\./)
  t.match(await messageOf(front, { model: 'other/embed' }), /Nearest: `acme\/embed`\./)
  t.match(
    await messageOf(front, { model: 'completely/other' }),
    /List all models with `GET \/api\/v1\/models\?output_modalities=all`\./,
  )
  t.notMatch(await messageOf(front, { model: `sk-sluice-v1-${'i'.repeat(43)}` }), /iiii/)
  const narrow = await openEmbeddings(t, { keys: { allowedModels: ['acme/one'] } })
  t.notMatch(await messageOf(narrow, { model: 'acme/embde' }), /Nearest/)
})

t.test('the error for a variant that the model lacks says how to call the model instead', async (t) => {
  const front = await openEmbeddings(t)
  for (const [suffix, cure] of [
    ['nitro', ' with `"provider": {"sort": "throughput"}`'],
    ['floor', ' with `"provider": {"sort": "price"}`'],
    ['free', ''],
  ] as const)
    t.match(
      await messageOf(front, { model: `sluice/lexical-1:${suffix}` }),
      `\`sluice/lexical-1:${suffix}\`. \`sluice/lexical-1\` has no such variant: call it as \`sluice/lexical-1\`${cure}.`,
    )
  const narrow = await openEmbeddings(t, { keys: { allowedModels: ['acme/one'] } })
  t.notMatch(await messageOf(narrow, { model: 'sluice/lexical-1:nitro' }), /variant/)
})

t.test('the request log keeps the name of an unknown model only if it resembles a known one', async (t) => {
  const front = await openEmbeddings(t)
  const names = [
    'acme/embde',
    'ACME/none',
    'completely/other',
    'canary text',
    `sk-sluice-v1-${'i'.repeat(43)}`,
  ]
  for (const [nth, model] of names.entries()) {
    await front.post({ input: 'x', model })
    await front.untilSettled(nth + 1)
  }
  t.same(
    front.settled.map(({ askedModel }) => askedModel),
    ['acme/embde', 'ACME/none', undefined, undefined, undefined],
  )
  const [first, second, ...others] = front.settled.map(({ reason }) => reason?.() ?? null)
  t.match(first, { facts: { nearest: /^acme\/embed/ } }, 'the nearest names of the catalogue')
  t.match(second, { facts: { nearest: /^acme\/one/ } })
  t.same(others, [null, null, null])
})

t.test('the caller and the request log get the name of a model that the key may not use', async (t) => {
  const front = await openEmbeddings(t, { keys: { allowedModels: ['acme/one'] } })
  t.match(
    await messageOf(front, { model: 'acme/embed' }),
    /`acme\/embed` is not in the key's list of models\./,
  )
  await front.untilSettled(1)
  t.equal(front.settled[0]?.askedModel, 'acme/embed')
})

t.test('the error for a model of another operation names its output and suitable models', async (t) => {
  const front = await openEmbeddings(t)
  t.match(
    await messageOf(front, { model: 'acme/chat' }),
    /`acme\/chat` makes texts\. Embeddings are made by `acme\/embed`,/,
  )
  await front.untilSettled(1)
  t.equal(front.settled[0]?.askedModel, 'acme/chat', 'the request log has it')
})

t.test('the error for a provider without a key names it, and only the log names its variable', async (t) => {
  const front = await openEmbeddings(t)
  const message = await messageOf(front, { model: 'acme/unset' })
  t.match(
    message,
    /`acme\/unset` is served by `unset`\. The operator of this installation must set the provider's API key;/,
  )
  t.notMatch(message, /UNSET_KEY/)
  await front.untilSettled(1)
  t.match(String(front.settled[0]?.cause), /unset needs UNSET_KEY/)
  t.match(front.settled[0]?.reason?.(), {
    message: /`acme\/unset` is served by `unset`\./,
    facts: { variables: 'UNSET_KEY for unset' },
  })
})

t.test('the error for a provider in `only` that the model lacks suggests a similar one', async (t) => {
  const front = await openEmbeddings(t)
  t.match(
    await messageOf(front, { model: 'acme/embed', provider: { only: ['frist'] } }),
    /no provider `frist`\. Nearest: `first`\./,
  )
  t.match(
    await messageOf(front, { model: 'acme/embed', provider: { only: ['zzz'] } }),
    /no provider `zzz`\. The model has: `first`, `second`\./,
  )
})
