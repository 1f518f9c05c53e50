/** A front with every operation over video jobs in memory and a catalogue of video models. */
import type { Test } from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import type { Trace } from '../../../src/schemas/trace.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { Content } from '../../../src/server/ports/byte-streams.ts'
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import { catalogueOf } from '../models/catalogue.ts'
import { accessTo, AUTHORIZATION, keyRecords, openFront, type TestFront } from '../front.ts'
import { SILENT } from '../log.ts'
import { memoryVideos, type MemoryVideos } from './memory-videos.ts'
import { NO_FILES } from '../files/no-files.ts'

export interface VideosFront extends TestFront {
  readonly videos: MemoryVideos
  readonly traced: readonly Trace[]
  /** Of `/api/v1`. */
  call(path: string, init?: RequestInit): Promise<VideoReply>
  /** Posts to /videos; members that are undefined are left out. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<VideoReply>
}

export interface VideoReply {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  readonly body: VideoReplyBody
}

export interface VideoReplyBody {
  readonly id?: string
  readonly status?: string
  readonly data?: readonly { readonly id: string }[]
  readonly has_more?: boolean
  readonly last_id?: string | null
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly metadata: {
      readonly error_type: string
      readonly issues?: readonly {
        readonly path: string
        readonly message: string
        readonly expected: string
      }[]
    }
  }
}

/** Bytes of every clip. */
export const CLIP = Buffer.from('not really an MP4, but as long as it is')

export interface VideosFrontOptions {
  readonly ports?: Partial<Ports>
  readonly keys?: Parameters<typeof keyRecords>[0]
  readonly operations?: typeof OPERATIONS
}

export async function openVideosFront(
  t: Test,
  { ports: more = {}, keys, operations = OPERATIONS }: VideosFrontOptions = {},
): Promise<VideosFront> {
  const videos = memoryVideos()
  const traced: Trace[] = []
  const egress = openEgress({
    resolve: (name) => Promise.resolve([name.startsWith('inside.') ? '10.0.0.7' : '93.184.215.14']),
  })
  t.teardown(() => egress.close())
  const ports: Ports = {
    ...NO_FILES,
    models: catalogueOf(t, VIDEO_CATALOGUE),
    embedder: {
      answer: () => {
        throw new Error('this test embeds nothing')
      },
    },
    observer: { log: SILENT, settled: () => undefined, trace: (trace) => void traced.push(trace) },
    videos,
    egress,
    operatorKeys: new Set(['SET_KEY']),
    transfers: {
      ...NO_FILES.transfers,
      openFile: (file: FileRecord) => Promise.resolve(ok(contentOf(file))),
    },
    ...more,
  }
  const front = await openFront(t, operations, { ports, access: accessTo(keyRecords(keys)) })
  const call: VideosFront['call'] = async (path, init = {}) => {
    const headers = { authorization: AUTHORIZATION, ...(init.headers as Record<string, string> | undefined) }
    const answer = await fetch(`${front.url}/api/v1${path}`, { ...init, headers })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isJson = answer.headers.get('content-type') === 'application/json' && bytes.length > 0
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      body: (isJson ? JSON.parse(bytes.toString()) : {}) as VideoReplyBody,
    }
  }
  const post: VideosFront['post'] = (body, headers = {}) =>
    call('/videos', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { ...front, videos, traced, call, post }
}

function contentOf({ sha256 }: FileRecord): Content {
  return {
    sizeBytes: CLIP.length,
    etag: `sha256-${sha256}`,
    close: () => undefined,
    read(from, to) {
      const pieces = [CLIP.subarray(from, to)]
      return Promise.resolve(
        ok({ next: () => Promise.resolve(ok(pieces.shift() ?? null)), close: () => undefined }),
      )
    },
  }
}

const VIDEO = { output_modalities: ['video'] }

/**
 * `acme/clip` says all that a model can say; `acme/any` says nothing; `acme/stills` makes one from an image
 * alone.
 */
export const VIDEO_CATALOGUE = {
  providers: [
    { slug: 'local', protocol: 'local' },
    { slug: 'first', protocol: 'openai', base_url: 'https://first.example/v1', api_key_env: 'UNSET_KEY' },
    { slug: 'second', protocol: 'openai', base_url: 'https://second.example/v1', api_key_env: 'SET_KEY' },
    { slug: 'talker', protocol: 'cohere', base_url: 'https://talker.example/v2', api_key_env: 'SET_KEY' },
  ],
  models: [
    {
      id: 'acme/clip',
      name: 'Clip',
      architecture: VIDEO,
      aliases: ['acme/c'],
      video: {
        durations: [4, 8],
        resolutions: ['720p', '1080p'],
        aspect_ratios: ['16:9', '9:16'],
        sizes: ['1280x720', '720x1280', '1920x1080'],
        frame_images: ['first_frame', 'last_frame'],
        generate_audio: true,
        seed: true,
        passthrough_parameters: ['negativePrompt', 'style'],
        video_references: true,
        previous_job: true,
        pricing_skus: { duration_seconds: '0.1', duration_seconds_1080p: '0.2' },
      },
      endpoints: [
        { provider: 'first', upstream_model: 'clip' },
        { provider: 'second', upstream_model: 'clip-2' },
      ],
    },
    {
      id: 'acme/any',
      name: 'Any',
      architecture: VIDEO,
      endpoints: [{ provider: 'local', upstream_model: 'any' }],
    },
    {
      id: 'acme/stills',
      name: 'Stills',
      architecture: VIDEO,
      video: {
        prompt_optional: true,
        frame_images: ['first_frame'],
        seed: false,
        generate_audio: false,
        resolutions: ['480p'],
        aspect_ratios: ['1:1'],
      },
      endpoints: [{ provider: 'second', upstream_model: 'stills' }],
    },
    {
      id: 'acme/larger',
      name: 'Larger',
      architecture: VIDEO,
      video: { creativity: [0, 1], upscale_factor: { min: 1.5, max: 4 } },
      endpoints: [{ provider: 'second', upstream_model: 'larger' }],
    },
    {
      id: 'acme/unset',
      name: 'Unset',
      architecture: VIDEO,
      endpoints: [{ provider: 'first', upstream_model: 'unset' }],
    },
    { id: 'acme/shut', name: 'Shut', architecture: VIDEO, endpoints: [] },
    {
      id: 'acme/chat',
      name: 'Chat',
      architecture: { output_modalities: ['text'] },
      endpoints: [{ provider: 'talker', upstream_model: 'chat' }],
    },
  ],
}
