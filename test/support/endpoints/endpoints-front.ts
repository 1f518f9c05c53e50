/**
 * Fronts that serve private endpoints for real: rows, gate, protocols; only the vault's release is the test's
 * own.
 */
import type { Test } from 'tap'
import { hashOfKey } from '../../../src/schemas/keys/api-keys.ts'
import { listOwn } from '../../../src/server/catalogue/own-models.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { EpochFeed, Hints, KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { EndpointProber } from '../../../src/server/ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import { openEpochFeed } from '../../../src/server/store/base/epoch-feed.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { openPrivateEndpoints } from '../../../src/server/store/endpoints/private-endpoints.ts'
import { createWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import { createEmbedder } from '../../../src/server/inference/embedder.ts'
import { createPrivateModels } from '../../../src/server/upstream/endpoints/private-models.ts'
import { createProber } from '../../../src/server/upstream/endpoints/prober.ts'
import { catalogueOf } from '../models/catalogue.ts'
import { accessTo, KEY, keyRecords, MANAGEMENT_KEY, OTHER_KEY, openFront, threads } from '../front.ts'
import { testHints } from '../stores/hints.ts'
import { keptLog, SILENT } from '../log.ts'
import { inferenceWith } from '../inference/chat-front.ts'
import type { Gate } from '../gate.ts'
import { must } from '../must.ts'
import { NO_FILES } from '../files/no-files.ts'
import { openTestStore } from '../stores/postgres.ts'
import { sends, type Behaviour } from '../embeddings/provider-behaviours.ts'
import { startProvider, type ScriptedProvider } from '../embeddings/provider.ts'
import { endpointsCatalogue } from './endpoints-catalogue.ts'
import { SECRET_NAME, testVault, type TestVault } from './test-vault.ts'
import { openSecretBindings } from '../../../src/server/store/vault/secrets.ts'

/** The one host that the test's gate knows; it leads to the scripted upstream. */
export const UPSTREAM_HOST = 'models.acme.example'
export const CREDENTIAL = 'upstream-credential-0123456789'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly data?: Readonly<Record<string, unknown>> & {
      readonly checks?: readonly Readonly<Record<string, unknown>>[]
    }
    readonly usage?: Readonly<Record<string, unknown>>
    readonly error?: {
      readonly code: number
      readonly message: string
      readonly metadata: Readonly<Record<string, unknown>>
    }
  }
}

export interface EndpointsStand {
  readonly store: Store
  readonly organizationId: string
  readonly workspaceId: string
  /** Another workspace of the same organization, whose key is OTHER_KEY. */
  readonly otherWorkspaceId: string
  readonly upstream: ScriptedProvider
  /** The provider of the catalogue. */
  readonly shipped: ScriptedProvider
  /** Another one, at a host that secrets can be bound to: `localhost`. */
  readonly keyed: ScriptedProvider
  /** Log lines of the embedders. */
  readonly lines: readonly string[]
  readonly vault: TestVault
  readonly baseUrl: string
  /** Origins of the fronts. */
  readonly fronts: readonly string[]
  /** As the management key at the first front. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** As the workspace's inference key. @param nth of the fronts */
  embed(
    model: string,
    nth?: number,
    more?: { readonly key?: string; readonly body?: object },
  ): Promise<Answer>
  /** As the workspace's inference key at the first front. @param path below `/api/v1` */
  write(path: string, body: object, init?: WriteInit): Promise<Response>
  /** A draft, as the test wants it. @returns its id */
  draft(more?: object): Promise<string>
  /** A draft that has passed its validation. */
  validated(more?: object): Promise<string>
  active(more?: object): Promise<string>
}

export interface WriteInit {
  readonly key?: string
  readonly signal?: AbortSignal
}

export interface StandInput {
  readonly fronts?: number
  readonly prober?: (real: EndpointProber) => EndpointProber
  /** Addresses of every name; loopback unless given. */
  readonly resolve?: () => Promise<string[]>
  /** Facts that every key has. */
  readonly keys?: Partial<KeyRecord>
  /** Instead of keys that pay nothing. */
  readonly more?: (
    t: Test,
    parts: FrontDeps,
  ) => Promise<{ readonly access: HttpOptions['access']; readonly ports: Partial<Ports> }>
}

