#!/bin/bash
# Makes a release.
set -e
source tools/version.sh
VERSION=1.0
build() {
  make all
}
build "$VERSION"
