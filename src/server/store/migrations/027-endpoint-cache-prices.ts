import type { Migration } from './migration.ts'

export const endpointCachePrices: Migration = {
  number: 27,
  name: 'endpoint-cache-prices',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMNS)
  },
}

const COLUMNS = `
  -- Prices of input that a cache gave or keeps; null: that of the prompt.
  ALTER TABLE private_endpoints
    ADD COLUMN cache_read_price text CHECK (cache_read_price ~ '^[0-9]+(\\.[0-9]+)?$'),
    ADD COLUMN cache_write_price text CHECK (cache_write_price ~ '^[0-9]+(\\.[0-9]+)?$');
`
