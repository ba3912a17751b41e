#!/bin/sh
# The programs that the tests compare with and that are no Python packages.
set -eu
command -v git >/dev/null && command -v ctags >/dev/null && ctags --version | grep -q Universal && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y install git universal-ctags >/dev/null
else
  echo "git and universal-ctags are needed: install them with your package manager" >&2
  exit 2
fi
