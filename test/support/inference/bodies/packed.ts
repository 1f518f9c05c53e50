/** Bodies in a content encoding, as a proxy packs a stream: what each event adds can be decoded by itself. */
import { once } from 'node:events'
import { constants, createBrotliCompress, createDeflate, createDeflateRaw, createGzip } from 'node:zlib'
import type { FakeAnswer } from '../fake-provider.ts'

const BROTLI_QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** By the name of a test: the encoding as a header says it, and what packs. */
export const ENCODINGS = {
  gzip: ['gzip', createGzip],
  'x-gzip': ['X-GZIP', createGzip],
  deflate: ['deflate', createDeflate],
  'deflate without a header': ['deflate', createDeflateRaw],
  br: [' br', () => createBrotliCompress(BROTLI_QUALITY)],
} as const
export type Packing = keyof typeof ENCODINGS

/** Each piece packed, and the end. */
export async function packed(packing: Packing, pieces: readonly Uint8Array[]): Promise<readonly Buffer[]> {
  const packer = ENCODINGS[packing][1]()
  const taken = (): Buffer => (packer.read() as Buffer | null) ?? Buffer.alloc(0)
  const all: Buffer[] = []
  for (const piece of pieces) {
    packer.write(piece)
    await new Promise<void>((flushed) => packer.flush(flushed))
    all.push(taken())
  }
  packer.end()
  const rest: Buffer[] = []
  packer.on('readable', () => void rest.push(taken()))
  await once(packer, 'end')
  return [...all, Buffer.concat(rest)]
}

/** Answers with pieces that were packed, in chunks; each waits until it is let go. */
export function answersPacked(
  contentEncoding: string,
  pieces: readonly Uint8Array[],
  { type = 'text/event-stream', status = 200, go = () => Promise.resolve() }: PackedPlan = {},
): FakeAnswer {
  return async (_, reply) => {
    await reply.head(status, {
      'content-type': type,
      'content-encoding': contentEncoding,
      'transfer-encoding': 'chunked',
    })
    for (const piece of pieces) {
      await go()
      await reply.write(piece)
    }
    await reply.end()
  }
}

interface PackedPlan {
  readonly type?: string
  readonly status?: number
  readonly go?: () => Promise<void>
}
