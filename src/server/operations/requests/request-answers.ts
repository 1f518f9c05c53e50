import { ERRORS_PATH } from '../../../schemas/api-prefix.ts'
import type { FailureReason } from '../../../schemas/requests/failure-reason.ts'
import { FLAG } from '../../../schemas/requests/request-record.ts'
import { LIMIT_OWNERS, type RequestShape } from '../../../schemas/requests/requests.ts'
import type { LoggedAttempt, LoggedRequest, RequestPlace } from '../../ports/requests/request-log.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'
import { cursorBefore, idOfBackCursor } from '../../../schemas/lists/cut-page.ts'

const US_PER_MS = 1_000

export function requestWire(row: LoggedRequest): RequestShape {
  const { flags } = row
  const endedMs = Number(row.endedUs) / US_PER_MS
  return {
    id: `${row.batch}-${row.n}`,
    request_id: row.requestId,
    started_at: instantAt(endedMs - (row.durationMs ?? row.upstreamMs ?? 0)),
    ended_at: instantAt(endedMs),
    operation: row.operation,
    status: row.isRecovered ? null : row.status,
    error_type: row.error,
    reason: row.reason === null ? null : reasonWire(row.reason),
    docs_url: row.error === null ? null : `${ERRORS_PATH}/${row.error}`,
    limit: row.limit,
    workspace_id: row.workspaceId,
    key: row.keyHash,
    key_name: row.keyName,
    model: row.model,
    provider: row.provider,
    attempts: row.attempts ?? 0,
    failed_attempts: row.failed.map(attemptWire),
    duration_ms: row.durationMs,
    parts: {
      auth_ms: row.authMs,
      limits_ms: row.limitsMs,
      validation_ms: row.validateMs,
      hold_ms: row.holdMs,
      provider_ms: row.upstreamMs,
      first_byte_ms: row.firstMs,
    },
    tokens: { input: row.inputTokens, output: row.outputTokens, cached: row.cachedTokens },
    cost_usd: row.costNano === null ? null : usdOfNano(row.costNano),
    charged_to: LIMIT_OWNERS.filter((owner) => (flags & OWNER_FLAGS[owner]) !== 0),
    is_byok: (flags & FLAG.byok) !== 0,
    is_estimated: (flags & FLAG.estimated) !== 0,
    is_unpriced: (flags & FLAG.unpriced) !== 0,
    is_client_gone: (flags & FLAG.clientGone) !== 0,
    request_bytes: row.requestBytes,
    reply_bytes: row.replyBytes,
    weight: row.weight,
    is_recovered: row.isRecovered,
  }
}

function reasonWire({ message, issues = [], facts = {} }: FailureReason): RequestShape['reason'] {
  return { message: message ?? null, issues: [...issues], facts: { ...facts } }
}

const OWNER_FLAGS = {
  organization: FLAG.creditLimited,
  workspace: FLAG.workspaceLimited,
  key: FLAG.keyLimited,
} as const satisfies Record<(typeof LIMIT_OWNERS)[number], number>

function attemptWire({ provider, status, code, atMs, durationMs }: LoggedAttempt) {
  return { provider, status, code, started_ms: atMs, duration_ms: durationMs }
}

function instantAt(ms: number): string {
  return new Date(ms).toISOString()
}

export function cursorOf({ endedUs, batch, n }: RequestPlace): string {
  return cursorBefore(`${endedUs}.${batch}.${n}`)
}

/** Null for an invalid cursor. */
export function placeOfCursor(cursor: string): RequestPlace | null {
  const [, endedUs, batch, n] = PLACE.exec(idOfBackCursor(cursor) ?? '') ?? []
  if (endedUs === undefined || batch === undefined || n === undefined) return null
  return { endedUs, batch, n: Number(n) }
}

/** The numbers have few enough digits for their columns. */
const PLACE = /^(\d{1,17})\.(\d{1,18})\.(\d{1,9})$/