export interface FrontDeps {
  readonly store: Store
  readonly hints: Hints
  readonly feed: EpochFeed
  /** That of the stand's own keys. */
  readonly access: HttpOptions['access']
}

export async function openEndpoints(t: Test, given: StandInput = {}): Promise<EndpointsStand> {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const other = must(
    await createWorkspace(store, { organizationId: organization.id, name: 'Other', slug: 'other' }),
  )
  const [upstream, shipped, keyed] = await Promise.all([
    startProvider(),
    startProvider(),
    startProvider('localhost'),
  ])
  t.teardown(() => Promise.all([upstream.close(), shipped.close(), keyed.close()]))
  const lines: string[] = []
  const hints = testHints()
  const vault = testVault(store, {
    organizationId: organization.id,
    workspaceId: workspace.id,
    tell: hints.send,
  })
  await vault.put(SECRET_NAME, CREDENTIAL, [UPSTREAM_HOST])
  const ids = { organizationId: organization.id, workspaceId: workspace.id, otherWorkspaceId: other.id }
  const deps = { store, vault, hints, upstream, shipped, keyed, lines, ids, given }
  const fronts = await Promise.all(Array.from({ length: given.fronts ?? 1 }, () => openOne(t, deps)))
  const baseUrl = `https://${UPSTREAM_HOST}:${new URL(upstream.origin).port}/v1`
  const stand = { ...ids, store, upstream, shipped, keyed, lines, vault, baseUrl, fronts }
  return { ...stand, ...callsOf(stand) }
}

interface Deps {
  readonly store: Store
  readonly vault: TestVault
  readonly hints: ReturnType<typeof testHints>
  readonly upstream: ScriptedProvider
  readonly shipped: ScriptedProvider
  readonly keyed: ScriptedProvider
  readonly lines: string[]
  readonly ids: {
    readonly organizationId: string
    readonly workspaceId: string
    readonly otherWorkspaceId: string
  }
  readonly given: StandInput
}

async function openOne(
  t: Test,
  { store, vault, hints, shipped, keyed, lines, ids, given }: Deps,
): Promise<string> {
  const write = (event: string, fields?: object): void =>
    void lines.push(JSON.stringify({ event, ...fields }))
  const now = (): number => performance.now()
  const resolve = given.resolve ?? (() => Promise.resolve(['127.0.0.1']))
  const egress = openEgress({ allow: ['http:127.0.0.1'], resolve })
  const feed = openEpochFeed({ store, hints, log: SILENT })
  t.teardown(() => Promise.all([feed.close(), egress.close()]))
  while (!(await feed.poll())) continue
  const models = catalogueOf(
    t,
    endpointsCatalogue(shipped.origin, keyed.origin.replace('127.0.0.1', 'localhost')),
  )
  const privateEndpoints = openPrivateEndpoints({ store, hints })
  const jobs = threads()
  const credentials = new Map([['SET_KEY', { reveal: () => 'shipped-key' }]])
  const prober = createProber({ egress, jobs, releases: vault, providers: models.providers, now })
  const ports: Ports = {
    ...NO_FILES,
    models,
    observer: { log: SILENT, settled: () => undefined, trace: () => undefined },
    embedder: createEmbedder({
      egress,
      jobs,
      log: { debug: write, info: write, warn: write, error: write },
      now,
      random: () => 0.5,
      credentials,
      meters: { upstream: () => undefined },
    }),
    inference: inferenceWith({ egress, credentials, log: keptLog() }),
    privateEndpoints,
    endpointProber: given.prober?.(prober) ?? prober,
    privateModels: createPrivateModels({
      rows: privateEndpoints,
      bindings: openSecretBindings(store),
      releases: vault,
      catalogue: models,
      listOwn: (own) => listOwn(own, Date.now),
      feed,
      graceMs: 60_000,
      now: Date.now,
    }),
  }
  const { organizationId, workspaceId, otherWorkspaceId } = ids
  const records = new Map(
    [...keyRecords()].map(([hash, record]) => {
      const at = hash === hashOfKey(OTHER_KEY) ? otherWorkspaceId : workspaceId
      return [
        hash,
        {
          ...record,
          ...given.keys,
          organizationId,
          workspaceId: record.kind === 'management' ? null : at,
          defaultWorkspaceId: workspaceId,
        },
      ]
    }),
  )
  const access = accessTo(records)
  const more = await given.more?.(t, { store, hints, feed, access })
  return (
    await openFront(t, OPERATIONS, { access: more?.access ?? access, ports: { ...ports, ...more?.ports } })
  ).url
}

