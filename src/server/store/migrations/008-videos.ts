import type { Migration } from './migration.ts'

export const videos: Migration = {
  number: 8,
  name: 'videos',
  oldestBinary: 7,
  tables: [
    'video_jobs',
    'video_clips',
    'webhook_secrets',
    'webhook_deliveries',
    'webhook_disabled',
    'runners',
  ],
  async up(tx) {
    for (const statements of [JOBS, HOLDS, WEBHOOKS, RUNNERS]) await tx.unsafe(statements)
  },
}

const JOBS = `
  -- A row of the guarded machine. "lease_until" is also when an open row is due. Texts of callers and providers are JSON in
  -- text columns: jsonb refuses NUL. "request", "attached" and "made" go when the job ends.
  CREATE TABLE video_jobs (
    id text COLLATE "C" PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    key_hash text COLLATE "C" NOT NULL,
    key_account_id text COLLATE "C" NOT NULL,
    request_id text NOT NULL,
    session_id text,
    model text NOT NULL,
    provider text COLLATE "C" NOT NULL,
    endpoint text NOT NULL,
    upstream_model text NOT NULL,
    -- Name of the workspace's secret that it is called with.
    own_secret text,
    request text,
    -- The large part of the request, which runners read for the steps that need it, and do not hold.
    attached text,
    request_chars integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'accepted' CHECK (state IN (
      'accepted', 'submitting', 'running', 'storing', 'completed', 'failed', 'cancelled', 'expired')),
    attempt integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT clock_timestamp(),
    submit_token uuid NOT NULL,
    submissions integer NOT NULL DEFAULT 0,
    submitted_at timestamptz,
    submit_ends_at timestamptz,
    upstream_id text COLLATE "C",
    generation_id text,
    made text,
    error text,
    outputs integer NOT NULL DEFAULT 0,
    seconds integer NOT NULL,
    -- What it costs when it is made: the most that it may cost.
    cost_nano bigint NOT NULL CHECK (cost_nano >= 0),
    is_unpriced boolean NOT NULL,
    -- Its leases stand under this id, as a front's under its journal's; "hold_day" is their window.
    hold_id uuid NOT NULL,
    hold_day date NOT NULL,
    callback_url text,
    -- Of the Idempotency-Key that asked for it: a call that is repeated makes no second job.
    turn_id text,
    body_sha256 text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    clips_expire_at timestamptz
  ) WITH (fillfactor = 70);
  CREATE INDEX video_jobs_due ON video_jobs (provider, workspace_id, lease_until) WHERE state IN ('accepted', 'submitting', 'running', 'storing');
  CREATE INDEX video_jobs_newest ON video_jobs (workspace_id, id DESC);
  CREATE INDEX video_jobs_open ON video_jobs (workspace_id) INCLUDE (request_chars)
    WHERE state IN ('accepted', 'submitting', 'running', 'storing');
  CREATE INDEX video_jobs_ended ON video_jobs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX video_jobs_clips ON video_jobs (clips_expire_at) WHERE clips_expire_at IS NOT NULL;
  CREATE UNIQUE INDEX video_jobs_upstream_key ON video_jobs
    (provider, (CASE WHEN own_secret IS NULL THEN '' ELSE workspace_id::text || own_secret END), upstream_id) WHERE upstream_id IS NOT NULL;
  CREATE INDEX video_jobs_turn ON video_jobs (turn_id) WHERE turn_id IS NOT NULL;

  -- Stored clips. A row goes when the clip's time is over, before its bytes do.
  CREATE TABLE video_clips (
    job_id text COLLATE "C" NOT NULL REFERENCES video_jobs ON DELETE CASCADE,
    index integer NOT NULL CHECK (index >= 0),
    object_id text COLLATE "C" NOT NULL UNIQUE,
    workspace_id uuid NOT NULL,
    data_key_id uuid NOT NULL,
    size_bytes bigint NOT NULL,
    sha256 text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (job_id, index)
  );
`

const HOLDS = `
  -- What a video job holds is a lease under its hold's id. It stays for hours, and there may be thousands of an account: whoever
  -- asks what fronts hold, which may come back at any moment, does not read it.
  ALTER TABLE leases ADD COLUMN is_hold boolean NOT NULL DEFAULT false;
  DROP INDEX leases_account;
  CREATE INDEX leases_account ON leases (account_id) WHERE NOT is_hold;
`

const WEBHOOKS = `
  ALTER TABLE data_keys DROP CONSTRAINT data_keys_purpose_check,
    ADD CONSTRAINT data_keys_purpose_check CHECK (purpose IN ('files', 'webhooks'));

  -- Sealed with the workspace's data key. One without "signs_until" is the current one.
  CREATE TABLE webhook_secrets (
    id uuid PRIMARY KEY,
    workspace_id uuid NOT NULL,
    data_key_id uuid NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    signs_until timestamptz
  );
  CREATE UNIQUE INDEX webhook_secrets_current_key ON webhook_secrets (workspace_id) WHERE signs_until IS NULL;

  -- The outbox: a row of the guarded machine for each address that is told of a job's end.
  CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY,
    workspace_id uuid NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    idempotency_key text NOT NULL,
    url text NOT NULL,
    -- Of the url, for fairness among receivers.
    host text COLLATE "C" NOT NULL,
    body text NOT NULL,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'dead')),
    attempt integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries integer NOT NULL DEFAULT 0,
    last_status integer,
    last_reason text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    UNIQUE (idempotency_key)
  ) WITH (fillfactor = 70);
  -- Claims go from receiver to receiver, and at each from workspace to workspace.
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (host, workspace_id, lease_until) WHERE state = 'waiting';
  CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (workspace_id, id);
  CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (workspace_id, id) WHERE state = 'dead';
  CREATE INDEX webhook_deliveries_old ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;

  -- Addresses that answered 410: nothing more goes there.
  CREATE TABLE webhook_disabled (
    workspace_id uuid NOT NULL,
    url text NOT NULL,
    disabled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, url)
  );
`

const RUNNERS = `
  -- Runners that share the polls of providers while Redis is away.
  CREATE TABLE runners (id uuid PRIMARY KEY, heartbeat_at timestamptz NOT NULL);
`
