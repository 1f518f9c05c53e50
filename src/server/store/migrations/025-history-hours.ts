import type { Migration } from './migration.ts'

export const historyHours: Migration = {
  number: 25,
  name: 'history-hours',
  oldestBinary: 7,
  tables: ['history_hours'],
  async up(tx) {
    await tx.unsafe(HISTORY_HOURS)
  },
}

const HISTORY_HOURS = `
  -- What each node did in each hour, by name: sums and histograms. A node's supervisor begins its sums anew with each
  -- of its starts, which is a run: the hour of several runs is the sum of theirs.
  CREATE TABLE history_hours (
    hour timestamptz NOT NULL,
    node text COLLATE "C" NOT NULL,
    run uuid NOT NULL,
    -- 'all', or what names are of: 'operation', 'provider', 'model', 'key'.
    dimension text COLLATE "C" NOT NULL,
    -- The empty text: all names without a row of their own.
    name text COLLATE "C" NOT NULL,
    -- Seconds of the hour that the run knows.
    seconds int NOT NULL,
    figures float8[] NOT NULL,
    -- Starts, reloads and outages of the hour; with the row of all together.
    events jsonb,
    PRIMARY KEY (hour, node, run, dimension, name)
  );
`
