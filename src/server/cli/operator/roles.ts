import type { Command } from 'commander'

/** The roles that the supervisor forks: hidden, since people do not type them. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  for (const [name, role] of [
    ['front', 'front'],
    ['spare', 'front'],
    ['runner', 'runner'],
  ] as const) {
    program.command(name, { hidden: true }).action(async () => {
      const { runRole } = await import('../../main.ts')
      await runRole(role)
      outcome.code = null
    })
  }
}
