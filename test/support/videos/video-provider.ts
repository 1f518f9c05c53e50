/**
 * A real loopback provider of videos, in the words of OpenAI or of Google, that does what the prompt of each
 * job says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CLIP } from './boxes.ts'
import { sendClip } from './clip-answers.ts'
import { bounded, fieldsOf, send, type VideoExchange } from './video-exchange.ts'
import { wordsIn, type VideoJob, type VideoLog, type VideoSubmission } from './video-words.ts'

export interface VideoSettings {
  /** Whose words it speaks. */
  readonly speaks: 'openai' | 'google'
  /**
   * Header in which it looks for the token of a submission, lower case: the same token gives the same job.
   * Null: it knows none.
   */
  readonly tokenHeader: string | null
  /** `GET /videos` lists its jobs. */
  readonly lists: boolean
  /** Milliseconds after which a job is on the list. */
  readonly listLagMs: number
  /** Milliseconds that a job takes. */
  readonly makeMs: number
  /** Answers no poll: it takes them, and hangs. */
  readonly hangs: boolean
  /** The key that it takes; null = each. */
  readonly key: string | null
}

export const USUAL: VideoSettings = {
  speaks: 'openai',
  tokenHeader: 'idempotency-key',
  lists: true,
  listLagMs: 0,
  makeMs: 20,
  hangs: false,
  key: null,
}

export interface FakeVideos {
  readonly origin: string
  /** What goes into the catalogue. */
  readonly baseUrl: string
  readonly log: VideoLog
  readonly jobs: ReadonlyMap<string, VideoJob>
  /** Heads of all requests, the last thousand. */
  readonly heads: readonly IncomingMessage['headers'][]
  set(settings: Partial<VideoSettings>): void
  /** All that was submitted so far is made now. */
  finish(): void
  close(): Promise<void>
}

interface GoogleBody {
  readonly instances?: readonly { readonly prompt?: string }[]
  readonly parameters?: Readonly<Record<string, unknown>>
}

const HEADS_MAX = 1_000

export async function startVideos(settings: Partial<VideoSettings> = {}): Promise<FakeVideos> {
  const fake = new Videos({ ...USUAL, ...settings })
  const sockets = new Set<Socket>()
  const server = createServer((req, res) => void fake.receive(req, res))
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', 4_096, listening))
  fake.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(fake, {
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  })
}

class Videos {
  origin = ''
  readonly log: VideoLog = {
    submissions: [],
    polls: {},
    pollsOf: [],
    lists: 0,
    downloads: [],
    cancels: [],
    refused: 0,
  }
  readonly jobs = new Map<string, VideoJob>()
  readonly heads: IncomingMessage['headers'][] = []
  #settings: VideoSettings
  readonly #byToken = new Map<string, VideoJob>()
  /** How often a prompt was submitted. */
  readonly #seen = new Map<string, number>()

  constructor(settings: VideoSettings) {
    this.#settings = settings
  }

  get baseUrl(): string {
    return `${this.origin}/${this.#settings.speaks === 'openai' ? 'v1' : 'v1beta'}`
  }

  set(settings: Partial<VideoSettings>): void {
    this.#settings = { ...this.#settings, ...settings }
  }

  finish(): void {
    for (const [id, job] of this.jobs) this.jobs.set(id, { ...job, doneMs: Math.min(job.doneMs, Date.now()) })
  }

