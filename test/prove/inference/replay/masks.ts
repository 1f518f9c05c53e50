/** Takes out of a recorded call what differs from run to run: ids, times, dates, keys and ports. */

export interface MaskInput {
  /** By name: ports of this run. */
  readonly ports: Readonly<Record<string, number>>
  /** By name. */
  readonly keys: Readonly<Record<string, string>>
  /** Unix milliseconds between which the call was made. */
  readonly from: number
  readonly to: number
}

const DATE = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g
/** Seconds or milliseconds since 1970. */
const TIME = /\b\d{10}(?:\d{3})?\b/g
/** A run's clock may be read before the call, and rounded. */
const ROUNDED_MS = 1_000
/** Of Sluice's own: providers that are scripted have shorter ones. */
const ID = /\b([a-z]{2,6}_|)([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])/g

/** Milliseconds in the header with the duration of each stage. */
const DURATION = /;dur=\d+\.\d+/g
/** The header of each answer that names its call; bodies may name it, too. */
const REQUEST_ID = /\r\nx-request-id: (\S+)/

/** Ids keep which of them are the same. Times of scripts are not of the run, and stay. */
export function masked(text: string, { ports, keys, from, to }: MaskInput): string {
  const ids = new Map<string, string>()
  let all = text
  for (const [name, key] of Object.entries(keys)) all = all.replaceAll(key, `<${name}>`)
  for (const [name, port] of Object.entries(ports)) all = all.replaceAll(`127.0.0.1:${port}`, `<${name}>`)
  const [, requestId = ''] = REQUEST_ID.exec(all) ?? []
  if (requestId !== '') all = all.replaceAll(requestId, '<request>')
  return all
    .replace(DATE, '<date>')
    .replace(DURATION, ';dur=<ms>')
    .replace(TIME, (digits) => {
      const ms = digits.length === 10 ? Number(digits) * 1_000 : Number(digits)
      return ms >= from - ROUNDED_MS && ms <= to + ROUNDED_MS ? '<time>' : digits
    })
    .replace(ID, (_, prefix: string, id: string) => {
      const known = ids.get(id) ?? `<${ids.size}>`
      ids.set(id, known)
      return `${prefix}${known}`
    })
}
