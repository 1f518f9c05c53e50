import type { ContainerUses, Files } from '../ports/files.ts'
import type { Intake, Unsealing } from '../ports/intake.ts'
import type { KeyRing } from '../ports/key-ring.ts'
import type { Storage } from '../ports/storage.ts'

/** What transfers are made of. */
export interface TransferParts {
  readonly files: Files
  readonly uses: Pick<ContainerUses, 'touch'>
  readonly storage: Storage
  readonly keyRing: KeyRing
  readonly intake: Intake
  readonly unsealing: Unsealing
}
