#!/bin/sh
# Makes, once, what compose.yaml wants in deploy/secrets: passwords, the key of the bucket, the root key, and the settings that hold them.
# Keep a copy of root-key elsewhere: without it no stored file and no secret opens.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir secrets || { echo 'there are secrets already: nothing was changed' >&2; exit 1; }

random() { od -An -v -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
postgres=$(random 24) redis=$(random 24) bucket_id=$(random 10) bucket_key=$(random 24)

random 32 > secrets/root-key
printf %s "$postgres" > secrets/postgres-password
printf 'requirepass %s\nsave ""\nappendonly no\nmaxmemory-policy noeviction\n' "$redis" > secrets/redis.conf
cat > secrets/s3.json <<END
{ "identities": [{ "name": "sluice", "credentials": [{ "accessKey": "$bucket_id", "secretKey": "$bucket_key" }],
  "actions": ["Admin", "Read", "Write", "List"] }] }
END
cat > secrets/settings.json <<END
{
  "DATABASE_URL": "postgres://sluice:$postgres@postgres:5432/sluice",
  "REDIS_URL": "redis://:$redis@redis:6379",
  "AWS_ACCESS_KEY_ID": "$bucket_id",
  "AWS_SECRET_ACCESS_KEY": "$bucket_key"
}
END
# The folder is closed to others; the containers' users, who are others, get these files alone.
chmod 444 secrets/*
