import t from 'tap'
import { JSON_BODY_BYTES_MAX, SESSION_ID_CHARS_MAX } from '../../../../src/schemas/limits/limits.ts'
import { PRESET_BYTES_MAX, PRESET_SLUG_CHARS_MAX } from '../../../../src/schemas/presets/preset-limits.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { patient } from '../../../support/front.ts'
import { openInternsFront, type Answered } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'

/**
 * Shared: every test has slugs of its own. Without deadlines: 200 requests at once wait for each other, for
 * seconds on a loaded machine.
 */
const front = await openInternsFront(t, {}, { timers: patient() })
const { call, key, store, workspace, other, foreignKey } = front
const internKey = must(
  await createInternKey(store, { internId: await front.intern(), organizationId: front.organizationId }, CLI),
).key

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const FORMS = [
  {
    form: 'responses',
    needs: { input: 'x' },
    titles: {
      400: 'presets.create_from_responses 400: slugs, bodies and queries that are refused leave nothing',
      403: 'presets.create_from_responses 403: inference and intern keys may not save',
      404: 'presets.create_from_responses 404: workspaces that are unknown or of another organization',
      409: 'presets.create_from_responses 409: the same key and body have the first answer again, another body has none',
      header:
        'presets.create_from_responses 400: a session id of the header is too long, unless the body has one',
    },
  },
  {
    form: 'chat/completions',
    needs: { messages: [] },
    titles: {
      400: 'presets.create_from_chat 400: slugs, bodies and queries that are refused leave nothing',
      403: 'presets.create_from_chat 403: inference and intern keys may not save',
      404: 'presets.create_from_chat 404: workspaces that are unknown or of another organization',
      409: 'presets.create_from_chat 409: the same key and body have the first answer again, another body has none',
      header: 'presets.create_from_chat 400: a session id of the header is too long, unless the body has one',
    },
  },
  {
    form: 'messages',
    needs: { messages: null },
    titles: {
      400: 'presets.create_from_messages 400: slugs, bodies and queries that are refused leave nothing',
      403: 'presets.create_from_messages 403: inference and intern keys may not save',
      404: 'presets.create_from_messages 404: workspaces that are unknown or of another organization',
      409: 'presets.create_from_messages 409: the same key and body have the first answer again, another body has none',
      header:
        'presets.create_from_messages 400: a session id of the header is too long, unless the body has one',
    },
  },
]

type Data = Readonly<Record<string, unknown>> & {
  readonly designated_version: Readonly<Record<string, unknown>>
}
const dataOf = ({ status, body }: Answered): Data => {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body['data'] as Data
}
const save = (
  slug: string,
  body: object,
  more: { readonly query?: string; readonly headers?: Record<string, string>; readonly key?: string } = {},
) => call('POST', `/presets/${slug}/responses${more.query ?? ''}`, { body, ...more })
const pathsOf = ({ body }: Answered) =>
  (body['error'] as { metadata: { issues?: { path: string }[] } }).metadata.issues?.map(({ path }) => path)

t.test(
  'presets.create_from_responses 200: a new slug creates a preset with version 1 and every key that clients require',
  async (t) => {
    const data = dataOf(
      await save('first', {
        model: 'acme/text',
        instructions: 'Be brief.',
        input: 'Hello',
        temperature: 0.2,
      }),
    )
    const {
      id,
      created_at,
      updated_at,
      creator_user_id,
      designated_version_id,
      designated_version,
      ...others
    } = data
    t.same(others, {
      name: 'first',
      slug: 'first',
      description: null,
      status: 'active',
      status_updated_at: null,
      workspace_id: workspace.id,
    })
    t.match([id, created_at, updated_at, creator_user_id], [UUID, INSTANT, INSTANT, /^[0-9a-f]{64}$/])
    const {
      id: versionId,
      created_at: versionCreated,
      updated_at: versionUpdated,
      ...version
    } = designated_version
    t.equal(versionId, designated_version_id)
    t.match([versionId, versionCreated, versionUpdated], [UUID, INSTANT, INSTANT])
    t.same(version, {
      preset_id: id,
      version: 1,
      system_prompt: 'Be brief.',
      config: { model: 'acme/text', temperature: 0.2 },
      creator_id: creator_user_id,
    })
  },
)

t.test(
  'presets.create_from_chat 200: adds and designates the next version of a slug, with the system messages as its prompt',
  async (t) => {
    const first = dataOf(await save('grows-by-chat', { model: 'a/b' }))
    const chat = dataOf(
      await call('POST', '/presets/grows-by-chat/chat/completions', {
        body: {
          model: 'a/c',
          max_tokens: 5,
          messages: [
            { role: 'system', content: 'S' },
            { role: 'user', content: 'hi' },
          ],
        },
      }),
    )
    t.match(chat, {
      id: first['id'],
      created_at: first['created_at'],
      designated_version: { version: 2, system_prompt: 'S' },
    })
    t.same(chat.designated_version['config'], { model: 'a/c', max_tokens: 5 })
  },
)

