/** A line for each call of a load test, for tools that read CSV. */
import type { EndedCall } from './tally.ts'

export const CSV_HEAD =
  'cell,due_ms,sent_ms,ended_ms,status,outcome,first_token_ms,token_events,tokens,mean_gap_ms,max_gap_ms,reason\n'

/** A figure that a call does not have is empty. */
export function csvLine(cell: string, call: EndedCall): string {
  const { dueMs, sentMs, endedMs, status, outcome, firstMs, tokenEvents, tokens, meanGapMs, maxGapMs } = call
  const ms = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(3))
  const times = [ms(dueMs), ms(sentMs), ms(endedMs)]
  const figures = [ms(firstMs), String(tokenEvents), String(tokens ?? ''), ms(meanGapMs), ms(maxGapMs)]
  return `${[quoted(cell), ...times, String(status), outcome, ...figures, quoted(call.reason)].join(',')}\n`
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
