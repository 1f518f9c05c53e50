/**
 * Every live cache of a front, and the structure in the forms that they do not use, for one property test.
 */
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import { UNKNOWN_KEYS_CACHED_MAX } from '../../../src/schemas/keys/key-limits.ts'
import { createAccess } from '../../../src/server/access/access.ts'
import { LiveCache } from '../../../src/server/caches/live-cache.ts'
import { EVERYTHING } from '../../../src/server/caches/recent-changes.ts'
import { listOwn } from '../../../src/server/catalogue/own-models.ts'
import type { Change } from '../../../src/server/ports/keys/keys.ts'
import type { PrivateEndpoint } from '../../../src/server/ports/endpoints/private-endpoints.ts'
import {
  PRESET_LOADS_MAX,
  PRESET_LOADS_WORKSPACE_MAX,
  createPresetConfigs,
} from '../../../src/server/store/presets/preset-configs.ts'
import { createPrivateModels } from '../../../src/server/upstream/endpoints/private-models.ts'
import { testKey } from '../keys/key-store.ts'
import { GRACE_MS, ownerOf, THINGS, type Answer, type CacheRules, type Value } from './cache-model.ts'
import type { CacheStand, CacheSubject, TestedCache } from './cache-world.ts'
import { KEY_LOADS_MAX, UNKNOWN_KEY_TTL_MS } from '../../../src/server/access/known-keys.ts'

/** Fewer than there are things, so that some are evicted. */
const MAX = 2
const PLACES = Array.from({ length: THINGS }, (_, at) => at)

const ANY_LOADS = { max: Infinity, ofOneMax: Infinity }

function answerOf<T>(found: Outcome<T>, numberOf: (value: T) => Value): Answer {
  if (found.ok) return numberOf(found.value) ?? 'missing'
  if (found.failure.name === 'busy') return 'busy'
  return found.failure.name === 'store_unavailable' ? 'away' : 'missing'
}

function answering<T>(
  found: Outcome<T> | Promise<Outcome<T>>,
  numberOf: (value: T) => Value,
): Answer | Promise<Answer> {
  return found instanceof Promise
    ? found.then((later) => answerOf(later, numberOf))
    : answerOf(found, numberOf)
}

/** Each load has an object of its own, so that an entry differs from its successor. */
interface Loaded {
  readonly at: number
  readonly value: Value
}

function nameOf(change: Change): string {
  return change.kind === 'everything' ? EVERYTHING : change.id
}

function structure(name: string, rules: CacheRules): CacheSubject {
  const { max, misses, loads } = rules
  const open = ({ feed, now, read }: CacheStand): TestedCache => {
    let dropped = 0
    const numberOf = ({ value }: Loaded): Value => value
    const cache = new LiveCache<Loaded, Loaded, 'missing'>({
      feed,
      graceMs: GRACE_MS,
      now,
      nameOf,
      entries: {
        max,
        of: (loaded) => (misses !== null && loaded.value === null ? null : loaded),
        dropped: () => dropped++,
        ...(rules.hasOwners && {
          ownersOf: ({ at, value }: Loaded) => (value === null ? [] : [`owner ${ownerOf(at)}`]),
        }),
      },
      ...(misses !== null && {
        misses: {
          max: misses.max,
          of: () => 'missing' as const,
          ...(misses.ms !== null && { ms: misses.ms }),
        },
      }),
      loads,
    })
    const readOf = async (at: number, sending: () => void): Promise<Outcome<Loaded>> => {
      sending()
      const value = await read(at)
      return value.ok ? ok({ at, value: value.value }) : value
    }
    return {
      ask(at) {
        const id = `thing ${at}`
        const found = cache.find(id)
        if (found !== undefined) return numberOf(found) ?? 'missing'
        const load = (): Promise<Outcome<Loaded>> =>
          cache.load({ id, tenant: `${ownerOf(at)}`, read: (sending) => readOf(at, sending) })
        return cache.findMiss(id) ?? answering(load(), numberOf)
      },
      changeOf(change) {
        if (change.kind === 'thing') return { n: change.n, kind: 'key', id: `thing ${change.at}` }
        return rules.hasOwners ? { n: change.n, kind: 'workspace', id: `owner ${change.owner}` } : null
      },
      list: () => cache.list(MAX + 1).map((id) => Number(id.slice('thing '.length))),
      dropped: () => dropped,
    }
  }
  return { name, rules, open }
}