  async receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.on('error', () => undefined)
    res.on('error', () => undefined)
    this.heads.push(req.headers)
    if (this.heads.length > HEADS_MAX) this.heads.splice(0, HEADS_MAX / 2)
    const pieces: Buffer[] = []
    try {
      for await (const piece of req) pieces.push(piece as Buffer)
    } catch {
      return
    }
    const exchange = { req, res, url: new URL(req.url ?? '/', this.origin), body: Buffer.concat(pieces) }
    if (!this.#isKeyed(req)) {
      this.log.refused++
      return send(res, 401, { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } })
    }
    if (this.#settings.speaks === 'openai') this.#asOpenAi(exchange)
    else this.#asGoogle(exchange)
  }

  #isKeyed({ headers }: IncomingMessage): boolean {
    const { key, speaks } = this.#settings
    return (
      key === null ||
      (speaks === 'openai' ? headers.authorization === `Bearer ${key}` : headers['x-goog-api-key'] === key)
    )
  }

  #asOpenAi(exchange: VideoExchange): void {
    const { req, res, url, body } = exchange
    const [, , , id, part] = url.pathname.split('/').map(decodeURIComponent)
    if (req.method === 'POST')
      return this.#submit(exchange, fieldsOf(req, body), part === 'remix' ? (id ?? null) : null)
    if (id === undefined) return this.#list(exchange)
    const job = this.jobs.get(id)
    if (job === undefined) return send(res, 404, { error: { message: `Video with id '${id}' not found.` } })
    if (req.method === 'DELETE') {
      this.log.cancels.push(id)
      this.jobs.delete(id)
      return send(res, 200, { id, object: 'video.deleted', deleted: true })
    }
    if (part === 'content') return this.#content(job, exchange)
    this.#polled(job, req)
    if (!this.#isHanging(job)) send(res, 200, this.#videoOf(job))
  }

  #asGoogle(exchange: VideoExchange): void {
    const { req, res, url, body } = exchange
    const path = decodeURIComponent(url.pathname).replace(/^\/v1beta\//, '')
    if (req.method === 'POST') {
      const { instances: [instance] = [], parameters = {} } = JSON.parse(body.toString()) as GoogleBody
      return this.#submit(
        exchange,
        { ...parameters, ...instance, model: path.split(/[/:]/)[1], seconds: parameters['durationSeconds'] },
        null,
      )
    }
    const [, file] = /^files\/([^:]+):download$/.exec(path) ?? []
    const job = this.jobs.get(file ?? path)
    if (job === undefined)
      return send(res, 404, { error: { code: 404, message: 'Operation not found.', status: 'NOT_FOUND' } })
    if (file !== undefined) return this.#content(job, exchange)
    this.#polled(job, req)
    if (!this.#isHanging(job)) send(res, 200, this.#operationOf(job))
  }

  #submit(
    { req, res, url, body }: VideoExchange,
    fields: Readonly<Record<string, unknown>>,
    remixOf: string | null,
  ): void {
    const { tokenHeader } = this.#settings
    const token = tokenHeader === null ? null : ([req.headers[tokenHeader]].flat()[0] ?? null)
    const prompt = String(fields['prompt'] ?? '')
    const words = wordsIn(prompt)
    const nth = (this.#seen.get(prompt) ?? 0) + 1
    this.#seen.set(prompt, nth)
    const note = (outcome: VideoSubmission['outcome'], id: string | null): void =>
      void this.log.submissions.push({
        token,
        prompt,
        atMs: Date.now(),
        id,
        outcome,
        path: url.pathname,
        fields: bounded(fields),
        bodyBytes: body.length,
      })
    const isFirst = nth <= words.times
    if (words.submit === 'hang-up-before' && isFirst) {
      note('dropped', null)
      return void req.socket.destroy()
    }
    if (words.submit === 'busy' && isFirst) {
      note('refused', null)
      return send(
        res,
        words.status,
        { error: { message: 'Try later.' } },
        words.retryAfter === null ? {} : { 'retry-after': words.retryAfter },
      )
    }
    if (words.submit === 'refuse') {
      note('refused', null)
      return send(res, words.status, {
        error: { message: `We cannot make ${prompt}`, code: 'moderation_blocked' },
      })
    }
    const known = token === null ? undefined : this.#byToken.get(token)
    const job = known ?? this.#made(fields, { prompt, words, remixOf })
    if (token !== null) this.#byToken.set(token, job)
    note(known === undefined ? 'taken' : 'repeated', job.id)
    this.#answer(job, { req, res, isFirst })
  }

  #answer(
    job: VideoJob,
    { req, res, isFirst }: { req: IncomingMessage; res: ServerResponse; isFirst: boolean },
  ): void {
    const { words } = job
    if (isFirst && words.submit === 'hang-up-after') return void req.socket.destroy()
    if (isFirst && words.submit === 'hang-after') return
    if (isFirst && words.submit === 'html-after')
      return void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>made</html>')
    if (isFirst && words.submit === 'error-after')
      return send(res, words.status, { error: { message: 'Something broke.' } })
    send(res, 200, this.#settings.speaks === 'openai' ? this.#videoOf(job) : { name: job.id })
  }

  #made(
    fields: Readonly<Record<string, unknown>>,
    { prompt, words, remixOf }: Pick<VideoJob, 'prompt' | 'words' | 'remixOf'>,
  ): VideoJob {
    const nth = this.jobs.size
    const name = words.id ?? `${nth.toString(36)}${Math.random().toString(36).slice(2, 10)}`
    const model = String(fields['model'] ?? '')
    const id = this.#settings.speaks === 'openai' ? `video_${name}` : `models/${model}/operations/${name}`
    const known = this.jobs.get(id)
    if (known !== undefined) return known
    const makeMs = words.makeMs ?? this.#settings.makeMs
    const job = {
      id,
      model,
      prompt,
      words,
      remixOf,
      createdMs: Date.now(),
      doneMs: Date.now() + makeMs,
      fields: bounded(fields),
    }
    this.jobs.set(id, job)
    return job
  }

  #polled({ id }: VideoJob, { socket }: IncomingMessage): void {
    this.log.pollsOf.push({ id, port: socket.remotePort ?? 0, atMs: Date.now() })
    const second = String(Math.floor(Date.now() / 1_000))
    this.log.polls[second] = (this.log.polls[second] ?? 0) + 1
  }

  #isHanging({ words }: VideoJob): boolean {
    return this.#settings.hangs || words.poll === 'hang'
  }

  #stateOf({ doneMs, words }: VideoJob): 'in_progress' | 'completed' | 'failed' {
    if (words.poll === 'never' || Date.now() < doneMs) return 'in_progress'
    return words.poll === 'fail' ? 'failed' : 'completed'
  }

  #videoOf(job: VideoJob): object {
    const status = this.#stateOf(job)
    const { words, fields } = job
    return {
      id: job.id,
      object: 'video',
      created_at: Math.floor(job.createdMs / 1_000),
      completed_at: null,
      expires_at: null,
      status,
      model: job.model,
      progress: 0,
      prompt: job.prompt,
      seconds: fields['seconds'] ?? null,
      size: fields['size'] ?? null,
      remixed_from_video_id: job.remixOf,
      error: status === 'failed' ? { code: 'moderation_blocked', message: `Blocked: ${job.prompt}` } : null,
      ...(words.cost !== null && { usage: { cost: words.cost }, cost: words.cost }),
    }
  }

  #operationOf(job: VideoJob): object {
    const state = this.#stateOf(job)
    if (state === 'in_progress') return { name: job.id }
    const { words } = job
    if (words.poll === 'error')
      return { name: job.id, done: true, error: { code: 3, message: `Not possible: ${job.prompt}` } }
    if (state === 'failed') {
      const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [`Filtered: ${job.prompt}`] }
      return { name: job.id, done: true, response: { generateVideoResponse: filtered } }
    }
    const uri = words.url ?? `${this.baseUrl}/files/${encodeURIComponent(job.id)}:download?alt=media`
    const video =
      words.poll === 'inline' ? { encodedVideo: CLIP.toString('base64'), encoding: 'video/mp4' } : { uri }
    return {
      name: job.id,
      done: true,
      response: { generateVideoResponse: { generatedSamples: [{ video }] } },
    }
  }

  #list({ res, url: { searchParams } }: VideoExchange): void {
    const { lists, listLagMs } = this.#settings
    this.log.lists++
    if (!lists) return send(res, 404, { error: { message: 'Not found.' } })
    const all = [...this.jobs.values()]
      .filter(({ createdMs }) => createdMs + listLagMs <= Date.now())
      .reverse()
    if (searchParams.get('order') === 'asc') all.reverse()
    const from = all.findIndex(({ id }) => id === searchParams.get('after')) + 1
    const page = all.slice(from, from + Number(searchParams.get('limit') ?? 20))
    const hasMore = from + page.length < all.length
    send(res, 200, {
      object: 'list',
      data: page.map((job) => this.#videoOf(job)),
      has_more: hasMore,
      last_id: page.at(-1)?.id ?? null,
    })
  }

  #content(job: VideoJob, { res }: VideoExchange): void {
    this.log.downloads.push(job.id)
    sendClip(job.words, res)
  }
}
