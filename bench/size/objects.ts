/** Inserts very many keys, models and files into a node, thousands at a time. */
import type { Queryable, Store } from '../../src/server/store/base/open.ts'
import { PROVIDER_KEY, type FirstKeys } from '../../test/support/nodes/stand.ts'

export interface Sizes {
  readonly keys: number
  readonly models: number
  readonly files: number
}

const KEY_PREFIX = 'sk-sluice-v1-size'
const KEY_DIGITS = 39
/** Prefix of ids older than any uploaded file, so that uploads come after them in lists. */
const FILE_PREFIX = 'file_018f00000000'
/** Hexadecimal digits after the prefix. */
const FILE_DIGITS = 20

export function keyAt(at: number): string {
  return KEY_PREFIX + String(at).padStart(KEY_DIGITS, '0')
}

export function fileIdAt(at: number): string {
  return FILE_PREFIX + at.toString(16).padStart(FILE_DIGITS, '0')
}

/** Id of a model; every second model embeds. */
export function modelAt(at: number): string {
  return `size/model-${at}`
}

export function aliasAt(at: number): string {
  return `size-${at}`
}

/** @param origin origin of the provider behind all models */
export function catalogueOf(models: number, origin: string): object {
  return {
    replace: true,
    providers: [{ slug: 'bench', protocol: 'openai', base_url: `${origin}/v1`, api_key_env: PROVIDER_KEY }],
    models: Array.from({ length: models }, (_, at) => ({
      id: modelAt(at),
      name: `Model ${at}`,
      description: 'One of many models that differ in little but their name.',
      aliases: [aliasAt(at)],
      created: 1_700_000_000 + at,
      context_length: 8_192,
      architecture: {
        input_modalities: ['text'],
        output_modalities: [at % 2 === 0 ? 'text' : 'embeddings'],
        tokenizer: TOKENIZERS[at % TOKENIZERS.length],
      },
      endpoints: [
        {
          provider: 'bench',
          upstream_model: `model-${at}`,
          pricing: { prompt: '0.00000002', completion: '0.00000002' },
        },
      ],
    })),
  }
}

const TOKENIZERS = ['GPT', 'Llama', 'Other'] as const

/** Rows of one statement. */
const BLOCK = 50_000

/**
 * Inserts rows in the product's form. Foreign keys are not checked: all rows refer to the same owner.
 * @param store a store with one connection
 */
export async function fill({ sql }: Store, owner: FirstKeys, { keys, files }: Sizes): Promise<void> {
  // The vacuum of a million rows takes longer than any call of the product may.
  await sql`SET statement_timeout = 0`
  await sql`SET session_replication_role = replica`
  for (let from = 0; from < keys; from += BLOCK)
    await fillKeys(sql, owner, { from, to: Math.min(keys, from + BLOCK) - 1 })
  for (let from = 0; from < files; from += BLOCK)
    await fillFiles(sql, owner, { from, to: Math.min(files, from + BLOCK) - 1 })
  for (const table of ['api_keys', 'accounts', 'files']) await sql.unsafe(`VACUUM (ANALYZE) ${table}`)
  await sql`CHECKPOINT`
}

interface Block {
  readonly from: number
  readonly to: number
}

async function fillKeys(
  sql: Queryable,
  { organization_id: organization, workspace_id: workspace }: FirstKeys,
  { from, to }: Block,
): Promise<void> {
  await sql`
    WITH made AS (
      SELECT at, ${KEY_PREFIX}::text || lpad(at::text, ${KEY_DIGITS}::int, '0') AS key FROM generate_series(${from}::int, ${to}::int) at
    ), hashed AS (
      SELECT at, encode(sha256(convert_to(key, 'UTF8')), 'hex') AS hash FROM made
    ), owners AS (
      INSERT INTO accounts (id, owner_kind, organization_id) SELECT 'k' || hash, 'key', ${organization}::uuid FROM hashed
    )
    INSERT INTO api_keys (hash, label, account_id, kind, name, organization_id, workspace_id)
    SELECT hash, 'size', 'k' || hash, 'inference', 'size ' || at, ${organization}::uuid, ${workspace}::uuid FROM hashed`
}

async function fillFiles(
  sql: Queryable,
  { workspace_id: workspace }: FirstKeys,
  { from, to }: Block,
): Promise<void> {
  await sql`
    INSERT INTO files (id, workspace_id, state, lease_until, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, ready_at)
    SELECT ${FILE_PREFIX}::text || lpad(to_hex(at), ${FILE_DIGITS}::int, '0'), ${workspace}::uuid, 'ready', now(), 'size-' || at || '.txt', 'text/plain',
      4096, encode(sha256(convert_to(at::text, 'UTF8')), 'hex'), gen_random_uuid(), true, now()
    FROM generate_series(${from}::int, ${to}::int) at`
}