t.test(
  'presets.create_from_messages 200: adds and designates the next version of a slug, with `system` as its prompt',
  async (t) => {
    const first = dataOf(await save('grows-by-messages', { model: 'a/b' }))
    const body = {
      model: 'a/d',
      max_tokens: 6,
      system: [
        { type: 'text', text: 'T' },
        { type: 'text', text: 'U' },
      ],
      messages: [],
    }
    const second = dataOf(await call('POST', '/presets/grows-by-messages/messages', { body }))
    t.match(second, { id: first['id'], designated_version: { version: 2, system_prompt: 'T\n\nU' } })
    t.same(second.designated_version['config'], { model: 'a/d', max_tokens: 6 })
  },
)

t.test('a preset is returned as it was sent, with its order, NUL characters and empty prompt', async (t) => {
  const config =
    '{"tools":[{"type":"custom","z":"a\\u0000b","a":1}],"model":"a/b","metadata":{"z":"1","a":"2"}}'
  const made = await fetch(`${front.url}/presets/as-sent/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await key('management')}`, 'content-type': 'application/json' },
    body: config.replace(/}$/, ',"instructions":""}'),
  })
  t.ok((await made.text()).includes(`"config":${config},`))
  const [row] = await store.sql<{ config: string; prompt: string }[]>`
    SELECT v.config, v.system_prompt AS prompt FROM preset_versions v JOIN presets p ON p.id = v.preset_id WHERE p.slug = 'as-sent'`
  t.same({ ...row }, { config, prompt: '""' })
})

t.test('a request of four megabytes of history is saved', async (t) => {
  const input = Array.from({ length: 40_000 }, (_, i) => ({
    role: 'user',
    content: `${i} ${'x'.repeat(60)}`,
  }))
  t.ok(JSON.stringify({ input }).length < JSON_BODY_BYTES_MAX)
  t.same(dataOf(await save('history', { model: 'a/b', input })).designated_version['config'], {
    model: 'a/b',
  })
})

t.test(
  'saves to the default workspace or to the one that `workspace_id` names by UUID or slug; each workspace has its own slugs',
  async (t) => {
    t.equal(dataOf(await save('whose', {}))['workspace_id'], workspace.id)
    const bySlug = dataOf(await save('whose', {}, { query: '?workspace_id=other' }))
    t.match(bySlug, { workspace_id: other.id, designated_version: { version: 1 } })
    const byId = dataOf(await save('whose', {}, { query: `?workspace_id=${other.id.toUpperCase()}` }))
    t.match(byId, { id: bySlug['id'], designated_version: { version: 2 } })
  },
)

t.test('two organizations can use the same slug', async (t) => {
  const own = dataOf(await save('both', { model: 'a/own' }))
  const foreign = dataOf(await save('both', { model: 'a/foreign' }, { key: foreignKey }))
  t.not(foreign['id'], own['id'])
  t.equal(foreign.designated_version['version'], 1)
})

for (const { form, needs, titles } of FORMS) {
  const post = (
    slug: string,
    more: object = {},
    options: { query?: string; headers?: Record<string, string>; key?: string } = {},
  ) =>
    call('POST', `/presets/${slug}/${form}${options.query ?? ''}`, {
      ...options,
      body: { ...needs, ...more },
    })

  t.test(titles[400], async (t) => {
    const before = await countsOf()
    for (const slug of ['a%20b', 'a%2Fb', 'a@1', '%00', 'x'.repeat(PRESET_SLUG_CHARS_MAX + 1)]) {
      const refused = await post(slug)
      t.match([slug, refused.status, refused.type], [slug, 400, 'params_invalid'])
    }
    const wrong = await post('wrong', { temperature: 'hot', provider: { zrd: true } })
    t.same(
      [wrong.status, wrong.type, pathsOf(wrong)],
      [400, 'body_invalid', ['/temperature', '/provider/zrd']],
    )
    t.match(await post('wrong', { model: 'x'.repeat(PRESET_BYTES_MAX) }), {
      status: 400,
      type: 'preset_too_large',
    })
    t.match(await post('wrong', { previous_response_id: 'r' }), {
      status: 400,
      type: 'previous_response_unsupported',
    })
    t.match(await post('wrong', {}, { query: '?workspace_id=' }), { status: 400, type: 'query_invalid' })
    t.same(await countsOf(), before)
  })

  t.test(titles.header, async (t) => {
    const long = { 'x-session-id': 'a'.repeat(SESSION_ID_CHARS_MAX + 1) }
    t.match(await post(`session-${form.slice(0, 4)}`, {}, { headers: long }), {
      status: 400,
      type: 'header_invalid',
    })
    t.match(await post(`session-${form.slice(0, 4)}`, { session_id: 's' }, { headers: long }), {
      status: 200,
    })
  })

  t.test(titles[403], async (t) => {
    const before = await countsOf()
    for (const other of [await key('inference'), internKey])
      t.match(await post('kinds', {}, { key: other }), { status: 403, type: 'wrong_key_kind' })
    t.same(await countsOf(), before)
  })

  t.test(titles[404], async (t) => {
    const before = await countsOf()
    for (const reference of ['nowhere', '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e']) {
      t.match(await post('kinds', {}, { query: `?workspace_id=${reference}` }), {
        status: 404,
        type: 'workspace_unknown',
      })
    }
    t.match(await post('kinds', {}, { query: `?workspace_id=${other.id}`, key: foreignKey }), {
      status: 404,
      type: 'workspace_unknown',
    })
    t.same(await countsOf(), before)
  })

  t.test(titles[409], async (t) => {
    const headers = { 'idempotency-key': `once-${form}` }
    const slug = `once-${form.slice(0, 4)}`
    const first = await post(slug, { model: 'a/b' }, { headers })
    const again = await post(slug, { model: 'a/b' }, { headers })
    t.same(again.body, first.body)
    t.equal(again.headers.get('idempotent-replayed'), 'true')
    t.match(await post(slug, { model: 'a/c' }, { headers }), { status: 409, type: 'idempotency_mismatch' })
    t.equal(dataOf(await post(slug, { model: 'a/d' })).designated_version['version'], 2)
  })
}

