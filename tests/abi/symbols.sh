#!/bin/sh
# SPDX-License-Identifier: MIT
#
# symbols.sh - the names in the map, the headers and the libraries are the same
#
# usage: symbols.sh MAP SHARED STATIC HEADER...
#
# SHARED or STATIC may be '-' where it was not built. The names in the map's
# global list are the reference; each other list must hold these and no others.
# NM names the nm to use.

set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 4 ]; then
	echo "usage: $0 MAP SHARED STATIC HEADER..." >&2
	exit 2
fi
map=$1 shared=$2 static=$3
shift 3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# The global list of a version script.
map_names() {
	awk '
		/global:/ { inside = 1; sub(/.*global:/, "") }
		/local:/ { inside = 0 }
		inside { gsub(/[;,]/, " "); for (i = 1; i <= NF; i++) print $i }
	' "$1"
}

# Functions declared with ZSWAP_API: the name before the first bracket. The
# macro's own definition and comments are no declarations.
header_names() {
	cat "$@" | awk '
		/^[ \t]*#/ { next }
		{ text = text " " $0 }
		END {
			while ((at = index(text, "/*")) > 0) {
				rest = substr(text, at + 2)
				end = index(rest, "*/")
				text = substr(text, 1, at - 1) " " \
					substr(rest, end + 2)
			}
			while ((at = index(text, "ZSWAP_API")) > 0) {
				text = substr(text, at + 9)
				bracket = index(text, "(")
				name = substr(text, 1, bracket - 1)
				sub(/[ \t]+$/, "", name)
				sub(/.*[ \t*]/, "", name)
				print name
			}
		}
	'
}

# Defined global names, without versions, the versions themselves, and what a
# sanitizer adds for its own use.
object_names() {
	${NM:-nm} -P -g "$@" | awk '
		NF >= 2 && $2 ~ /^[A-TV-Za-tv-z]$/ && $2 != "w" && $2 != "v" {
			sub(/@.*/, "", $1)
			if ($2 == "A" && $1 ~ /^ZSWAP_[0-9]/)
				next
			if ($1 ~ /^(__odr_asan|__asan_|__start_asan|__stop_asan)/)
				next
			print $1
		}
	'
}

# compare WHAT LIST: the list against the map's
compare() {
	sort -u "$2" >"$2.sorted"
	comm -23 "$dir/map.sorted" "$2.sorted" >"$dir/missing"
	comm -13 "$dir/map.sorted" "$2.sorted" >"$dir/extra"
	while read -r name; do
		echo "$name: in the map, but not $1" >&2
		bad=1
	done <"$dir/missing"
	while read -r name; do
		echo "$name: $1, but not in the map" >&2
		bad=1
	done <"$dir/extra"
}

map_names "$map" >"$dir/map"
sort -u "$dir/map" >"$dir/map.sorted"
if [ ! -s "$dir/map" ]; then
	echo "$map: no global names found" >&2
	exit 1
fi
if [ "$(sort "$dir/map" | uniq -d)" ]; then
	echo "$map: named twice: $(sort "$dir/map" | uniq -d)" >&2
	bad=1
fi

header_names "$@" >"$dir/headers"
compare "declared in a public header" "$dir/headers"
if [ "$shared" != - ]; then
	object_names -D "$shared" >"$dir/shared"
	compare "exported by the shared library" "$dir/shared"
fi
if [ "$static" != - ]; then
	object_names "$static" >"$dir/static"
	compare "global in the static archive" "$dir/static"
fi
[ "$bad" = 0 ] && echo "$(wc -l <"$dir/map.sorted") names agree"
exit "$bad"
