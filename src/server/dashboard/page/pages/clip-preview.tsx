import { h, type ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AdminJobDetailsShape } from '../../../../schemas/operator/admin.ts'
import { ApiError, messageOf, type Api } from '../api.ts'
import { bytes, share, Time } from '../parts/figures.tsx'

type Clip = AdminJobDetailsShape['clips'][number]

/** Bytes of a clip that the page takes into its memory to show it. */
const PREVIEW_BYTES_MAX = 64 * 1024 * 1024
const TYPE = 'video/mp4'

type Shown =
  | { readonly kind: 'none' }
  | { readonly kind: 'loading'; readonly part: number }
  | { readonly kind: 'shown'; readonly url: string }
  | { readonly kind: 'failed'; readonly problem: string }

/** A clip that is fetched with the key when asked for, and let go of when its job is left. */
export function ClipPreview({
  api,
  jobId,
  clip,
}: {
  readonly api: Api
  readonly jobId: string
  readonly clip: Clip
}): ComponentChild {
  const [shown, setShown] = useState<Shown>({ kind: 'none' })
  const left = useRef<AbortController | null>(null)
  useEffect(() => () => left.current?.abort(), [])
  const load = (): void => {
    const wanted = new AbortController()
    left.current = wanted
    setShown({ kind: 'loading', part: 0 })
    fetchClip(api, {
      jobId,
      clip,
      signal: wanted.signal,
      onPart: (part) => setShown({ kind: 'loading', part }),
    }).then(
      (blob) => {
        if (wanted.signal.aborted) return
        const url = URL.createObjectURL(blob)
        wanted.signal.addEventListener('abort', () => URL.revokeObjectURL(url))
        setShown({ kind: 'shown', url })
      },
      (problem: unknown) =>
        wanted.signal.aborted || setShown({ kind: 'failed', problem: messageOf(problem) }),
    )
  }
  return (
    <div class="stack">
      <div class="head">
        <p>
          {`Clip ${clip.index}, ${bytes(clip.bytes)}, created `}
          <Time at={clip.created_at} />
        </p>
        <LoadButton clip={clip} shown={shown} load={load} />
      </div>
      {shown.kind === 'failed' && (
        <p class="notice bad" role="alert">
          {shown.problem}
        </p>
      )}
      {shown.kind === 'shown' && (
        <video
          class="clip"
          controls
          playsInline
          src={shown.url}
          aria-label={`Clip ${clip.index} of job ${jobId}`}
          onError={() => setShown({ kind: 'failed', problem: 'The browser cannot play this clip.' })}
        />
      )}
    </div>
  )
}

function LoadButton({
  clip,
  shown,
  load,
}: {
  readonly clip: Clip
  readonly shown: Shown
  load(): void
}): ComponentChild {
  if (clip.bytes > PREVIEW_BYTES_MAX)
    return <p class="hint">{`The clip is too large to preview: the limit is ${bytes(PREVIEW_BYTES_MAX)}.`}</p>
  if (shown.kind === 'shown') return null
  if (shown.kind === 'loading')
    return (
      <p class="hint" role="status">
        {`Loading… ${share(shown.part)}`}
      </p>
    )
  return (
    <p>
      <span class="hint">{'Viewing is recorded in the audit log. '}</span>
      <button type="button" onClick={load}>
        Show clip
      </button>
    </p>
  )
}

interface ClipInput {
  readonly jobId: string
  readonly clip: Clip
  readonly signal: AbortSignal
  /** From 0 to 1. */
  onPart(part: number): void
}

/** Never more than was said to be there, whatever comes. */
async function fetchClip(api: Api, { jobId, clip, signal, onPart }: ClipInput): Promise<Blob> {
  const response = await api.open(['admin', 'jobs', jobId, 'content'], { index: clip.index }, signal)
  const reader = response.body?.getReader()
  const parts: BlobPart[] = []
  let held = 0
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    held += read.value.byteLength
    if (held > Math.min(clip.bytes, PREVIEW_BYTES_MAX)) {
      await reader?.cancel()
      throw new ApiError('The clip is larger than announced.')
    }
    parts.push(read.value)
    onPart(held / clip.bytes)
  }
  return new Blob(parts, { type: TYPE })
}
