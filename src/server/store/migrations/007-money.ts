import type { Migration } from './migration.ts'

export const money: Migration = {
  number: 7,
  name: 'money',
  oldestBinary: 7,
  tables: [
    'accounts',
    'account_limits',
    'credits',
    'journals',
    'refills',
    'leases',
    'ledger',
    'ledger_pruned',
    'activity',
    'users',
    'member_grants',
  ],
  async up(tx) {
    for (const statements of [CALENDAR, ACCOUNTS, LENDING, LEDGER, OWNERS, MEMBERS, BIRTHS])
      await tx.unsafe(statements)
  },
}

const CALENDAR = `
  -- The one calendar of windows. A function, so that a test can turn its page.
  CREATE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE
    AS $$ SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date $$;
`

const ACCOUNTS = `
  -- Rows of a development version.
  DROP TABLE IF EXISTS scopes;

  -- One row for each owner of money, from its birth: an organization ('o' and its id), a workspace ('w' and its id), a key
  -- ('k' and the hash of the first key of its rotation). Spent and lent stand per window, of which each holds the newest:
  -- that of the day in it. What a limit compares is spent, byok where it counts, and lent.
  CREATE TABLE accounts (
    id text COLLATE "C" PRIMARY KEY,
    owner_kind text NOT NULL CHECK (owner_kind IN ('organization', 'workspace', 'key')),
    organization_id uuid NOT NULL REFERENCES organizations,
    day date NOT NULL DEFAULT utc_today(),
    counts_byok boolean NOT NULL DEFAULT false,
    daily_spent_nano bigint NOT NULL DEFAULT 0,
    weekly_spent_nano bigint NOT NULL DEFAULT 0,
    monthly_spent_nano bigint NOT NULL DEFAULT 0,
    lifetime_spent_nano bigint NOT NULL DEFAULT 0,
    daily_byok_nano bigint NOT NULL DEFAULT 0,
    weekly_byok_nano bigint NOT NULL DEFAULT 0,
    monthly_byok_nano bigint NOT NULL DEFAULT 0,
    lifetime_byok_nano bigint NOT NULL DEFAULT 0,
    daily_lent_nano bigint NOT NULL DEFAULT 0 CHECK (daily_lent_nano >= 0),
    weekly_lent_nano bigint NOT NULL DEFAULT 0 CHECK (weekly_lent_nano >= 0),
    monthly_lent_nano bigint NOT NULL DEFAULT 0 CHECK (monthly_lent_nano >= 0),
    lifetime_lent_nano bigint NOT NULL DEFAULT 0 CHECK (lifetime_lent_nano >= 0),
    -- The last change of its limits: until every live front has obeyed this epoch some may spend by the old ones.
    limits_epoch bigint NOT NULL DEFAULT 0,
    -- When a front was last refused while others held what it needed.
    wanted_at timestamptz
  ) WITH (fillfactor = 50);

  -- A finite limit; without a row it is infinite, lends nothing and refuses nothing. Whoever changes one locks its account first.
  CREATE TABLE account_limits (
    account_id text COLLATE "C" NOT NULL REFERENCES accounts,
    span text NOT NULL CHECK (span IN ('daily', 'weekly', 'monthly', 'lifetime')),
    id uuid NOT NULL,
    limit_nano bigint NOT NULL CHECK (limit_nano >= 0),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, span)
  );

  -- Their sum is the lifetime limit of the organization's account. The first top-up is preceded by an opening entry of
  -- what was spent until then, so that all of the top-up is there to be spent.
  CREATE TABLE credits (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    kind text NOT NULL CHECK (kind IN ('opening', 'top_up', 'correction')),
    amount_nano bigint NOT NULL,
    note text NOT NULL,
    created_by text NOT NULL,
    -- Of the Idempotency-Key that asked for it: a call that is repeated books nothing twice.
    turn_id text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX credits_newest ON credits (organization_id, created_at DESC, id);
`

const LENDING = `
  -- One for each incarnation of a front; its id is the front's. All bytes of the journal up to "applied" are in the books.
  CREATE TABLE journals (
    id uuid PRIMARY KEY,
    node text NOT NULL,
    boot_id text NOT NULL,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
    applied bigint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_at timestamptz
  );
  CREATE INDEX journals_open ON journals (node) WHERE state = 'open';

  -- The last request for money of each journal with its answer, for a front that did not get it. Apart from the journal's
  -- row, which a flush holds for as long as it runs.
  CREATE TABLE refills (
    journal_id uuid PRIMARY KEY REFERENCES journals ON DELETE CASCADE,
    sequence bigint NOT NULL,
    reply text NOT NULL
  );

  -- What a front holds of an account: lent, and neither settled nor given back. A row goes when nothing is left of it.
  CREATE TABLE leases (
    journal_id uuid NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    day date NOT NULL,
    lent_nano bigint NOT NULL CHECK (lent_nano >= 0),
    PRIMARY KEY (journal_id, account_id, day)
  );
  CREATE INDEX leases_account ON leases (account_id);
`