function callsOf(
  stand: Pick<EndpointsStand, 'fronts' | 'baseUrl' | 'workspaceId'>,
): Pick<EndpointsStand, 'call' | 'embed' | 'write' | 'draft' | 'validated' | 'active'> {
  const send = async (
    path: string,
    key: string,
    { nth = 0, ...init }: RequestInit & { readonly nth?: number },
  ): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(init.headers as Record<string, string> | undefined),
    }
    const answer = await fetch(`${stand.fronts[nth] ?? ''}/api/v1${path}`, { ...init, headers })
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
  }
  const call: EndpointsStand['call'] = (method, path, body, headers = {}) =>
    send(path, MANAGEMENT_KEY, {
      method: method.toUpperCase(),
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const draft: EndpointsStand['draft'] = async (more = {}) => {
    const { status, body } = await call('post', '/private-endpoints', {
      ...endpointBody(stand.baseUrl),
      ...more,
    })
    if (status !== 201) throw new Error(`no draft: ${JSON.stringify(body)}`)
    return String(body.data?.['id'])
  }
  const validated: EndpointsStand['validated'] = async (more = {}) => {
    const id = await draft(more)
    for (;;) {
      const { body } = await call('post', `/private-endpoints/${id}/validate`, {
        workspace_id: stand.workspaceId,
      })
      if (body.data?.['passed'] === true) return id
      // A machine that stood still is not a failing endpoint.
      const reported = JSON.stringify(body)
      if (!reported.includes('No complete answer within')) throw new Error(`not validated: ${reported}`)
    }
  }
  return {
    call,
    draft,
    validated,
    embed: (model, nth = 0, { key = KEY, body = {} } = {}) =>
      send('/embeddings', key, {
        nth,
        method: 'POST',
        body: JSON.stringify({ model, input: 'some text', ...body }),
      }),
    write: (path, body, { key = KEY, ...init } = {}) =>
      fetch(`${stand.fronts[0] ?? ''}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...init,
      }),
    async active(more = {}) {
      const id = await validated(more)
      const { status, body } = await call('post', `/private-endpoints/${id}/activate`)
      if (status !== 200) throw new Error(`not active: ${JSON.stringify(body)}`)
      return id
    },
  }
}

/** The fields of a sound endpoint. */
export function endpointBody(baseUrl: string): Readonly<Record<string, unknown>> {
  return {
    model_permaslug: 'acme/own',
    provider_slug: 'openai-compatible',
    upstream_model_id: 'bge-m3',
    base_url: baseUrl,
    secret_name: SECRET_NAME,
    pricing: { prompt: '0.000001', completion: '0' },
    // One request is sent for each probe.
    forms: ['embeddings'],
  }
}

export const errorTypeOf = ({ body }: Answer): unknown => body.error?.metadata['error_type']

/** Id of no endpoint and no workspace. */
export const NOBODY = '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

export function validate(
  { call, workspaceId }: EndpointsStand,
  id: string,
  asked = workspaceId,
): Promise<Answer> {
  return call('post', `/private-endpoints/${id}/validate`, { workspace_id: asked })
}

export function activate({ call }: EndpointsStand, id: string): Promise<Answer> {
  return call('post', `/private-endpoints/${id}/activate`)
}

/** A sound answer but for what `more` says of it. */
export function answering(more: object): Behaviour {
  const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
  return sends(
    JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 }, ...more }),
  )
}

/** A prober that opens `began` with each probe, and waits for `go`. */
export function held(began: Gate, go: Gate): (real: EndpointProber) => EndpointProber {
  return (real) => ({
    ...real,
    async probe(given) {
      began.open()
      await go.opened
      return real.probe(given)
    },
  })
}
