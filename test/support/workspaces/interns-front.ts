/**
 * A front with every operation over real records of workspaces, interns and keys: two organizations in a
 * database of their own.
 */
import type { Test } from 'tap'
import type { ApiKeyKind } from '../../../src/schemas/keys/api-keys.ts'
import { createAccess } from '../../../src/server/access/access.ts'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import { openBudgetPorts, openPresetPorts } from '../../../src/server/main/front-ports.ts'
import { openDirectoryPorts } from '../../../src/server/main/scim.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { VideoWake } from '../../../src/server/ports/videos/videos.ts'
import { openAdmin } from '../../../src/server/store/operator/open-admin.ts'
import { openOperators } from '../../../src/server/store/operator/operator.ts'
import { openCaps } from '../../../src/server/store/base/caps.ts'
import { openApiKeys } from '../../../src/server/store/keys/api-key-management.ts'
import type { Workspace } from '../../../src/server/ports/workspaces/workspaces.ts'
import { insertKey, openKeyStore } from '../../../src/server/store/keys/api-keys.ts'
import { openEpochFeed } from '../../../src/server/store/base/epoch-feed.ts'
import { openIdempotency } from '../../../src/server/store/base/idempotency.ts'
import { openInterns } from '../../../src/server/store/workspaces/interns.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openWorkspaces } from '../../../src/server/store/lifecycle/open-workspaces.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { createWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import { openFront } from '../front.ts'
import { testHints } from '../stores/hints.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'
import { NO_FILES } from '../files/no-files.ts'
import { openTestStore, waitLong } from '../stores/postgres.ts'

waitLong()

export interface Answered {
  readonly status: number
  readonly headers: Headers
  /** `error_type` of a failure. */
  readonly type: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

export interface InternsFront {
  readonly store: Store
  /** Of `/api/v1`. */
  readonly url: string
  readonly organizationId: string
  /** The workspace `default`. */
  readonly workspace: Workspace
  readonly other: Workspace
  /** As the organization's management key unless another is given; `body` is sent as JSON. */
  call(method: string, path: string, more?: CallMore): Promise<Answered>
  /** Makes an intern; its id. */
  intern(body?: object): Promise<string>
  /** Plain management key of another organization. */
  readonly foreignKey: string
  /** Wake-ups that runners were sent. */
  readonly woken: readonly VideoWake[]
  /** A new key of the workspace `default`, or of the organization. */
  key(kind: Exclude<ApiKeyKind, 'intern'>): Promise<string>
}

interface CallMore {
  readonly body?: unknown
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface FrontMore extends Pick<Partial<HttpOptions>, 'timers'> {
  /** Milliseconds that a statement waits for a lock; long by default. */
  readonly lockMsMax?: number
}

/** @param ports adds ports that a test needs besides interns */
export async function openInternsFront(
  t: Test,
  ports: Partial<Ports> | ((store: Store) => Partial<Ports>) = {},
  { lockMsMax, ...http }: FrontMore = {},
): Promise<InternsFront> {
  const store = await openTestStore(t, undefined, lockMsMax === undefined ? {} : { lockMsMax })
  const [{ organization, workspace }, foreign] = [
    must(await createOrganization(store, { name: 'o' })),
    must(await createOrganization(store, { name: 'foreign' })),
  ]
  const other = must(
    await createWorkspace(store, { organizationId: organization.id, name: 'Other', slug: 'other' }),
  )
  const hints = testHints()
  const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: 60_000 })
  const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 300_000, now: Date.now })
  const idempotency = openIdempotency({ store, now: () => performance.now(), random: Math.random })
  t.teardown(async () => {
    access.close()
    idempotency.close()
    await feed.close()
  })
  while (!(await feed.poll())) continue
  const woken: VideoWake[] = []
  const { url: origin } = await openFront(t, OPERATIONS, {
    ...http,
    access,
    ports: {
      ...recordPorts({ store, hints, feed, idempotency, woken }),
      ...(typeof ports === 'function' ? ports(store) : ports),
    },
  })
  const url = `${origin}/api/v1`
  const own = { organizationId: organization.id, workspaceId: workspace.id }
  const managementKey = await makeKey(store, 'management', own)
  const call = caller(url, managementKey)
  return {
    store,
    url,
    woken,
    organizationId: organization.id,
    workspace,
    other,
    call,
    intern: async (body = {}) =>
      String(
        (await call('POST', '/interns', { body: { name: 'Ada', provision: false, ...body } })).body['id'],
      ),
    foreignKey: await makeKey(store, 'management', {
      organizationId: foreign.organization.id,
      workspaceId: foreign.workspace.id,
    }),
    key: (kind) => makeKey(store, kind, own),
  }
}

interface RecordDeps {
  readonly store: Store
  readonly hints: ReturnType<typeof testHints>
  readonly feed: ReturnType<typeof openEpochFeed>
  readonly idempotency: Ports['idempotency']
  readonly woken: VideoWake[]
}

/** Ports over the records, without a model. */
function recordPorts({ store, hints, feed, idempotency, woken }: RecordDeps): Ports {
  const unused = (): never => {
    throw new Error('this test calls no model')
  }
  return {
    ...NO_FILES,
    models: {
      resolve: unused,
      models: [{ id: 'sluice/lexical-1' }],
      aliases: new Map(),
    } as unknown as Ports['models'],
    embedder: { answer: unused },
    observer: { log: SILENT, settled: () => undefined, trace: () => undefined },
    idempotency,
    interns: openInterns(store, hints.publish),
    workspaces: openWorkspaces(store, hints.publish),
    apiKeys: openApiKeys({ store, publish: hints.publish, rateLimitRpm: null }),
    ...openBudgetPorts({ store, hints }),
    operators: openOperators(store, null),
    caps: openCaps(store),
    admin: openAdmin({
      store,
      operatorOrganization: null,
      version: '1.2.3',
      wake: (what) => void woken.push(what),
    }),
    ...openPresetPorts({ keyGraceMs: 300_000 }, { store, hints, feed }),
    ...openDirectoryPorts(store),
  }
}

async function makeKey(
  store: Store,
  kind: 'inference' | 'management',
  owner: { organizationId: string; workspaceId: string },
): Promise<string> {
  const workspaceId = kind === 'management' ? null : owner.workspaceId
  const input = {
    kind,
    name: 'k',
    organizationId: owner.organizationId,
    workspaceId,
    rateLimitRpm: null,
    expiresAt: null,
  }
  return (await store.sql.begin((tx) => insertKey(tx, input))).key
}

/** @param ownKey key of the calls that name none */
function caller(url: string, ownKey: string): InternsFront['call'] {
  return async (method, path, { body, key = ownKey, headers = {} } = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const parsed = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> & {
      error?: { metadata: { error_type: string } }
    }
    return {
      status: answer.status,
      headers: answer.headers,
      type: parsed.error?.metadata.error_type,
      body: parsed,
    }
  }
}
