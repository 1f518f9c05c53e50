import { createAccess } from '../../../src/server/access/access.ts'
import { startHttp } from '../../../src/server/http/front.ts'
import { UNLIMITED } from '../../../src/server/limits/admitted.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models/models.ts'
import { compiledOf } from '../front.ts'
import { testFeed, testKey, testKeyStore } from '../keys/key-store.ts'
import { portsOf } from '../keys/model-reads.ts'

const KEYS = {
  inference: testKey(),
  management: testKey({ kind: 'management' }),
  intern: testKey({ kind: 'intern', internId: 'i' }),
  disabled: testKey({ isDisabled: true }),
}

export type KeyName = keyof typeof KEYS

interface Test {
  teardown(run: () => void): void
}

export interface ModelFront {
  readonly baseUrl: string
  /** A plain inference key. */
  readonly apiKey: string
  get(
    path: string,
    more?: { key?: KeyName; method?: string },
  ): Promise<{ status: number; headers: Headers; body: unknown }>
}

/** The public port with every operation over real access and a catalogue; nothing else of a node. */
export async function frontOf(t: Test, models: ModelCatalogue): Promise<ModelFront> {
  const keys = testKeyStore()
  for (const { record } of Object.values(KEYS)) keys.records.set(record.hash, record)
  const access = createAccess({ keys, feed: testFeed(), graceMs: 1_000, now: () => 0 })
  const quiet = (): void => undefined
  const observer = {
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    settled: quiet,
    trace: quiet,
  }
  const noJob = (): never => {
    throw new Error('a model read has no job')
  }
  const front = await startHttp({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    corsOrigins: [],
    compiled: compiledOf(OPERATIONS),
    access,
    admission: { admit: () => UNLIMITED },
    jobs: { run: noJob, here: noJob },
    observer,
    ports: { ...portsOf(models), observer },
  })
  t.teardown(() => front.close())
  const baseUrl = `http://127.0.0.1:${front.port}/api/v1`
  return {
    baseUrl,
    apiKey: KEYS.inference.bearer.replace('Bearer ', ''),
    async get(path, { key = 'inference', method = 'GET' } = {}) {
      const reply = await fetch(`${baseUrl}${path}`, { method, headers: { authorization: KEYS[key].bearer } })
      const text = await reply.text()
      return {
        status: reply.status,
        headers: reply.headers,
        body: text === '' ? null : (JSON.parse(text) as unknown),
      }
    },
  }
}
