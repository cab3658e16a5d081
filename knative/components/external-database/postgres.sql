-- kine takes the revision of a write from a sequence: of two concurrent writes, the one with the lower revision may become visible
-- last, and a client that lists or starts a watch in between misses it. This trigger serializes commits.
-- The table is that of kine 0.17; kine adds its indexes.
CREATE TABLE IF NOT EXISTS kine (
  id BIGSERIAL PRIMARY KEY,
  name text COLLATE "C",
  created INTEGER,
  deleted INTEGER,
  create_revision BIGINT,
  prev_revision BIGINT,
  lease INTEGER,
  value bytea,
  old_value bytea
);
CREATE OR REPLACE FUNCTION kine_in_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('kine'));
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER kine_in_turn BEFORE INSERT ON kine FOR EACH STATEMENT EXECUTE FUNCTION kine_in_turn();
