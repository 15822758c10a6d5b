#!/bin/sh
# SPDX-License-Identifier: MIT
#
# overhead.sh - what requests cost beside the calls of the codec
#
#	overhead.sh VALGRIND PROGRAM
#
# Counts instructions, which come out the same on any machine however busy: the
# built-in lz4, one unit a request, and a compressor of batches of 8 around the
# same calls must each stay within 1 % of a bare loop over them.
set -eu

valgrind=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Instructions in a function of the program, called in one of its ways.
count() {
	"$valgrind" --tool=callgrind --callgrind-out-file="$work/out" \
		--toggle-collect="$2" "$program" "$1" >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		return 1
	}
	sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/log"
}

# Is the second at most 1 % above the first?
compare() {
	what=$1 base=$2 with=$3
	if [ "$base" -lt 1000000 ] || [ "$with" -lt 1000000 ]; then
		echo "$what: nothing was counted" >&2
		exit 1
	fi
	over=$(((with - base) * 10000 / base))
	echo "$what: $base, $with: $over / 10000"
	[ "$over" -le 100 ] || failed=1
}

for way in compress decompress; do
	bare=$(count direct "measured_direct_$way")
	single=$(count single "measured_$way")
	batch=$(count batch "measured_$way")
	compare "$way, bare and single" "$bare" "$single"
	compare "$way, bare and batch" "$bare" "$batch"
done
# D45: in the library a batching compressor costs no more than a plain one.
single=$(count single measured_store)
batch=$(count batch measured_store)
compare "D45 store, single and batch" "$single" "$batch"
compare "D45 store, batch and single" "$batch" "$single"
exit $failed
