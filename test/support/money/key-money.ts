import type { KeyMoney } from '../../../src/server/ports/keys/keys.ts'

/** Of a key for which nothing has a limit. */
export const NO_LIMITS: KeyMoney = {
  accountId: 'k-test',
  isCreditLimited: false,
  isWorkspaceLimited: false,
  isKeyLimited: false,
  workspaceCountsByok: false,
  keyCountsByok: false,
}
