/** Ports of files for fronts whose tests touch none: any use is a mistake of the test. */
import type { Ports } from '../../src/server/ports/ports.ts'

const unused = new Proxy({}, {
  get(_target, name) {
    throw new Error(`this test has no files, but ${String(name)} was asked of them`)
  },
}) as never

export const NO_FILES: Pick<Ports, 'files' | 'transfers' | 'providerFiles' | 'containers' | 'containerUses' | 'idempotency'> = {
  files: unused, transfers: unused, providerFiles: unused, containers: unused, containerUses: unused, idempotency: unused,
}
