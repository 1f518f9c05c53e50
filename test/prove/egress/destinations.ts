import { hostFormOf } from '../../../src/schemas/egress/destinations.ts'
import { attack } from '../../support/egress/attack.ts'
import type { Proof, Program } from '../proof.ts'

const HOSTILE_MIN = 80
const HOSTS = 300_000
const HOSTS_SHORT = 20_000
/** Characters that mean something to one parser of hosts or another. */
const PARTS = [
  '1',
  '0',
  '127',
  '0x7f',
  '255',
  '256',
  '.',
  '.',
  '.',
  ':',
  '::',
  '[',
  ']',
  'a',
  'A',
  'z9',
  '-',
  'ffff',
  'xn--',
  '@',
  '/',
  '\\',
  '%',
  '#',
  '?',
  'ö',
  '。',
  '１',
  ' ',
  '\0',
  '_',
  '*',
]

export const program: Program = {
  text: 'No connection to any of over 80 hostile destinations, and one to the good one',
  async run(proof: Proof): Promise<void> {
    const { tries, wrong, trapped, opened, good, goodConnections } = await attack()
    for (const text of wrong) proof.say(text)
    proof.check(
      `at least ${HOSTILE_MIN} hostile destinations are tried`,
      tries >= HOSTILE_MIN,
      `${tries} tries`,
    )
    proof.check('each is refused as a destination', wrong.length === 0, `${wrong.length} are not`)
    proof.check(
      '0 connections arrive at the trap',
      trapped === 0,
      `${trapped} on every address of this machine`,
    )
    proof.check('0 sockets are opened for them', opened === 0, `${opened} sockets`)
    proof.check(
      'the good destination is reached',
      good[0] === 'here' && goodConnections >= 1,
      `it said ${good[0]}`,
    )
    const isHandedBack = good.slice(1).every((text) => /^30[12378]$/.test(text))
    proof.check('its redirects are handed back', isHandedBack, `${good.length - 1} redirects`)
    const other = readOtherwise(proof, proof.isShort ? HOSTS_SHORT : HOSTS)
    for (const host of other.hosts) proof.say(JSON.stringify(host))
    proof.check(
      'what is taken for a host means the same to an URL',
      other.hosts.length === 0 && other.taken > 0,
      `${other.hosts.length} of ${other.taken} do not`,
    )
  },
}

/** Random hosts that the gate takes and that an URL would read in another way. */
function readOtherwise(proof: Proof, count: number): { taken: number; hosts: readonly string[] } {
  const hosts: string[] = []
  let taken = 0
  for (let nth = 0; nth < count; nth++) {
    const host = Array.from(
      { length: 1 + proof.random(9) },
      () => PARTS[proof.random(PARTS.length)] ?? '',
    ).join('')
    if (hostFormOf(host) === null) continue
    taken++
    if (!URL.canParse(`https://${host}:4443/`) || new URL(`https://${host}:4443/`).host !== `${host}:4443`)
      hosts.push(host)
  }
  return { taken, hosts }
}
