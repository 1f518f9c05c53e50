import t from 'tap'
import { must, present } from '../../../support/must.ts'
import { openFileStand } from '../../../support/files/files.ts'

const COUNT = 5_000
/** After five plans of its own Postgres looks whether one for all values would do. */
const CALLS = 12

t.test(
  'a page reads only rows of its workspace, however many files others have, and its query is planned once',
  async (t) => {
    const { store, files, workspaceId, otherWorkspaceId } = await openFileStand(t, {}, 1)
    await store.sql`
    INSERT INTO files (id, workspace_id, state, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, lease_until, ready_at)
    SELECT 'file_' || lpad(n::text, 32, '0'), CASE WHEN n % ${COUNT / 10} = 0 THEN ${workspaceId}::uuid ELSE ${otherWorkspaceId}::uuid END, 'ready',
      'a.txt', 'text/plain', 1, repeat('a', 64), gen_random_uuid(), false, now(), now()
    FROM generate_series(1, ${COUNT}) AS n`
    await store.sql`ANALYZE files`
    for (const purpose of [null, 'user_data']) {
      let ids: readonly string[] = []
      for (let call = 0; call < CALLS; call++)
        ids = must(await files.list(workspaceId, { after: null, purpose, limit: 7 })).files.map(
          ({ id }) => id,
        )
      t.same(
        ids.map((id) => Number(id.slice(-8))),
        [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500],
      )
      const order = purpose === null ? 'ORDER BY workspace_id, id' : 'ORDER BY workspace_id, COALESCE'
      const [statement] = await store.sql<{ name: string; generic: string }[]>`
      SELECT name, generic_plans::text AS generic FROM pg_prepared_statements WHERE strpos(statement, ${order}) > 0 AND strpos(statement, 'strpos') = 0`
      const { name, generic } = present(statement)
      t.ok(Number(generic) > 0, `${generic} of ${CALLS} calls were not planned anew`)
      const values =
        purpose === null
          ? [workspaceId, '', workspaceId, '~']
          : [workspaceId, purpose, '', workspaceId, purpose, '~']
      const execute = `EXECUTE "${name}" (${values.map((value) => `'${value}'`).join(', ')})`
      const plan = await store.sql.unsafe<{ 'QUERY PLAN': string }[]>(
        `EXPLAIN (ANALYZE, TIMING OFF) ${execute}`,
      )
      const text = plan.map((line) => line['QUERY PLAN']).join('\n')
      t.match(
        text,
        purpose === null ? /Index Scan using files_listed on/ : /Index Scan using files_listed_by_purpose on/,
      )
      t.notMatch(text, /Rows Removed by Filter/)
    }
  },
)
