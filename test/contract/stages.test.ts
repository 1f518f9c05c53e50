import t from 'tap'
import { BODIES } from '../../src/schemas/bodies.ts'
import { FAILURES, ok } from '../../src/schemas/failures.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { prefixOf, type AnyOperation } from '../../src/server/operations/define.ts'
import {
  accessTo,
  DISABLED_KEY,
  hurried,
  INTERN_KEY,
  KEY,
  keyRecords,
  LIMITED_KEY,
  LIMITED_MANAGEMENT_KEY,
  MANAGEMENT_KEY,
  openFront,
  SCIM_KEY,
} from '../support/front.ts'
import { rawClient, requestText } from '../support/wire/raw-http.ts'
import { failureIn } from '../support/scim/scim-errors.ts'

/**
 * What the stages before and around an operation answer, through the pipeline itself, for one operation of each
 * kind: the stages read nothing else of a definition than what `kindOf` lists. These statuses need no test of
 * each operation: `sharedStatuses` of status-coverage.ts names them.
 */
const ONE_OF_EACH_KIND = [...new Map([...OPERATIONS].reverse().map((one) => [kindOf(one), one])).values()]

function kindOf({ access, area, input, statuses }: AnyOperation): string {
  return JSON.stringify([
    [...access.keys].sort(),
    access.header ?? 'authorization',
    [access.isOfProgramme, access.refusesRegional, access.writesVault].map((flag) => flag === true),
    area === 'scim',
    [403, 408, 413, 415, 429, 504].map((status) => statuses.includes(status)),
    input.body === undefined,
    input.upload ?? 'none',
  ])
}

const { url: real } = await openFront(t, ONE_OF_EACH_KIND)
/** Each operation meets a bug where it would run. */
const { url: crashed } = await openFront(t, ONE_OF_EACH_KIND.map(crashing))
const { port: hurriedPort } = await openFront(t, ONE_OF_EACH_KIND.map(crashing), { timers: hurried() })
const { url: hung } = await openFront(
  t,
  ONE_OF_EACH_KIND.map((operation) => ({
    ...crashing(operation),
    deadlineMs: 1,
    run: () => new Promise(() => undefined),
  })),
)

