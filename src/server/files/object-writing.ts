import { endedBy } from '../../schemas/values/call-ended.ts'
import { ok, type Outcome } from '../../schemas/failures.ts'
import type { IntakeSession, IntakeInput } from '../ports/files/intake.ts'
import type { Staging } from '../ports/files/storage.ts'
import type { TransferDeps } from './transfer-deps.ts'

export type ObjectDeps = Pick<TransferDeps, 'storage' | 'keyRing' | 'intake'>

export interface ObjectInput {
  readonly workspaceId: string
  readonly objectId: string
  readonly signal: AbortSignal
}

export interface OpenObject {
  readonly session: IntakeSession
  readonly dataKeyId: string
}

/** Bytes that sealing adds at the head of an object, rounded up. Design §5. */
const SEAL_HEADER_BYTES = 256
/** Share of the plain bytes that sealing adds: a tag of 16 bytes for each 64 KiB. Design §5. */
const SEAL_SHARE = 1 / 4_096

/** An object on its way into storage: staged, sealed, published. The caller keeps the rows. Design §5. */
export class ObjectWriting {
  readonly #deps: ObjectDeps
  readonly #input: ObjectInput
  #staging: Staging | null = null
  #session: IntakeSession | null = null
  #mayHaveObject = false

  constructor(deps: ObjectDeps, input: ObjectInput) {
    this.#deps = deps
    this.#input = input
  }

  /** True once `publish` was called: the object may exist whatever `publish` returned. */
  get mayHaveObject(): boolean {
    return this.#mayHaveObject
  }

  /**
   * @param bytesAtMost the most plain bytes that can come. Failures: those of `Storage.stage`,
   * `KeyRing.current`, `Intake.open`, and of the signal
   */
  async open({
    bytesAtMost,
    ...more
  }: Pick<IntakeInput, 'content' | 'bytesMax'> & { readonly bytesAtMost: number }): Promise<
    Outcome<OpenObject>
  > {
    const { storage, keyRing, intake } = this.#deps
    const { workspaceId, objectId, signal } = this.#input
    const staged = await storage.stage(bytesAtMost + Math.ceil(bytesAtMost * SEAL_SHARE) + SEAL_HEADER_BYTES)
    if (!staged.ok) return staged
    this.#staging = staged.value
    const dataKey = await keyRing.current(workspaceId, 'files')
    if (!dataKey.ok) return dataKey
    const { id, key } = dataKey.value
    if (signal.aborted) {
      key.fill(0)
      return { ok: false, failure: endedBy(signal) }
    }
    const target = { path: staged.value.path, seal: { dataKey: dataKey.value, objectId } }
    const session = intake.open({ holder: workspaceId, target, ...more })
    if (!session.ok) return session
    this.#session = session.value
    return ok({ session: session.value, dataKeyId: id })
  }

  /** To be called after the session has finished. Failures: those of `Storage.publish`, and of the signal. */
  async publish(): Promise<Outcome<null>> {
    const { objectId, signal } = this.#input
    if (signal.aborted || this.#staging === null) return { ok: false, failure: endedBy(signal) }
    this.#mayHaveObject = true
    return this.#deps.storage.publish(objectId, this.#staging, signal)
  }

  /** To be called on every path: cancels the session and discards bytes that are not published. */
  async end(): Promise<void> {
    await this.#session?.cancel()
    await this.#staging?.discard()
  }
}
