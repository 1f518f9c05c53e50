/** A dashboard whose node has jobs, dead letters, a file and a private endpoint to show. */
import { catalogueFile } from '../models/catalogue.ts'
import { openDashboard, type Dashboard } from './dashboard.ts'
import { until } from '../nodes/node.ts'
import { startProvider } from '../embeddings/provider.ts'
import type { Teardown } from '../teardown.ts'
import { startVideos } from '../videos/video-provider.ts'
import { startWebhookReceiver } from '../webhooks/webhook-receiver.ts'

/** Its videos are never made. */
export const OPEN_PROVIDER = 'fake'
const NEVER_MS = 3_600_000
/** Answers of a receiver: one that makes a dead letter at once, and one that takes it. */
const GONE = 410
const TAKEN = 200
const FILE_BYTES = 2_048
/** Secrets are bound to names. */
const UPSTREAM_HOST = 'localhost'

export interface Receiver {
  /** False: it answers 410 to every delivery. */
  isOpen: boolean
  readonly origin: string
  /** Bodies that it has taken. */
  readonly taken: string[]
}

export interface Records {
  readonly dashboard: Dashboard
  readonly receiver: Receiver
  /** Jobs of `sluice/clip-1` that have completed, whose webhooks are dead letters. */
  readonly dead: readonly string[]
  /** A job that its provider goes on making, and one that it has failed to make. */
  readonly open: string
  readonly failed: string
  /** A draft, whose upstream answers. */
  readonly endpointId: string
  /** A call of the public API by the management key. */
  manage(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>
}

/** The dashboard is signed in; what it makes URLs of is noted in the page, as `made` and `gone`. */
export async function openRecords(t: Teardown): Promise<Records> {
  const target = await startWebhookReceiver(() => (receiver.isOpen ? TAKEN : GONE))
  const receiver: Receiver = { isOpen: false, origin: target.origin, taken: [] }
  const [videos, upstream] = [await startVideos({ makeMs: NEVER_MS }), await startProvider(UPSTREAM_HOST)]
  t.teardown(() => Promise.all([target.close(), videos.close(), upstream.close()]).then(() => undefined))
  Object.defineProperty(receiver, 'taken', {
    get: () => target.received.filter(({ status }) => status === TAKEN).map(({ body }) => body),
  })
  const { port } = new URL(upstream.origin)
  const dashboard = await openDashboard(t, {
    SLUICE_CATALOG: catalogueFile(t, catalogue(videos.baseUrl)),
    FAKE_KEY: 'k',
    SLUICE_EGRESS_CA: target.rootFile,
    SLUICE_EGRESS_ALLOW: `${target.allow},http:127.0.0.0/8:${port},http:[::1]:${port}`,
  })
  const call = callOf(dashboard, dashboard.inferenceKey)
  const manage = callOf(dashboard, dashboard.managementKey)
  const dead: string[] = []
  for (const name of ['first', 'second']) {
    const callback = `${target.origin}/${name}`
    dead.push(
      String(
        (
          await call('POST', 'videos', {
            model: 'sluice/clip-1',
            prompt: name,
            duration: 1,
            resolution: '360p',
            callback_url: callback,
          })
        )['id'],
      ),
    )
  }
  const open = String((await call('POST', 'videos', { model: 'fake/film', prompt: 'slow' }))['id'])
  const failed = String(
    (await call('POST', 'videos', { model: 'fake/film', prompt: 'none [fail make=20]' }))['id'],
  )
  await upload(dashboard)
  await call('PUT', 'vault/secrets/own_key', { hosts: [UPSTREAM_HOST], value: 'upstream-credential' })
  const endpointId = await draft(manage, port)
  await until('both letters are dead', () => target.received.length === dead.length)
  const isAt = async (id: string, status: string): Promise<boolean> =>
    (await call('GET', `videos/${id}`))['status'] === status
  await until(
    'a job is under way, and one has failed',
    async () => (await isAt(open, 'in_progress')) && isAt(failed, 'failed'),
  )
  await dashboard.page.addInitScript(`
    window.made = []; window.gone = []
    const { createObjectURL, revokeObjectURL } = URL
    URL.createObjectURL = (blob) => { const url = createObjectURL.call(URL, blob); made.push(url); return url }
    URL.revokeObjectURL = (url) => { gone.push(url); revokeObjectURL.call(URL, url) }`)
  await dashboard.signIn()
  return { dashboard, receiver, dead, open, failed, endpointId, manage }
}

function catalogue(baseUrl: string): unknown {
  return {
    providers: [
      {
        slug: OPEN_PROVIDER,
        name: 'Fake',
        protocol: 'openai',
        base_url: baseUrl,
        api_key_env: 'FAKE_KEY',
        video: { submit: 'token', poll_first_ms: 100, poll_max_ms: 500, polls_per_second: 100 },
      },
    ],
    models: [
      {
        id: 'fake/film',
        name: 'Film',
        architecture: { input_modalities: ['text'], output_modalities: ['video'] },
        endpoints: [{ provider: OPEN_PROVIDER, upstream_model: 'film-1' }],
      },
    ],
  }
}

function callOf(dashboard: Dashboard, key: string): Records['manage'] {
  return async (method, path, sent) => {
    const { status, body } = await dashboard.call(path, key, { method, body: sent })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body}`)
    return JSON.parse(body) as Readonly<Record<string, unknown>>
  }
}

async function upload({ node, inferenceKey }: Dashboard): Promise<void> {
  const form = new FormData()
  form.set('file', new Blob(['a'.repeat(FILE_BYTES)], { type: 'text/plain' }), 'report.txt')
  const answer = await fetch(`${node.ready.url}/api/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}` },
    body: form,
  })
  if (!answer.ok) throw new Error(`the file is not taken: ${answer.status}`)
}

async function draft(manage: Records['manage'], port: string): Promise<string> {
  const { data } = await manage('POST', 'private-endpoints', {
    model_permaslug: 'acme/own',
    provider_slug: 'openai-compatible',
    upstream_model_id: 'own-embed',
    base_url: `https://${UPSTREAM_HOST}:${port}/v1`,
    secret_name: 'own_key',
    pricing: { prompt: '0.000001', completion: '0' },
  })
  return String((data as { readonly id: string }).id)
}
