import type { Migration } from './migration.ts'

export const countedBytes: Migration = {
  number: 20,
  name: 'counted_bytes',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    for (const statements of [FOLDERS, CONTAINER_FILES, FILES, COUNTED_BEFORE]) await tx.unsafe(statements)
  },
}

/**
 * The quota counts at least 4,096 bytes (COUNTED_BYTES_MIN) for an object, and the same for each folder of a
 * container. Nodes add and subtract the sizes of files, as nodes of older versions do; triggers keep the bytes
 * beyond sizes, so that the sum is right even when nodes of both versions write and remove files. Every row of
 * container_files represents an object, even an empty one; a folder exists while there is a row below it, at
 * any depth.
 */

const FOLDERS = `
  -- Folders above a path, that of the container included, that no other row lies in. One that another row has is in folders
  -- which that row has too. The caller holds the row of workspace_storage, so that of two changes one sees the other.
  CREATE FUNCTION container_folders_alone(of_workspace uuid, of_container text, of_path text) RETURNS bigint LANGUAGE plpgsql
  -- A plan that was made while the table was small would read all of it later.
  SET enable_seqscan = off AS $$
  DECLARE
    folder text := of_path;
    alone bigint := 0;
  BEGIN
    WHILE position('/' IN folder) > 0 LOOP
      folder := regexp_replace(folder, '/[^/]*$', '');
      -- A digit 0 is the character behind a slash: between the two is all that lies in the folder.
      PERFORM FROM container_files WHERE workspace_id = of_workspace AND container_id = of_container
        AND path > folder || '/' AND path < folder || '0' AND path <> of_path LIMIT 1;
      IF FOUND THEN RETURN alone; END IF;
      alone := alone + 1;
    END LOOP;
    PERFORM FROM container_files WHERE workspace_id = of_workspace AND container_id = of_container AND path <> of_path LIMIT 1;
    RETURN CASE WHEN FOUND THEN alone ELSE alone + 1 END;
  END $$;
`

const CONTAINER_FILES = `
  -- In this order, as writes take them: the other one could wait for a write that waits for it.
  LOCK TABLE container_files IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE files IN SHARE ROW EXCLUSIVE MODE;

  CREATE OR REPLACE FUNCTION container_bytes_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    changed container_files;
    counted bigint := 0;
    -- Of it what the node that writes adds itself.
    sizes bigint := 0;
  BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    IF TG_OP <> 'DELETE' THEN
      counted := greatest(NEW.size_bytes, 4096);
      sizes := NEW.size_bytes;
    END IF;
    IF TG_OP <> 'INSERT' THEN
      counted := counted - greatest(OLD.size_bytes, 4096);
      sizes := sizes - OLD.size_bytes;
    END IF;
    IF TG_OP <> 'UPDATE' THEN
      PERFORM FROM workspace_storage WHERE workspace_id = changed.workspace_id FOR UPDATE;
      counted := counted + (CASE TG_OP WHEN 'INSERT' THEN 4096 ELSE -4096 END)
        * container_folders_alone(changed.workspace_id, changed.container_id, changed.path);
    END IF;
    UPDATE workspace_storage SET used_bytes = used_bytes + counted - sizes, container_bytes = container_bytes + counted
    WHERE workspace_id = changed.workspace_id;
    RETURN changed;
  END $$;
  -- Before each row goes: of many that go by one statement the last one below a folder takes it along.
  CREATE OR REPLACE TRIGGER container_files_emptied BEFORE DELETE ON container_files
    FOR EACH ROW EXECUTE FUNCTION container_bytes_changed();
  -- Nodes make one row by a statement. What a backup brings back comes with a sum that has counted it.
  CREATE TRIGGER container_files_made AFTER INSERT ON container_files
    FOR EACH ROW WHEN (current_setting('sluice.is_restoring', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION container_bytes_changed();
`

const FILES = `
  -- By statement: the end of a workspace is one for all its files, and would write the row of its sum once for each of them.
  CREATE FUNCTION files_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE workspace_storage s SET used_bytes = used_bytes + c.bytes
    FROM (
      SELECT workspace_id, sum(bytes)::bigint AS bytes FROM (
        SELECT workspace_id, greatest(4096 - size_bytes, 0) AS bytes FROM new_files WHERE state = 'ready'
        UNION ALL SELECT workspace_id, -greatest(4096 - size_bytes, 0) FROM old_files WHERE state = 'ready') x
      GROUP BY workspace_id HAVING sum(bytes) <> 0) c
    WHERE s.workspace_id = c.workspace_id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER files_counted AFTER UPDATE ON files REFERENCING OLD TABLE AS old_files NEW TABLE AS new_files
    FOR EACH STATEMENT EXECUTE FUNCTION files_changed();
`

const COUNTED_BEFORE = `
  -- Files of before are counted alike from now on; a workspace may have more than its quota then, and stores nothing until it has room.
  UPDATE workspace_storage s SET used_bytes = used_bytes + c.bytes
  FROM (SELECT workspace_id, sum(greatest(4096 - size_bytes, 0)) AS bytes FROM files WHERE state = 'ready' GROUP BY workspace_id) c
  WHERE c.workspace_id = s.workspace_id;

  UPDATE workspace_storage s SET used_bytes = used_bytes + c.bytes + f.bytes, container_bytes = container_bytes + c.bytes + f.bytes
  FROM
    (SELECT workspace_id, sum(greatest(4096 - size_bytes, 0)) AS bytes FROM container_files GROUP BY workspace_id) c,
    (SELECT workspace_id, 4096 * count(*) AS bytes FROM (
      SELECT DISTINCT workspace_id, container_id, (string_to_array(path, '/'))[1:depth] AS folder
      FROM container_files, generate_series(0, cardinality(string_to_array(path, '/')) - 1) depth) folders GROUP BY workspace_id) f
  WHERE c.workspace_id = s.workspace_id AND f.workspace_id = s.workspace_id;
`
