import type { MessagePort } from 'node:worker_threads'
import type { FailureName } from '../../schemas/failures.ts'

/** The input of a session's thread: a task of Piscina, whose port carries all further messages. */
export type SessionJob = IntakeJob | UnsealJob

export interface IntakeJob {
  readonly kind: 'intake'
  readonly port: MessagePort
  /** The file that the thread creates, writes and closes. */
  readonly path: string | null
  readonly seal: SealJob | null
  readonly content: 'refuse' | 'type' | 'any'
}

export interface SealJob {
  /** Moved to the thread, which clears it once the keys are derived. */
  readonly dataKey: Uint8Array
  readonly dataKeyId: string
  readonly objectId: string
  /** 32 bytes. */
  readonly salt: Uint8Array
}

export interface UnsealJob {
  readonly kind: 'unseal'
  readonly port: MessagePort
  /** Shared with the main side, which closes it; null when `piece` messages contain the header and then the range. */
  readonly descriptor: number | null
  readonly dataKey: Uint8Array
  readonly dataKeyId: string
  readonly objectId: string
  readonly sizeBytes: number
  readonly objectBytes: number
  readonly from: number
  readonly to: number
}

/** Messages to the thread. A cancelled session answers no further message: its task ends. */
export type ToThread =
  | { readonly kind: 'ping' }
  | { readonly kind: 'cancel' }
  /** The first `length` bytes of the buffer, which is moved. */
  | { readonly kind: 'piece'; readonly bytes: ArrayBuffer; readonly length: number }
  /** Intake: the last piece has been sent. Unsealing: storage has no more bytes. */
  | { readonly kind: 'end' }
  /** Unsealing: room for one more piece of this many plain bytes, in the buffer of a finished piece if it is large enough. */
  | { readonly kind: 'more'; readonly bytes: number; readonly spare: ArrayBuffer | null }

export type FromThread =
  /** The first message of every session. */
  | { readonly kind: 'begun'; readonly threadId: number }
  | { readonly kind: 'pong' }
  /** Intake: a piece is finished, and its buffer may be reused. */
  | { readonly kind: 'spent'; readonly bytes: ArrayBuffer }
  /** Unsealing: verified plain bytes. */
  | { readonly kind: 'piece'; readonly bytes: ArrayBuffer; readonly length: number }
  /** Unsealing without a descriptor: requests the next bytes. */
  | { readonly kind: 'pull' }
  | LastMessage

/** Sent once, when the thread has released all resources. */
export type LastMessage =
  | {
      readonly kind: 'verdict'
      readonly mimeType: string
      readonly sizeBytes: number
      readonly sha256: string
    }
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'failed'
      readonly name: FailureName
      readonly fields: Readonly<Record<string, string>>
      readonly cause: string
    }
  /** A system call failed. */
  | { readonly kind: 'system'; readonly code: string; readonly message: string }

/** A session in its thread. An exception ends it. */
export interface ThreadSession {
  receive(message: ToThread): void
  /** Does one slice of work, about a millisecond. @returns false when there is no work before the next message */
  step(): boolean
  /** Closes and clears all resources; called exactly once, however the session ends. */
  release(): void
}

export interface SessionOutput {
  post(message: FromThread, moved?: ArrayBuffer): void
  /** Sends the message after all resources are released, and ends the session. */
  end(message: LastMessage): void
}
