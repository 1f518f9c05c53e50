import type { ContainerSizes } from '../ports/containers/container-rows.ts'
import type { Files } from '../ports/files/files.ts'
import type { Intake, Unsealing } from '../ports/files/intake.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { Storage } from '../ports/files/storage.ts'

export interface TransferDeps {
  readonly files: Files
  readonly sizes: Pick<ContainerSizes, 'release'>
  readonly storage: Storage
  readonly keyRing: KeyRing
  readonly intake: Intake
  readonly unsealing: Unsealing
}
