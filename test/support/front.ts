/** A front with operations of the test's own, keys in memory and a real pool of threads. */
import Type, { type TSchema } from 'typebox'
import { createAccess } from '../../src/server/access/access.ts'
import {
  compile,
  startHttp,
  type Compiled,
  type HttpFront,
  type HttpOptions,
} from '../../src/server/http/front.ts'
import { Asset } from '../../src/server/http/reference/asset.ts'
import { openApiOf } from '../../src/server/http/reference/openapi.ts'
import { Timers } from '../../src/server/http/timers.ts'
import { createAdmission } from '../../src/server/limits/admission.ts'
import type { AnyOperation, Call, Operation } from '../../src/server/operations/define.ts'
import type { KeyRecord } from '../../src/server/ports/keys/keys.ts'
import type { CallSettled, Fields } from '../../src/server/ports/observe.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { RateAuthority } from '../../src/server/ports/rates.ts'
import type { ShortJobs } from '../../src/server/ports/short-jobs.ts'
import { openPools } from '../../src/workers/pool.ts'
import type { Pools } from '../../src/workers/thread-pools.ts'
import { createHash } from 'node:crypto'
import { FREE_SPEND } from './money/free-spend.ts'
import { SILENT } from './log.ts'
import { NO_LIMITS } from './money/key-money.ts'
import type { Teardown } from './teardown.ts'
import { WRITTEN_ORIGIN } from '../../src/server/http/reference/docs-page.ts'

export const KEY = `sk-sluice-v1-${'i'.repeat(43)}`
/** Of another caller than KEY. */
export const OTHER_KEY = `sk-sluice-v1-${'o'.repeat(43)}`
export const MANAGEMENT_KEY = `sk-sluice-mgmt-v1-${'m'.repeat(43)}`
export const INTERN_KEY = `sk-sluice-intern-v1-${'n'.repeat(43)}`
export const SCIM_KEY = `sk-sluice-scim-v1-${'s'.repeat(43)}`
export const DISABLED_KEY = `sk-sluice-v1-${'d'.repeat(43)}`
export const LIMITED_KEY = `sk-sluice-v1-${'l'.repeat(43)}`
export const LIMITED_MANAGEMENT_KEY = `sk-sluice-mgmt-v1-${'r'.repeat(43)}`
export const AUTHORIZATION = `Bearer ${KEY}`

/** Keys that a front of a test remembers: for 50,000 of them, as in the product, it takes 10 ms to make room. */
const CACHED_MAX = 1_000

export interface TestFront {
  readonly front: HttpFront
  readonly port: number
  readonly url: string
  /** Every call that settled, in order. */
  readonly settled: readonly CallSettled[]
  /** Every log line as JSON. */
  readonly lines: readonly string[]
  /** Resolves when so many calls have settled. */
  untilSettled(count: number): Promise<void>
}

/** By which links in errors of fronts under test begin. */
export const TESTED_ORIGIN = 'https://gateway.example'

export async function openFront(
  t: Teardown,
  operations: readonly AnyOperation[],
  more: Partial<HttpOptions> = {},
): Promise<TestFront> {
  const settled: CallSettled[] = []
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const write = (event: string, fields?: Fields): void =>
    void lines.push(JSON.stringify({ event, ...fields }))
  const front = await startHttp({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    compiled: compiledOf(operations),
    // No body then has an address of this machine, as tests for leaks want it.
    publicUrl: TESTED_ORIGIN,
    corsOrigins: [],
    access: more.access ?? accessTo(keyRecords()),
    admission: createAdmission({
      authority: NO_TOKENS,
      fronts: { liveFronts: 1 },
      now: () => performance.now(),
      leasesMax: CACHED_MAX,
    }),
    jobs: threads(),
    ports: { spend: FREE_SPEND, publicOrigin: WRITTEN_ORIGIN } as Ports,
    observer: {
      log: { debug: write, info: write, warn: write, error: write },
      settled(call) {
        settled.push(call)
        for (const look of waiting) look()
      },
      trace: () => undefined,
    },
    // A front draws some bodiless answers to be the last of their connections: tests of that bring their own
    // draw.
    random: () => 1,
    ...more,
  })
  t.teardown(() => front.close())
  const untilSettled = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (settled.length < count) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { front, port: front.port, url: `http://127.0.0.1:${front.port}`, settled, lines, untilSettled }
}

const compiled: { readonly of: readonly AnyOperation[]; readonly result: Compiled }[] = []

