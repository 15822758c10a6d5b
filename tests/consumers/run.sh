#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - use the installed library as others do
#
# Installs into a scratch prefix, then builds and runs the program that the
# README prints: through pkg-config with the shared and with the static library,
# as C++, and as the user of a meson subproject.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P)
source=$(dirname "$(dirname "$here")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() {
	echo "consumers: $*"
}

# The first block of C in the README.
readme_program() {
	awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' \
		"$source/README.md"
}

run_one() {
	what=$1 program=$2
	shift 2
	"$@" >"$work/out" || {
		say "$what: the program failed"
		exit 1
	}
	grep -q "$program" "$work/out" || {
		say "$what: unexpected output"
		cat "$work/out"
		exit 1
	}
	say "$what: $(head -n 1 "$work/out")"
}

meson setup "$work/build" "$source" --prefix="$work/prefix" --libdir=lib \
	-Dtests=disabled -Dbench=false -Dexamples=false >"$work/log" 2>&1 &&
	meson install -C "$work/build" >>"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
export LD_LIBRARY_PATH="$work/prefix/lib"
readme_program >"$work/program.c"
[ -s "$work/program.c" ] || {
	say "no program in the README"
	exit 1
}
cp "$work/program.c" "$work/program.cc"
expect="came back"
cd "$work"

# shellcheck disable=SC2046 # lists of words
{
	cc program.c -o shared $(pkg-config --cflags --libs libzswap)
	run_one "shared" "$expect" ./shared

	cc program.c -o static -static \
		$(pkg-config --static --cflags --libs libzswap)
	run_one "static" "$expect" env -u LD_LIBRARY_PATH ./static

	c++ -std=c++17 program.cc -o cpp $(pkg-config --cflags --libs libzswap)
	run_one "C++" "$expect" ./cpp
}

mkdir -p sub/subprojects
cp program.c sub/
ln -s "$source" sub/subprojects/libzswap
cat >sub/meson.build <<'EOF'
project('consumer', 'c', meson_version: '>=1.0.1')
zswap_dep = dependency('libzswap', fallback: ['libzswap', 'libzswap_dep'])
executable('consumer', 'program.c', dependencies: zswap_dep)
EOF
for kind in shared static; do
	PKG_CONFIG_PATH='' meson setup "sub/$kind" sub --force-fallback-for=libzswap \
		-Ddefault_library=$kind >log 2>&1 &&
		meson compile -C "sub/$kind" >>log 2>&1 || {
		cat log
		exit 1
	}
	run_one "meson subproject, $kind" "$expect" \
		env -u LD_LIBRARY_PATH "sub/$kind/consumer"
done
