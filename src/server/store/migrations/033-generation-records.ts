import { partitionMaker } from './026-requests.ts'
import type { Migration } from './migration.ts'

export const generationRecords: Migration = {
  number: 33,
  name: 'generation-records',
  oldestBinary: 7,
  tables: ['generation_records'],
  async up(tx) {
    await tx.unsafe(RECORDS)
  },
}

const RECORDS = `
  -- A row for each call to a model that writes, as "generations" has had until now with its members in one document: that took
  -- Postgres twice as long. "generations" stays for its rows, and for nodes of older versions, which write there and read
  -- there; its days go with those of this table.
  CREATE TABLE generation_records (
    id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    upstream_id text COLLATE "C",
    request_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C",
    is_streamed boolean NOT NULL,
    is_cancelled boolean NOT NULL,
    finish_reason text COLLATE "C",
    is_estimated boolean NOT NULL,
    charged_nano bigint NOT NULL,
    is_byok boolean NOT NULL,
    latency_ms int NOT NULL,
    upstream_ms int NOT NULL,
    first_output_ms int,
    stalled_ms int NOT NULL,
    attempts int NOT NULL,
    dropped json NOT NULL,
    images int NOT NULL,
    sounds int NOT NULL,
    service_tier text COLLATE "C",
    price json,
    unpriced_tier text COLLATE "C",
    input bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write bigint NOT NULL,
    cache_write_hour bigint,
    output bigint NOT NULL,
    reasoning bigint NOT NULL,
    searches int,
    media json,
    PRIMARY KEY (id, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX generation_records_upstream ON generation_records (organization_id, upstream_id, created_at)
    WHERE upstream_id IS NOT NULL;
${partitionMaker('generation_records', 7305848216)}
  SELECT generation_records_partition(utc_today()), generation_records_partition(utc_today() + 1);
`