/** What fronts of a test file derive from the same operations; the document when a call asks for it. */
export function compiledOf(operations: readonly AnyOperation[]): Compiled {
  const isOf = (known: readonly AnyOperation[]): boolean =>
    known.length === operations.length && known.every((one, at) => one === operations[at])
  const known = compiled.find(({ of }) => isOf(of))
  if (known !== undefined) return known.result
  const document = (): Promise<Uint8Array> =>
    Promise.resolve(Buffer.from(JSON.stringify(openApiOf(operations))))
  const result = compile(operations, new Asset('application/json', document))
  compiled.push({ of: [...operations], result })
  return result
}

/** Longer than any run, for what must not end by the slowness of the machine. */
const NEVER_MS = 2 ** 30

/** Timers for tests that no stall and no deadline shall end: their clock stands still. */
export const patient = (): Timers => new Timers(() => 0)

/** Timers for tests of stalls: theirs are over forty times as soon. */
export const hurried = (): Timers => new Timers(() => performance.now() * 40)

let pools: Pools | null = null
/** A program of `test/prove` ends its process itself; tap, once it is loaded, waits for tests in it. */
export const tap = process.argv[1]?.endsWith('.test.js') === true ? (await import('tap')).default : null

/**
 * The same threads for all fronts of a test file, from the first job on: starting one takes longer than most
 * tests, and most files have no job for it.
 */
export function threads(): ShortJobs {
  if (pools === null) {
    const opened = openPools({
      shortThreads: 1,
      sessionThreads: 1,
      queueMax: 16,
      jobMsMax: NEVER_MS,
      isLazy: true,
      log: SILENT,
    })
    tap?.teardown(() => opened.close())
    pools = opened
  }
  return pools.jobs
}

/** An operation with defaults for what a test does not care about. */
export function operation(more: Partial<Operation> = {}): AnyOperation {
  return {
    id: 'test.echo',
    method: 'post',
    path: '/echo',
    tag: 'test',
    summary: 'Says what it heard',
    access: { keys: ['inference'] },
    deadlineMs: NEVER_MS,
    outlivesClient: false,
    input: { body: 'embeddings' },
    success: { status: 200, body: Type.Object({}) as TSchema },
    statuses: [400, 401, 403, 404, 408, 413, 500, 503, 504],
    failures: [],
    example: {},
    run: (call: Call) => ({
      ok: true,
      value: { kind: 'json', value: { query: call.query, params: call.params, body: call.body } },
    }),
    ...more,
  } as unknown as AnyOperation
}

/** @param common facts that every key has, as those of its workspace */
export function keyRecords(common: Partial<KeyRecord> = {}): ReadonlyMap<string, KeyRecord> {
  const record = (key: string, more: Partial<KeyRecord>): [string, KeyRecord] => {
    const hash = createHash('sha256').update(key).digest('hex')
    return [
      hash,
      {
        hash,
        kind: 'inference',
        name: 'test',
        organizationId: 'o',
        workspaceId: 'w',
        defaultWorkspaceId: 'w',
        internId: null,
        rateLimitRpm: null,
        rateLimitBurst: null,
        isDisabled: false,
        isInProgramme: true,
        mayWriteVault: true,
        expiresAtMs: null,
        allowedModels: null,
        scopes: null,
        money: NO_LIMITS,
        ...more,
        ...common,
        // Of no workspace, whatever those of the others is.
        ...(more.workspaceId === null ? { workspaceId: null } : null),
      },
    ]
  }
  return new Map([
    record(KEY, {}),
    record(OTHER_KEY, {}),
    record(MANAGEMENT_KEY, { kind: 'management', workspaceId: null }),
    record(INTERN_KEY, { kind: 'intern', internId: 'n' }),
    record(SCIM_KEY, { kind: 'scim', workspaceId: null }),
    record(LIMITED_MANAGEMENT_KEY, { kind: 'management', workspaceId: null, rateLimitRpm: 60 }),
    record(DISABLED_KEY, { isDisabled: true }),
    record(LIMITED_KEY, { rateLimitRpm: 60 }),
  ])
}

/** Access over records in memory; a first use of a key waits for `load`, as it waits for the store. */
export function accessTo(
  records: ReadonlyMap<string, KeyRecord>,
  load: () => Promise<void> = () => Promise.resolve(),
): HttpOptions['access'] {
  return createAccess({
    keys: {
      async load(hashes) {
        await load()
        return { ok: true, value: hashes.flatMap((hash) => records.get(hash) ?? []) }
      },
    },
    feed: {
      epoch: 1,
      get lastGoodPollAtMs() {
        return Date.now()
      },
      subscribe: () => () => undefined,
    },
    graceMs: 60_000,
    now: Date.now,
    cachedMax: CACHED_MAX,
  })
}

/** Refuses every request for a block: the key is over its limit. */
const NO_TOKENS: RateAuthority = {
  lend: () => Promise.resolve({ granted: 0, remaining: 0, retryAfterMs: 1_500, resetAfterMs: 1_500 }),
  isReachable: true,
  lastAnswerAt: 0,
}
