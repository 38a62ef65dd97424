#!/bin/sh
# Makes portcullis-workspace.tgz: the packed package with what it needs, so that a workspace installs it without a registry.
# Run it in a clone; prints the path and the SHA-256 that the template wants.
set -eu
clone=$(cd "$(dirname "$0")/../.." && pwd)
target=${1:-$PWD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$clone" && npm pack --silent --pack-destination "$work" > /dev/null)
mkdir "$work/tree"
npm install --silent --prefix "$work/tree" --omit=dev --no-audit --no-fund "$work"/portcullis-*.tgz
# The same bytes from the same clone: the digest is pinned in the template.
tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 \
  --directory "$work/tree" --file "$target/portcullis-workspace.tgz" node_modules
sha256sum "$target/portcullis-workspace.tgz"
