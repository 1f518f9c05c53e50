/** The second turn of a conversation begins at the provider with the bytes of the first: caches see one prefix. */
import type { Proof } from '../../proof.ts'
import { Faults } from '../streams/faults.ts'
import type { FaithfulDialect } from './faithful-dialect.ts'
import { CASE, MODEL, openFaithful, type FaithfulStand } from './faithful-stand.ts'
import { RawJson, type Written } from './raw-json.ts'
import { bytesOf, membersOf } from './raw-members.ts'

const CONVERSATIONS = { full: 500, short: 12 }
const TURNS_MAX = 4

export async function turns(proof: Proof, dialect: FaithfulDialect): Promise<void> {
  const count = proof.isShort ? CONVERSATIONS.short : CONVERSATIONS.full
  const json = new RawJson((below) => proof.random(below))
  const stand = await openFaithful(dialect, dialect.answers)
  const faults = new Faults()
  for (let nth = 0; nth < count; nth++) {
    const fault = await faultOf(stand, dialect, json)
    if (fault !== null) faults.add(`${nth}: ${fault}`)
  }
  await stand.close()
  proof.check(
    `${dialect.name}: two turns of a conversation share the bytes of the first at the provider`,
    faults.isNone,
    faults.reported(count),
  )
}

async function faultOf(
  stand: FaithfulStand,
  dialect: FaithfulDialect,
  json: RawJson,
): Promise<string | null> {
  const before = dialect.checked.filter(() => json.once(3))
  const text = Array.from({ length: 1 + json.random(TURNS_MAX) }, () => dialect.turn(json))
  const stream: readonly Written[] = json.once(2) ? [['stream', 'true']] : []
  const [first, second] = [
    [...dialect.required, ...stream],
    [...stream, ...dialect.required, ['x_second', json.value()] as const],
  ]
  const bodyOf = (list: readonly string[], behind: readonly Written[], id: string): string => {
    const members: readonly Written[] = [
      ['model', `"${MODEL}"`],
      ...before,
      [dialect.turns, `[${list.join(', ')}]`],
    ]
    const written = [...members, ...behind, [CASE, id] as const].map(([name, value]) => `"${name}": ${value}`)
    return bytesOf(`{${written.join(', ')}}`)
  }
  const one = await stand.pass(bodyOf(text, first, '1'))
  const answer = [...text, dialect.turn(json), dialect.turn(json)]
  const other = await stand.pass(bodyOf(answer, second, '2'))
  if (one.got === null || other.got === null) return `${one.refusal} ${other.refusal}`
  const list = membersOf(one.got).find(({ name }) => name === dialect.turns)?.value ?? ''
  // Without its last bracket.
  const prefix = one.got.slice(0, one.got.lastIndexOf(list) + list.length - 1)
  const spoken = bytesOf(text.join(', '))
  return other.got.startsWith(prefix) && prefix.endsWith(spoken)
    ? null
    : `the prefix differs: ${prefix.slice(0, 80)}`
}