const LEDGER = `
  -- "day" is the window day of the lease that paid, "at" the front's clock. "released_nano" is the part of a forfeit that
  -- came to be known as usage, or was forgiven. One that
  -- counts for one account alone names it: of a call that took more of it than of the other, or of no known call at all.
  CREATE TABLE ledger (
    day date NOT NULL,
    at timestamptz NOT NULL,
    request_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('usage', 'estimated', 'forfeit', 'overrun')),
    organization_id uuid NOT NULL,
    workspace_id uuid,
    key_hash text,
    account_id text COLLATE "C",
    operation text,
    model text,
    provider text,
    tokens bigint,
    milliseconds bigint,
    cost_nano bigint NOT NULL CHECK (cost_nano >= 0),
    released_nano bigint NOT NULL DEFAULT 0 CHECK (released_nano BETWEEN 0 AND cost_nano),
    is_byok boolean NOT NULL DEFAULT false,
    journal_id uuid,
    CHECK (kind = 'forfeit' OR released_nano = 0)
  ) PARTITION BY RANGE (day);
  CREATE INDEX ledger_forfeits ON ledger (journal_id, day) WHERE kind = 'forfeit';

  -- Makes the partition of a month where it is missing: apart, and then attached, so that nobody who reads or writes the
  -- ledger waits. @returns its name
  CREATE FUNCTION ledger_partition(of_day date) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    first date := date_trunc('month', of_day)::date;
    partition text := 'ledger_' || to_char(of_day, 'YYYY_MM');
  BEGIN
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(7305848212);
      -- Asked of the table: a name that was not found once is remembered as missing, while another makes it.
      IF NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'ledger'::regclass AND c.relname = partition) THEN
        EXECUTE format('CREATE TABLE %I (LIKE ledger INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition);
        EXECUTE format('ALTER TABLE ledger ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
          partition, first, (first + interval '1 month')::date);
      END IF;
    END IF;
    RETURN partition;
  END $$;
  SELECT ledger_partition(utc_today()), ledger_partition((utc_today() + interval '1 month')::date);

  -- What dropped partitions amounted to for each account: the books go on balancing.
  CREATE TABLE ledger_pruned (
    account_id text COLLATE "C" PRIMARY KEY,
    spent_nano bigint NOT NULL,
    byok_nano bigint NOT NULL
  );

  -- Roll-up of the ledger for readers.
  CREATE TABLE activity (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    workspace_id uuid NOT NULL,
    key_hash text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    tokens bigint NOT NULL,
    milliseconds bigint NOT NULL,
    spent_nano bigint NOT NULL,
    byok_nano bigint NOT NULL,
    forfeited_nano bigint NOT NULL,
    PRIMARY KEY (organization_id, day, workspace_id, key_hash, model)
  ) WITH (fillfactor = 70);
`

const OWNERS = `
  ALTER TABLE workspaces
    ADD COLUMN description text,
    ADD COLUMN settings jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN default_callback_url text,
    ADD COLUMN storage_quota_bytes bigint CHECK (storage_quota_bytes >= 0),
    ADD COLUMN created_by text,
    ADD COLUMN updated_at timestamptz,
    ADD COLUMN deleted_at timestamptz;
  -- Those that were deleted stay: ledger and audit rows name them. Their slugs are free.
  ALTER TABLE workspaces DROP CONSTRAINT workspaces_slug_key;
  CREATE UNIQUE INDEX workspaces_slug_key ON workspaces (organization_id, slug) WHERE deleted_at IS NULL;
  DROP INDEX workspaces_default_key;
  CREATE UNIQUE INDEX workspaces_default_key ON workspaces (organization_id) WHERE is_default AND deleted_at IS NULL;

  -- Of a deleted workspace: nothing is reserved and nothing settles any more, whoever has begun before.
  ALTER TABLE workspace_storage ADD COLUMN is_closed boolean NOT NULL DEFAULT false;

  -- A rotated key's successors share its account: limits and usage go on.
  ALTER TABLE api_keys
    ADD COLUMN account_id text COLLATE "C",
    ADD COLUMN label text,
    ADD COLUMN limit_reset text CHECK (limit_reset IN ('daily', 'weekly', 'monthly')),
    ADD COLUMN allowed_models jsonb,
    ADD COLUMN creator_user_id text,
    ADD COLUMN external_user text,
    ADD COLUMN updated_at timestamptz;
  UPDATE api_keys SET account_id = 'k' || hash, label = 'sk-sluice-…' || right(hash, 4);
  ALTER TABLE api_keys ALTER COLUMN account_id SET NOT NULL, ALTER COLUMN label SET NOT NULL,
    -- Of several rotations the later one's key is the newer one, whichever transaction began first.
    ALTER COLUMN created_at SET DEFAULT clock_timestamp();
  CREATE INDEX api_keys_account ON api_keys (account_id);
  CREATE INDEX api_keys_workspace ON api_keys (workspace_id) WHERE revoked_at IS NULL;
`

const MEMBERS = `
  CREATE TABLE users (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    user_name text NOT NULL,
    display_name text,
    email text,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz
  );
  CREATE UNIQUE INDEX users_name_key ON users (organization_id, lower(user_name));

  -- Why somebody is a member: each source grants a role, and the strongest counts.
  CREATE TABLE member_grants (
    workspace_id uuid NOT NULL REFERENCES workspaces,
    user_id uuid NOT NULL REFERENCES users,
    source text NOT NULL CHECK (source IN ('manual', 'mapping')),
    mapping_id uuid,
    role text NOT NULL CHECK (role IN ('admin', 'member')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((source = 'mapping') = (mapping_id IS NOT NULL))
  );
  CREATE UNIQUE INDEX member_grants_manual_key ON member_grants (workspace_id, user_id) WHERE source = 'manual';
  CREATE UNIQUE INDEX member_grants_mapping_key ON member_grants (workspace_id, user_id, mapping_id) WHERE source = 'mapping';
  CREATE INDEX member_grants_user ON member_grants (user_id);
`

const BIRTHS = `
  INSERT INTO accounts (id, owner_kind, organization_id) SELECT 'o' || id, 'organization', id FROM organizations;
  INSERT INTO accounts (id, owner_kind, organization_id) SELECT 'w' || id, 'workspace', organization_id FROM workspaces;
  INSERT INTO accounts (id, owner_kind, organization_id) SELECT account_id, 'key', organization_id FROM api_keys;
`
