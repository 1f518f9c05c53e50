import { readFileSync } from 'node:fs'
import type { Config } from '../../../config.ts'
import { AllowList } from '../../../egress/allow-list.ts'
import { countRoots } from '../../../main/extra-roots.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'

/** Addresses that callers should rarely reach: a wide range may include them unintentionally. */
const RISKY: Readonly<Record<string, string>> = {
  '127.0.0.1': 'this machine',
  '::1': 'this machine',
  '169.254.169.254': 'the cloud metadata service',
  'fd00:ec2::254': 'a cloud metadata service',
  '100.100.100.200': 'a cloud metadata service',
  '168.63.129.16': 'the host of a virtual machine',
}
const ANY_PORT = 443

/** Findings about the settings of the gate; settings without a value have none. */
export function egress({
  egressAllow,
  egressCaFile,
}: Pick<Config, 'egressAllow' | 'egressCaFile'>): readonly Finding[] {
  return [
    ...(egressAllow.length === 0 ? [] : [allowed(egressAllow)]),
    ...(egressCaFile === null ? [] : [roots(egressCaFile)]),
  ]
}

function allowed(entries: readonly string[]): Finding {
  const list = new AllowList(entries)
  // An entry with a port names one service intentionally.
  const risky = Object.keys(RISKY).filter((address) => list.schemeFor(address, ANY_PORT, 'caller') !== null)
  if (risky.length === 0)
    return good('egress_allow', `callers can reach ${entries.length} ranges that are not public`)
  const what = [...new Set(risky.map((address) => RISKY[address]))].join(', ')
  return doubtful(
    'egress_allow',
    `callers can reach ${what}`,
    'narrow SLUICE_EGRESS_ALLOW, or add a port to the entry',
  )
}

function roots(file: string): Finding {
  const fix = 'fix the SLUICE_EGRESS_CA file'
  try {
    const count = countRoots(readFileSync(file, 'utf8'))
    if (count !== null && count > 0)
      return good('egress_ca', `${count} root certificates in addition to those of Node.js`)
    return bad(
      'egress_ca',
      count === null ? 'the file contains an unreadable certificate' : 'the file contains no certificate',
      fix,
    )
  } catch (cause) {
    return bad('egress_ca', reasonOf(cause), fix)
  }
}
