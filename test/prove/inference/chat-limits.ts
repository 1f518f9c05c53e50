/** Limits of calls at once and of tokens a minute, over fronts that share them: kept, and given back. */
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { clientPortsOf } from '../../support/wire/sockets.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, Proof } from '../proof.ts'
import { startCall, type PacedCall } from './paced/callers.ts'
import { PACED_DIALECTS, PROMPT_TOKENS } from './paced/dialects.ts'
import type { Asked } from './paced/provider.ts'
import { PACED_MODEL, startPacedStand, type PacedStand } from './paced/stand.ts'
import { CALL_LEASE_MS } from '../../../src/server/redis/model-calls.ts'

const FRONTS = 2
const WORD_MS = 20
const FULL = { parallel: 40, callers: 400, rounds: 6, kills: 3, tokenCalls: 3_000 }
const SHORT = { parallel: 6, callers: 40, rounds: 1, kills: 0, tokenCalls: 120 }
/** Callers that ask for tokens at once. */
const ASKING = 20
/** Words of a call that is limited by its tokens: the least that responses take as a maximum. */
const WORDS = 16
/** Tokens a minute, for each call that is to be made. */
const TPM_PER_CALL = 10
/** Milliseconds between two tries of a caller who was refused. */
const TRY_MS = 100
/** Milliseconds after a lease until all its places are in use again. */
const TAKEN_MS_MAX = 5_000

export const program: Program = {
  text: 'calls at once and tokens a minute of a key over two fronts: never exceeded, given back also by a killed front',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const stand = await startPacedStand(proof, { fronts: FRONTS, wordMs: WORD_MS })
    if (stand.redis === null) {
      proof.skipped = 'redis-server is not on the PATH'
      return
    }
    const { workspace_id: workspaceId } = stand.stand.keys
    const { key } = await stand.makeKey(workspaceId, { max_parallel: size.parallel })
    const places = new Places({ proof, stand, key, ...size })
    for (let nth = 0; nth < size.rounds; nth++) await places.round(`round ${nth + 1}`, nth < size.kills)
    await checkTokens(proof, stand, size.tokenCalls)
    await checkLedger(proof, stand.stand)
  },
}

interface PlacesInput {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly key: string
  readonly parallel: number
  readonly callers: number
}

/** Calls of a key with so many places. */
class Places {
  readonly #input: PlacesInput
  readonly #calls: PacedCall[] = []
  /** Calls that the provider had at once, at most. */
  #most = 0

  constructor(input: PlacesInput) {
    this.#input = input
  }

