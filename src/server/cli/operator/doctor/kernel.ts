import { listenerMigrationIsOn, mayAllowListenerMigration } from '../../../supervisor/checks.ts'
import { findSetpriv } from '../../../supervisor/fleet/step-down.ts'
import { doubtful, good, type Finding } from './finding.ts'

/** Checks whether the kernel ends the embedded services when the supervisor is killed. */
export function hardKill(find: () => string | null = findSetpriv): Finding {
  const isSafe = process.platform !== 'linux' || find() !== null
  if (isSafe) return good('hard_kill', 'embedded services stop with the node')
  const detail = 'a hard kill of the node may leave its services running until the next start'
  return doubtful('hard_kill', detail, 'install setpriv (util-linux)')
}

/**
 * A node with the right turns the setting on at its start, so that a missing setting is no finding before.
 */
export function listenerMigration(isRunning: boolean): Finding {
  const check = 'listener_migration'
  if (process.platform !== 'linux' || listenerMigrationIsOn()) return good(check, 'tcp_migrate_req is on')
  if (!isRunning && mayAllowListenerMigration()) return good(check, 'the node will turn tcp_migrate_req on')
  const detail = 'about 1 new connection in 65,000 is reset while fronts are replaced at full speed'
  return doubtful(
    check,
    detail,
    'sysctl -w net.ipv4.tcp_migrate_req=1 (for a container, set it as a sysctl of the container)',
  )
}
