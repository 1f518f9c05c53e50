import type { Settings } from './settings.ts'

/** Retention of ended objects; 0 = forever. Months are whole months, in addition to the current one. */
export interface Kept {
  readonly ledgerMonths: number
  readonly auditMonths: number
  readonly webhookDays: number
  readonly deadLetterDays: number
  readonly jobDays: number
  readonly generationDays: number
  /** Null: there is no request log. */
  readonly requestDays: number | null
}

export function keptOf(settings: Settings): Kept {
  return Object.freeze({
    ledgerMonths: settings.SLUICE_LEDGER_KEPT_MONTHS,
    auditMonths: settings.SLUICE_AUDIT_KEPT_MONTHS,
    webhookDays: settings.SLUICE_WEBHOOKS_KEPT_DAYS,
    deadLetterDays: settings.SLUICE_DEAD_LETTERS_KEPT_DAYS,
    jobDays: settings.SLUICE_JOBS_KEPT_DAYS,
    generationDays: settings.SLUICE_KEEP_GENERATIONS,
    requestDays: settings.SLUICE_KEEP_REQUESTS === 'off' ? null : settings.SLUICE_KEEP_REQUESTS,
  })
}
