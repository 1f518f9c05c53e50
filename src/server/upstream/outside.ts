import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { VIDEO_DOWNLOAD_STALL_MS } from '../../schemas/videos/video-provider-limits.ts'
import type { AnswerRoom, Egress, EgressStream } from '../ports/egress/egress.ts'

/** Redirects that the download of a clip or an image follows. Decision. */
export const VIDEO_REDIRECTS_MAX = 3

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const HEADERS = ['accept', '*/*', 'accept-encoding', 'identity', 'user-agent', 'sluice']

export interface OutsideDeps {
  readonly egress: Pick<Egress, 'vetted'>
  readonly workspaceId: string
  /** `performance.now()` until which the response has to begin. */
  readonly beginsBy: number
  readonly signal: AbortSignal
  /** As in `EgressExchangeRequest`. */
  readonly signalEnds?: 'head' | 'response'
  /**
   * The provider's own origin, which the operator configured and which may redirect anywhere; only this
   * origin gets the provider's key.
   */
  readonly home?: { readonly origin: string; open(url: URL): Promise<Outcome<EgressStream>> }
}

/**
 * Begins to read an address that a caller or a provider named: through the gate, except for the provider's own origin.
 * Sluice follows redirects within one host; from the provider's own origin also to other hosts, without its key. The
 * result may have any status. Failures: destination_refused (also no HTTPS URL), upstream_failed (a redirect that is
 * not followed), and those of the gate.
 */
export async function openOutside(url: string, deps: OutsideDeps): Promise<Outcome<EgressStream>> {
  let at = urlIn(url)
  for (let nth = 0; nth <= VIDEO_REDIRECTS_MAX; nth++) {
    if (at === null) return fail('destination_refused', { detail: 'The address is not HTTPS.' })
    const opened = await openAt(at, deps)
    if (!opened.ok || !REDIRECTS.has(opened.value.status)) return opened
    const location = opened.value.header('location')
    opened.value.body.close()
    const next = location === null ? null : urlIn(location, at)
    if (next !== null && next.origin !== at.origin && at.origin !== deps.home?.origin) break
    at = next
  }
  return fail('upstream_failed', { detail: 'The address redirects to another host or too many times.' })
}

function openAt(
  url: URL,
  { egress, workspaceId, beginsBy, signal, signalEnds = 'head', home }: OutsideDeps,
): Promise<Outcome<EgressStream>> {
  if (home !== undefined && url.origin === home.origin) return home.open(url)
  if (url.protocol !== 'https:')
    return Promise.resolve(fail('destination_refused', { detail: 'The address is not HTTPS.' }))
  const port = url.port === '' ? null : Number(url.port)
  const host = url.hostname.replace(/\.$/, '')
  const vetted = egress.vetted({ host, port, purpose: 'caller', workspaceId })
  if (!vetted.ok) return Promise.resolve(vetted)
  return vetted.value.exchange({
    method: 'GET',
    path: url.pathname + url.search,
    headers: HEADERS,
    body: null,
    bodyBytes: null,
    beginsBy: () => beginsBy,
    stallMs: VIDEO_DOWNLOAD_STALL_MS,
    signal,
    signalEnds,
  })
}

export interface OutsideRead {
  /** `performance.now()` until which the whole body must have arrived. */
  readonly endsAt: number
  readonly bytesMax: number
  /** Room for the bytes that arrive; absent when the room was taken before. */
  readonly room?: Pick<AnswerRoom, 'more' | 'give'>
}

/**
 * Reads a body whole, in pieces; the caller closes it. Failures: upstream_slow, upstream_too_large, busy (there was no
 * room in that time) and those of the body.
 */
export async function readOutside(
  { body, header }: Pick<EgressStream, 'body' | 'header'>,
  { endsAt, bytesMax, room }: OutsideRead,
): Promise<Outcome<readonly Buffer[]>> {
  if (Number(header('content-length') ?? 0) > bytesMax) return tooLarge(bytesMax)
  const pieces: Buffer[] = []
  let sizeBytes = 0
  let isLate = false
  const timer = setTimeout(
    () => {
      // The callback notes that it ran; a comparison of times afterwards could be wrong, since a timer may
      // fire a little early.
      isLate = true
      body.close()
      room?.give()
    },
    Math.max(0, endsAt - performance.now()),
  ).unref()
  try {
    for (;;) {
      const piece = await body.next()
      isLate ||= performance.now() >= endsAt
      if (isLate) return fail('upstream_slow')
      if (!piece.ok) return piece
      if (piece.value === null) return ok(pieces)
      sizeBytes += piece.value.length
      if (sizeBytes > bytesMax) return tooLarge(bytesMax)
      // Each piece is copied: its buffer is valid only until the next piece.
      pieces.push(Buffer.from(piece.value))
      if (room !== undefined && !(await room.more(piece.value.length))) return fail('busy')
    }
  } finally {
    clearTimeout(timer)
  }
}

function tooLarge(limit: number): Outcome<never> {
  return fail('upstream_too_large', { fields: { limit } })
}

/** Null for a text that is no web address, or for one with a credential, which Sluice must not send unintentionally. */
function urlIn(text: string, base?: URL): URL | null {
  if (!URL.canParse(text, base?.href)) return null
  const url = new URL(text, base)
  return url.username === '' && url.password === '' && /^https?:$/.test(url.protocol) ? url : null
}
