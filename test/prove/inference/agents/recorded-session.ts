/** Sessions of coding agents, kept by their shapes. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Members } from '../../../../src/schemas/values/members.ts'
import { ROOT } from '../../../support/source.ts'

export const SESSIONS = join(ROOT, 'test/prove/inference/agents/sessions')

export interface RecordedSession {
  readonly client: string
  readonly version: string
  readonly dialect: 'messages' | 'responses'
  /** Of its requests, without values that name a user or a machine. */
  readonly headers: Readonly<Record<string, string>>
  /** Follows the path of the operation. */
  readonly query: string
  /** The first request of the conversation. */
  readonly first: Members
  /** What each further request added to the conversation. */
  readonly turns: readonly (readonly Members[])[]
  /** Requests outside of the conversation: titles, checks of the connection. */
  readonly sides: readonly Members[]
}

/** Member of a request that has the conversation. */
export const HISTORY = { messages: 'messages', responses: 'input' } as const

/** Files; `known`: of a model that the agent knows; `lite`: of one whose tools stand in the conversation. */
export const SESSION_NAMES = [
  'claude-code',
  'claude-code-known',
  'codex',
  'codex-known',
  'codex-lite',
] as const

export async function loadSession(name: (typeof SESSION_NAMES)[number]): Promise<RecordedSession> {
  return JSON.parse(await readFile(join(SESSIONS, `${name}.json`), 'utf8')) as RecordedSession
}