t.test(
  'the audit log has one event for each version, with the operation and without prompt or config',
  async (t) => {
    for (const { form, needs } of FORMS) {
      const body = {
        ...needs,
        model: 'a/b',
        system: 'secret-prompt',
        instructions: 'secret-prompt',
        messages: [{ role: 'system', content: 'secret-prompt' }],
      }
      dataOf(
        await call('POST', '/presets/logged/' + form, {
          body: form === 'responses' ? { ...body, messages: undefined } : body,
        }),
      )
    }
    const events = (await auditOf(store)).filter((event) => JSON.stringify(event).includes('logged'))
    t.match(
      events,
      FORMS.map(({ titles }) => ({
        operation: titles[400].split(' ')[0],
        object_kind: 'preset',
        outcome: 'changed',
      })),
    )
    t.equal(events.length, FORMS.length)
    t.notMatch(JSON.stringify(events), /secret-prompt/)
  },
)

t.test(
  '200 concurrent requests on a new slug, in all three forms, make one preset with versions 1 to n',
  async (t) => {
    const sent = Array.from({ length: 67 }, () => FORMS)
      .flat()
      .slice(0, 200)
    const answers = await Promise.all(
      sent.map(({ form, needs }, i) =>
        call('POST', `/presets/at-once/${form}`, { body: { ...needs, model: `m/${i}` } }),
      ),
    )
    t.same(
      answers.filter(({ status }) => status !== 200 && status !== 409),
      [],
    )
    const saved = answers.filter(({ status }) => status === 200).map(dataOf)
    t.equal(new Set(saved.map(({ id }) => id)).size, 1)
    const versions = saved.map(({ designated_version: { version } }) => Number(version)).sort((a, b) => a - b)
    t.same(
      versions,
      Array.from({ length: saved.length }, (_, i) => i + 1),
    )
    const [row] = await store.sql<{ designated: number; latest: number; versions: number }[]>`
    SELECT designated_version AS designated, latest_version AS latest, (SELECT count(*)::int FROM preset_versions WHERE preset_id = p.id) AS versions
    FROM presets p WHERE slug = 'at-once'`
    t.same({ ...row }, { designated: saved.length, latest: saved.length, versions: saved.length })
  },
)

t.test('a body that is not a JSON object is refused', async (t) => {
  for (const body of [
    '[]',
    'null',
    '"x"',
    '5',
    '',
    '{',
    '{"model":"\\ud800"}',
    `{"tools":${'['.repeat(70)}${']'.repeat(70)}}`,
  ]) {
    const refused = await call('POST', '/presets/no-object/responses', { body })
    t.match([body, refused.status], [body, 400])
  }
  t.match(await save('no-object', {}, { headers: { 'content-type': 'text/plain' } }), { status: 400 })
  t.match((await call('POST', '/presets/no-object/responses')).status, 400, 'no body at all')
  t.match(dataOf(await save('no-object', {})).designated_version, {
    version: 1,
    config: {},
    system_prompt: null,
  })
})

async function countsOf(): Promise<object> {
  const [row] = await store.sql<object[]>`
    SELECT (SELECT count(*)::int FROM presets) AS presets, (SELECT count(*)::int FROM preset_versions) AS versions,
      (SELECT count(*)::int FROM audit) AS audited`
  return { ...row }
}
