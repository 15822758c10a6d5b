#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/run.sh - build the library with its tests and run them
#
# The build checks the library's invariants, so that the cases which need that
# run too. Arguments go to `meson test`: a test's name, --suite long for the
# long variants, or --setup jemalloc for jemalloc's arenas behind the hooks of
# all tests that use any. See tests/prepare.sh for what is installed and where
# it builds.
set -eu

name=tests/run.sh
source=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)
wanted="liblz4=liblz4-dev libzstd=libzstd-dev zlib=zlib1g-dev
	libdeflate=libdeflate-dev libxxhash=libxxhash-dev cmocka=libcmocka-dev"
commands="c++=g++"
options="-Dtests=enabled -Dbench=false -Ddebug_checks=true"
. "$source/tests/prepare.sh"

case " $* " in
*" --setup jemalloc "* | *" --setup=jemalloc "*) want_jemalloc ;;
esac
prepare
meson test -C "$build" --no-rebuild --print-errorlogs "$@" </dev/null
