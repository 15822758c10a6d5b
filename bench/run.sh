#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench/run.sh - build zswap-bench and run it
#
# Arguments go to zswap-bench; see bench/run.sh --help. For --hooks jemalloc it
# preloads that. See tests/prepare.sh for what is installed and where it builds.
set -eu

name=bench/run.sh
source=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)
wanted="liblz4=liblz4-dev libzstd=libzstd-dev zlib=zlib1g-dev
	libdeflate=libdeflate-dev libxxhash=libxxhash-dev"
commands=
options="--buildtype=release -Dtests=disabled -Dexamples=false -Dbench=true"
. "$source/tests/prepare.sh"

case " $* " in
*" --hooks jemalloc "* | *" --hooks=jemalloc "*)
	want_jemalloc
	prepare
	library=$(jemalloc_library)
	export LD_PRELOAD="$library${LD_PRELOAD:+ $LD_PRELOAD}"
	;;
*)
	prepare
	;;
esac
"$build/bench/zswap-bench" "$@"