function openKeys({ feed, now, read }: CacheStand): TestedCache {
  const made = PLACES.map((at) => testKey({ workspaceId: 'w', organizationId: `${ownerOf(at)}` }))
  const placeOf = (hash: string): number => made.findIndex(({ record }) => record.hash === hash)
  const access = createAccess({
    keys: {
      async load(hashes) {
        const records = []
        for (const hash of hashes) {
          const at = placeOf(hash)
          const value = await read(at)
          if (!value.ok) return value
          const record = made[at]?.record
          if (record !== undefined && value.value !== null)
            records.push({ ...record, rateLimitRpm: value.value })
        }
        return ok(records)
      },
    },
    feed,
    graceMs: GRACE_MS,
    now,
    cachedMax: MAX,
  })
  return {
    ask: (at) => answering(access.authenticate(made[at]?.bearer ?? ''), ({ rateLimitRpm }) => rateLimitRpm),
    changeOf: (change) =>
      change.kind === 'thing'
        ? { n: change.n, kind: 'key', id: made[change.at]?.record.hash ?? '' }
        : { n: change.n, kind: 'organization', id: `${change.owner}` },
    list: () => access.knownKeys().map(placeOf),
  }
}

function openPresets({ feed, now, read }: CacheStand): TestedCache {
  const configs = createPresetConfigs({
    rows: {
      async load({ slug }) {
        const value = await read(Number(slug))
        if (!value.ok) return value
        const { value: latest } = value
        if (latest === null) return ok(null)
        const head = { id: `preset ${slug}`, isArchived: false, designated: latest, latest }
        return ok({ head, content: JSON.stringify({ config: { model: `${latest}` } }) })
      },
      unknown: async () => fail('preset_unknown'),
    },
    feed,
    graceMs: GRACE_MS,
    now,
    cachedMax: MAX,
  })
  return {
    ask: (at) =>
      answering(configs.find('w', { slug: `${at}`, version: null }), ({ config }) => Number(config['model'])),
    changeOf: (change) =>
      change.kind === 'thing' ? { n: change.n, kind: 'preset', id: `w/${change.at}` } : null,
  }
}

const ENDPOINT: PrivateEndpoint = {
  id: '',
  organizationId: 'o',
  workspaceId: 'w',
  status: 'active',
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

function openModels({ feed, now, read }: CacheStand): TestedCache {
  const models = createPrivateModels({
    rows: {
      async active(workspaceId) {
        const value = await read(Number(workspaceId))
        if (!value.ok) return value
        return ok(value.value === null ? [] : [{ ...ENDPOINT, id: `${value.value}` }])
      },
    },
    bindings: { among: async () => ok([]) },
    releases: { release: async () => fail('secret_not_released') },
    catalogue: { resolve: () => null, providers: [] },
    listOwn: (own) => listOwn(own, now),
    feed,
    graceMs: GRACE_MS,
    now,
    cachedMax: MAX,
  })
  const { record } = testKey()
  return {
    ask(at) {
      const found = models.of({ ...record, workspaceId: `${at}` })
      return answering(found instanceof Promise ? found : ok(found), (own) => {
        const tag = own?.resolve(ENDPOINT.modelPermaslug)?.endpoints[0]?.tag
        return tag === undefined ? null : Number(tag.slice('private/'.length))
      })
    },
    changeOf: (change) =>
      change.kind === 'thing' ? { n: change.n, kind: 'private_endpoint', id: `${change.at}` } : null,
  }
}

export const CACHES: readonly CacheSubject[] = [
  structure('the structure, with a bound of loads', {
    max: MAX,
    misses: { max: 1, ms: null },
    loads: { max: 3, ofOneMax: Infinity },
    hasOwners: true,
  }),
  structure('the structure, without misses', {
    max: MAX,
    misses: null,
    loads: { max: Infinity, ofOneMax: 1 },
    hasOwners: true,
  }),
  {
    name: 'keys',
    rules: {
      max: MAX,
      misses: { max: UNKNOWN_KEYS_CACHED_MAX, ms: UNKNOWN_KEY_TTL_MS },
      loads: { max: KEY_LOADS_MAX, ofOneMax: Infinity },
      hasOwners: true,
    },
    open: openKeys,
  },
  {
    name: 'presets',
    rules: {
      max: MAX,
      misses: { max: MAX, ms: null },
      loads: { max: PRESET_LOADS_MAX, ofOneMax: PRESET_LOADS_WORKSPACE_MAX },
      hasOwners: false,
    },
    open: openPresets,
  },
  {
    name: 'private models',
    rules: { max: MAX, misses: null, loads: ANY_LOADS, hasOwners: false },
    open: openModels,
  },
]
