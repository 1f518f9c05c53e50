/** `sluice/clip-1`: it renders the requested clip quickly, and the node goes on serving meanwhile. */
import { startBurner } from '../../../bench/transfers/burner.ts'
import { startGateway, type Gateway } from '../../../bench/transfers/gateway.ts'
import { tinyLatency, type Latency } from '../../../bench/transfers/tiny.ts'
import {
  CLIP_ASPECT_RATIOS,
  CLIP_DURATIONS,
  CLIP_FRAMES_PER_SECOND,
  CLIP_RESOLUTIONS,
  clipSize,
  type ClipSize,
} from '../../../src/schemas/videos/clip.ts'
import { BACKGROUND_JOB_MS_MAX } from '../../../src/schemas/limits/limits.ts'
import { openPools } from '../../../src/workers/pool.ts'
import { callerBy } from '../../support/keys/callers.ts'
import { startClipProcess } from '../../support/videos/clip-process.ts'
import { clipInput, type ClipInput } from '../../support/videos/clips.ts'
import { hasFfmpeg, probe } from '../../support/videos/ffmpeg.ts'
import { SILENT } from '../../support/log.ts'
import { readMp4 } from '../../support/videos/mp4-reader.ts'
import { must } from '../../support/must.ts'
import { median, type Program, type Proof } from '../proof.ts'

/** The clip that is timed, and milliseconds in which one worker has rendered it. */
const NAMED = { ...clipSize('480p', '16:9'), seconds: 5 }
const NAMED_MS_MAX = 4_000
const NAMED_TIMES = 9
/** The p99 of model reads may be this many times that next to a burner. */
const READS_RATIO_MAX = 2
/** Over this many clips of one thread memory stays what it was after the first ones. */
const CLIPS_KEPT = 50
const CLIPS_FIRST = 20
const GROWTH_MAX = 1.25

export const program: Program = {
  text: 'Clips of sluice/clip-1 over all sizes, durations and seeds by an independent reader; their time, their memory, and model reads beside them',
  async run(proof) {
    await sweep(proof)
    await kept(proof)
    // The short form asserts no times; a test of the runner shows that a node answers during a clip.
    if (proof.isShort) return
    await timed(proof)
    await beside(proof)
  },
}

type Render = (input: Partial<ClipInput>) => Promise<Uint8Array>

/** Through the pool, as the runner does. */
function openRendering(proof: Proof): Render {
  const { jobs, close } = openPools({
    shortThreads: 1,
    sessionThreads: 0,
    queueMax: 1,
    jobMsMax: BACKGROUND_JOB_MS_MAX,
    log: SILENT,
  })
  proof.after(close)
  return async (input) => must(await jobs.run('render_clip', clipInput(input), { caller: callerBy('prove') }))
}

async function sweep(proof: Proof): Promise<void> {
  const render = openRendering(proof)
  const isProbed = await hasFfmpeg()
  const wrong: string[] = []
  const unlike: string[] = []
  let clips = 0
  for (const input of inputs(proof)) {
    const clip = await render(input)
    const name = `${input.width}x${input.height} ${input.seconds} s seed ${input.seed}`
    clips++
    if (!isAsAsked(clip, input) || (isProbed && !(await isDecoded(clip, input)))) wrong.push(name)
    if (!Buffer.from(clip).equals(Buffer.from(await render(input)))) unlike.push(name)
  }
  for (const name of [...wrong, ...unlike].slice(0, 10)) proof.say(`not as asked: ${name}`)
  const by = isProbed
    ? 'our reader and ffmpeg, which decoded every frame'
    : 'our reader; ffmpeg is not installed'
  proof.check(
    'duration, size and codec are as asked, moov before mdat',
    wrong.length === 0 && clips > 0,
    `${clips - wrong.length} of ${clips} clips by ${by}`,
  )
  proof.check(
    'the same wish gives the same bytes',
    unlike.length === 0,
    `${clips - unlike.length} of ${clips}`,
  )
}

type Swept = ClipSize & Pick<ClipInput, 'seconds' | 'seed' | 'prompt'>

/**
 * Every size at every duration; in the short form of the durations one, and of each resolution one shape:
 * tests of the renderer take them all.
 */
function* inputs(proof: Proof): Generator<Swept> {
  const shapes = CLIP_ASPECT_RATIOS.length
  const shape = proof.random(shapes)
  const isIn = (nth: number, ratio: number): boolean => !proof.isShort || (nth + shape) % shapes === ratio
  const sizes = CLIP_RESOLUTIONS.flatMap((resolution, nth) =>
    CLIP_ASPECT_RATIOS.filter((_, ratio) => isIn(nth, ratio)).map((ratio) => clipSize(resolution, ratio)),
  )
  for (const seconds of proof.isShort ? CLIP_DURATIONS.slice(0, 1) : CLIP_DURATIONS) {
    for (const size of sizes) {
      const seed = proof.random(2 ** 31)
      yield { ...size, seconds, seed, prompt: proof.random(4) === 0 ? null : `a fox and ${seed} hens` }
    }
  }
}