for (const operation of ONE_OF_EACH_KIND) {
  const listed = (status: number, otherwise: number): number =>
    operation.statuses.includes(status) ? status : otherwise

  t.test(`${operation.id} 401: no credentials, and an unknown key`, async (t) => {
    t.match(await ask(real, operation, null), {
      status: 401,
      type: 'credentials_missing',
      challenge: 'Bearer',
    })
    t.match(await ask(real, operation, 'sk-sluice-v1-nobody'), { status: 401, type: 'key_unknown' })
  })

  t.test(`${operation.id} ${listed(403, 401)}: a disabled key`, async (t) => {
    t.match(await ask(real, operation, DISABLED_KEY), { status: listed(403, 401), type: 'key_disabled' })
  })

  t.test(
    `${operation.id}: a management key is ${operation.access.keys.includes('management') ? 'let in' : 'the wrong kind'}`,
    async (t) => {
      const { status, type } = await ask(crashed, operation, MANAGEMENT_KEY)
      if (operation.access.keys.includes('management')) t.not(type, 'wrong_key_kind')
      else t.same([status, type], [listed(403, 401), 'wrong_key_kind'])
    },
  )

  const takesScim = operation.access.keys.includes('scim')
  t.test(`${operation.id}: a SCIM token is ${takesScim ? 'let in' : 'the wrong kind'}`, async (t) => {
    const { status, type } = await ask(crashed, operation, SCIM_KEY)
    if (takesScim) t.not(type, 'wrong_key_kind')
    else t.same([status, type], [listed(403, 401), 'wrong_key_kind'])
  })

  if (takesScim) {
    t.test(`${operation.id}: every other kind of key is refused`, async (t) => {
      for (const key of [KEY, MANAGEMENT_KEY, INTERN_KEY])
        t.match(await ask(crashed, operation, key), { status: 403, type: 'wrong_key_kind' })
    })
  }

  t.test(`${operation.id} 500: a bug, without its message`, async (t) => {
    t.match(await ask(crashed, operation, keyFor(operation)), { status: 500, type: 'internal' })
    t.notMatch((await ask(crashed, operation, keyFor(operation))).text, BUG)
  })

  t.test(
    `${operation.id}: a key over its rate limit is ${operation.statuses.includes(429) ? 'refused' : 'let in'}`,
    async (t) => {
      const key = takesScim
        ? SCIM_KEY
        : operation.access.keys.includes('inference')
          ? LIMITED_KEY
          : LIMITED_MANAGEMENT_KEY
      t.equal((await ask(crashed, operation, key)).status, operation.statuses.includes(429) ? 429 : 500)
    },
  )

  if (operation.statuses.includes(504)) {
    t.test(`${operation.id} 504: a call that does not end within its deadline`, async (t) => {
      t.match(await ask(hung, operation, keyFor(operation)), { status: 504, type: 'deadline_exceeded' })
    })
  }

  if (operation.input.body !== undefined) {
    t.test(`${operation.id} ${listed(413, 400)}: a body that is too large`, async (t) => {
      const body = ' '.repeat(BODIES[operation.input.body ?? 'embeddings'].bytesMax + 1)
      t.match(await ask(crashed, operation, keyFor(operation), { body }), {
        status: listed(413, 400),
        type: 'body_too_large',
      })
    })

    t.test(`${operation.id} ${listed(415, 400)}: a body of another type`, async (t) => {
      const answer = await ask(crashed, operation, keyFor(operation), { type: 'text/plain' })
      t.match(answer, { status: listed(415, 400), type: 'content_type_unsupported' })
    })

    t.test(`${operation.id} ${listed(408, 400)}: a body that does not arrive in time`, async (t) => {
      const client = rawClient(hurriedPort)
      t.teardown(() => client.destroy())
      const authorization = `Bearer ${keyFor(operation)}`
      client.send(
        requestText(
          `${operation.method.toUpperCase()} ${pathOf(operation)}`,
          { authorization, 'content-length': '9' },
          '{',
        ),
      )
      t.match(
        await client.until(/\}$/),
        new RegExp(`^HTTP/1.1 ${listed(408, 400)} [\\s\\S]*(?:body_slow|${FAILURES.body_slow.text})`),
      )
    })
  }

  const { isOfProgramme, refusesRegional, writesVault } = operation.access
  if (isOfProgramme === true) {
    t.test(`${operation.id}: a key whose workspace is not in the programme gets 404`, async (t) => {
      const { url } = await openFront(t, [operation], {
        access: accessTo(keyRecords({ isInProgramme: false })),
      })
      t.match(await ask(url, operation, keyFor(operation)), { status: 404, type: 'programme_closed' })
    })
  }
  if (refusesRegional === true) {
    t.test(`${operation.id}: refused on regional hostnames`, async (t) => {
      const { url } = await openFront(t, [operation], { regionalHosts: ['127.0.0.1'] })
      t.match(await ask(url, operation, keyFor(operation)), { status: 403, type: 'regional_refused' })
    })
  }
  if (writesVault === true) {
    t.test(`${operation.id}: refused while vault writes are disabled for the workspace`, async (t) => {
      const { url } = await openFront(t, [crashing(operation)], {
        access: accessTo(keyRecords({ mayWriteVault: false })),
      })
      t.match(await ask(url, operation, keyFor(operation)), { status: 503, type: 'vault_writes_disabled' })
    })
  }
}

function keyFor({ access: { keys } }: AnyOperation): string {
  if (keys.includes('scim')) return SCIM_KEY
  if (keys.includes('inference')) return KEY
  return keys.includes('management') ? MANAGEMENT_KEY : INTERN_KEY
}

const BUG = 'words of a bug'

/** Whose scope is found, and which then meets a bug. */
function crashing(operation: AnyOperation): AnyOperation {
  return {
    ...operation,
    access: { ...operation.access, ...(operation.access.scope !== undefined && { scope: () => ok(null) }) },
    run() {
      throw new Error(BUG)
    },
  }
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly challenge: string | null
  readonly text: string
}

/** The operation's own example, sent with a key. */
async function ask(
  url: string,
  operation: AnyOperation,
  key: string | null,
  more: { readonly body?: string; readonly type?: string } = {},
): Promise<Answer> {
  const type = operation.input.upload === 'form' ? 'multipart/form-data; boundary=b' : 'application/json'
  const answer = await fetch(`${url}${pathOf(operation)}`, {
    method: operation.method === 'any' ? 'POST' : operation.method.toUpperCase(),
    headers: {
      'content-type': more.type ?? type,
      ...(key === null ? {} : { [operation.access.header ?? 'authorization']: `Bearer ${key}` }),
    },
    ...(operation.input.body === undefined
      ? {}
      : { body: more.body ?? JSON.stringify(operation.example.body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    type: operation.area === 'scim' ? failureIn(text, answer) : typeIn(text),
    challenge: answer.headers.get('www-authenticate'),
    text,
  }
}

function typeIn(text: string): string {
  return (JSON.parse(text) as { error: { metadata: { error_type: string } } }).error.metadata.error_type
}

/** Of its example. */
function pathOf(operation: AnyOperation): string {
  const { path, example } = operation
  const params = (example.params ?? {}) as Readonly<Record<string, string>>
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(example.query ?? {})) query.append(name, String(value))
  const asked = query.size > 0 ? `?${query.toString()}` : ''
  return (
    prefixOf(operation) +
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'x')) +
    asked
  )
}
