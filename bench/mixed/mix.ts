/** The parts of the mix: as requests of a load, and their good answers. */
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { MIXED_VIDEO_MODEL } from './stand.ts'

export const MIXED_KINDS = ['embeddings', 'reads', 'uploads', 'videos'] as const
export type MixedKind = (typeof MIXED_KINDS)[number]

/** Requests of each kind in a hundred. */
export const MIXED_SHARES: Readonly<Record<MixedKind, number>> = {
  embeddings: 90,
  reads: 5,
  uploads: 4,
  videos: 1,
}
export const MIXED_STATUSES: Readonly<Record<MixedKind, number>> = {
  embeddings: 200,
  reads: 200,
  uploads: 200,
  videos: 202,
}
/** Least bytes of an uploaded file. */
export const UPLOAD_BYTES_LEAST = 1e6
/** Most bytes of an uploaded file. */
export const UPLOAD_BYTES_MOST = 20e6

const BOUNDARY = 'sluice-mix-5b1f0c77'
const FORM_HEAD = [
  `--${BOUNDARY}`,
  'content-disposition: form-data; name="file"; filename="mixed.txt"',
  'content-type: text/plain',
  '',
  '',
].join('\r\n')

export interface MixOf {
  readonly embeddings: LoadRequest
  readonly apiKey: string
  /** Id of a file that stays. */
  readonly fileId: string
  readonly seed: number
}

export function mixedRequests({
  embeddings,
  apiKey,
  fileId,
  seed,
}: MixOf): Readonly<Record<MixedKind, readonly LoadRequest[]>> {
  const authorization = `Bearer ${apiKey}`
  const read = (path: string): LoadRequest => ({
    method: 'GET',
    path: `/api/v1${path}`,
    headers: { authorization },
    body: '',
  })
  return {
    embeddings: [embeddings],
    reads: [
      read('/models/count'),
      read('/model/openai/text-embedding-3-small'),
      read('/key'),
      read('/files?limit=20'),
      read(`/files/${fileId}`),
      read('/videos?limit=20'),
    ],
    uploads: [
      {
        method: 'POST',
        path: '/api/v1/files',
        headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body: FORM_HEAD,
        payload: {
          leastBytes: UPLOAD_BYTES_LEAST,
          mostBytes: UPLOAD_BYTES_MOST,
          seed,
          after: `\r\n--${BOUNDARY}--\r\n`,
        },
      },
    ],
    videos: [
      {
        method: 'POST',
        path: '/api/v1/videos',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: MIXED_VIDEO_MODEL,
          prompt: 'A red ball rolls down a green hill.',
          duration: 4,
          resolution: '720p',
        }),
      },
    ],
  }
}

/**
 * A hundred requests with the share of each kind, spread evenly: for one generator that sends them in turn.
 */
export function mixInTurn(
  requests: Readonly<Record<MixedKind, readonly LoadRequest[]>>,
): readonly LoadRequest[] {
  const slots = MIXED_KINDS.flatMap((kind) =>
    Array.from({ length: MIXED_SHARES[kind] }, (_, nth) => ({
      at: (nth + 0.5) / MIXED_SHARES[kind],
      request: requests[kind][nth % requests[kind].length],
    })),
  )
  return slots.sort((a, b) => a.at - b.at).flatMap(({ request }) => request ?? [])
}
