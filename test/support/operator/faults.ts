/** A node whose customers fail, each for another reason, and each reason for real. */
import { startProvider, type ScriptedProvider } from '../embeddings/provider.ts'
import { neverAnswers, refuses } from '../embeddings/provider-behaviours.ts'
import { catalogueFile } from '../models/catalogue.ts'
import { until } from '../nodes/node.ts'
import type { Teardown } from '../teardown.ts'
import { openDashboard, PRICED_MODEL, type Dashboard } from './dashboard.ts'

/** A misspelt name, next to the one that was meant. */
export const MISSPELT = 'test/pricde'
/** Milliseconds that the node waits for the slow provider. */
const PATIENCE_MS = 250
/** Calls of the priced model that a budget of a cent covers, and more. */
const BUDGET_CALLS_MAX = 20

/** What is wrong for one customer, whose key has the customer's name. */
export interface Fault {
  readonly customer: string
  readonly error: string
  /** Words of the page that name the cause, and what helps. */
  readonly cause: RegExp
  readonly remedy: RegExp
  /** Heading of the page where it is mended, which the link names. */
  readonly page: string
}

export const FAULTS: readonly Fault[] = [
  {
    customer: 'Ada',
    error: 'key_limit_exceeded',
    cause: /The key's spending limit does not cover this call\. .* is used, .* Limit: key, lifetime\./,
    remedy:
      /Have callers send max_tokens, set default_max_output_tokens on the key, or raise the key's limit\./,
    page: 'Ada',
  },
  {
    customer: 'Bo',
    error: 'upstream_failed',
    cause:
      /The provider \S+ failed\. The server refused the connection\. down: no answer \(ECONNREFUSED\) after /,
    remedy: /Check whether the provider has an outage and whether this node can reach its base URL/,
    page: 'down',
  },
  {
    customer: 'Cleo',
    error: 'budget_exceeded',
    cause: /The workspace's daily budget does not cover this call\. .* Limit: workspace, daily\./,
    remedy: /Have callers send max_tokens, .*, or raise the workspace's budget\./,
    page: 'Spend',
  },
  {
    customer: 'Dan',
    error: 'model_unknown',
    cause:
      /The catalogue of this installation has no model .*\. Requested model: test\/pricde\. Nearest: test\/priced\./,
    remedy: /Look up the model names in the catalogue\./,
    page: 'test/priced',
  },
  {
    customer: 'Eve',
    error: 'endpoint_unavailable',
    cause: /Every endpoint of the model failed several times in a row/,
    remedy: /Check which of the model's providers fails, and when Sluice tests it again/,
    page: 'test/broken',
  },
  {
    customer: 'Finn',
    error: 'upstream_slow',
    cause: /The provider took longer than its time-out .*\. slow: no answer \(upstream_slow\) after /,
    remedy: /raise its timeout_ms in the catalogue/,
    page: 'slow',
  },
]

/** Plants every fault of FAULTS, with calls of others that succeed between them. */
export async function openFaultyNode(t: Teardown): Promise<Dashboard> {
  const [broken, slow] = await Promise.all([startProvider(), startProvider()])
  for (const provider of [broken, slow]) t.teardown(() => provider.close())
  broken.usually(refuses(500))
  slow.usually(neverAnswers)
  const dashboard = await openDashboard(t, { SLUICE_CATALOG: catalogueFile(t, catalogueWith(broken, slow)) })
  const { call, managementKey, inferenceKey } = dashboard
  const made = async (path: string, body: object) =>
    JSON.parse((await call(path, managementKey, { body })).body) as { key: string; data: { id: string } }
  const keyOf = async (customer: string, more: object = {}): Promise<string> =>
    (await made('keys', { name: customer, ...more })).key
  const { id: workspace } = (await made('workspaces', { name: 'Cleo', slug: 'cleo' })).data
  await call(`workspaces/${workspace}/budgets/daily`, managementKey, {
    method: 'PUT',
    body: { limit_usd: 0.01 },
  })
  const ask = async (key: string, model = PRICED_MODEL): Promise<number> =>
    (await call('embeddings', key, { body: { model, input: 'seven' } })).status
  /** By a store that lends in time. */
  const asked = async (key: string): Promise<number> => {
    let status = await ask(key)
    while (status === 503) status = await ask(key)
    return status
  }
  const keys = {
    ada: await keyOf('Ada', { limit: 0.0001 }),
    bo: await keyOf('Bo'),
    cleo: await keyOf('Cleo', { workspace_id: workspace }),
    dan: await keyOf('Dan'),
    eve: await keyOf('Eve'),
    finn: await keyOf('Finn'),
  }
  await asked(keys.ada)
  await ask(keys.bo, 'test/down')
  for (let calls = 0; calls < BUDGET_CALLS_MAX; calls++) if ((await asked(keys.cleo)) !== 200) break
  await ask(keys.dan, MISSPELT)
  await until('the provider was too slow', async () => (await ask(keys.finn, 'test/slow')) === 524)
  await ask(inferenceKey)
  const others = [await keyOf('Gus'), await keyOf('Hal')]
  await until('the breaker refuses a call', async () => {
    await Promise.all(others.map((key) => ask(key, 'test/broken')))
    return (await ask(keys.eve, 'test/broken')) === 503
  })
  return dashboard
}

function catalogueWith(broken: ScriptedProvider, slow: ScriptedProvider): object {
  const provider = (slug: string, origin: string, more: object = {}): object => ({
    ...{ slug, protocol: 'openai', base_url: `${origin}/v1` },
    ...more,
  })
  const model = (id: string, name: string, upstream = 'embed', pricing = {}): object => ({
    id,
    name: id,
    architecture: { output_modalities: ['embeddings'] },
    context_length: 8_192,
    endpoints: [{ provider: name, upstream_model: upstream, pricing: { prompt: '0.000001', ...pricing } }],
  })
  return {
    providers: [
      // Nothing listens on this port.
      provider('down', 'http://127.0.0.1:1'),
      provider('broken', broken.origin),
      provider('slow', slow.origin, { timeout_ms: PATIENCE_MS }),
    ],
    models: [
      model(PRICED_MODEL, 'local', 'lexical-1', { prompt: '0.001' }),
      model('test/down', 'down'),
      model('test/broken', 'broken'),
      model('test/slow', 'slow'),
    ],
  }
}
