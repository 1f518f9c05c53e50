/** The facts of a clip by ffmpeg, where it is installed: a second opinion to our own reader. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isOnPath } from '../nodes/outside-stores.ts'

const run = promisify(execFile)

export interface Probed {
  readonly codec: string
  readonly pixels: string
  readonly width: number
  readonly height: number
  readonly seconds: number
  /** That were decoded, one by one. */
  readonly frames: number
  /** What the decoder complained of. */
  readonly complaints: string
}

export async function hasFfmpeg(): Promise<boolean> {
  return (await isOnPath('ffprobe')) && (await isOnPath('ffmpeg'))
}

/** Decodes every frame. */
export function probe(clip: Uint8Array): Promise<Probed> {
  return withFile(clip, async (file) => {
    const entries = 'stream=codec_name,pix_fmt,width,height,nb_read_frames:format=duration'
    const { stdout, stderr } = await run('ffprobe', [
      '-v',
      'warning',
      '-count_frames',
      '-show_entries',
      entries,
      '-of',
      'json',
      file,
    ])
    const { streams, format } = JSON.parse(stdout) as {
      streams: readonly Record<string, string | number>[]
      format: { duration: string }
    }
    const [stream = {}] = streams
    return {
      codec: String(stream['codec_name']),
      pixels: String(stream['pix_fmt']),
      width: Number(stream['width']),
      height: Number(stream['height']),
      seconds: Number(format.duration),
      frames: Number(stream['nb_read_frames']),
      complaints: stderr.trim(),
    }
  })
}

/** Red, green and blue of a frame at some seconds, in a picture of so many pixels each way. */
export function frameAt(clip: Uint8Array, seconds: number, side: number): Promise<Uint8Array> {
  return withFile(clip, async (file) => {
    const shape = ['-frames:v', '1', '-vf', `scale=${side}:${side}`, '-pix_fmt', 'rgb24', '-f', 'rawvideo']
    const args = ['-v', 'error', '-ss', String(seconds), '-i', file, ...shape, '-']
    const { stdout } = await run('ffmpeg', args, { encoding: 'buffer' })
    return stdout
  })
}

async function withFile<T>(clip: Uint8Array, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-clip-'))
  try {
    const file = join(folder, 'clip.mp4')
    await writeFile(file, clip)
    return await use(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
