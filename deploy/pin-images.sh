#!/bin/sh
# Pins the images that deploy/Dockerfile and deploy/compose.yaml name to their digests of today, as `name:tag@sha256:…`:
#   sh deploy/pin-images.sh && git diff deploy
# It asks the registry by `docker buildx imagetools`, leaves those alone that have a digest, and changes nothing when one is not found.
set -eu
cd "$(dirname "$0")"
files='Dockerfile compose.yaml'
digest() {
  docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}'
}
images=$({ sed -n 's/^ARG NODE_IMAGE=//p' Dockerfile; sed -n 's/^ *image: //p' compose.yaml; } | grep -v -e '@sha256:' -e '^sluice:' | sort -u)
script=''
for image in $images; do
  found=$(digest "$image")
  case "$found" in
    sha256:????????????????????????????????????????????????????????????????) ;;
    *) echo "no digest of $image: $found" >&2; exit 1 ;;
  esac
  script="$script;s,\\(image: \\|NODE_IMAGE=\\)$image\$,\\1$image@$found,"
  echo "$image@$found"
done
for file in $files; do
  sed "${script#;}" "$file" > "$file.pinned"
  cat "$file.pinned" > "$file"
  rm "$file.pinned"
done
