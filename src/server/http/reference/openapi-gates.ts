import type { FailureName } from '../../../schemas/failures.ts'
import { scopesText } from '../../../schemas/keys/permissions.ts'
import type { AnyOperation } from '../../operations/define.ts'

interface Gate {
  readonly failure: FailureName
  /** Empty: the text on the kind of the key says it. */
  readonly text: string
}

/** The conditions on a workspace and on the hostname, in addition to the kind of the key. */
export function gatesOf({ access }: AnyOperation): readonly Gate[] {
  const gates: Gate[] = []
  const { keyScopes = [] } = access
  if (keyScopes.length > 0)
    gates.push({
      failure: 'scope_missing',
      text: access.keys.some((kind) => kind === 'inference' || kind === 'intern')
        ? `An inference or intern key with \`scopes\` needs the scope ${scopesText(keyScopes)}.`
        : '',
    })
  if (access.isOfProgramme === true)
    gates.push({
      failure: 'programme_closed',
      text: 'The workspace must have interns enabled (`programme`).',
    })
  if (access.refusesRegional === true)
    gates.push({ failure: 'regional_refused', text: 'The operation is not available on regional hostnames.' })
  if (access.writesVault === true)
    gates.push({ failure: 'vault_writes_disabled', text: 'Vault writes must be enabled for the workspace.' })
  return gates
}
