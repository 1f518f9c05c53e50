import { readFileSync } from 'node:fs'
import type { Config } from '../config.ts'
import { AllowList } from '../egress/allow-list.ts'
import { countRoots } from '../main/egress.ts'
import type { Finding } from './doctor-checks.ts'

/** What callers should hardly ever reach, though an entry may admit it: where a wide range takes in more than was meant. */
const RISKY: Readonly<Record<string, string>> = {
  '127.0.0.1': 'this machine', '::1': 'this machine',
  '169.254.169.254': 'the metadata service of clouds', 'fd00:ec2::254': 'the metadata service of a cloud',
  '100.100.100.200': 'the metadata service of a cloud', '168.63.129.16': 'the host of a virtual machine',
}
const ANY_PORT = 443

/** The settings of the gate: silent about those that are not set. */
export function egress({ egressAllow, egressCaFile }: Pick<Config, 'egressAllow' | 'egressCaFile'>): readonly Finding[] {
  return [...(egressAllow.length === 0 ? [] : [allowed(egressAllow)]), ...(egressCaFile === null ? [] : [roots(egressCaFile)])]
}

function allowed(entries: readonly string[]): Finding {
  const list = new AllowList(entries)
  // An entry with a port names one service: that is meant.
  const risky = Object.keys(RISKY).filter((address) => list.schemeFor(address, ANY_PORT, 'caller') !== null)
  const check = 'egress_allow'
  if (risky.length === 0) return { check, level: 'ok', detail: `callers may reach ${entries.length} ranges that are not public` }
  const what = [...new Set(risky.map((address) => RISKY[address]))].join(', ')
  return { check, level: 'warning', detail: `callers may reach ${what}`, fix: 'narrow SLUICE_EGRESS_ALLOW, or name a port in the entry' }
}

function roots(file: string): Finding {
  const [check, fix] = ['egress_ca', 'correct the file of SLUICE_EGRESS_CA']
  try {
    const count = countRoots(readFileSync(file, 'utf8'))
    if (count !== null && count > 0) return { check, level: 'ok', detail: `${count} roots beside those of Node` }
    return { check, level: 'problem', detail: count === null ? 'a certificate in it cannot be read' : 'no certificate in it', fix }
  } catch (cause) {
    return { check, level: 'problem', detail: String(cause), fix }
  }
}
