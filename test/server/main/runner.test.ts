import t from 'tap'
import { catalogueFile } from '../../support/models/catalogue.ts'
import {
  firstKeys,
  nodeSettings,
  startNode,
  until,
  type Settings,
  type TestNode,
} from '../../support/nodes/node.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { startVideos } from '../../support/videos/video-provider.ts'
import { pause } from '../../support/wait.ts'

interface Reply {
  readonly id: string
  readonly status: string
  readonly error?: string
  readonly unsigned_urls?: readonly string[]
}

t.setTimeout(600_000)

/** A node with one video model at a provider that runs here, and two runners. */
async function videoNode(t: Parameters<typeof nodeSettings>[0]) {
  const provider = await startVideos({ makeMs: 100 })
  t.teardown(() => provider.close())
  const settings: Settings = {
    ...(await nodeSettings(t)),
    SLUICE_RUNNERS: '2',
    FAKE_KEY: 'k',
    SLUICE_CATALOG: catalogueFile(t, {
      providers: [
        {
          slug: 'fake',
          name: 'Fake',
          protocol: 'openai',
          base_url: provider.baseUrl,
          api_key_env: 'FAKE_KEY',
          video: { submit: 'token', poll_first_ms: 100, poll_max_ms: 500, polls_per_second: 100 },
        },
      ],
      models: [
        {
          id: 'fake/film',
          name: 'Film',
          architecture: { input_modalities: ['text'], output_modalities: ['video'] },
          endpoints: [{ provider: 'fake', upstream_model: 'film-1' }],
        },
      ],
    }),
  }
  const node = await startNode(t, settings)
  const call = async (
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: Reply }> => {
    const answer = await fetch(`${node.ready.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      body: body === undefined ? null : JSON.stringify(body),
      headers: {
        authorization: `Bearer ${firstKeys(node.dataDir)['inference_key'] ?? ''}`,
        'content-type': 'application/json',
      },
    })
    return { status: answer.status, body: (await answer.json()) as Reply }
  }
  return {
    provider,
    settings,
    node,
    call,
    submit: (prompt: string) => call('/videos', { model: 'fake/film', prompt }),
  }
}

async function ended(call: (path: string) => Promise<{ readonly body: Reply }>, id: string): Promise<Reply> {
  let reply = (await call(`/videos/${id}`)).body
  await until('the job ends', async () => {
    reply = (await call(`/videos/${id}`)).body
    return reply.status !== 'pending' && reply.status !== 'in_progress'
  })
  return reply
}

/** Ten jobs, of which the node knows that the provider makes them. */
async function tenUnderWay({
  call,
  submit,
}: Pick<Awaited<ReturnType<typeof videoNode>>, 'call' | 'submit'>): Promise<readonly string[]> {
  const ids = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => (await submit(`fox ${n}`)).body.id),
  )
  for (const id of ids)
    await until('it is under way', async () => (await call(`/videos/${id}`)).body.status === 'in_progress')
  return ids
}

/** A process that is busy is shown as it was when it last answered. */
function untilMetrics(node: TestNode, line: RegExp): Promise<void> {
  return until(`the metrics have ${line}`, async () => line.test((await node.admin('/metrics')).body))
}

/** Longer than any test: a job is done when the test says so. */
const NEVER_MS = 3_600_000

/** The provider has made all that it was given. */
function makeAll(): void {
  for (const job of provider.jobs.values()) Object.assign(job, { doneMs: 0 })
}

// One for all tests: a start takes more CPU than what they do.
const { node, settings, provider, call, submit } = await videoNode(t)

async function clipOf(id: string): Promise<{ readonly type: string | null; readonly brand: string }> {
  const clip = await fetch(`${node.ready.url}/api/v1/videos/${id}/content`, {
    headers: { authorization: `Bearer ${firstKeys(node.dataDir)['inference_key'] ?? ''}` },
  })
  return {
    type: clip.headers.get('content-type'),
    brand: Buffer.from(await clip.arrayBuffer()).toString('latin1', 4, 8),
  }
}

t.test('a video job runs from its submission to a downloadable clip', async (t) => {
  const accepted = await submit('a fox')
  t.equal(accepted.status, 202)
  t.match(await ended(call, accepted.body.id), { status: 'completed' })
  t.same(await clipOf(accepted.body.id), { type: 'video/mp4', brand: 'ftyp' })
  await untilMetrics(node, /sluice_video_ends_total\{provider="fake",status="completed"\} 1\n/)
})

t.test('sluice/clip-1 makes a clip without any provider, and the node keeps answering calls', async (t) => {
  const accepted = await call('/videos', { model: 'sluice/clip-1', prompt: 'a small fox', duration: 1 })
  t.equal(accepted.status, 202, JSON.stringify(accepted.body))
  const ending = ended(call, accepted.body.id)
  const isOver = ending.then(() => true)
  for (let isEnded = false; !isEnded; isEnded = await Promise.race([isOver, pause(20).then(() => false)]))
    t.equal((await node.get('/api/v1/models')).status, 200)
  t.match(await ending, { status: 'completed' })
  t.match(await clipOf(accepted.body.id), { brand: 'ftyp' })
})

t.test('a killed runner is replaced at once, and any runner finishes its jobs', async (t) => {
  provider.set({ makeMs: NEVER_MS })
  const submissions = provider.log.submissions.length
  const ids = await tenUnderWay({ call, submit })
  const [first] = node.pidsOf('runner')
  process.kill(first ?? process.pid, 'SIGKILL')
  await until('there are two again', () => {
    const runners = node.pidsOf('runner')
    return runners.length === 2 && !runners.includes(first ?? 0)
  })
  makeAll()
  for (const id of ids) t.equal((await ended(call, id)).status, 'completed')
  t.equal(provider.log.submissions.length, submissions + 10)
})

t.test('draining runners hand over their jobs at once, and a node with runners ends', async (t) => {
  provider.set({ makeMs: NEVER_MS })
  const submissions = provider.log.submissions.length
  const ids = await tenUnderWay({ call, submit })
  const before = node.pidsOf('runner')
  // Ends with the reload, however long that takes.
  await runVerb(settings, ['reload'])
  await until('the runners are others', () => node.pidsOf('runner').every((pid) => !before.includes(pid)))
  makeAll()
  for (const id of ids) t.equal((await ended(call, id)).status, 'completed')
  t.equal(provider.log.submissions.length, submissions + 10)
  t.equal(await node.stop(), 0)
})
