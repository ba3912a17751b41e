#!/bin/sh
# The programs that the tests compare with, and a browser: what is no Python package.
set -eu
is_there() { command -v git >/dev/null && command -v ctags >/dev/null && ctags --version | grep -q Universal && command -v chromium >/dev/null; }
is_there && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends git universal-ctags chromium fonts-dejavu-core >/dev/null
else
  echo "git, universal-ctags and chromium are needed: install them with your package manager" >&2
  exit 2
fi