function isAsAsked(clip: Uint8Array, { width, height, seconds }: Swept): boolean {
  const facts = readMp4(clip)
  const frames = seconds * CLIP_FRAMES_PER_SECOND
  return (
    facts.codec === 'avc1' &&
    facts.width === width &&
    facts.height === height &&
    facts.seconds === seconds &&
    facts.secondsOfFrames === seconds &&
    facts.frames === frames &&
    facts.isWhole &&
    facts.boxes.indexOf('moov') < facts.boxes.indexOf('mdat') &&
    facts.keyFrames[0] === 1
  )
}

async function isDecoded(clip: Uint8Array, { width, height, seconds }: Swept): Promise<boolean> {
  const facts = await probe(clip)
  const isSame =
    facts.width === width &&
    facts.height === height &&
    facts.seconds === seconds &&
    facts.frames === seconds * CLIP_FRAMES_PER_SECOND
  return isSame && facts.codec === 'h264' && facts.pixels === 'yuv420p' && facts.complaints === ''
}

async function timed(proof: Proof): Promise<void> {
  const render = openRendering(proof)
  const begun = performance.now()
  await render({ ...NAMED, seed: proof.seed })
  const firstMs = performance.now() - begun
  const times: number[] = []
  for (let nth = 0; nth < NAMED_TIMES; nth++) {
    const startedAt = performance.now()
    await render({ ...NAMED, seed: proof.random(2 ** 31) })
    times.push(performance.now() - startedAt)
  }
  const [middle, most] = [median(times), Math.max(...times)]
  const found = `median ${middle.toFixed(0)} ms, most ${most.toFixed(0)} ms of ${times.length}; the first of its thread ${firstMs.toFixed(0)} ms`
  proof.checkTimed(
    `5 s of ${NAMED.width}x${NAMED.height} take one worker ${NAMED_MS_MAX} ms at most`,
    Math.max(most, firstMs) <= NAMED_MS_MAX,
    found,
  )
}

/** WebAssembly's memory never shrinks: later clips add to the rest that one clip leaves. */
async function kept(proof: Proof): Promise<void> {
  const clips = await startClipProcess(proof.isShort ? {} : NAMED)
  proof.after(clips.stop)
  await clips.until(CLIPS_KEPT)
  await clips.stop()
  const mib = (nth: number): number => (clips.reported[nth - 1]?.residentBytes ?? 0) / 2 ** 20
  const grown = mib(CLIPS_KEPT) / mib(CLIPS_FIRST)
  const found = `${mib(CLIPS_FIRST).toFixed(0)} MiB after ${CLIPS_FIRST}, ${mib(CLIPS_KEPT).toFixed(0)} MiB after ${CLIPS_KEPT}`
  proof.check('memory does not grow from clip to clip', grown <= GROWTH_MAX, found)
}

/** Whatever renders all the while: a process with a runner's pool, or jobs that a node was given. */
interface Rendering {
  /** CPU seconds since it began. */
  cpuS(): number
  stop(): Promise<void>
}

interface Round {
  readonly alone: Latency
  readonly clips: Latency
  readonly burner: Latency
  readonly cores: number
}

async function beside(proof: Proof): Promise<void> {
  const gateway = await startGateway({})
  proof.after(() => gateway.stop())
  await tinyLatency(gateway, 3_000)
  const rounds: Round[] = []
  for (let nth = 0; nth < 5; nth++)
    rounds.push(await round(gateway, { ms: 8_000, render: () => startClipProcess(NAMED) }))
  const failed = rounds.reduce(
    (sum, { alone, clips, burner }) => sum + alone.failed + clips.failed + burner.failed,
    0,
  )
  proof.check('every model read is answered', failed === 0, `${failed} failed`)
  const p99 = (of: (one: Round) => Latency): number => median(rounds.map((one) => of(one).p99))
  const ratio = median(rounds.map(({ clips, burner }) => clips.p99 / burner.p99))
  const found =
    `${ratio.toFixed(2)} × (p99 beside clips ${p99(({ clips }) => clips).toFixed(1)} ms, beside a burner ${p99(({ burner }) => burner).toFixed(1)} ms, ` +
    `alone ${p99(({ alone }) => alone).toFixed(1)} ms; clips took ${median(rounds.map(({ cores }) => cores)).toFixed(2)} cores; ${rounds.length} rounds)`
  proof.checkTimed(
    `p99 of model reads beside clips is at most ${READS_RATIO_MAX} × that beside an equal burner`,
    ratio <= READS_RATIO_MAX,
    found,
  )
}

async function round(
  gateway: Gateway,
  { ms, render }: { readonly ms: number; readonly render: () => Promise<Rendering> },
): Promise<Round> {
  const alone = await tinyLatency(gateway, ms)
  const rendering = await render()
  const [cpuBefore, startedAt] = [rendering.cpuS(), performance.now()]
  const clips = await tinyLatency(gateway, ms)
  const cores = (rendering.cpuS() - cpuBefore) / ((performance.now() - startedAt) / 1_000)
  await rendering.stop()
  const stop = await startBurner({ cores: Math.max(0.1, cores), isDetached: false })
  const burner = await tinyLatency(gateway, ms)
  await stop()
  return { alone, clips, burner, cores }
}
