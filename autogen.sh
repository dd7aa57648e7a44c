#!/bin/sh
# autogen.sh: makes ./configure (autoreconf, with the folders that it wants)
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
autoreconf --install