  /** All places are taken, some are left, perhaps one front is killed; then all come back. */
  async round(name: string, isKilled: boolean): Promise<void> {
    const { proof, stand, parallel, callers } = this.#input
    const asked = Array.from({ length: callers }, () => this.#start())
    await Promise.all(asked.map(({ begun }) => begun))
    this.#look()
    const taken = asked.filter(({ status }) => status === 200)
    const isRefused = asked.every(({ status, refusal }) => status === 200 || refusal === 'rate_limited')
    proof.check(
      `${name}: of all callers as many are admitted as there are places`,
      taken.length === parallel && isRefused,
      `${taken.length} of ${callers}, ${parallel} places`,
    )
    for (const call of taken.slice(0, parallel / 2)) call.leave()
    const again = await this.#fill()
    proof.check(`${name}: the places of callers who left are taken again`, again, this.#reported())
    const lost = isKilled ? await this.#kill(name) : 0
    stand.provider.endAll()
    await Promise.all(this.#calls.map(({ over }) => over))
    const broken = this.#calls.filter(({ status, end }) => status === 200 && end === 'broken')
    proof.check(
      `${name}: no other call breaks, and never are there more than places`,
      broken.length === lost && this.#most <= parallel,
      `${broken.length} broken of ${lost} lost with a front, at most ${this.#most} at once, ${parallel} places`,
    )
    this.#calls.length = 0
    this.#most = 0
  }

  /** @returns the calls that the front had */
  async #kill(name: string): Promise<number> {
    const { proof, stand } = this.#input
    const [pid = 0] = stand.stand.fronts()
    const ports = clientPortsOf(pid, stand.stand.port)
    const lost = this.#open().filter(({ localPort }) => ports.has(localPort))
    process.kill(pid, 'SIGKILL')
    const killedAt = performance.now()
    await Promise.all(lost.map(({ over }) => over))
    const isFilled = await this.#fill(CALL_LEASE_MS + TAKEN_MS_MAX)
    const tookMs = performance.now() - killedAt
    proof.check(`${name}: the places of a killed front are taken again`, isFilled, this.#reported())
    proof.checkTimed(
      `${name}: at most 20 s behind its end`,
      tookMs <= CALL_LEASE_MS + TAKEN_MS_MAX,
      `${lost.length} places, ${(tookMs / 1_000).toFixed(1)} s`,
    )
    return lost.length
  }

  /** Tries until all places are taken. @returns whether they are */
  async #fill(msMax = 30_000): Promise<boolean> {
    const { parallel } = this.#input
    const endsAt = performance.now() + msMax
    while (this.#open().length < parallel && performance.now() < endsAt) {
      const tried = Array.from({ length: parallel - this.#open().length + 1 }, () => this.#start())
      await Promise.all(tried.map(({ begun }) => begun))
      this.#look()
      await pause(TRY_MS)
    }
    return this.#open().length === parallel
  }

  #open(): readonly PacedCall[] {
    return this.#calls.filter(({ status, end }) => status === 200 && end === 'open')
  }

  #look(): void {
    this.#most = Math.max(this.#most, this.#open().length)
  }

  #reported(): string {
    return `${this.#open().length} of ${this.#input.parallel} are open`
  }

  #start(): PacedCall {
    const call = startPaced(this.#input, {})
    this.#calls.push(call)
    return call
  }
}

let count = 0

function startPaced(
  { proof, stand, key }: Pick<PlacesInput, 'proof' | 'stand' | 'key'>,
  asked: Omit<Asked, 'id'>,
): PacedCall {
  const dialect = PACED_DIALECTS[count % PACED_DIALECTS.length] ?? PACED_DIALECTS[0]
  const id = `limits-${proof.seed}-${count++}`
  const asking = { key, dialect, asked: { id, ...asked }, tokensMax: WORDS }
  return startCall({ port: stand.stand.port, model: PACED_MODEL }, asking)
}

/** So many callers ask again and again: what they use is the burst, and what the time gave. */
async function checkTokens(proof: Proof, stand: PacedStand, calls: number): Promise<void> {
  const { workspace_id: workspaceId } = stand.stand.keys
  const limit = calls * TPM_PER_CALL
  const { key } = await stand.makeKey(workspaceId, { rate_limit_tpm: limit })
  const startedAt = performance.now()
  let [left, admitted, refused, used] = [calls, 0, 0, 0]
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const call = startPaced({ proof, stand, key }, { words: WORDS })
      await call.over
      if (call.end === 'whole') used += PROMPT_TOKENS + call.read
      if (call.status === 200) admitted++
      else if (call.refusal === 'rate_limited') refused++
    }
  }
  await Promise.all(Array.from({ length: ASKING }, caller))
  const minutes = (performance.now() - startedAt) / 60_000
  const most = limit * (1 + minutes) + ASKING * (PROMPT_TOKENS + WORDS)
  proof.check(
    'tokens: what calls use is within the limit, and each call is answered or told the limit',
    used <= most && admitted + refused === calls && refused > 0,
    `${used} used of at most ${most.toFixed(0)}; ${admitted} admitted, ${refused} refused of ${calls}`,
  )
  proof.check(
    'tokens: the burst of a whole minute can be used',
    used >= limit - ASKING * (PROMPT_TOKENS + WORDS) * 2,
    `${used} used, ${limit} a minute`,
  )
  await until('nothing is open', () => stand.provider.open === 0)
}
