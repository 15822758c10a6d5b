#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_shrink.sh - a fault is found, made short, and printed as a program
#
#	test_shrink.sh BUILD-FOLDER MODEL-WITH-A-FAULT
#
# The program must fail with the fault, for the same reason, and not without.
set -eu

build=$1
model=$2
reproduce=$(dirname "$0")/reproduce.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "test_shrink.sh: $*" >&2
	cat "$work/err" >&2
	exit 1
}

if "$model" steps 100000 >"$work/program.c" 2>"$work/err"; then
	fail "the fault was not found"
fi
steps=$(sed -n 's/^model: \([0-9]*\) steps are enough:$/\1/p' "$work/err")
# Something is stored, and invalidated.
[ "${steps:-0}" = 2 ] || fail "it takes ${steps:-no} steps, not 2"
if "$reproduce" "$build" "$work/program.c" reproducer-broken \
	>"$work/out" 2>&1; then
	fail "the printed program does not fail"
fi
cat "$work/out" >>"$work/err"
grep -q 'check failed: stats\.[a-z_]* == ' "$work/out" ||
	fail "the printed program fails otherwise"
"$reproduce" "$build" "$work/program.c" >"$work/out" 2>&1 ||
	fail "the printed program fails without the fault"
