/** Random bodies, member by member at the provider. */
import type { Proof } from '../../proof.ts'
import { Faults, together } from '../streams/faults.ts'
import { expectedOf, type FaithfulDialect } from './faithful-dialect.ts'
import { openFaithful, UPSTREAM_MODEL, type FaithfulStand } from './faithful-stand.ts'
import { RawJson } from './raw-json.ts'
import { randomBody, type Size } from './random-body.ts'
import { membersOf, type RawMember } from './raw-members.ts'

/** Bodies of each size. */
const FULL: Readonly<Record<Size, number>> = { inline: 9_700, job: 290, large: 10 }
const SHORT: Readonly<Record<Size, number>> = { inline: 100, job: 4, large: 1 }
/** Bodies of one front: the provider keeps them all. */
const FRONT_BODIES_MAX = 500
const AT_ONCE = 4
const SHOWN_CHARS = 80

export async function bodies(proof: Proof, dialect: FaithfulDialect): Promise<void> {
  const counts = proof.isShort ? SHORT : FULL
  const json = new RawJson((below) => proof.random(below))
  const sizes = json.shuffled(
    (['inline', 'job', 'large'] as const).flatMap((size) => Array.from({ length: counts[size] }, () => size)),
  )
  const faults = new Faults()
  let bytes = 0
  for (let from = 0; from < sizes.length; from += FRONT_BODIES_MAX) {
    const stand = await openFaithful(dialect, dialect.answers)
    const items = sizes.slice(from, from + FRONT_BODIES_MAX).map((size, nth) => ({ size, id: from + nth }))
    await together(items, AT_ONCE, async ({ size, id }) => {
      const body = randomBody(json, { dialect, size, id })
      bytes += body.length
      const fault = await faultOf(stand, dialect, body)
      if (fault !== null) faults.add(`${size} ${id}: ${fault}`)
    })
    await stand.close()
  }
  proof.check(
    `${dialect.name}: what the provider gets is what the caller sent, but for the members that are Sluice's`,
    faults.isNone,
    `${faults.reported(sizes.length)}, ${(bytes / 1e6).toFixed(0)} MB`,
  )
}

/** @returns what is wrong, or null */
async function faultOf(stand: FaithfulStand, dialect: FaithfulDialect, body: string): Promise<string | null> {
  const { status, got, refusal } = await stand.pass(body)
  if (status !== 200 || got === null) return `${status} ${refusal} ${body.slice(0, SHOWN_CHARS)}`
  return differenceOf(expectedOf(dialect, membersOf(body), UPSTREAM_MODEL), membersOf(got))
}

/** The first member in which two objects differ, in bytes. */
export function differenceOf(expected: readonly RawMember[], got: readonly RawMember[]): string | null {
  for (let at = 0; at < Math.max(expected.length, got.length); at++) {
    const [one, other] = [expected[at], got[at]]
    if (one?.key === other?.key && one?.value === other?.value) continue
    return `member ${at}: ${shown(one)} became ${shown(other)}`
  }
  return null
}

function shown(member: RawMember | undefined): string {
  return member === undefined ? 'nothing' : `${member.key}:${member.value}`.slice(0, SHOWN_CHARS)
}
