import type { Migration } from './migration.ts'

export const adminPorts: Migration = {
  number: 14,
  name: 'admin_ports',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Null for a node of an older version, which does not report its port.
    await tx.unsafe('ALTER TABLE fronts ADD COLUMN admin_port integer')
  },
}
