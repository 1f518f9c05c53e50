import type { ContainerSizes } from '../ports/container-rows.ts'
import type { Files } from '../ports/files.ts'
import type { Intake, Unsealing } from '../ports/intake.ts'
import type { KeyRing } from '../ports/key-ring.ts'
import type { Storage } from '../ports/storage.ts'

/** What transfers are made of. */
export interface TransferParts {
  readonly files: Files
  readonly sizes: Pick<ContainerSizes, 'release'>
  readonly storage: Storage
  readonly keyRing: KeyRing
  readonly intake: Intake
  readonly unsealing: Unsealing
}
